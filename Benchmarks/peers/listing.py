"""A listing over a million films: two genres, rated 7 and up, under two hours, best first.

The answer is the first fifty, their number in all, and how many each filter of four sections would
give, whereby a section's own selection does not reduce its counts. Everyone is asked by a client in
Python, over a Unix socket; SQLite is called within the client.
"""
import http.client
import itertools
import time
import urllib.parse

import atrium
import movies
import servers
from figures import Case, Row, column, measure, say
from processes import dial, tool

GENRE, RATING, DURATION = "genre IN ('Drama','Comedy')", "rating>=7", "duration<7200"
ALL = f"{GENRE} AND {RATING} AND {DURATION}"
BEST = f"SELECT id,title,genre,duration,rating,year FROM movies WHERE {ALL} ORDER BY rating DESC"
NUMBER = f"SELECT count(*) FROM movies WHERE {ALL}"
COUNTS = [
    "SELECT genre, count(*) FROM movies INDEXED BY by_genre "
    f"WHERE {RATING} AND {DURATION} GROUP BY 1",
    f"SELECT year, count(*) FROM movies INDEXED BY by_genre WHERE {ALL} GROUP BY 1",
    "SELECT CAST(rating AS INT), count(*) FROM movies INDEXED BY by_genre "
    f"WHERE {GENRE} AND {DURATION} GROUP BY 1",
    "SELECT duration/1800, count(*) FROM movies INDEXED BY by_genre "
    f"WHERE {GENRE} AND {RATING} GROUP BY 1",
]
DEFINITION = """atrium: 1
container: movies
title: A million films
fields:
  title:    { type: text, required: true, search: true }
  genre:    { type: keywords }
  duration: { type: duration }
  rating:   { type: number, min: 0, max: 10 }
  year:     { type: integer }
components:
  - name: filters
    plugin: org.atrium.facets
    settings:
      sections:
        - { id: genre, field: genre, input: several }
        - { id: year, field: year, input: several }
        - { id: rating, field: rating, input: several, filters: [%s] }
        - { id: duration, field: duration, input: several, filters: [%s] }
  - { name: list, plugin: org.atrium.catalog }
""" % (", ".join(["{ id: 7+, from: 7 }"] + [
    f"{{ id: r{n}, from: {n}, to: {n + 1} }}" for n in range(11)]),
       ", ".join(["{ id: under-2h, to: 7200 }"] + [
           f"{{ id: d{n}, from: {n * 1800}, to: {(n + 1) * 1800} }}" for n in range(8)]))
# By default a section has the 50 most frequent values of a field; there are more years.
SETTINGS = "limits: { facetValues: 200 }\n"
CHOSEN = {"genre": ["Drama", "Comedy"], "rating": ["7+"], "duration": ["under-2h"]}
PAGE = 50
SQLITE, DATASETTE, SCAN = "SQLite", "Datasette", "C over columns"


