"""What a server costs that has nothing to do: its start, memory, wake-ups and size on the disk."""
import subprocess
import tempfile
import time
from pathlib import Path

import atrium
import movies
import servers
from figures import Case, Row, column, measure
from processes import LAB

PEERS = {
    "Redis": servers.redis, "NATS": servers.nats, "mosquitto": servers.mosquitto,
    "dbus-broker": servers.dbus_broker, "dbus-daemon": servers.dbus_daemon,
    "nginx": servers.nginx, "Isso": servers.isso,
    "Datasette": lambda: servers.datasette(movies.PATH),
}
KEYS = [("start", "ready", "ms"), ("memory, shared pages in part", "Pss", "MB"),
        ("memory, its own pages", "Private", "MB")]
# The packages with what a server needs beside the libraries that most machines have.
PACKAGES = {
    "Redis": ["redis-server", "redis-tools"], "NATS": ["nats-server"], "mosquitto": ["mosquitto"],
    "dbus-broker": ["dbus-broker"], "dbus-daemon": ["dbus-daemon"],
    "nginx": ["nginx", "nginx-common"],
}
IDLE_SECONDS = 20


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


def own_pids(name, server):
    """Its processes; dbus-broker's first one is ours, that starts it."""
    return server.pids[1:] if name == "dbus-broker" else server.pids


def cost(name, start):
    server = start()
    time.sleep(1)
    result = {"ready": server.ready_ms, **memory_mb(own_pids(name, server))}
    server.stop()
    return result


def switches(pids):
    """How often each of their threads was put on a processor, or taken off it."""
    counts = {}
    for pid in pids:
        for status in Path("/proc", str(pid), "task").glob("*/status"):
            counts[status] = sum(int(line.split()[1]) for line in status.read_text().splitlines()
                                 if "ctxt_switches" in line)
    return counts


def wake_ups(starts):
    """How often each wakes up in a second; all idle side by side."""
    up = {name: start() for name, start in starts.items()}
    time.sleep(3)  # what a start leaves behind is done
    before = {name: switches(own_pids(name, server)) for name, server in up.items()}
    time.sleep(IDLE_SECONDS)
    result = {}
    for name, server in up.items():
        since = switches(own_pids(name, server))
        result[name] = sum(count - before[name].get(thread, 0)
                           for thread, count in since.items()) / IDLE_SECONDS
        server.stop()
    return result


def own_size_mb():
    """Programs, libraries and plugins without what only a debugger reads, as packages have them."""
    total = 0
    with tempfile.TemporaryDirectory(dir=LAB) as directory:
        stripped = Path(directory, "stripped")
        for folder in ("bin", "lib"):
            for path in (atrium.stage / folder).rglob("*"):
                if not path.is_file() or path.is_symlink():
                    continue
                done = subprocess.run(["strip", "-o", stripped, path], capture_output=True,
                                      check=False)
                total += (stripped if done.returncode == 0 else path).stat().st_size
    return total / 1e6


def package_size_mb(packages):
    """As dpkg says it, which counts kibibytes."""
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Installed-Size}\n", *packages],
                           stdout=subprocess.PIPE, text=True, check=True)
    return sum(map(int, shown.stdout.split())) * 1024 / 1e6


def run(rounds):
    starts = {"ours": atrium.start, **PEERS}
    got = measure([Case(name, lambda name=name, start=start: cost(name, start))
                   for name, start in starts.items()], rounds)
    rows = [Row("cost", f"nothing to do: {label}" if key != "ready" else label, unit,
                column(got["ours"], key), {peer: column(got[peer], key) for peer in PEERS})
            for label, key, unit in KEYS]
    idle = wake_ups(starts)
    rows.append(Row("cost", "nothing to do: wake-ups", "a second", [idle["ours"]],
                    {peer: [idle[peer]] for peer in PEERS}, aim=0))
    rows.append(Row("cost", "installed", "MB", [own_size_mb()],
                    {peer: [package_size_mb(names)] for peer, names in PACKAGES.items()}))
    return rows
