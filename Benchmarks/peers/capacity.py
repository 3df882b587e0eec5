"""What one machine carries: memory, start and rates of what there can be many of, at three sizes.

The daemon is measured alone. A store is filled over the socket, which gives the rate, and read by a
daemon that is started anew, which gives the time to the first answer and, a second later, the memory.
Memory of each is what that daemon has more than one without any, divided by how many there are.
"""
import itertools
import selectors
import shutil
import time

import atrium
import instructions
import listing
from figures import Row, say
from processes import new_directory
from start import spent

ITEMS = (10_000, 100_000, 1_000_000)
BALLOTS = (10_000, 100_000, 1_000_000)
COMMENTS = (10_000, 100_000, 1_000_000)
ACTORS = (1_000, 10_000, 100_000)
SCREENS = (100, 300, 1_000)
SUBSCRIBERS = (10, 100, 1_000)
# So many ballots each item has, and each actor cast.
EACH = 100
ON_THEIR_WAY = 500
VOTES = 20
MESSAGES = 2_000
TEXT = ("It says what its author thought of the film, in a sentence or two. " * 3)[:150]
# What is wanted at the last of the sizes.
AIMS = {("items", "rate"): 100_000, ("items", "ready"): 2_000, ("items", "memory"): 300,
        ("ballots", "ready"): 800, ("ballots", "memory of each"): 24,
        ("comments", "ready"): 3_000, ("comments", "memory"): 400}
UNITS = {"rate": "/s", "CPU of each": "us", "ready": "ms", "CPU of the start": "s",
         "memory": "MB", "memory of each": "B"}


def pour(client, calls):
    """Makes calls, many on their way at once."""
    calls = iter(calls)
    while some := list(itertools.islice(calls, ON_THEIR_WAY)):
        client.connection.sendall(b"".join(some))
        for _ in some:
            client.receive()


def put_items(client, count):
    client.put("bench", ({"id": f"i{number:07}", "fields": {"title": f"Item {number}"}}
                         for number in range(count)))


def cast(item, actor, value):
    return (b'{"method":"org.atrium.Votes.Cast","parameters":{"container":"bench","item":"i%07d",'
            b'"value":%d,"actor":"web:u%d"}}\0' % (item, value, actor))


