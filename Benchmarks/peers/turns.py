"""The longest turn of the event loop in each kind of long work: who calls meanwhile waits so long.

Turns are those that the daemon counts itself (`atrium_loop_turn_seconds`), and so are told as the
bucket that the longest is in. Where it may (as root), the daemon gets real-time priority, so that a
turn is as long as its work, whatever else the machine does.
"""
import json
import os
import select
import time
from pathlib import Path

import atrium
from figures import Row, say
from processes import new_directory

ITEMS = 200_000
SCREENS = 300
VOTES = 20_000
LINES = 100_000
AIM_MS = 10
# Slices that follow a reply end within this.
SETTLE_SECONDS = 2
# A file is read and shown within so long, or something is wrong.
SHOWN_SECONDS = 60
DEFINITION = """atrium: 1
container: big
title: Big
fields:
  title: { type: text, required: true, search: true }
  kind: { type: text }
  tags: { type: keywords }
  year: { type: integer }
  rating: { type: number }
components:
  - name: filters
    plugin: org.atrium.facets
    settings:
      sections:
        - { id: kind, field: kind, input: several }
        - { id: tags, field: tags, input: several }
        - { id: year, field: year, input: several }
        - { id: words, field: title, input: text }
  - { name: list, plugin: org.atrium.catalog }
  - { name: other, plugin: org.atrium.catalog }
  - { name: stars, plugin: org.atrium.stars, settings: { scale: 5, subjects: [items, container] } }
  - { name: talk, plugin: org.atrium.threads }
scopes:
  - { name: one, contents: [list] }
  - { name: two, contents: [other] }
"""
ONE = "item-0000009"
SOURCE = """atrium: 1
container: source
title: Source
fields:
  title: {{ type: text, required: true, search: true }}
  year: {{ type: integer }}
components:
  - {{ name: list, plugin: org.atrium.file, isolation: {isolation}, settings: {{ path: {path} }} }}
"""


def item(number, salt=0):
    fields = {"title": f"Title of {(number * 7919 + salt) % ITEMS} thing",
              "kind": f"kind{number % 3}", "year": 1900 + number % 150,
              "tags": [f"t{number * by % 500}" for by in (1, 3, 7)],
              "rating": (number * 31 + salt) % 1000 / 100}
    return {"id": f"item-{number:07}", "fields": fields}


class Turns:
    """A daemon, and how long its turns were since the last look."""

    def __init__(self):
        self.server = atrium.start()
        self.client = atrium.Client(self.server)
        self.watch = atrium.Client(self.server)
        self.rows = []
        self.hurry()
        self.apply(DEFINITION)
        self.last = self.counts()

    def hurry(self):
        """Gives the daemon's threads real-time priority, those to come too."""
        try:
            for task in Path(f"/proc/{self.server.process.pid}/task").iterdir():
                os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(1))
        except OSError:
            say("  no real-time priority: other programs' time counts too")

    def counts(self):
        """How many turns took up to so many milliseconds."""
        metrics = self.watch.call("org.atrium.Daemon.Metrics")["metrics"]
        turns = next(one for one in metrics if one["name"] == "atrium_loop_turn_seconds")
        found = {1e3 * bucket["upTo"]: bucket["count"] for bucket in turns["buckets"]}
        return {**found, float("inf"): turns["value"]}

    def measure(self, what, work):
        """Does something, and notes the longest turn until its slices are through."""
        work()
        time.sleep(SETTLE_SECONDS)
        before, self.last = self.last, self.counts()
        longest, below = 0, 0
        for most, count in sorted(self.last.items()):
            if count - before[most] > below:
                longest, below = most, count - before[most]
        over = below - (self.last[AIM_MS] - before[AIM_MS])
        say(f"  {what}: up to {longest:g} ms; over {AIM_MS} ms: {over}")
        self.rows.append(Row("turns", what, "ms", [longest], aim=AIM_MS))

    def call(self, method, **parameters):
        return self.client.call("org.atrium." + method, container="big", **parameters)

    def put(self, items):
        return self.call("Contents.Put", component="list", items=items)

    def apply(self, text):
        self.client.call("org.atrium.Containers.Apply",
                         definitions=[{"file": "big.yaml", "text": text}])

    def stream(self, method, **parameters):
        """A call with many replies, to the last of them."""
        call = atrium.frame("org.atrium." + method, **parameters)
        self.client.connection.sendall(call.replace(b'{"method"', b'{"more":true,"method"'))
        while b'"continues":true' in self.client.receive():
            pass

    def votes(self, subject, people="web"):
        """Many people's, five hundred on their way at once."""
        for start in range(0, VOTES, 500):
            for voter in range(start, start + 500):
                self.client.connection.sendall(atrium.frame(
                    "org.atrium.Votes.Cast", container="big", item=subject(voter),
                    value=1 + voter % 5, actor=f"{people}:u{voter}"))
            for _ in range(500):
                self.client.receive()

    def screen(self, **choices):
        screen = atrium.Client(self.server)
        call = atrium.frame("org.atrium.Screens.Open", container="big", **choices)
        screen.exchange(call.replace(b'{"method"', b'{"more":true,"method"'))
        return screen


class Screens:
    """Screens that all show something else."""

    def __init__(self, turns):
        sorts = [["title"], ["kind", "title"], ["-rating"]]
        self.open = [turns.screen(search=str(number), sort=sorts[number % 3],
                                  scope="two" if number % 2 else "one")
                     for number in range(SCREENS)]

    def read(self):
        """Takes what they were told."""
        for screen in self.open:
            while select.select([screen.connection], [], [], 0)[0]:
                screen.connection.recv(1 << 20)


