"""The pattern engine as a pure vector bin packing solver, on published instances.

Takes a folder of `.vbp` files with a `known.csv` (lower bound, optimum, best published heuristic)
and gives for each the fewest bins found and the bound. Run it as

    python -m benchmarks.synergy.vector_packing FOLDER --items 60 120 --seconds 120
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.synergy.bin_patterns import STEPS, Master, Packing, Pattern
from benchmarks.synergy.measured import Row, write_json

_WIDTH = 400  # partial patterns that a search keeps
_DIVING = 4  # rounds of pricing after each step of a dive
_CHOICE = 5  # most used patterns from which a dive draws one
_ROOT = 0.4  # of the time, for the relaxation and its bound
_TURNS, _PROGRAMME = 12, 0.1  # every so many dives an integer programme, for that part of the time


def read_packing(path: Path) -> Packing:
    """Read a `.vbp` file: dimensions, capacities, item types, rows of sizes and demand."""
    numbers = iter(path.read_text(encoding="utf-8").split())
    width = int(next(numbers))
    capacity = tuple(int(next(numbers)) for _ in range(width))
    rows = [[int(next(numbers)) for _ in range(width + 1)] for _ in range(int(next(numbers)))]
    return Packing(
        name=path.stem,
        capacity=capacity,
        sizes=tuple(tuple(row[:width]) for row in rows),
        demand=tuple(row[width] for row in rows),
    )


def first_fit(packing: Packing, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Give the bins, as counts of items, of first fit in this order."""
    bins: list[list[int]] = []
    free: list[np.ndarray] = []
    for i in order:
        size = np.array(packing.sizes[i])
        for _ in range(packing.demand[i]):
            place = next((b for b, room in enumerate(free) if (room >= size).all()), len(bins))
            if place == len(bins):
                bins.append([0] * len(packing.sizes))
                free.append(np.array(packing.capacity))
            bins[place][i] += 1
            free[place] = free[place] - size
    return [tuple(b) for b in bins]


