#!/usr/bin/python3 -B
"""bench.py [PART]...: measures our daemon beside its peers and prints the ratios as tables.

Everything is measured in turn within one run, round after round, so that a slow spell of the
machine meets all: trust the ratios more than the figures. Tables go to standard output, in
Markdown, and a line of JSON for each row to a file.
"""
import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path

import ack
import atrium
import bus
import calls
import capacity
import check
import comments
import composition
import cost
import instructions
import listing
import locked
import million
import movies
import packages
import plugins
import screens
import start
import turns
from figures import Row, say
from processes import HERE, LAB, ROOT, begin, stop_all
from tables import markdown

PEERS = {"check": check, "calls": calls, "bus": bus, "ack": ack, "comments": comments,
         "listing": listing, "screens": screens, "composition": composition, "start": start,
         "million": million, "capacity": capacity, "plugins": plugins, "locked": locked, "turns": turns,
         "instructions": instructions, "cost": cost}
# What is measured of ours alone.
ALONE = {"capacity", "locked", "turns", "instructions"}
# What the Swift program in Benchmarks/Sources measures.
PROGRAM = ["json", "import", "queries"]
# What the one in Benchmarks/index measures: the index alone, in process.
INDEX = "index"
TITLES = {
    "calls": "Calls", "bus": "Notifications", "ack": "Writes that are on disk",
    "comments": "Comments", "listing": "A million films", "screens": "Live screens",
    "composition": "Composition", "plugins": "Plugins in other languages",
    "start": "A start with many films", "million": "A million films imported",
    "capacity": "What one machine carries",
    "locked": "A locked store", "turns": "Turns of the event loop", "instructions": "Instructions",
    "cost": "The daemon itself",
    "json": "JSON", "import": "Import", "queries": "Queries", "index": "The index in process",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    known = [*PEERS, *PROGRAM, INDEX]
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help=f"what to measure: {', '.join(known)}; all by default")
    parser.add_argument("--stage", type=Path, default=ROOT / ".build" / "atrium",
                        help="the installed tree with the daemon, as `make stage` makes it")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured: 3")
    parser.add_argument("--lines", type=Path, default=LAB / "results.jsonl",
                        help="where the lines of JSON go: .build/bench/results.jsonl")
    parser.add_argument("--into", type=Path, metavar="FILE",
                        help="a Markdown file whose tables between <!-- PART --> and "
                             "<!-- /PART --> are replaced")
    chosen = parser.parse_args()
    for part in chosen.parts:
        if part not in known:
            parser.error(f"there is no part {part}; there are {', '.join(known)}")
    chosen.parts = chosen.parts or known
    if not (chosen.stage / "bin" / "atriumd").exists():
        parser.error(f"there is no daemon in {chosen.stage}: run `make stage` first")
    return chosen


def run_program(part, stage):
    """Has the Swift program measure a part, and takes its rows."""
    if part == INDEX:
        package, scratch = "Benchmarks/index", "index-benchmark"
        program = ["index", movies.PATH, packages.PATH]
    else:
        package, scratch = "Benchmarks", "benchmarks"
        program = ["benchmarks", part, "--atriumd", stage / "bin" / "atriumd"]
    command = ["swift", "run", "-c", "release", "--package-path", ROOT / package,
               "--scratch-path", ROOT / ".build" / scratch, *program]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the benchmarks of {part} ended with {done.returncode}")
    rows = []
    for line in map(json.loads, done.stdout.splitlines()):
        peers = {line["peer"]: [line["peers"]]} if "peer" in line else {}
        rows.append(Row(part, line["case"], line["unit"], [line["ours"]], peers,
                        aim=line.get("aim"), is_ratio=True))
    return rows


def split(path, part):
    """What stands before the place of a part's table in a file, and what behind it."""
    begin, end = f"<!-- {part} -->\n", f"<!-- /{part} -->\n"
    before, found, rest = path.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{path} has no place for {part}: {begin.strip()} and {end.strip()}")
    return before + begin, end + after


def insert(table, part, path):
    """Puts the table in place of the one that the file has of this part."""
    before, after = split(path, part)
    path.write_text(f"{before}{table}\n{after}")


def main():
    chosen = arguments()
    atrium.stage = chosen.stage.resolve()
    for part in chosen.parts:
        if chosen.into and part in TITLES:
            split(chosen.into, part)  # fails now, and not after a quarter of an hour
    begin()
    if PEERS.keys() & set(chosen.parts) - ALONE:
        subprocess.run([HERE / "setup"], check=True)
    if {"listing", "screens", "composition", "start", "million", "cost", INDEX} & set(chosen.parts):
        movies.make()
    if INDEX in chosen.parts:
        packages.make()
    with open(chosen.lines, "w", encoding="utf-8") as lines:
        for part in chosen.parts:
            say(f"{part} …")
            rows = PEERS[part].run(chosen.rounds) if part in PEERS else run_program(
                part, atrium.stage)
            stop_all()
            lines.writelines(row.line + "\n" for row in rows)
            lines.flush()
            if not rows:
                continue
            table = markdown(rows)
            print(f"## {TITLES[part]} (`BENCH={part}`)\n\n{table}\n", flush=True)
            if chosen.into:
                insert(table, part, chosen.into)
    say(f"lines of JSON: {chosen.lines}")


if __name__ == "__main__":
    # Ends like an error does: with its servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
