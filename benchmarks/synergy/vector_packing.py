"""The pattern engine as a pure vector bin packing solver, on published instances.

Takes a folder of `.vbp` files with a `known.csv` (lower bound, optimum, best published heuristic)
and gives for each the fewest bins found and the bound. Patterns are priced first by the knapsack
of `packed` on rounded sizes, then exactly by an integer programme. Run it as

    python -m benchmarks.synergy.vector_packing FOLDER --items 60 120 --seconds 120
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random

import highspy
import numpy as np
from rich.console import Console
from rich.table import Table

from synergy_opt.packed.loads import Bay, Item, loads_above
from synergy_opt.solvers.highs_ import Quiet

Pattern = tuple[int, ...]
"""Copies of each item type in a bin."""

_GAIN = 1e-7
_STEPS = 2**30  # of a bin's price
_LEVELS = 20  # of each capacity in the table of bounds
_WIDTH = 400  # partial patterns that a search keeps
_ROUND = 30  # patterns that a round adds at most
_DIVING = 4  # rounds of pricing after each step of a dive
_CHOICE = 5  # most used patterns from which a dive draws one
_ROOT = 0.4  # of the time, for the relaxation and its bound
_TURNS, _PROGRAMME = 12, 0.1  # every so many dives an integer programme, for that part of the time


@dataclass(frozen=True, kw_only=True)
class Packing:
    """Bins with several capacities, and items with a demand each.

    Two published files have an item with a size below 0, which makes room for others: the known
    optimum counts on it.
    """

    name: str
    capacity: tuple[int, ...]
    sizes: tuple[tuple[int, ...], ...]
    demand: tuple[int, ...]

    @property
    def givers(self) -> list[int]:
        """Items with a size below 0."""
        return [i for i, size in enumerate(self.sizes) if min(size) < 0]


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


def bays_of(packing: Packing) -> list[tuple[Pattern, Bay]]:
    """Give a bin as the search for loads takes it: an item type is a kind of jobs without GPUs.

    One bay for each set of items with a size below 0 that is in the bin, with the room it leaves:
    all other sizes are at least 0.
    """
    rest = [i for i in range(len(packing.sizes)) if i not in packing.givers]
    order = sorted(
        rest,
        key=lambda i: -sum(a / b for a, b in zip(packing.sizes[i], packing.capacity, strict=True)),
    )
    found = []
    for count in range(len(packing.givers) + 1):
        for some in combinations(packing.givers, count):
            taken = [packing.sizes[i] for i in some]
            room = tuple(
                most - sum(size[r] for size in taken) for r, most in enumerate(packing.capacity)
            )
            if min(room) < 0:
                continue
            items = tuple(
                Item(
                    kind=i,
                    copies=min(packing.demand[i], _most_copies(room, packing.sizes[i])),
                    configurations=(0,),
                    sizes=np.array([[0, *packing.sizes[i]]], dtype=np.int64),
                )
                for i in order
            )
            cells = (1, *(max(1, -(-most // _LEVELS)) for most in room))
            first = tuple(int(i in some) for i in range(len(packing.sizes)))
            found.append((first, Bay(group=0, room=(0, *room), items=items, cells=cells)))
    return found


def _most_copies(room: Sequence[int], sizes: Sequence[int]) -> int:
    pairs = zip(room, sizes, strict=True)
    return min((most // size for most, size in pairs if size > 0), default=10**6)


class Master:
    """Minimise the bins: Σ_p a_pi x_p ≥ what is left of each item; patterns are added."""

    def __init__(self, packing: Packing, patterns: Sequence[Pattern]) -> None:
        self.packing, self.patterns = packing, []
        self.known: set[Pattern] = set()
        self.demand = list(packing.demand)
        self.bays = bays_of(packing)
        self.givers = packing.givers
        self.model = Quiet()
        for name, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            self.model.setOptionValue(name, value)
        for i in range(len(packing.demand)):
            self.model.addRow(*self._limits(i), 0, np.empty(0, np.int32), np.empty(0))
        for pattern in patterns:
            self.add(pattern)

    def _limits(self, item: int) -> tuple[float, float]:
        # More than enough of an item does no harm unless the others in the bin need it there.
        left = float(self.demand[item])
        return left, left if item in self.givers else math.inf

    def add(self, pattern: Pattern) -> bool:
        """Add a pattern if it is new."""
        if pattern in self.known:
            return False
        self.known.add(pattern)
        self.patterns.append(pattern)
        index = np.flatnonzero(pattern).astype(np.int32)
        values = np.array(pattern, dtype=float)[index]
        self.model.addCol(1.0, 0.0, math.inf, len(index), index, values)
        return True

    def leave(self, demand: Sequence[int]) -> None:
        """Set what is left of the items."""
        self.demand = list(demand)
        for i in range(len(demand)):
            self.model.changeRowBounds(i, *self._limits(i))

    def solve(self) -> np.ndarray:
        """Solve the relaxation; give the price of each item."""
        self.model.run()
        prices = np.array(self.model.getSolution().row_dual)
        least = [-math.inf if i in self.givers else 0.0 for i in range(len(prices))]
        return np.maximum(prices, least)

    def counts(self) -> np.ndarray:
        """Give how often each pattern is used."""
        return np.array(self.model.getSolution().col_value)

    @property
    def objective(self) -> float:
        """Give the bins of the relaxation."""
        return float(self.model.getInfo().objective_function_value)

    def listed(
        self, prices: np.ndarray, least: int, width: int
    ) -> tuple[list[tuple[int, Pattern]], bool]:
        """Give patterns of what is left with at least this price in 2⁻³⁰; whether all of them."""
        whole = [round(price * _STEPS) for price in prices.tolist()]
        found: list[tuple[int, Pattern]] = []
        complete = True
        for first, room in self.bays:
            if any(a > b for a, b in zip(first, self.demand, strict=True)):
                continue
            bay = room.within(self.demand)
            given = sum(a * b for a, b in zip(first, whole, strict=True))
            worth = [np.array([whole[i.kind]], dtype=np.int64) for i in bay.items]
            some = loads_above(bay, worth, least - given, most=width)
            complete &= some.complete
            for row in np.argsort(-some.worth, kind="stable")[:_ROUND].tolist():
                counts = list(first)
                for kind, _, copies in some.load(row).jobs:
                    counts[kind] = copies
                found.append((int(some.worth[row]) + given, tuple(counts)))
        return sorted(found, reverse=True), complete

    def generate(self, rounds: int, width: int, until: float) -> np.ndarray:
        """Add patterns that the prices ask for until a search of this width finds none."""
        prices = self.solve()
        for _ in range(rounds):
            if time.monotonic() > until:
                break
            found, _ = self.listed(prices, round((1 + _GAIN) * _STEPS), width)
            if not sum(self.add(self.filled(pattern, prices)) for _, pattern in found[:_ROUND]):
                break
            prices = self.solve()
        return prices

    def filled(self, pattern: Pattern, prices: np.ndarray) -> Pattern:
        """Fill a pattern up with the dearest items that fit."""
        counts, sizes = list(pattern), np.array(self.packing.sizes)
        free = np.array(self.packing.capacity) - np.array(counts) @ sizes
        for i in np.argsort(-prices, kind="stable").tolist():
            if i in self.givers:
                continue
            while counts[i] < self.demand[i] and (free >= sizes[i]).all():
                counts[i] += 1
                free = free - sizes[i]
        return tuple(counts)

    def whole(self, seconds: float, target: int) -> list[Pattern] | None:
        """Give the fewest bins of the known patterns that the time allows."""
        model = Quiet()
        model.setOptionValue("output_flag", False)
        model.passModel(self.model.getModel())
        count = len(self.patterns)
        whole = np.full(count, highspy.HighsVarType.kInteger)
        model.changeColsIntegrality(count, np.arange(count, dtype=np.int32), whole)
        model.setOptionValue("threads", 1)
        model.setOptionValue("time_limit", max(seconds, 0.0))
        model.setOptionValue("objective_target", target + 0.5)
        model.setOptionValue("mip_abs_gap", 0.999)
        model.run()
        feasible = highspy.SolutionStatus.kSolutionStatusFeasible
        if model.getInfo().primal_solution_status != feasible:
            return None
        used = np.rint(np.array(model.getSolution().col_value)).astype(int)
        return [p for p, n in zip(self.patterns, used.tolist(), strict=True) for _ in range(n)]


def exact_bound(master: Master, prices: np.ndarray, width: int) -> int:
    """Give a lower bound on the bins, in integers: the items' prices over the dearest pattern's.

    The prices are integers over 2³⁰; the search for patterns dearer than a bin keeps all partial
    ones that may end there, or gives no bound.
    """
    whole = [round(price * _STEPS) for price in prices.tolist()]
    found, complete = master.listed(prices, _STEPS + 1, width)
    if not complete:
        return 1
    dearest = max([_STEPS, *(worth for worth, _ in found)])
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


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", nargs="+", type=int, default=(60, 120))
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
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
        options.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
