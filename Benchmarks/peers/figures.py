"""Measuring in turn, and what came of it: a row for each thing that was measured."""
import json
import statistics
import sys
import time
from dataclasses import dataclass, field


@dataclass
class Case:
    """Something to run, for the peer or the row of ours that it belongs to."""
    name: str
    run: object


@dataclass
class Row:
    """One thing measured. Runs of the same place in their lists were made one after the other."""
    part: str
    what: str
    unit: str
    ours: list
    peers: dict = field(default_factory=dict)
    aim: float = None
    # An aim in words, for one that names a peer; then it is met if we are ahead of that peer.
    ahead_of: str = None
    # Whether the aim is a ratio: to be so many times as fast as the peers, or as the one that is named.
    is_ratio: bool = False
    beside: str = None

    @property
    def is_rate(self):
        return self.unit.endswith("/s")

    def ratio(self, peer):
        """How many times as fast as the peer we are, or as cheap: the median over the rounds.

        None where one of them is nothing.
        """
        pairs = list(zip(self.ours, self.peers[peer]))
        if not all(a and b for a, b in pairs):
            return None
        return statistics.median(a / b if self.is_rate else b / a for a, b in pairs)

    @property
    def met(self):
        if self.ahead_of:
            return self.ratio(self.ahead_of) > 1
        if self.aim is None:
            return None
        if self.is_ratio:
            return all(self.ratio(peer) >= self.aim
                       for peer in ([self.beside] if self.beside else self.peers))
        ours = statistics.median(self.ours)
        return ours >= self.aim if self.is_rate else ours <= self.aim

    @property
    def line(self):
        """The row for programs."""
        line = {"part": self.part, "what": self.what, "unit": self.unit, **told(self.ours)}
        line["peers"] = {name: {**told(runs), "ratio": rounded(self.ratio(name))}
                         for name, runs in self.peers.items()}
        if self.met is not None:
            line["aim"] = f"ahead of {self.ahead_of}" if self.ahead_of else self.aim
            line["met"] = self.met
        return json.dumps(line, ensure_ascii=False)


def rounded(value):
    return value and float(f"{value:.4g}")


def told(runs):
    return {"median": rounded(statistics.median(runs)), "runs": [rounded(run) for run in runs]}


def measure(cases, rounds):
    """Runs all cases in turn, so many times over, so that a slow spell of the machine meets all.

    Returns for each case's name what its runs gave.
    """
    got = {case.name: [] for case in cases}
    start = time.monotonic()
    for turn in range(rounds):
        for case in cases:
            got[case.name].append(case.run())
        say(f"  round {turn + 1} of {rounds}, {time.monotonic() - start:.0f} s")
    return got


def say(text):
    """Tells how far we are, on standard error: standard output is for the figures."""
    print(text, file=sys.stderr, flush=True)


def column(results, key):
    return [result[key] for result in results]
