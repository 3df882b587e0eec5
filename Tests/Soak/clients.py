"""Clients of one user, each on a thread: usage: clients.py SOCKET ROLE FIRST COUNT SEED.

They work until `finish` comes on standard input, then print what they were promised, as JSON: what was acknowledged,
and what may have happened, since a connection ended before the reply. Roles: frontend (each client is a person of its own),
moderator (puts items), hostile.
"""
import json
import random
import socket
import sys
import threading
import time

from calls import Hostile, Interface

SOCKET, ROLE, FIRST, COUNT, SEED = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
CONTAINERS = ["club", "workers"]
# With a list that is a file, and a container with others in it: of these nothing is promised.
SHOWN = [*CONTAINERS, "shelf", "day"]
ITEMS = [f"item-{number}" for number in range(40)]
finished = threading.Event()
# A refusal that means: later.
LATER = ("StoreUnavailable", "ComponentUnavailable", "LimitExceeded", "RoleRequired")


class Lost(Exception):
    """The connection ended before the reply."""


class Client(threading.Thread):
    patience = 60

    def __init__(self, number):
        super().__init__(daemon=True)
        self.number, self.random = number, random.Random(SEED * 1000 + number)
        self.actor = f"web:{number}"
        self.connection, self.rest = None, b""
        self.calls, self.later, self.lost, self.problems = 0, 0, 0, []
        self.votes, self.comments, self.published, self.items = {}, {}, [], {}
        self.cursor, self.told, self.missed = None, 0, []

    def connect(self):
        while not finished.is_set():
            try:
                connection = socket.socket(socket.AF_UNIX)
                connection.settimeout(self.patience)
                connection.connect(SOCKET)
                self.connection, self.rest = connection, b""
                return
            except OSError:
                connection.close()
                finished.wait(0.1)
        raise Lost

    def hang_up(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def send(self, data):
        if not self.connection:
            self.connect()
        try:
            self.connection.sendall(data)
        except socket.timeout:
            raise
        except OSError:
            self.hang_up()
            raise Lost from None

    def receive(self):
        while b"\0" not in self.rest:
            try:
                part = self.connection.recv(1 << 18)
            except socket.timeout:
                raise
            except OSError:
                part = b""
            if not part:
                self.hang_up()
                raise Lost
            self.rest += part
        frame, self.rest = self.rest.split(b"\0", 1)
        return json.loads(frame)

    def call(self, method, more=False, **parameters):
        """Its parameters; None where it was refused."""
        call = {"method": method, "parameters": parameters}
        if more:
            call["more"] = True
        self.send(json.dumps(call).encode() + b"\0")
        reply = self.receive()
        self.calls += 1
        if "error" not in reply:
            return reply.get("parameters", {})
        if reply["error"].rsplit(".", 1)[1] not in LATER:
            self.problems.append(f"{method} {str(parameters)[:300]}: {str(reply)[:300]}")
        self.later += 1
        finished.wait(0.05)
        return None

    def run(self):
        while not finished.is_set():
            try:
                self.random.choice(self.kinds)(self)
            except Lost:
                self.lost += 1
            except socket.timeout:
                self.problems.append("no answer for 60 s")
                self.hang_up()
            finished.wait(0.02)
        self.hang_up()

    def write(self, book, key, new, method, **parameters):
        """Makes a change, and notes what holds now: what was acknowledged, or may have happened since."""
        known = book.setdefault(key, [None])
        try:
            reply = self.call(method, **parameters)
        except (Lost, socket.timeout):
            known.append(new)
            raise
        if reply is not None:
            book[key] = [new]
        return reply

    def vote(self):
        container, item = self.random.choice(CONTAINERS), self.random.choice(ITEMS)
        subject = {"container": container, "item": item, "actor": self.actor}
        if self.random.random() < 0.2:
            self.write(self.votes, f"{container}/{item}", None, "org.atrium.Votes.Retract", **subject)
        else:
            value = self.random.randint(1, 5)
            self.write(self.votes, f"{container}/{item}", value, "org.atrium.Votes.Cast",
                       value=value, **subject)

    def comment(self):
        container, item = self.random.choice(CONTAINERS), self.random.choice(ITEMS)
        # Each person has a few, and edits them: there are always the same number of them.
        id = f"c-{self.number}-{self.random.randint(0, 5)}-{item}"
        key = f"{container}/{item}/{id}"
        if self.comments.get(key, [None])[0] is None:
            # The same again, where the reply was lost: that is answered as the first time.
            self.write(self.comments, key, "first", "org.atrium.Comments.Post", container=container,
                       item=item, id=id, text="first", actor=self.actor)
        else:
            text = str(self.random.random())
            self.write(self.comments, key, text, "org.atrium.Comments.Edit", container=container,
                       comment=id, text=text, actor=self.actor)

    def publish(self):
        word = f"{self.number}-{self.calls}"
        if self.call("org.atrium.Notifications.Publish", topic="club.app.word", payload={"word": word},
                     durable=True, actor=self.actor) is not None:
            self.published.append(word)

    def read(self):
        container, item = self.random.choice(CONTAINERS), self.random.choice(ITEMS)
        method, parameters = self.random.choice([
            ("Contents.List", {"search": self.random.choice(["one", "t", "x y"]), "facets": True, "limit": 20}),
            ("Contents.List", {"sort": ["-votes.score", "title"], "actor": self.actor}),
            ("Contents.List", {"filters": {"genre": ["g1", "g2"]}, "limit": 5}),
            ("Contents.Get", {"item": item, "actor": self.actor}), ("Filters.List", {}),
            ("Votes.Tally", {"item": item, "actor": self.actor}), ("Comments.Thread", {"item": item, "limit": 50}),
            ("Containers.Describe", {})])
        self.call(f"org.atrium.{method}", container=container, **parameters)

    def pipeline(self):
        call = json.dumps({"method": "org.varlink.service.GetInfo"}).encode() + b"\0"
        self.send(call * 50)
        for _ in range(50):
            self.receive()
        self.calls += 50

    def screen(self):
        """Opens one, chooses something on it, and reads some revisions, or none, until it is let go."""
        self.hang_up()
        opened = self.call("org.atrium.Screens.Open", more=True, container=self.random.choice(SHOWN),
                           limit=20, sort=["-votes.score"], actor=self.actor)
        if opened is None:
            return
        try:
            if self.random.random() < 0.5:
                finished.wait(self.random.random())
            for _ in range(self.random.randint(0, 5)):
                self.connection.settimeout(1)
                self.receive()
        except socket.timeout:
            pass
        self.hang_up()

    def subscribe(self):
        """Follows what is durable from its cursor on: without a gap, in order."""
        self.hang_up()
        after = {} if self.cursor is None else {"after": self.cursor}
        batch = self.call("org.atrium.Notifications.Subscribe", more=True, topics=["club.>"], **after)
        end = time.monotonic() + 2
        while batch is not None and time.monotonic() < end and not finished.is_set():
            gap = batch.get("gap")
            if gap and gap["reason"] == "trimmed":
                self.missed.append(str(gap))
            for notification in batch["notifications"]:
                sequence = notification.get("sequence")
                if sequence is None:
                    continue
                if self.cursor is not None and sequence <= self.cursor:
                    self.missed.append(f"{sequence} after {self.cursor}")
                self.told += 1
            self.cursor = batch["sequence"]
            try:
                self.connection.settimeout(1)
                reply = self.receive()
            except socket.timeout:
                break
            # A stream is cut where its role was taken away, or the daemon stops.
            batch = None if "error" in reply else reply["parameters"]
        self.hang_up()

    def put(self):
        container, id = self.random.choice(CONTAINERS), f"own-{self.number}-{self.random.randint(0, 9)}"
        key = f"{container}/{id}"
        if self.random.random() < 0.15 and self.items.get(key, [None])[0] is not None:
            self.write(self.items, key, None, "org.atrium.Contents.Remove", container=container, items=[id])
        else:
            title = str(self.random.random())
            item = {"id": id, "fields": {"title": title, "genre": [self.random.choice(["g1", "g2"])]}}
            self.write(self.items, key, title, "org.atrium.Contents.Put", container=container, items=[item])

    frontend = [vote, vote, vote, comment, publish, read, read, pipeline, screen, subscribe]
    moderator = [put, put, put, read]

    @property
    def kinds(self):
        return self.frontend if ROLE == "frontend" else self.moderator


class HostileClient(Client):
    """Calls every method with what nobody sends, and does not always read the answers."""

    # Behind a stream of its own nothing is answered, nor read.
    patience = 3

    def run(self):
        streams, made = [], None
        while not finished.is_set():
            try:
                made = made or self.prepare()
                frames = [made.next(method)[0] for method in
                          self.random.sample(made.methods, self.random.randint(1, 8))]
                self.send(b"".join(frames))
                if self.random.random() < 0.2:
                    # What is not read waits in the daemon, at this user's cost.
                    streams.append(self.connection)
                    self.connection = None
                    if len(streams) > 40:
                        streams.pop(self.random.randrange(len(streams))).close()
                    continue
                for _ in frames:
                    self.learn(made, self.receive())
                    self.calls += 1
            except (Lost, socket.timeout):
                self.hang_up()
            finished.wait(0.005)
        for stream in streams:
            stream.close()
        self.hang_up()

    def prepare(self):
        texts, told = [], self.call("org.varlink.service.GetInfo")
        if told is None:
            raise Lost
        for name in told["interfaces"]:
            reply = self.call("org.varlink.service.GetInterfaceDescription", interface=name)
            if reply is None:
                raise Lost
            texts.append(reply["description"])
        return Hostile([Interface(text) for text in texts], {
            "container": SHOWN, "item": [*ITEMS, "book-1"], "part": ["club", "shelf", "none"],
            "component": ["list", "stars", "talk", "facets", "club", "shelf"], "plugin": ["org.atrium.file", "none"],
            "section": ["genre", "title"], "filter": ["g1", "g2", "one"], "sort": ["title", "-votes.score"],
            "topics": ["club.>", ">"], "topic": ["club.app.word", "club.app.x"], "search": ["one", "t"],
            "actor": ["web:1", "unix:0"], "field": ["title", "genre"], "screen": ["none"], "cursor": [
                "none", "50", "-1", *map(str, (2**63 - 1, -2**63, 2**53))],
            "comment": ["none"], "level": ["none"],
        }, SEED)

    def learn(self, made, reply):
        parameters = reply.get("parameters") or {}
        for field, name in (("screen", "screen"), ("next", "cursor")):
            if isinstance(parameters.get(field), str):
                made.known[name] = (made.known[name] + [parameters[field]])[-20:]


def main():
    kind = HostileClient if ROLE == "hostile" else Client
    clients = [kind(FIRST + number) for number in range(COUNT)]
    for client in clients:
        client.start()
    sys.stdin.readline()
    finished.set()
    for client in clients:
        client.join(70)
    keep = ("votes", "comments", "published", "items", "problems", "missed", "calls", "later", "lost", "told")
    stuck = [f"client {client.number} does not end" for client in clients if client.is_alive()]
    print(json.dumps({"stuck": stuck, "clients": [{name: getattr(client, name) for name in ("number",) + keep}
                                                  for client in clients]}))


main()
