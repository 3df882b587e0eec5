"""Comments and votes over the network's usual way of doing it: Isso, beside ours."""
import sqlite3

import atrium
import servers
from figures import Case, Row, column, measure
from processes import drive, request_file

SENTENCE = "It says what its author thought of the film. "
TEXT = ("Comment %SEQUENCE%: plain prose of a usual length, a few sentences long. " + SENTENCE * 4)
TEXT = TEXT[:245]
SEEDED = 1000
WAYS = {"post, 1 client": 1, "post, 8 clients": 8, "page of 50 of 1,000": 1, "vote, 1 client": 1}
# How many times Isso's rate.
AIMS = {"post, 1 client": 15, "post, 8 clients": 60}
KEYS = [("p50", "p50_us", "us"), ("rate", "per_s", "/s"), ("server CPU", "server_cpu_us", "us")]


def http(name, method, path, body=None):
    # It takes one vote from a network for each comment: hence the addresses.
    head = (f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            "X-Forwarded-For: fd00:%HIGH%:%LOW%::1\r\n")
    if body is not None:
        length = len(body.replace("%SEQUENCE%", "00000000"))
        head += f"Content-Type: application/json\r\nContent-Length: {length}\r\n"
    return request_file(name, head + "\r\n" + (body or ""))


def call(name, method, parameters):
    return request_file(name, '{"method":"org.atrium.%s","parameters":{"container":"bench",%s}}\0'
                        % (method, parameters))


class Site:
    """One of the two, and the numbers of what was posted and voted there."""

    def __init__(self, server, protocol, requests):
        self.server = server
        self.protocol = protocol
        self.requests = requests
        self.next = 1

    def run(self, way):
        what, clients = way.split(",")[0], WAYS[way]
        result = drive("req", self.server, protocol=self.protocol, request=self.requests[what],
                       connections=clients, seconds=1, first=self.next, subjects=SEEDED)
        self.next = result["next"]
        return result

    def once(self, what):
        self.next = drive("req", self.server, protocol=self.protocol, first=self.next, count=1,
                          request=self.requests[what], warm_up=0)["next"]


def start_isso():
    # With a title it does not fetch the page that the comment is about.
    post = '{"text":"%s","author":"someone","title":"posts"}' % TEXT
    site = Site(servers.isso(), "http", {
        "post": http("isso-post", "POST", "/new?uri=/posts", post),
        "page of 50 of 1": http("isso-page", "GET", "/?uri=/seeded&limit=50&nested_limit=0"),
        "vote": http("isso-vote", "POST", "/id/%SUBJECT%/like", "")})
    site.once("post")
    seed(site.server.database)
    return site


def seed(path):
    """A thousand comments like the one that is there, in a thread of their own."""
    with sqlite3.connect(path) as database:
        thread, = database.execute(
            "INSERT INTO threads(uri, title) VALUES('/seeded', 'seeded') RETURNING id").fetchone()
        cursor = database.execute("SELECT * FROM comments LIMIT 1")
        row = dict(zip([column[0] for column in cursor.description], cursor.fetchone()))
        del row["id"]
        for number in range(SEEDED):
            row.update(tid=thread, created=1.7e9 + number, author=f"author {number % 50}",
                       text=TEXT.replace("%SEQUENCE%", f"{number:08}"),
                       remote_addr=f"10.0.{number % 50}.0")
            database.execute(f"INSERT INTO comments({','.join(row)}) "
                             f"VALUES({','.join('?' * len(row))})", list(row.values()))


def start_ours():
    server = atrium.start_with_bench()
    client = atrium.Client(server)
    for number in range(SEEDED):
        client.call("org.atrium.Comments.Post", container="bench", item="i2",
                    text=TEXT.replace("%SEQUENCE%", f"{number:08}"))
    site = Site(server, "varlink", {
        "post": call("post", "Comments.Post", '"item":"i1","text":"%s"' % TEXT),
        "page of 50 of 1": call("page", "Comments.Thread", '"item":"i2","limit":50'),
        "vote": call("vote", "Votes.Cast", '"item":"i%SUBJECT%","value":%VALUE%')})
    site.next = atrium.ITEMS
    return site


def run(rounds):
    sites = {"ours": start_ours(), "Isso": start_isso()}
    got = measure([Case(f"{name} {way}", lambda site=site, way=way: site.run(way))
                   for way in WAYS for name, site in sites.items()], rounds)
    return [Row("comments", f"{way}: {label}", unit, column(got[f"ours {way}"], key),
                {"Isso": column(got[f"Isso {way}"], key)},
                aim=AIMS.get(way) if key == "per_s" else None, is_ratio=True)
            for way in WAYS for label, key, unit in KEYS]