def ballots(count):
    items = max(count // EACH, EACH)
    return (cast((actor + place * (items // EACH)) % items, actor, 1 + (actor + place) % 5)
            for actor in range(count // EACH) for place in range(EACH))


def comments(count):
    return (atrium.frame("org.atrium.Comments.Post", container="bench", item=f"i{number % EACH:07}",
                         text=TEXT) for number in range(count))


class Kind:
    """What it stands on, what fills it, and a question whose answer says that all are there."""

    def __init__(self, definition, before, fill, question, answer):
        self.definition, self.before, self.fill = definition, before, fill
        self.question, self.answer = question, answer


def tally(item):
    return atrium.frame("org.atrium.Votes.Tally", container="bench", item=f"i{item:07}")


KINDS = {
    "items": (ITEMS, lambda count: Kind(
        listing.DEFINITION, lambda client: None,
        lambda client: client.put("movies", map(instructions.film, range(count))),
        atrium.frame("org.atrium.Contents.List", container="movies", limit=1),
        f'"total":{count}')),
    "ballots": (BALLOTS, lambda count: Kind(
        atrium.BENCH, lambda client: put_items(client, max(count // EACH, EACH)),
        lambda client: pour(client, ballots(count)), tally(0),
        f'"count":{min(count // EACH, EACH)}')),
    "comments": (COMMENTS, lambda count: Kind(
        atrium.BENCH, lambda client: put_items(client, EACH),
        lambda client: pour(client, comments(count)),
        atrium.frame("org.atrium.Comments.Thread", container="bench", item="i0000000", limit=1),
        f'"total":{count // EACH}')),
    "actors": (ACTORS, lambda count: Kind(
        atrium.BENCH, lambda client: put_items(client, 1),
        lambda client: pour(client, (cast(0, actor, 1 + actor % 5) for actor in range(count))),
        tally(0), f'"count":{count}')),
}


def started(state, question, answer):
    """What a start of a copy of a state takes."""
    copy = new_directory("copy") / "state"
    shutil.copytree(state, copy)
    server = atrium.start(copy, question, answer.encode())
    cpu, _ = spent(server.process.pid)
    time.sleep(1)
    _, memory = spent(server.process.pid)
    got = {"ready": server.ready_ms, "CPU of the start": cpu, "memory": memory}
    server.stop()
    shutil.rmtree(copy)
    return got


def kept(name, count):
    """What so many of what is kept take."""
    kind = KINDS[name][1](count)
    directory = new_directory(name)
    server = atrium.start(directory / "state")
    client = atrium.Client(server)
    client.call("org.atrium.Containers.Apply",
                definitions=[{"file": "one.yaml", "text": kind.definition}])
    kind.before(client)
    server.stop()
    base = started(directory / "state", None, "\0")
    server = atrium.start(directory / "state")
    client = atrium.Client(server)
    before, _ = spent(server.process.pid)
    start = time.perf_counter()
    kind.fill(client)
    seconds = time.perf_counter() - start
    after, _ = spent(server.process.pid)
    server.stop()
    got = started(directory / "state", kind.question, kind.answer)
    shutil.rmtree(directory)
    return {"rate": count / seconds, "CPU of each": (after - before) / count * 1e6, **got,
            "memory of each": (got["memory"] - base["memory"]) / count * 2**20}


def read_all(clients, count, what=b"\0"):
    """Reads of each until this came so many times."""
    with selectors.DefaultSelector() as selector:
        left = {}
        for client in clients:
            selector.register(client.connection, selectors.EVENT_READ, client)
            left[client] = count
        while left:
            for key, _ in selector.select(60):
                got = key.data.connection.recv(1 << 20)
                left[key.data] -= got.count(what)
                if left[key.data] <= 0:
                    del left[key.data]
                    selector.unregister(key.fileobj)


def opened(server, count, call):
    """So many connections on which a call with many replies is open, and the memory of each."""
    _, before = spent(server.process.pid)
    clients = [atrium.Client(server) for _ in range(count)]
    for client in clients:
        client.exchange(call.replace(b'{"method"', b'{"more":true,"method"'))
    return clients, (spent(server.process.pid)[1] - before) / count * 2**20


def screens(count):
    """Votes on an item that all screens show, one after the other."""
    server = atrium.start_with_bench()
    client = atrium.Client(server)
    shown, memory = opened(server, count, atrium.frame(
        "org.atrium.Screens.Open", container="bench", sort=["-votes.score"], limit=50))
    before, _ = spent(server.process.pid)
    for vote in range(VOTES):
        client.call("org.atrium.Votes.Cast", container="bench", item="i1", value=1 + vote % 2)
        read_all(shown, 1)
    cpu = spent(server.process.pid)[0] - before
    server.stop()
    return {"CPU of each": cpu / VOTES / count * 1e6, "memory of each": memory}


def subscribers(count):
    """Notifications that are not kept, to all."""
    server = atrium.start_with_bench()
    client = atrium.Client(server)
    call = atrium.frame("org.atrium.Notifications.Subscribe", topics=["bench.app.>"])
    readers, memory = opened(server, count, call)
    before, _ = spent(server.process.pid)
    publish = atrium.frame("org.atrium.Notifications.Publish", topic="bench.app.x",
                           payload={"text": "x" * 256})
    for _ in range(MESSAGES // 20):
        client.connection.sendall(publish * 20)
        for _ in range(20):
            client.receive()
        read_all(readers, 20, b'"bench.app.x"')
    cpu = spent(server.process.pid)[0] - before
    server.stop()
    return {"CPU of each": cpu / MESSAGES / count * 1e6, "memory of each": memory}


def figures():
    for name, (sizes, _) in KINDS.items():
        for count in sizes:
            say(f"  {count:,} {name}")
            yield name, count, sizes[-1], kept(name, count)
    for name, sizes, measure in [("screens", SCREENS, screens),
                                 ("subscribers", SUBSCRIBERS, subscribers)]:
        for count in sizes:
            say(f"  {count:,} {name}")
            yield name, count, sizes[-1], measure(count)


def run(_):
    return [Row("capacity", f"{count:,} {name}: {what}", UNITS[what], [value],
                aim=AIMS.get((name, what)) if count == last else None)
            for name, count, last, got in figures() for what, value in got.items()]
