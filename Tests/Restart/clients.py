"""Clients of a daemon that is restarted under them: publishers, subscribers and screens that count.

Usage: clients.py SOCKET SUBSCRIBERS PUBLISHERS; reads commands from standard input, a line each:

  mark NAME   prints `NAME ended=… published=…`: how many connections have ended by now
  finish      stops publishing, waits until all was told, prints what was counted, and ends

Subscribers never reconnect unless told: one whose connection ends goes on by its cursor, and that is
counted. Nothing is taken on trust: what each was told is compared with what the daemon itself replays.
"""

import json
import socket
import sys
import threading
import time

SOCKET, SUBSCRIBERS, PUBLISHERS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Connection:
    """A Varlink connection, byte by byte: it ends when it ends."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(SOCKET)
        self.received = b""

    def send(self, method, more=False, **parameters):
        call = {"method": method, "parameters": parameters}
        if more:
            call["more"] = True
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def receive(self):
        """The next reply; None at the end of the connection."""
        while b"\0" not in self.received:
            try:
                part = self.socket.recv(1 << 16)
            except ConnectionError:
                return None
            if not part:
                return None
            self.received += part
        frame, self.received = self.received.split(b"\0", 1)
        return json.loads(frame)

    def call(self, method, **parameters):
        try:
            self.send(method, **parameters)
            return self.receive()
        except ConnectionError:
            return None


def connect():
    """Connects, as soon as somebody answers."""
    while True:
        try:
            return Connection()
        except (ConnectionError, FileNotFoundError):
            time.sleep(0.02)


class Client(threading.Thread):
    """A thread whose connection may end."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ended = 0
        self.problems = []
        self.start()


class Publisher(Client):
    """Publishes as fast as it is answered: every fourth time something that is not kept."""

    def __init__(self, number):
        self.number, self.acknowledged, self.transient, self.wanted = number, 0, 0, True
        super().__init__()

    def run(self):
        connection, count = connect(), 0
        while self.wanted:
            count += 1
            durable = count % 4 != 0
            reply = connection.call(
                "org.atrium.Notifications.Publish", topic="films.app.load",
                payload={"by": self.number, "count": count}, durable=durable)
            if reply is None:
                self.ended += 1
                connection = connect()
            elif "error" in reply:
                if not reply["error"].endswith("StoreUnavailable"):
                    self.problems.append(f"publisher {self.number}: {reply}")
                time.sleep(0.02)
            elif durable:
                self.acknowledged += 1
            else:
                self.transient += 1


class Subscriber(Client):
    """Writes down each notification that it is told."""

    def __init__(self):
        self.told, self.gaps, self.transient, self.cursor = [], [], [], None
        self.ready = threading.Event()
        super().__init__()

    def run(self):
        while True:
            connection = connect()
            parameters = {} if self.cursor is None else {"after": self.cursor}
            try:
                connection.send(
                    "org.atrium.Notifications.Subscribe", more=True, topics=["films.app.>"],
                    **parameters)
                while reply := connection.receive():
                    self.take(reply)
            except ConnectionError:
                pass
            self.ended += 1

    def take(self, reply):
        if "error" in reply:
            self.problems.append(str(reply))
            return
        batch = reply["parameters"]
        if self.cursor is None:
            self.cursor = self.start = batch["sequence"]
        if batch.get("gap"):
            self.gaps.append(batch["gap"])
        for notification in batch["notifications"]:
            sequence = notification.get("sequence")
            if sequence is None:
                payload = notification["payload"]
                self.transient.append((payload["by"], payload["count"]))
            else:
                self.told.append(sequence)
        self.cursor = batch["sequence"]
        self.ready.set()


class Screen(Client):
    """Keeps a screen as its revisions say, on one connection."""

    def __init__(self):
        self.revisions, self.resets, self.id, self.state = [], [], None, {}
        self.ready = threading.Event()
        super().__init__()

    def run(self):
        resume = {}
        while True:
            connection = connect()
            try:
                connection.send(
                    "org.atrium.Screens.Open", more=True, container="films", limit=20, **resume)
                while reply := connection.receive():
                    self.take(reply)
            except ConnectionError:
                pass
            self.ended += 1
            resume = {"resume": {"screen": self.id, "revision": self.revisions[-1]}}

    def take(self, reply):
        if "error" in reply:
            self.problems.append(str(reply))
            return
        revision = reply["parameters"]
        base = revision.get("base")
        if base is None:
            self.state = {}
            if self.id is not None:
                self.resets.append(revision.get("reset"))
        elif base != self.revisions[-1]:
            self.problems.append(f"revision {revision['revision']} leads on from {base}")
        for change in revision.get("lists") or []:
            entries = self.state.setdefault(change["component"], [])
            for edit in change["edits"]:
                at = edit["at"]
                entry = edit.get("item") or edit.get("comment")
                if edit["op"] == "insert":
                    entries.insert(at, entry)
                elif edit["op"] == "remove":
                    del entries[at]
                elif edit["op"] == "move":
                    entries.insert(edit["to"], entries.pop(at))
                else:
                    entries[at] = entry
        if revision.get("tally"):
            self.state["tally"] = revision["tally"]
        self.id = revision["screen"]
        self.revisions.append(revision["revision"])
        self.ready.set()


