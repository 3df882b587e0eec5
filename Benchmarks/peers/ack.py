"""Writes that are on disk when they are acknowledged, and what the disk and SQLite allow alone."""
import time

import atrium
import servers
from figures import Case, Row, column, measure
from processes import RUN, ask, drive, request_file, tool

CLIENTS = [1, 50]
KEYS = [("p50", "p50_us", "us"), ("rate", "per_s", "/s"), ("server CPU", "server_cpu_us", "us")]
# Of so many that a second has checkpoints among them: 8 MiB of log each.
BUSY = KEYS[:1] + [("p99.9, beside checkpoints", "p999_us", "us")] + KEYS[1:]
REDIS = "Redis XADD, fsync always"
# Rates in times of Redis' in the same run, processor time in microseconds.
AIMS = {("notification", 1): {"per_s": 0.8, "server_cpu_us": 120},
        ("notification", 50): {"per_s": 1.3, "server_cpu_us": 14},
        ("vote", 1): {"per_s": 0.7}, ("vote", 50): {"per_s": 0.8, "server_cpu_us": 25}}
ALONE = {"fdatasync of 4 KiB": "sync", "SQLite, WAL and FULL": "commit"}


class Durable:
    """Calls of ours, each of which must have made one entry."""

    def __init__(self, server, **how):
        self.server = server
        self.how = how
        self.next = 0
        self.client = atrium.Client(server)

    def settled(self):
        """The last sequence, once what clients left behind when they went is through."""
        last = None
        while (now := self.client.sequence()) != last:
            last = now
            time.sleep(0.05)
        return last

    def run(self, clients):
        before = self.settled()
        result = drive("req", self.server, connections=clients, seconds=1, first=self.next,
                       **self.how)
        made = self.settled() - before
        asked = result["next"] - self.next
        self.next = result["next"]
        # The last call of each client may have been cut off with its connection.
        if not asked - clients <= made <= asked:
            raise SystemExit(f"{asked} durable calls made {made} entries")
        return result


def run_redis(server, clients):
    result = drive("req", server, protocol="redis-xadd", connections=clients, seconds=1)
    ask(server.address, b"DEL log\r\n", b":1")
    return result


def run(rounds):
    daemon = atrium.start_with_bench()
    vote = request_file("vote", '{"method":"org.atrium.Votes.Cast","parameters":'
                                '{"container":"bench","item":"i%SUBJECT%","value":%VALUE%}}\0')
    ours = {"notification": Durable(daemon, protocol="atrium-durable"),
            "vote": Durable(daemon, protocol="varlink", request=vote, subjects=atrium.ITEMS)}
    # Nobody votes twice alike: the vote that is there already is of another value.
    ours["vote"].next = atrium.ITEMS
    redis = servers.redis(sync=True)
    cases = [Case(f"{name} 1", lambda how=how: tool("limits", how, 0.5, RUN))
             for name, how in ALONE.items()]
    for clients in CLIENTS:
        cases += [Case(f"{name} {clients}", lambda what=what, clients=clients: what.run(clients))
                  for name, what in ours.items()]
        cases.append(Case(f"{REDIS} {clients}", lambda clients=clients:
                          run_redis(redis, clients)))
    return rows(measure(cases, rounds), ours)


def rows(got, ours):
    result = []
    for name in ours:
        for clients in CLIENTS:
            for label, key, unit in KEYS if clients == 1 else BUSY:
                many = "1 client" if clients == 1 else f"{clients} clients"
                aim = AIMS[name, clients].get(key)
                beside = REDIS if aim and key == "per_s" else None
                row = Row("ack", f"{name}, {many}: {label}", unit,
                          column(got[f"{name} {clients}"], key), aim=aim,
                          is_ratio=beside is not None, beside=beside)
                for peer in [REDIS, *ALONE]:
                    results = got.get(f"{peer} {clients}")
                    if results and key in results[0]:
                        row.peers[peer] = column(results, key)
                result.append(row)
    return result