def exact_bound(master: Master, prices: np.ndarray, width: int) -> int:
    """Give a lower bound on the bins, in integers: the items' prices over the dearest pattern's.

    The prices are integers over 2³⁰; the search for patterns dearer than a bin keeps all partial
    ones that may end there, or gives no bound.
    """
    whole = [round(price * STEPS) for price in prices.tolist()]
    found, complete = master.listed(prices, STEPS + 1, width)
    if not complete:
        return 1
    dearest = max([STEPS, *(worth for worth, _ in found)])
    return -(-sum(p * n for p, n in zip(whole, master.packing.demand, strict=True)) // dearest)


def size_bound(packing: Packing) -> int:
    """Give the bins that the sizes alone ask for."""
    totals = np.array(packing.demand) @ np.array(packing.sizes)
    pairs = zip(totals.tolist(), packing.capacity, strict=True)
    return max(1, *(-(-total // room) for total, room in pairs))


def dive(master: Master, rng: Random, fewer_than: int, until: float) -> list[Pattern] | None:
    """Fix patterns one after the other, price what is left; None where no fewer bins come out."""
    bins: list[Pattern] = []
    while any(master.demand):
        if (
            time.monotonic() > until
            or len(bins) + math.ceil(master.objective - 1e-6) >= fewer_than
        ):
            return None
        counts = master.counts()
        whole = np.flatnonzero(counts >= 1 - 1e-6).tolist()
        if whole:
            chosen = [(j, int(counts[j] + 1e-6)) for j in whole]
        else:
            likely = np.argsort(-counts, kind="stable")[:_CHOICE].tolist()
            weights = [counts[j] ** 3 for j in likely]
            chosen = [(rng.choices(likely, weights)[0], 1)]
        demand = master.demand
        for j, number in chosen:
            for _ in range(number):
                if not any(min(a, b) for a, b in zip(master.patterns[j], demand, strict=True)):
                    break
                bins.append(master.patterns[j])
                demand = [max(0, b - a) for a, b in zip(master.patterns[j], demand, strict=True)]
        master.leave(demand)
        master.generate(_DIVING, _WIDTH, until)
    return bins if len(bins) < fewer_than else None


def packed_bins(packing: Packing, seconds: float) -> dict[str, object]:
    """Pack by patterns: column generation, dives, an integer programme; the bound is exact."""
    start = time.monotonic()
    cpu = time.process_time()
    sizes, capacity = np.array(packing.sizes), np.array(packing.capacity)
    orders = [
        np.argsort(-key).tolist() for key in ((sizes / capacity).sum(1), (sizes / capacity).max(1))
    ]
    bins = min((first_fit(packing, order) for order in orders), key=len)
    items = range(len(packing.sizes))
    singles = [tuple(int(i == j) for j in items) for i in items]
    master = Master(packing, [*(p for o in orders for p in first_fit(packing, o)), *singles])
    bound, until = size_bound(packing), start + seconds
    prices = master.generate(10**6, _WIDTH, start + seconds * _ROOT)
    for width in (_WIDTH * 10, _WIDTH * 100):
        if bound >= len(bins) or time.monotonic() > start + seconds * _ROOT:
            break
        prices = master.generate(10**6, width, start + seconds * _ROOT)
        bound = max(bound, exact_bound(master, prices, width))
    rng, turn = Random(packing.name), 0
    while bound < len(bins) and time.monotonic() < until:
        found = None
        if turn % _TURNS == _TURNS - 1:
            left = until - time.monotonic()
            found = master.whole(min(left, seconds * _PROGRAMME), bound)
        else:
            found = dive(master, rng, len(bins), until)
            master.leave(packing.demand)
            master.solve()
        turn += 1
        if found is not None and len(found) < len(bins):
            bins = found
    _check(packing, bins)
    return {
        "name": packing.name,
        "bins": len(bins),
        "bound": bound,
        "seconds": time.monotonic() - start,
        "cpu_s": time.process_time() - cpu,
    }


def _check(packing: Packing, bins: Sequence[tuple[int, ...]]) -> None:
    sizes = np.array(packing.sizes)
    assert all((np.array(b) @ sizes <= packing.capacity).all() for b in bins)
    assert (np.sum(bins, axis=0) >= packing.demand).all()


def kept(rows: Sequence[Row]) -> bool:
    """Tell whether none is above the best heuristic and half of the known optima are attained."""
    known = [row for row in rows if row["optimum"] > 0]
    attained = sum(row["bins"] == row["optimum"] for row in known)
    return all(row["bins"] <= row["heuristic"] for row in rows) and 2 * attained >= len(known)


def main() -> int:
    """Pack all, and print a table; 1 where `kept` says no."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", nargs="+", type=int, default=(60, 120))
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if not (options.folder / "known.csv").is_file():
        parser.error(f"{options.folder}: has no known.csv")
    table = Table(title="vector packing by patterns", title_justify="left")
    for name in ("set", "instance", "bins", "bound", "optimum", "best heuristic", "seconds"):
        table.add_column(name, justify="right")
    rows = []
    with (options.folder / "known.csv").open(encoding="utf-8") as file:
        known = list(csv.reader(file))[1:]
    for group, name, items, _, optimum, heuristic in known:
        if int(items) in options.items:
            row = packed_bins(
                read_packing(options.folder / group / f"{name}.vbp"), options.seconds
            )
            row |= {"set": group, "optimum": int(optimum), "heuristic": int(heuristic)}
            rows.append(row)
            keys = ("set", "name", "bins", "bound", "optimum", "heuristic", "seconds")
            table.add_row(*(str(row[k]) if k != "seconds" else f"{row[k]:.1f}" for k in keys))
    Console(width=110).print(table)
    if options.output is not None:
        write_json(options.output, rows)
    return 0 if kept(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