class Voter(Client):
    """Votes, so that screens change."""

    def __init__(self, items):
        self.wanted, self.items = True, items
        super().__init__()

    def run(self):
        connection, count = connect(), 0
        while self.wanted:
            count += 1
            about = {"item": self.items[count % len(self.items)]} if count % 2 else {}
            reply = connection.call(
                "org.atrium.Votes.Cast", container="films", value=count % 5 + 1, **about)
            if reply is None:
                self.ended += 1
                connection = connect()
            time.sleep(0.02)


def replay():
    """All sequences that the daemon has, and its last one."""
    connection, sequences = connect(), []
    connection.send(
        "org.atrium.Notifications.Subscribe", more=True, topics=["films.app.>"], after=0)
    while True:
        batch = connection.receive()["parameters"]
        assert not batch.get("gap"), batch
        sequences += [notification["sequence"] for notification in batch["notifications"]]
        if batch["live"]:
            return sequences, batch["sequence"]


def wait(condition):
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


def compare(subscribers, publishers):
    """What was lost and what was doubled, of what the daemon has kept and has acknowledged."""
    sequences, last = replay()
    wait(lambda: all(s.told and s.told[-1] >= sequences[-1] for s in subscribers))
    lost = doubled = disordered = 0
    for subscriber in subscribers:
        told = set(subscriber.told)
        lost += len([s for s in sequences if s > subscriber.start and s not in told])
        doubled += len(subscriber.told) - len(told)
        disordered += subscriber.told != sorted(subscriber.told)
    kept = [s for s in subscribers if s.ended == 0]
    acknowledged = sum(p.transient for p in publishers)
    transient_lost = sum(
        1 for s in kept if len(set(s.transient)) < acknowledged and not s.gaps)
    transient_doubled = sum(len(s.transient) - len(set(s.transient)) for s in subscribers)
    print(f"told {sum(len(s.told) for s in subscribers)} of={len(sequences)}", flush=True)
    print(f"counts lost={lost} doubled={doubled} disordered={disordered} "
          f"transient-lost={transient_lost} transient-doubled={transient_doubled} "
          f"missing={max(0, sum(p.acknowledged for p in publishers) - len(sequences))}")
    print(f"gaps {sum(len(s.gaps) for s in subscribers)} "
          f"trimmed={sum(g['reason'] == 'trimmed' for s in subscribers for g in s.gaps)}")


def compare_screens(screens):
    """Whether what revisions led to is what a new screen shows."""
    fresh = Screen()
    fresh.ready.wait(30)
    same = lambda s: s.state == fresh.state
    wait(lambda: all(same(s) for s in screens))
    print(f"screens wrong={sum(not same(s) for s in screens)} "
          f"resets={sum(len(s.resets) for s in screens)} "
          f"revisions={sum(len(s.revisions) for s in screens)} "
          f"reasons={sorted({str(r) for s in screens for r in s.resets})}", flush=True)


def main():
    subscribers = [Subscriber() for _ in range(SUBSCRIBERS)]
    screens = [Screen() for _ in range(5)]
    for client in subscribers + screens:
        client.ready.wait(30)
    publishers = [Publisher(number) for number in range(PUBLISHERS)]
    voter = Voter([item["id"] for item in screens[0].state["list"]])
    clients = subscribers + screens + publishers + [voter]
    print("ready", flush=True)
    for line in sys.stdin:
        command, *words = line.split()
        if command == "mark":
            before = sum(p.acknowledged for p in publishers)
            # A mark is made when the daemon answers again.
            wait(lambda: sum(p.acknowledged for p in publishers) > before + 50)
            ended = {
                kind.__name__: sum(c.ended for c in clients if isinstance(c, kind))
                for kind in (Subscriber, Screen, Publisher)}
            print(f"{words[0]} {' '.join(f'{k}={v}' for k, v in ended.items())}", flush=True)
            continue
        for publisher in publishers:
            publisher.wanted = False
        voter.wanted = False
        for client in publishers + [voter]:
            client.join(30)
        compare(subscribers, publishers)
        compare_screens(screens)
        problems = [problem for client in clients for problem in client.problems]
        print(f"problems {problems[:5]}", flush=True)
        return


main()
