"""Our daemon: started with an empty store of its own, and asked over its socket."""
import json
import os

from processes import Server, ask, dial, new_directory, new_socket

# Some items to vote on and to discuss, and a place to publish.
BENCH = """atrium: 1
container: bench
title: What is measured
fields:
  title: { type: text, required: true }
components:
  - { name: list, plugin: org.atrium.catalog }
  - { name: stars, plugin: org.atrium.stars, settings: { scale: 5, subjects: [items] } }
  - { name: talk, plugin: org.atrium.threads, settings: { subjects: [items] } }
"""
ITEMS = 1000
stage = None


def frame(method, **parameters):
    return json.dumps({"method": method, "parameters": parameters},
                      ensure_ascii=False, separators=(",", ":")).encode() + b"\0"


def start(state=None, question=None, answer=b"\0", under=(), settings=""):
    """A daemon of the stage, by default without any container.

    It is ready once it answers; question: with this to that; under: the words of a tool that runs it;
    settings: its atrium.yaml.
    """
    directory = new_directory("atrium")
    (directory / "configuration").mkdir()
    if settings:
        (directory / "configuration" / "atrium.yaml").write_text(settings)
    path = new_socket("atrium")
    address = "unix:" + path
    command = [*under, stage / "bin" / "atriumd", "--socket", path, "--state-directory",
               state or directory / "state", "--log-level", "warning"]
    question = question or frame("org.varlink.service.GetInfo")
    # Without what would set it up as the machine's daemon.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(
        ("ATRIUM_", "NOTIFY_", "WATCHDOG_", "LISTEN_", "JOURNAL_"))}
    environment["CONFIGURATION_DIRECTORY"] = str(directory / "configuration")
    server = Server("atrium", command, address, lambda: ask(address, question, answer), environment,
                    wait=300 if under else 30)
    server.state = state or directory / "state"
    return server


def parameters_of(reply):
    return json.loads(reply).get("parameters", {})


class Client:
    """One connection; a call that fails ends everything."""

    def __init__(self, server):
        self.connection = dial(server.address, 120)
        self.rest = b""

    def receive(self):
        """The next reply's bytes."""
        parts = [self.rest]
        while b"\0" not in parts[-1]:
            more = self.connection.recv(1 << 20)
            if not more:
                raise SystemExit("atriumd closed the connection")
            parts.append(more)
        reply, _, self.rest = b"".join(parts).partition(b"\0")
        if reply.startswith(b'{"error"'):
            raise SystemExit(f"atriumd says {reply.decode()}")
        return reply

    def exchange(self, data):
        self.connection.sendall(data)
        return self.receive()

    def call(self, method, **parameters):
        return parameters_of(self.exchange(frame(method, **parameters)))

    def put(self, container, items):
        """Puts items, a thousand a batch, with four batches on their way."""
        waiting = 0
        for batch in batches(items, 1000):
            if waiting == 4:
                self.receive()
                waiting -= 1
            self.connection.sendall(frame(
                "org.atrium.Contents.Put", container=container, items=batch))
            waiting += 1
        for _ in range(waiting):
            self.receive()

    def sequence(self):
        """The last durable one."""
        return self.call("org.atrium.Daemon.Status")["sequence"]


def batches(items, size):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def start_with_bench(under=(), more=""):
    """A daemon with the container `bench`: items i1 to i1000, of which i1 has a vote; more: of its definition."""
    server = start(under=under)
    client = Client(server)
    client.call("org.atrium.Containers.Apply",
                definitions=[{"file": "bench.yaml", "text": BENCH + more}])
    client.put("bench", ({"id": f"i{number}", "fields": {"title": f"Item {number}"}}
                         for number in range(1, ITEMS + 1)))
    client.call("org.atrium.Votes.Cast", container="bench", item="i1", value=4)
    return server