def timed(work, seconds=0.4):
    """The median and 99th percentile in milliseconds, after one run to warm up."""
    work()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter_ns()
        work()
        times.append((time.perf_counter_ns() - start) / 1e6)
    times.sort()
    return {"p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}


class Ours:
    """The container with the films, and what is asked of it."""

    def __init__(self):
        self.server = atrium.start(settings=SETTINGS)
        self.client = atrium.Client(self.server)
        self.client.call("org.atrium.Containers.Apply",
                         definitions=[{"file": "movies.yaml", "text": DEFINITION}])
        start = time.perf_counter()
        self.client.put("movies", movies.items(movies.open_database()))
        say(f"  a million films imported in {time.perf_counter() - start:.1f} s")

    def query(self, **parameters):
        return atrium.frame("org.atrium.Contents.List", container="movies", **parameters)

    def ask(self, **parameters):
        return atrium.parameters_of(self.client.exchange(self.query(**parameters)))

    def answer(self):
        query = self.query(filters=CHOSEN, sort=["-rating"], facets=True, limit=PAGE)
        return lambda: self.client.exchange(query)

    def clicks(self):
        """The same with one genre more, another one each time."""
        queries = itertools.cycle([
            self.query(filters={**CHOSEN, "genre": ["Drama", "Comedy", genre]}, sort=["-rating"],
                       facets=True, limit=PAGE) for genre in movies.GENRES[2:]])
        return lambda: self.client.exchange(next(queries))

    def page(self, number):
        """A page further on, by its cursor."""
        cursor = {}
        for _ in range(number - 1):
            cursor = {"cursor": self.ask(filters=CHOSEN, sort=["-rating"], limit=PAGE,
                                         fields=[], **cursor)["next"]}
        query = self.query(filters=CHOSEN, sort=["-rating"], limit=PAGE, **cursor)
        return lambda: self.client.exchange(query)

    def search(self, texts, limit):
        queries = itertools.cycle([
            self.query(search=text, sort=["-rating"], limit=limit) for text in texts])
        return lambda: self.client.exchange(next(queries))


class SQLite:
    """SQLite with the indexes it would want, within the client."""

    def __init__(self):
        self.database = movies.open_database()

    def statements(self, *statements):
        return lambda: [self.database.execute(statement).fetchall() for statement in statements]

    def answer(self):
        return self.statements(f"{BEST} LIMIT {PAGE}", NUMBER, *COUNTS)

    def page(self, number):
        return self.statements(f"{BEST} LIMIT {PAGE} OFFSET {PAGE * (number - 1)}")

    def each(self, texts, statement):
        """The statement with another text each time."""
        texts = itertools.cycle(texts)
        return lambda: self.database.execute(statement, (next(texts),)).fetchall()

    def scan(self, texts):
        return self.each(texts, "SELECT count(*) FROM movies WHERE fold LIKE '%'||?||'%'")

    def trigrams(self, texts):
        return self.each(texts, "SELECT count(*) FROM trigrams WHERE trigrams MATCH '\"'||?||'\"'")

    def trigrams_sorted(self, texts):
        return self.each(
            texts, "SELECT m.id, m.title, m.rating FROM trigrams t JOIN movies m ON m.id=t.rowid "
            f"WHERE trigrams MATCH '\"'||?||'\"' ORDER BY m.rating DESC LIMIT {PAGE}")


class Datasette:
    """Datasette with the same database. Its facets are conjunctive: ours are a statement of SQL."""
    PLAIN = "&_nofacet=1&_nosuggest=1&_shape=objects"

    def __init__(self):
        self.server = servers.datasette(movies.PATH)
        self.connection = None
        self.used = 0

    def get(self, path):
        # It closes a connection that is idle for five seconds.
        if time.monotonic() - self.used > 3:
            self.connection = http.client.HTTPConnection("localhost")
            self.connection.sock = dial(self.server.address)
        self.connection.request("GET", path)
        reply = self.connection.getresponse()
        body = reply.read()
        self.used = time.monotonic()
        if reply.status != 200:
            raise SystemExit(f"Datasette says {reply.status} to {path}: {body[:300]}")
        return body

    def answer(self):
        page = ("/movies/movies.json?genre__in=Drama,Comedy&rating__gte=7&duration__lt=7200"
                f"&_sort_desc=rating&_size={PAGE}{self.PLAIN}")
        counts = "/movies.json?_shape=arrays&_size=max&sql=" + urllib.parse.quote_plus(
            " UNION ALL ".join(COUNTS))
        return lambda: (self.get(page), self.get(counts))

    def search(self, texts):
        paths = itertools.cycle([
            f"/movies/movies.json?fold__contains={text}&_sort_desc=rating&_size={PAGE}{self.PLAIN}"
            for text in texts])
        return lambda: self.get(next(paths))


def same_answers(ours, database, texts):
    """Ends everything where ours and SQLite's differ: the numbers, each count, what is found."""
    answer = ours.ask(filters=CHOSEN, sort=["-rating"], facets=True, limit=PAGE)
    expected = database.execute(NUMBER).fetchone()[0]
    shown = {section["id"]: {f["id"]: f["count"] for f in section["filters"]}
             for section in answer["sections"]}
    genres, years, ratings, durations = (database.execute(count).fetchall() for count in COUNTS)
    counted = {**{("genre", g): n for g, n in genres}, **{("year", str(y)): n for y, n in years},
               **{("rating", f"r{r}"): n for r, n in ratings},
               **{("duration", f"d{d}"): n for d, n in durations}}
    wrong = {key: n for key, n in counted.items() if shown[key[0]].get(key[1]) != n}
    if answer["total"] != expected or wrong:
        raise SystemExit(f"{answer['total']} films instead of {expected}; not as counted: {wrong}")
    for text in texts:
        found = ours.ask(search=text, limit=1)["total"]
        expected, = database.execute(
            "SELECT count(*) FROM movies WHERE instr(fold, ?) > 0", (text,)).fetchone()
        if found != expected:
            raise SystemExit(f"{found} films with {text} instead of {expected}")


def scan(text, key):
    return lambda: {"p50": tool("limits", "scan", movies.PATH, text)[key] / 1e3}


def plan(ours, sqlite, datasette, rare, common):
    """What is measured: a name, ours, the peers', and the aim."""
    return [
        ("page, number and counts of 4 sections", ours.answer(), {
            SQLITE: sqlite.answer(), DATASETTE: datasette.answer(),
            SCAN: scan(rare[0], "answer_us")}, {"aim": 3}),
        ("the same, one more genre chosen", ours.clicks(), {}, {"aim": 1}),
        ("text in 300 titles, number", ours.search(rare, 1), {
            "LIKE": sqlite.scan(rare), "trigrams": sqlite.trigrams(rare),
            SCAN: scan(rare[0], "search_us")}, {"ahead_of": "trigrams"}),
        ("text in 40,000 titles, best 50", ours.search(common, PAGE), {
            "trigrams": sqlite.trigrams_sorted(common), DATASETTE: datasette.search(common)},
            {"aim": 5}),
        ("the same, that of 74,000 again", ours.search(common[:1], PAGE), {
            "trigrams": sqlite.trigrams_sorted(common[:1])}, {"aim": 5}),
        ("page 1", ours.page(1), {SQLITE: sqlite.page(1)}, {}),
        ("page 20", ours.page(20), {SQLITE: sqlite.page(20)}, {}),
        ("page 1,000", ours.page(1000), {SQLITE: sqlite.page(1000)}, {}),
    ]


def run(rounds):
    ours, sqlite, datasette = Ours(), SQLite(), Datasette()
    rare = movies.rare_texts(sqlite.database)
    common = movies.common_texts(sqlite.database)
    same_answers(ours, sqlite.database, [rare[0], rare[-1], common[0]])
    lines = plan(ours, sqlite, datasette, rare, common)
    cases = []
    for what, work, peers, _ in lines:
        for name, work in {"ours": work, **peers}.items():
            cases.append(Case(f"{what}: {name}", work if name == SCAN else
                              lambda work=work: timed(work)))
    got = measure(cases, rounds)
    return [Row("listing", what, "ms", column(got[f"{what}: ours"], "p50"),
                {name: column(got[f"{what}: {name}"], "p50") for name in peers}, **aim)
            for what, _, peers, aim in lines]
