"""What is asked of the packed optimum, and whether a benchmark's runs keep it.

Takes the rows of a section and gives lines with the target, what was measured, and the verdict.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from statistics import mean, median

Row = dict[str, object]

PROVEN = {"few": 0.95, "medium": 0.90, "medium-60": 0.98}
MOST_GAP = {
    "large": 1e-4,
    "medium": 3e-3,
    "medium-60": 3e-3,
    "large-jobs": 1e-3,
    "split-allowed": 1e-3,
}
DIFFERENT = {64: 1e-4, 512: 1e-4, 8192: 1e-3}
CLOSED, SECONDS, GROWTH, RATIO = 0.95, 1.0, 4.0, 1.0


def verdicts(section: str, rows: list[Row]) -> list[Row]:
    """Give for each target of the section what was measured and whether it is kept."""
    return list(_verdicts(section, rows))


def in_time(row: Row) -> bool:
    """Tell whether a run took no more processor seconds than its limit."""
    return row["cpu_s"] <= row["limit_s"]


def most_gap(rows: list[Row]) -> float:
    """Give the largest gap known within the limits; infinite where a run had no placement."""
    return max(math.inf if r["gap_in_limit"] is None else r["gap_in_limit"] for r in rows)


def _verdicts(section: str, rows: list[Row]) -> Iterator[Row]:
    count = len(rows)
    if section in PROVEN:
        part = sum(r["proof"] != "none" and in_time(r) for r in rows) / count
        target = f"proven within {rows[0]['limit_s']:g} s in at least {PROVEN[section]:.0%}"
        yield _verdict(section, count, target, f"{part:.1%}", part >= PROVEN[section])
    if section in MOST_GAP:
        gap = most_gap(rows)
        target = f"gap never above {MOST_GAP[section]:.2%} in {rows[0]['limit_s']:g} s"
        yield _verdict(section, count, target, f"{gap:.4%}", gap <= MOST_GAP[section])
        left = sum(r["left_out"] for r in rows)
        yield _verdict(section, count, "all jobs placed", f"{left} left out", left == 0)
    if section == "large":
        part = sum(r["gap"] == 0 for r in rows) / count
        target = f"gap exactly 0 in at least {CLOSED:.0%}"
        yield _verdict(section, count, target, f"{part:.1%}", part >= CLOSED)
        seconds = [r["cpu_s"] for r in rows]
        target = f"at most {SECONDS:g} processor seconds in every run"
        measured = f"{max(seconds):.2f} s, median {median(seconds):.2f} s"
        yield _verdict(section, count, target, measured, max(seconds) <= SECONDS)
    if section == "growth":
        by_size = _by_size(rows)
        first, last = min(by_size), max(by_size)
        growth = mean(r["cpu_s"] for r in by_size[last]) / mean(r["cpu_s"] for r in by_size[first])
        target = f"time from {first} to {last} servers grows at most {GROWTH:g} times"
        yield _verdict(section, count, target, f"{growth:.1f} times", growth <= GROWTH)
    if section == "different":
        for servers, some in sorted(_by_size(rows).items()):
            gap, most = most_gap(some), DIFFERENT[servers]
            target = f"{servers} servers: gap at most {most:.2%} in {some[0]['limit_s']:g} s"
            yield _verdict(section, len(some), target, f"{gap:.4%}", gap <= most)
    if section == "rivals":
        for servers, some in sorted(_by_size(rows).items()):
            if servers >= 512:
                ratio = sum(r["packed_s"] for r in some) / sum(r["tune_s"] for r in some)
                target = f"{servers} servers: not slower than TUNE"
                yield _verdict(section, len(some), target, f"{ratio:.2f} times", ratio <= RATIO)


def _verdict(section: str, runs: int, target: str, measured: str, kept: bool) -> Row:
    return {
        "section": section,
        "runs": runs,
        "target": target,
        "measured": measured,
        "kept": bool(kept),
    }


def _by_size(rows: list[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["servers"]].append(row)
    return found
