"""Screens that are open: a vote that all of them show, that a few show or none, and a click."""
import itertools
import selectors
import time

import atrium
import listing
import movies
from figures import Case, Row, column, measure
from processes import drive, request_file

ITEMS = 60_000
SCREENS = 1_000
FEW = 10
VOTED = 9
DEFINITION = (listing.DEFINITION + "  - { name: stars, plugin: org.atrium.stars, "
              "settings: { scale: 5, subjects: [items] } }\n")
# The films that are voted on are the first of these, and far from the first of those.
BY_SCORE, BY_TITLE = ["-votes.score"], ["title"]


def start():
    """A daemon of its own each time: a screen lingers for half a minute after its connection."""
    server = atrium.start()
    client = atrium.Client(server)
    client.call("org.atrium.Containers.Apply",
                definitions=[{"file": "movies.yaml", "text": DEFINITION}])
    client.put("movies", itertools.islice(movies.items(movies.open_database()), ITEMS))
    for number in range(1, VOTED + 1):
        client.call("org.atrium.Votes.Cast", container="movies", item=f"{number:07}", value=3)
    return server, client


def opening(sort):
    call = atrium.frame("org.atrium.Screens.Open", container="movies", sort=sort,
                        limit=listing.PAGE)
    return call.replace(b'{"method"', b'{"more":true,"method"')


def vote():
    return request_file("vote", '{"method":"org.atrium.Votes.Cast","parameters":{"container":'
                                '"movies","item":"000000%SUBJECT%","value":%VALUE%}}\0')


def votes_in_sight():
    """A vote to the last of the diffs."""
    server, _ = start()
    screen = request_file("screen", opening(BY_SCORE).decode())
    result = drive("lat", server, protocol="atrium-screens", subscribers=SCREENS, screen=screen,
                   request=vote(), subjects=VOTED, seconds=2)
    server.stop()
    return {"p50": result["p50_us"] / 1e3, "p99": result["p99_us"] / 1e3,
            "cpu": result["server_cpu_us"]}


def votes_in_sight_of_few():
    """A vote to the last of the diffs of those that show it, while all others are open."""
    server, _ = start()
    others = open_by_title(server, SCREENS - FEW)
    screen = request_file("screen", opening(BY_SCORE).decode())
    result = drive("lat", server, protocol="atrium-screens", subscribers=FEW, screen=screen,
                   request=vote(), subjects=VOTED, seconds=2)
    expect_silence(others)
    server.stop()
    return {"p50": result["p50_us"] / 1e3, "p99": result["p99_us"] / 1e3,
            "cpu": FEW * result["server_cpu_us"]}


def open_by_title(server, count):
    """Screens that show none of the films that are voted on."""
    screens = [atrium.Client(server) for _ in range(count)]
    for screen in screens:
        screen.exchange(opening(BY_TITLE))
    return screens


def expect_silence(screens):
    with selectors.DefaultSelector() as selector:
        for screen in screens:
            selector.register(screen.connection, selectors.EVENT_READ)
        if told := selector.select(0.1):
            raise SystemExit(f"{len(told)} screens were told of a vote that they do not show")


def votes_out_of_sight():
    """What a vote costs the server more for each screen that it does not touch."""
    server, _ = start()
    how = {"protocol": "varlink", "request": vote(), "subjects": VOTED, "seconds": 1}
    before = drive("req", server, **how)
    screens = open_by_title(server, SCREENS)
    after = drive("req", server, first=before["next"], **how)
    expect_silence(screens)
    server.stop()
    return {"cpu": (after["server_cpu_us"] - before["server_cpu_us"]) / SCREENS}


class Clicks:
    """A filter that is chosen, and one that is given up, by turns."""

    def __init__(self, begin=start):
        self.server, self.client = begin()
        self.screen = atrium.Client(self.server)
        snapshot = self.screen.exchange(opening(BY_TITLE))
        self.name = atrium.parameters_of(snapshot)["screen"]
        self.clicks = itertools.cycle([(method, genre) for genre in movies.GENRES
                                       for method in ("Select", "Deselect")])

    def run(self):
        times = []
        for method, genre in itertools.islice(self.clicks, 400):
            call = atrium.frame("org.atrium.Screens." + method, screen=self.name, section="genre",
                                filter=genre)
            start = time.perf_counter_ns()
            self.client.connection.sendall(call)
            self.screen.receive()
            times.append((time.perf_counter_ns() - start) / 1e6)
            self.client.receive()
        times.sort()
        return {"p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}


def run(rounds):
    click = Clicks()
    got = measure([Case("all", votes_in_sight), Case("few", votes_in_sight_of_few),
                   Case("none", votes_out_of_sight), Case("click", click.run)], rounds)
    everyone = f"a vote to the last of {SCREENS:,} diffs"
    few = f"a vote that {FEW} of {SCREENS:,} screens show, to the last of their diffs"
    figures = [("all", everyone, "p50", "ms", None), ("all", everyone, "p99", "ms", 20),
               ("all", "server CPU of each of them", "cpu", "us", None),
               ("few", few, "p50", "ms", None), ("few", few, "p99", "ms", None),
               ("few", f"server CPU of a vote that {FEW} of {SCREENS:,} screens show", "cpu",
                "us", None),
               ("none", "server CPU of a vote for each screen out of sight", "cpu", "us", 1),
               ("click", "a click to its whole diff", "p50", "ms", None),
               ("click", "a click to its whole diff", "p99", "ms", 5)]
    return [Row("screens", f"{what}: {key}" if key != "cpu" else what, unit,
                column(got[name], key), aim=aim) for name, what, key, unit, aim in figures]