def ask_often(turns):
    """Until the orders are made that queries ask for."""
    for _ in range(12):
        for sort in (["title"], ["rating"], ["year"], ["kind"], []):
            turns.call("Contents.List", sort=sort)


def some(salt):
    """A thousand items from all over the list, which are others now."""
    return [item(number, salt) for number in range(salt % 7, ITEMS, ITEMS // 1000)][:1000]


def lists(turns):
    def fill():
        for start in range(0, ITEMS, 1000):
            turns.put([item(number) for number in range(start, start + 1000)])
    turns.measure(f"{ITEMS:,} items put, 1,000 a call", fill)
    turns.measure("a page with counts, by a field that nobody sorted by",
                  lambda: turns.call("Contents.List", sort=["year", "title"], facets=True))
    turns.measure("a page of 1,000",
                  lambda: turns.call("Contents.List", sort=["kind", "title"], limit=1000))
    turns.measure("a search", lambda: turns.call("Contents.List", search="thing", facets=True))
    turns.measure("the same pages again and again: orders are made", lambda: ask_often(turns))
    turns.measure("1,000 items changed", lambda: turns.put(some(5)))
    turns.measure("1,000 items removed", lambda: turns.call(
        "Contents.Remove", component="list",
        items=[item(number)["id"] for number in range(5000, 6000)]))


def people(turns):
    turns.measure(f"{VOTES:,} votes", lambda: turns.votes(lambda voter: item(voter % 4000)["id"]))
    turns.measure(f"{VOTES:,} votes on one item", lambda: turns.votes(lambda _: ONE))
    turns.measure("a page of its ballots", lambda: turns.call("Votes.Ballots", item=ONE, limit=500))
    turns.measure("votes on it by others, and a page of its ballots", lambda: (
        turns.votes(lambda _: ONE, "other"),
        turns.call("Votes.Ballots", item=ONE, limit=500)))


def screens(turns):
    turns.measure("a screen with 1,000 rows", lambda: turns.screen(limit=1000))
    many = None

    def begin():
        nonlocal many
        many = Screens(turns)
    turns.measure(f"{SCREENS} screens opened", begin)
    for what, work in [
            ("1,000 items changed", lambda: turns.put(some(9))),
            ("a new tag", lambda: turns.put(
                [{"id": "new", "fields": {"title": "n", "tags": ["new"]}}])),
            ("stars hidden", lambda: turns.call("Containers.SetHidden", component="stars",
                                                hidden=True)),
            ("stars shown", lambda: turns.call("Containers.SetHidden", component="stars",
                                               hidden=False)),
            ("an item with 20,000 votes purged", lambda: turns.call(
                "Contents.Remove", component="list", items=[ONE], purge=True)),
            ("1,000 items purged", lambda: turns.call(
                "Contents.Remove", component="list", purge=True,
                items=[item(number)["id"] for number in range(100, 1100)])),
            ("a field added", lambda: turns.apply(DEFINITION.replace(
                "  rating:", "  more: { type: text }\n  rating:"))),
            ("the store verified", lambda: turns.stream("Store.Verify")),
            ("the container exported", lambda: turns.stream("Containers.Export", container="big"))]:
        turns.measure(f"{what}, {SCREENS} screens open", work)
        many.read()


def sources(turns):
    """What a source tells by itself: a file that has many lines more from one moment to the next."""
    path = new_directory("source") / "items.jsonl"
    for isolation in ("daemon", "process"):
        path.write_text(json.dumps({"id": "first", "title": "First"}) + "\n")
        turns.apply(SOURCE.format(isolation=isolation, path=path))

        def total():
            return turns.client.call("org.atrium.Contents.List", container="source", limit=1)["total"]

        def grow():
            # In place: a worker may read no file but the one that was there when it started.
            path.write_text("".join(
                json.dumps({"id": f"line-{number}", "title": f"Title {number}",
                            "year": 1900 + number % 150}) + "\n" for number in range(LINES)))
            end = time.monotonic() + SHOWN_SECONDS
            while total() != LINES:
                if time.monotonic() > end:
                    raise RuntimeError(f"after {SHOWN_SECONDS} s {total()} of {LINES} lines are shown")
                time.sleep(0.1)
        where = "the daemon" if isolation == "daemon" else "a worker"
        turns.measure(f"a file that has {LINES:,} items by now, in {where}", grow)
        turns.measure(f"400 of its lines changed, in {where}", lambda: change(path))
        turns.client.call("org.atrium.Containers.Delete", container="source")


def change(path):
    """Other titles in some lines: so few are told one by one."""
    lines = path.read_text().splitlines()
    for number in range(0, LINES, LINES // 400):
        lines[number] = json.dumps({"id": f"line-{number}", "title": "Other", "year": 2000})
    path.write_text("\n".join(lines) + "\n")


def ends(turns):
    turns.measure("stars detached", lambda: turns.call("Containers.Detach", component="stars"))
    turns.measure("the list detached", lambda: turns.call("Containers.Detach", component="list"))
    turns.measure("the list attached again", lambda: turns.call(
        "Containers.Attach", component="list", plugin="org.atrium.catalog"))
    turns.measure("the container deleted", lambda: turns.call("Containers.Delete"))


def run(_):
    """Once: what counts is the longest of many turns."""
    turns = Turns()
    for part in (lists, people, screens, sources, ends):
        part(turns)
    turns.server.stop()
    return turns.rows
