"""Importing a million films: where the time goes.

Three imports of the same calls: one that is only timed, one with `perf` looking at where the
daemon's processor time is spent, one with `strace` timing the disk. The calls are made before.
"""
import json
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import atrium
import listing
import movies
from figures import Row, say
from processes import RUN

WINDOW = 4
# What a sample belongs to: the innermost function that one of these names is in tells.
PARTS = {
    "reading the calls": ["JSONReader", "JSONReadable", "Put_Parameters", "JSONCodec"],
    "checking the fields": ["FieldChecker", "ItemID"],
    "the component: deciding, applying": ["Catalog", "ComponentHarness"],
    "into the index": ["ContentIndex", "RowTable", "ValueTable", "FoldedTexts", "TextColumn"],
    "the records and notifications as JSON": ["EntryDraft", "jsonBytes", "Payload", "JSONWriter"],
    "into the store: SQLite": ["sqlite3", "EntryWriter", "GRDB"],
    "the socket": ["unix_stream", "sys_read", "sys_recv", "sys_writev", "epoll"],
    "memory of the process: the kernel's pages": ["exc_page_fault", "sys_brk", "sys_mprotect",
                                                  "sys_madvise", "sys_munmap", "sys_mmap"],
}
REST = "the rest: counting references, passing on"


def make_calls():
    start = time.perf_counter()
    calls = [atrium.frame("org.atrium.Contents.Put", container="movies", items=batch)
             for batch in atrium.batches(movies.items(movies.open_database()), 1000)]
    return calls, time.perf_counter() - start


def send(client, calls):
    start = time.perf_counter()
    for place, call in enumerate(calls):
        if place >= WINDOW:
            client.receive()
        client.connection.sendall(call)
    for _ in range(WINDOW):
        client.receive()
    return time.perf_counter() - start


def threads(pid):
    """Processor time of each thread, by its number and name."""
    spent = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        ticks = (task / "stat").read_text().rpartition(")")[2].split()[11:13]
        spent[name] = spent.get(name, 0) + sum(map(int, ticks)) / 100
    return spent


def begin():
    server = atrium.start()
    client = atrium.Client(server)
    client.call("org.atrium.Containers.Apply",
                definitions=[{"file": "movies.yaml", "text": listing.DEFINITION}])
    return server, client


def observed(command, calls):
    """Imports while a command looks at the daemon; gives the seconds that it took."""
    server, client = begin()
    watch = subprocess.Popen([*command, "-p", str(server.process.pid)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    seconds = send(client, calls)
    watch.send_signal(signal.SIGINT)
    watch.wait()
    server.stop()
    return seconds


def shares(samples):
    """How the samples divide among the parts."""
    counts = Counter()
    for sample in samples.split("\n\n"):
        for line in sample.splitlines()[1:]:
            part = next((part for part, names in PARTS.items()
                         if any(name in line for name in names)), None)
            if part:
                counts[part] += 1
                break
        else:
            counts[REST] += 1 if sample.strip() else 0
    total = sum(counts.values())
    return {part: counts[part] / total for part in [*PARTS, REST]}


def run(rounds):
    calls, making = make_calls()
    say(f"  {len(calls)} calls made in {making:.1f} s")
    server, client = begin()
    seconds = send(client, calls)
    spent = threads(server.process.pid)
    server.stop()
    profile, trace = RUN / "million.perf", RUN / "million.strace"
    observed(["perf", "record", "-F", "499", "-g", "-o", str(profile)], calls)
    samples = subprocess.run(["perf", "script", "-F", "comm,ip,sym", "-i", str(profile)],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             errors="replace", check=True)
    observed(["strace", "-f", "-T", "-e", "trace=fdatasync", "-o", str(trace)], calls)
    syncs = [float(found) for found in re.findall(r"<([\d.]+)>$", trace.read_text(), re.M)]
    cpu = sum(spent.values())
    loop = sum(time for name, time in spent.items() if name.startswith("NIO"))
    rows = [Row("million", what, "s", [value]) for what, value in [
        ("making the calls, in Python, before", making), ("from the first call to the last reply",
                                                          seconds),
        ("the daemon's processor time", cpu), ("of that its loop", loop)]]
    rows += [Row("million", part, "s", [share * cpu])
             for part, share in shares(samples.stdout).items()]
    return rows + [Row("million", f"waiting for the disk, beside: {len(syncs)} syncs", "s",
                       [sum(syncs)])]
