"""How many instructions a call takes in the daemon, on all its threads, the kernel aside.

Counted by callgrind, so that a busy machine changes nothing: two runs differ by one in a hundred, and what a
change of the code saves shows though it is far below what a clock can tell. Eight connections have some calls on
their way at once. What was counted stays in `.build/bench`, for callgrind_annotate.
"""
import shutil
import subprocess

import atrium
import listing
from figures import Row, say
from processes import HERE, LAB, ROOT, RUN, new_directory

CONNECTIONS = 8
CALLS = 4_000
# So many calls before: what is made once and kept is there, and every item has a vote.
BEFORE = 2_000
# So many items has a call of an import.
BATCH = 1_000
# So many screens show so many items, on which so many votes are cast.
SCREENS = 100
VOTED = 9
VOTES = 40


def cast(number):
    # Nobody votes twice alike: each round gives all items another value.
    return atrium.frame("org.atrium.Votes.Cast", container="bench",
                        item=f"i{number % atrium.ITEMS + 1}",
                        value=number // atrium.ITEMS % 5 + 1)


def put(number):
    # Each item gets another title.
    return atrium.frame("org.atrium.Contents.Put", container="bench", items=[
        {"id": f"i{number % atrium.ITEMS + 1}", "fields": {"title": f"Title {number}"}}])


def film(number):
    """One of many: each has a title of its own, and shares the rest with others."""
    return {"id": f"{number:07}", "fields": {
        "title": f"The {number * 7919 % 1_000_003} nights", "genre": [f"Genre {number % 20}"],
        "year": 1920 + number % 104, "duration": 3_000 + number % 6_000,
        "rating": number % 100 / 10}}


def films(reader):
    """So many new films in each call, in a container of their own."""
    reader.call("org.atrium.Containers.Apply",
                definitions=[{"file": "movies.yaml", "text": listing.DEFINITION}])
    return lambda number: atrium.frame("org.atrium.Contents.Put", container="movies", items=[
        film(number * BATCH + place) for place in range(BATCH)])


def sort(reader):
    """The same choice again and again on one screen, of whose daemon the reader is a client."""
    screen = atrium.parameters_of(reader.exchange(atrium.frame(
        "org.atrium.Screens.Open", container="bench", sort=["title"]).replace(
            b'{"method"', b'{"more":true,"method"')))["screen"]
    choice = atrium.frame("org.atrium.Screens.Sort", screen=screen, sort=["title"])
    return lambda _: choice


OPENING = atrium.frame("org.atrium.Screens.Open", container="bench", sort=["-votes.score"]).replace(
    b'{"method"', b'{"more":true,"method"')
DIFF = f"a vote, for each of {SCREENS} screens that show it"


class Case:
    """Calls of one kind, so many of a connection at once, on a bench with more in its definition.

    items: of how many a call is, where one of them is counted.
    """

    def __init__(self, depth, request, more="", opens=False, items=1):
        self.depth, self.request, self.more, self.opens = depth, request, more, opens
        self.items = items

    def requests(self, server):
        """What gives the request of a number; a screen stays open as long as that is kept."""
        if not self.opens:
            return self.request
        reader = atrium.Client(server)
        request = self.request(reader)
        return lambda number, _=reader: request(number)


# Three filters by votes are counted.
FILTERS = """  - name: filters
    plugin: org.atrium.facets
    settings:
      sections:
        - id: score
          field: votes.score
          input: several
          filters: [{ id: good, from: 4 }, { id: fair, from: 2, to: 4 }, { id: bad, to: 2 }]
"""
# So many are about a microsecond here: GetInfo takes 4,643, and the server's CPU 0.94 us.
MICROSECOND = 4_900
# One that takes what users choose as it is, as far as lists go.
DELEGATE = "delegate: org.atrium.examples.compilation\n"
CASES = {
    "GetInfo": Case(16, lambda _: atrium.frame("org.varlink.service.GetInfo")),
    "Votes.Tally": Case(6, lambda number: atrium.frame(
        "org.atrium.Votes.Tally", container="bench", item=f"i{number % atrium.ITEMS + 1}")),
    "Contents.List, a page of 20": Case(6, lambda _: atrium.frame(
        "org.atrium.Contents.List", container="bench", limit=20)),
    "Filters.List": Case(6, lambda _: atrium.frame(
        "org.atrium.Filters.List", container="bench"), more=FILTERS),
    "Screens.Sort": Case(6, sort, opens=True),
    "Screens.Sort, with a delegate": Case(6, sort, more=DELEGATE, opens=True),
    "Notifications.Publish, durable": Case(6, lambda _: atrium.frame(
        "org.atrium.Notifications.Publish", topic="bench.app.x", payload={"a": 1}, durable=True)),
    "Contents.Put": Case(6, put),
    "Contents.Put, an item of 1,000": Case(1, films, opens=True, items=BATCH),
    "Votes.Cast": Case(6, cast),
    "Comments.Post": Case(6, lambda number: atrium.frame(
        "org.atrium.Comments.Post", container="bench", item=f"i{number % atrium.ITEMS + 1}",
        text=f"Hello number {number}, a comment of some length")),
}


def stripped():
    """A copy of the stage without what debuggers read, which would take valgrind longer than all else."""
    copy = new_directory("stage") / "atrium"
    shutil.copytree(atrium.stage, copy, symlinks=True)
    for path in [*copy.glob("bin/*"), *copy.rglob("*.so")]:
        if not path.is_symlink():
            subprocess.run(["strip", "--strip-debug", path], stderr=subprocess.DEVNULL, check=False)
    return copy


def watcher():
    """What the daemon is run under: valgrind, with what it needs to survive libdispatch."""
    library = RUN / "sigsuspend.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library,
                    HERE / "valgrind" / "sigsuspend.c"], check=True)
    # With a random seed a small table has other collisions in each run: 1 % of a call.
    return ["env", f"LD_PRELOAD={library}", "SWIFT_DETERMINISTIC_HASHING=1",
            "valgrind", "--tool=callgrind", "--instr-atstart=no"]


