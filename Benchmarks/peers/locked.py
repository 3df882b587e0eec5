"""A store that another process locks for some seconds while fifty clients vote: who is answered when."""
import sqlite3
import threading
import time

import atrium
from figures import Row
from processes import dial

CLIENTS, VOTES, LOCKED = 50, 500, 12.0
REFUSED = '"error":"org.atrium.Votes.StoreUnavailable"'


class Voter:
    """A client that has all its votes on their way at once, and notes when each reply came."""

    def __init__(self, server, number):
        self.connection = dial(server.address, 60)
        self.frames = b"".join(
            atrium.frame("org.atrium.Votes.Cast", container="bench", item=f"i{vote % atrium.ITEMS + 1}",
                         value=1 + (number + vote) % 5) for vote in range(VOTES))
        self.refusals, self.others = [], []

    def run(self):
        """Sends in a thread of its own: replies are read meanwhile."""
        start = time.perf_counter()
        sender = threading.Thread(target=self.connection.sendall, args=(self.frames,))
        sender.start()
        rest, left = b"", VOTES
        while left:
            *replies, rest = (rest + self.connection.recv(1 << 18)).split(b"\0")
            now = time.perf_counter() - start
            for reply in replies:
                left -= 1
                (self.refusals if REFUSED in reply.decode() else self.others).append(now)
        sender.join()


def run(rounds):
    result = {"a vote is refused": [], "Status is answered": [], "a vote is taken after the lock": []}
    for _ in range(rounds):
        for what, slowest in measure().items():
            result[what].append(slowest)
    return [Row("locked", f"{what}: slowest" if "after" not in what else what, "ms", runs, aim=1_000)
            for what, runs in result.items()]


def measure():
    daemon = atrium.start_with_bench()
    status, after = atrium.Client(daemon), atrium.Client(daemon)
    store = sqlite3.connect(daemon.state / "atrium.sqlite", isolation_level=None)
    store.execute("BEGIN EXCLUSIVE")
    begin = time.perf_counter()
    # The first failure is found by a vote that was there before the others: they are refused at once then.
    voters = [Voter(daemon, number) for number in range(CLIENTS)]
    threads = [threading.Thread(target=voter.run) for voter in voters]
    for thread in threads:
        thread.start()
    waits = []
    while (now := time.perf_counter()) - begin < LOCKED:
        status.call("org.atrium.Daemon.Status")
        waits.append(time.perf_counter() - now)
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    store.execute("ROLLBACK")
    free = time.perf_counter()
    while REFUSED in answer(after):
        if time.perf_counter() - free > 30:
            raise SystemExit("no vote was taken within 30 s of the lock's end")
        time.sleep(0.01)
    taken = time.perf_counter() - free
    refusals = [when for voter in voters for when in voter.refusals]
    if not refusals:
        raise SystemExit("no vote was refused: the lock did not hold")
    daemon.stop()
    return {"a vote is refused": max(refusals) * 1e3, "Status is answered": max(waits) * 1e3,
            "a vote is taken after the lock": taken * 1e3}


def answer(client):
    """The reply to a vote, an error or not."""
    client.connection.sendall(atrium.frame(
        "org.atrium.Votes.Cast", container="bench", item="i1", value=1))
    reply = b""
    while not reply.endswith(b"\0"):
        reply += client.connection.recv(1 << 16)
    return reply[:-1].decode()
