"""Rows as tables in Markdown, aligned, so that they are read as they are and pasted as they are."""
import statistics


def figure(value, unit):
    """Three digits that count."""
    for limit, divisor, prefix in ((1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if unit.endswith("/s") and value >= limit:
            return f"{digits(value / divisor)}{prefix}{unit}"
    return f"{digits(value)} {unit}"


def digits(value):
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value == 0:
        return "0"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def aim_of(row):
    if row.met is None:
        return ""
    if row.ahead_of:
        aim = f"ahead of {row.ahead_of}"
    elif row.is_ratio:
        aim = f"{row.aim:g} times" + (f" {row.beside.split()[0]}" if row.beside else "")
    else:
        aim = figure(row.aim, row.unit)
    return f"{aim}: {'met' if row.met else 'not met'}"


def median(runs, unit):
    return figure(statistics.median(runs), unit)


def beside(row, peer):
    """A peer's figure, and ours as a multiple."""
    ratio = row.ratio(peer)
    return median(row.peers[peer], row.unit) + (f" ({digits(ratio)}x)" if ratio else "")


def wide_table(rows):
    """A column for each peer: its figure, and how many times as fast we are."""
    peers = []
    for row in rows:
        peers += [peer for peer in row.peers if peer not in peers]
    table = [["", "ours", "aim", *peers]]
    for row in rows:
        cells = [beside(row, peer) if peer in row.peers else "" for peer in peers]
        table.append([row.what, median(row.ours, row.unit), aim_of(row), *cells])
    return table


def long_table(rows):
    """For rows that each have a peer of their own, at most."""
    table = [["", "ours", "peer", "", "times as fast", "aim"]]
    for row in rows:
        cells = ["", "", ""]
        for peer, runs in row.peers.items():
            cells = [median(runs, row.unit), peer, digits(row.ratio(peer))]
        table.append([row.what, median(row.ours, row.unit), *cells, aim_of(row)])
    return table


def markdown(rows):
    """A table of the rows of one part."""
    most = max(len(row.peers) for row in rows)
    # Without any peer the wide table has just the aims beside ours.
    table = long_table(rows) if most == 1 else wide_table(rows)
    widths = [max(len(line[place]) for line in table) for place in range(len(table[0]))]
    marks = ["-" * max(3, width) for width in widths]
    # What is measured stands to the left, everything else to the right.
    marks[1:] = [mark[:-1] + ":" for mark in marks[1:]]
    lines = []
    for number, cells in enumerate(table):
        padded = [cell.ljust(width) if place == 0 else cell.rjust(max(3, width))
                  for place, (cell, width) in enumerate(zip(cells, widths))]
        lines.append("| " + " | ".join(padded) + " |")
        if number == 0:
            lines.append("| " + " | ".join(marks) + " |")
    return "\n".join(lines)
