"""A film club of its own for each test: a real atriumd and the gateway, both on this machine alone.

Wants atriumd and atriumctl in PATH, and in EXAMPLES the folder of the examples.
"""
import atexit
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

EXAMPLES = pathlib.Path(os.environ.get("EXAMPLES") or pathlib.Path(__file__).parents[2] / "Examples")
# Beside them, here and where they are installed.
WEB = EXAMPLES.parent / "web"
PATIENCE = 20  # seconds until something that should happen has not


class Club:
    def __init__(self, *options):
        # Short: a socket's path has at most 107 bytes.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="atrium-", dir="/var/tmp"))
        self.socket = str(self.home / "atrium.sock")
        self.daemon = self.gateway = None
        atexit.register(self.close)  # also after an interruption
        # Nothing of an Atrium that the host has.
        host = {name: value for name, value in os.environ.items() if not name.startswith(("ATRIUM_", "XDG_"))}
        self.environment = {**host, "ATRIUM_SOCKET": self.socket, "LC_ALL": "C.UTF-8",
                            "CONFIGURATION_DIRECTORY": str(self.home), "NOTIFY_SOCKET": str(self.home / "notify"),
                            "XDG_STATE_HOME": str(self.home)}
        self.start()
        self.gateway = subprocess.Popen(
            [sys.executable, "-B", str(WEB / "gateway.py"), "--port", "0", *options],
            stdout=subprocess.PIPE, stderr=sys.stderr, text=True, env=self.environment)
        self.url = re.search(r"http://\S+", self.gateway.stdout.readline())[0]
        self.host = self.url.split("/")[2]

    def refusal(self, *options, prefix=(), **environment):
        """What a gateway says that does not start."""
        done = subprocess.run([*prefix, "/usr/bin/python3", "-B", str(WEB / "gateway.py"), "--port", "0", *options],
                              env={**self.environment, **environment}, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def start(self):
        """Starts the daemon, and waits until it says that it is ready."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, open(self.home / "log", "ab") as log:
            notify.bind(self.environment["NOTIFY_SOCKET"])
            notify.settimeout(PATIENCE)
            self.daemon = subprocess.Popen(
                ["atriumd", "--socket", self.socket, "--state-directory", str(self.home / "state")],
                stdout=log, stderr=log, env=self.environment)
            while b"READY=1" not in notify.recv(4096).split(b"\n"):
                pass
        os.unlink(self.environment["NOTIFY_SOCKET"])

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait(PATIENCE)

    def close(self):
        for process in (self.gateway, self.daemon):
            if process:
                process.kill()
                process.wait(PATIENCE)
                if process.stdout:
                    process.stdout.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def fill(self):
        """Begins anew: the films, without a vote or a word."""
        if "films" in self.type("containers"):
            self.type("delete", "films", "--purge", "--yes")
        self.type("apply", "-f", str(EXAMPLES / "films.yaml"))
        self.type("import", "films", str(EXAMPLES / "films.ndjson"))

    def type(self, *words):
        """What `atriumctl` says to a command line that succeeds."""
        return self.type_of("atriumctl", *words)

    def type_of(self, *words):
        """The same of any program."""
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def next(self, topic, after):
        """The first notification of a topic after a number, as `atriumctl watch` prints it."""
        with subprocess.Popen(["atriumctl", "watch", topic, "--after", str(after), "--json"], env=self.environment,
                              stdout=subprocess.PIPE, text=True) as watch:
            bound = threading.Timer(PATIENCE, watch.kill)
            bound.start()
            try:
                return watch.stdout.readline()
            finally:
                bound.cancel()
                watch.kill()

    def ask(self, *words):
        """The same, with the reply as it came."""
        return json.loads(self.type(*words, "--json"))

    def say_many(self, item, count):
        """So many comments on a film, all sent before the first is answered."""
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(self.socket)
            line.settimeout(PATIENCE)
            calls = [{"method": "org.atrium.Comments.Post", "parameters": {"container": "films", "item": item, "text": f"Number {number}."}}
                     for number in range(count)]
            sender = threading.Thread(target=line.sendall, args=(b"".join(json.dumps(call).encode() + b"\0" for call in calls),))
            sender.start()
            replies = b""
            while replies.count(b"\0") < count:
                got = line.recv(1 << 16)
                assert got, "the daemon ended the connection"
                replies += got
            sender.join()
        assert b'"error"' not in replies, replies[:300]

    def tally(self, item):
        return self.ask("call", "org.atrium.Votes.Tally", json.dumps({"container": "films", "item": item}))["tally"]

    def send(self, verb, path, body=None, **headers):
        """One request to the gateway: status, headers and body of the response."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        try:
            connection.request(verb, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def cookie(self):
        """A new browser's."""
        return self.send("GET", "/films")[1]["Set-Cookie"].split(";")[0]

    def call(self, name, parameters, cookie, **headers):
        """A call as the page makes it: status, and what the gateway answers."""
        if isinstance(parameters, dict) and not {"container", "screen"} & parameters.keys():
            parameters = {"container": "films", **parameters}
        body = parameters if isinstance(parameters, bytes) else json.dumps(parameters).encode()
        headers = {"Origin": self.url.rstrip("/"), "Content_Type": "application/json", "Cookie": cookie, **headers}
        status, _, body = self.send("POST", f"/-/call/{name}", body, **{
            name: value for name, value in headers.items() if value is not None})
        return status, json.loads(body)

    def live(self, query="", **headers):
        return Events(self.host, f"/-/live?container=films&{query}", headers)


class Events:
    """Server-sent events, as they come."""

    def __init__(self, host, path, headers):
        self.connection = http.client.HTTPConnection(host, timeout=PATIENCE)
        self.connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        self.response = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.response.close()
        self.connection.close()

    def next(self, kind):
        """The next event, which is of this kind: its id, and what it carries."""
        event = {}
        while line := self.response.readline().decode().rstrip("\n"):
            name, _, value = line.partition(": ")
            event[name] = value
        assert event.get("event") == kind, f"{kind} expected: {str(event)[:600]}"
        return event.get("id"), json.loads(event["data"])