def exchange(clients, depth, request, first, count):
    """Makes so many calls at least, and gives the number of the next."""
    number = first
    while number < first + count:
        for client in clients:
            client.connection.sendall(b"".join(request(number + i) for i in range(depth)))
            number += depth
        for client in clients:
            for _ in range(depth):
                client.receive()
    return number


def instructions(name, under):
    case = CASES[name]
    depth = case.depth
    file = name.replace(', ', '.').replace(' ', '-').replace(',', '')
    counted = LAB / f"callgrind.{file}"
    counted.unlink(missing_ok=True)
    server = atrium.start_with_bench([*under, f"--callgrind-out-file={counted}"], case.more)
    request = case.requests(server)
    clients = [atrium.Client(server) for _ in range(CONNECTIONS)]

    # Of an import a few calls are enough: each is long.
    before, calls = (BEFORE, CALLS) if case.items == 1 else (CONNECTIONS, 3 * CONNECTIONS)
    first = exchange(clients, depth, request, atrium.ITEMS + 1, before)
    counting(server, "on")
    after = exchange(clients, depth, request, first, calls)
    counting(server, "off")
    server.stop()
    return counted_in(counted) / (after - first) / case.items


def counting(server, state):
    """Begins (on) or ends (off) what callgrind counts of a server."""
    subprocess.run(["callgrind_control", "-i", state, str(server.process.pid)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def counted_in(file):
    """The instructions that a file of callgrind has in all."""
    total = next(line for line in file.read_text().splitlines() if line.startswith("totals:"))
    return int(total.split()[1])


def diffs(under):
    """What a screen's part of a vote is that a hundred screens show: a hundredth of it, the vote included."""
    file = LAB / "callgrind.diffs"
    file.unlink(missing_ok=True)
    server = atrium.start_with_bench([*under, f"--callgrind-out-file={file}"])
    voter = atrium.Client(server)
    screens = [atrium.Client(server) for _ in range(SCREENS)]

    def vote(number):
        voter.call("org.atrium.Votes.Cast", container="bench", item=f"i{number % VOTED + 1}",
                   value=number // VOTED % 2 + 4)

    for number in range(VOTED):
        vote(number)
    for screen in screens:
        screen.exchange(OPENING)
    for number in range(VOTED, VOTED + 2 * VOTES):
        if number == VOTED + VOTES:
            counting(server, "on")
        vote(number)
        for screen in screens:
            screen.receive()
    counting(server, "off")
    server.stop()
    return counted_in(file) / VOTES / SCREENS


def run(_):
    subprocess.run([ROOT / ".ci" / "deps", "binutils", "gcc", "libc6-dev", "valgrind"], check=True)
    built, atrium.stage = atrium.stage, stripped()
    try:
        under = watcher()
        rows, counted = [], {}
        for name in CASES:
            say(f"  {name}")
            counted[name] = instructions(name, under)
            rows.append(Row("instructions", name, "instructions", [counted[name]]))
        say(f"  {DIFF}")
        rows.append(Row("instructions", DIFF, "instructions", [diffs(under)]))
        added = counted["Screens.Sort, with a delegate"] - counted["Screens.Sort"]
        rows.append(Row("instructions", "what a delegate adds that changes nothing",
                        "instructions", [added], aim=MICROSECOND))
        return rows
    finally:
        atrium.stage = built
