"""From the start of a server to its first answer, and its memory after an idle second."""
import time

import atrium
import movies
import servers
from figures import Case, Row, column, measure

PEERS = {
    "Redis": servers.redis, "NATS": servers.nats, "mosquitto": servers.mosquitto,
    "dbus-broker": servers.dbus_broker, "dbus-daemon": servers.dbus_daemon,
    "nginx": servers.nginx, "Isso": servers.isso,
    "Datasette": lambda: servers.datasette(movies.PATH),
}
KEYS = [("start", "ready", "ms"), ("memory, shared pages in part", "Pss", "MB"),
        ("memory, its own pages", "Private", "MB")]


def memory_mb(pids):
    """Of the processes together: Pss, and what is theirs alone."""
    total = {"Pss": 0, "Private": 0}
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as lines:
            for line in lines:
                kind = line.partition(":")[0].partition("_")[0]
                if line.startswith(("Pss:", "Private_Clean:", "Private_Dirty:")):
                    total[kind] += int(line.split()[1]) / 1024
    return total


def cost(name, start):
    server = start()
    time.sleep(1)
    # dbus-broker's first process is the one of ours that starts it.
    pids = server.pids[1:] if name == "dbus-broker" else server.pids
    result = {"ready": server.ready_ms, **memory_mb(pids)}
    server.stop()
    return result


def run(rounds):
    starts = {"ours": atrium.start, **PEERS}
    got = measure([Case(name, lambda name=name, start=start: cost(name, start))
                   for name, start in starts.items()], rounds)
    return [Row("cost", f"nothing to do: {label}" if key != "ready" else label, unit,
                column(got["ours"], key), {peer: column(got[peer], key) for peer in PEERS})
            for label, key, unit in KEYS]
