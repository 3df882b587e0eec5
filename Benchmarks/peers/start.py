"""A start with many items: from the process to the first answer about them, beside Redis.

Redis reads the same films back from its own snapshot, as hashes: it makes no index of them.
"""
import json
import shutil
from pathlib import Path

import atrium
import listing
import movies
import servers
from figures import Case, Row, column, measure, say
from processes import dial, new_directory

COUNTS = (10_000, 100_000, 1_000_000)
KEYS = [("ready", "ready", "ms"), ("cpu", "processor time", "s"), ("memory", "memory", "MB")]


def first(count):
    database = movies.open_database()
    for item, _ in zip(movies.items(database), range(count)):
        yield item
    database.close()


def spent(pid):
    """Processor time of all threads in seconds and resident memory in megabytes by now."""
    # To the nanosecond, where the process's own clock ticks a hundred times a second.
    times = [int((task / "schedstat").read_text().split()[0])
             for task in Path(f"/proc/{pid}/task").iterdir()]
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return sum(times) / 1e9, int(resident.split()[1]) / 1024


def result(server):
    cpu, memory = spent(server.process.pid)
    server.stop()
    return {"ready": server.ready_ms, "cpu": cpu, "memory": memory}


def prepare_ours(count):
    """A state directory with so many films."""
    directory = new_directory("films")
    server = atrium.start(directory / "state")
    client = atrium.Client(server)
    client.call("org.atrium.Containers.Apply",
                definitions=[{"file": "movies.yaml", "text": listing.DEFINITION}])
    client.put("movies", first(count))
    server.stop()
    return directory


def start_ours(kept, count):
    state = new_directory("copy") / "state"
    shutil.copytree(kept / "state", state)
    question = atrium.frame("org.atrium.Contents.List", container="movies", limit=1)
    told = result(atrium.start(state, question, f'"total":{count}'.encode()))
    shutil.rmtree(state)
    return told


def resp(*words):
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(p), p) for p in parts)


def start_redis(directory):
    """Ready once it has read its snapshot."""
    def ready(address):
        with dial(address, 5) as connection:
            connection.sendall(b"PING\r\n")
            if not connection.recv(100).startswith(b"+PONG"):
                raise EOFError("it is still loading")
    return servers.redis(directory=directory, ready=ready)


def prepare_redis(count):
    """A directory with a snapshot of so many films."""
    directory = new_directory("snapshot")
    server = start_redis(directory)
    client = dial(server.address, 120)
    for batch in atrium.batches(first(count), 1000):
        client.sendall(b"".join(
            resp("HSET", item["id"], *(word for name, value in item["fields"].items()
                                       for word in (name, json.dumps(value))))
            for item in batch))
        replies = b""
        while replies.count(b"\r\n") < len(batch):
            replies += client.recv(1 << 20)
    client.sendall(resp("SAVE"))
    if not client.recv(100).startswith(b"+OK"):
        raise SystemExit("Redis did not save its snapshot")
    client.close()
    server.stop()
    return directory


def run(rounds):
    cases = []
    for count in COUNTS:
        say(f"  {count} films for both")
        ours, redis = prepare_ours(count), prepare_redis(count)
        cases += [
            Case(("ours", count), lambda ours=ours, count=count: start_ours(ours, count)),
            Case(("Redis", count),
                 lambda redis=redis: result(start_redis(redis)))]
    got = measure(cases, rounds)
    return [Row("start", f"{count} films: {label}", unit, column(got["ours", count], key),
                {"Redis": column(got["Redis", count], key)},
                aim=3000 if (count, key) == (1_000_000, "ready") else None)
            for count in COUNTS for key, label, unit in KEYS]
