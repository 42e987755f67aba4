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
from pathlib import Path

import highspy
import numpy as np
from rich.console import Console
from rich.table import Table

from synergy_opt.packed.knapsack import containing_each, knapsack, solve
from synergy_opt.packed.shapes import Slot
from synergy_opt.program import Program
from synergy_opt.solution import Limits
from synergy_opt.solvers import solver
from synergy_opt.solvers.highs_ import Quiet

_GAIN = 1e-7


@dataclass(frozen=True, kw_only=True)
class Packing:
    """Bins with several capacities, and items with a demand each."""

    name: str
    capacity: tuple[int, ...]
    sizes: tuple[tuple[int, ...], ...]
    demand: tuple[int, ...]


def read_packing(path: Path) -> Packing:
    """Read a `.vbp` file: dimensions, capacities, item types, rows of sizes and demand."""
    numbers = iter(path.read_text(encoding="utf-8").split())
    width = int(next(numbers))
    capacity = tuple(int(next(numbers)) for _ in range(width))
    rows = [[int(next(numbers)) for _ in range(width + 1)] for _ in range(int(next(numbers)))]
    return Packing(
        name=path.stem,
        capacity=capacity,
        # Two published files have sizes below 0: as 0, what fits still fits.
        sizes=tuple(tuple(max(size, 0) for size in row[:width]) for row in rows),
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


def exact_price(
    packing: Packing, prices: np.ndarray, seconds: float
) -> tuple[tuple[int, ...], float]:
    """Give the dearest pattern and an upper bound on its price, by an integer programme."""
    items, width = len(packing.sizes), len(packing.capacity)
    sizes = np.array(packing.sizes, dtype=float)
    program = Program(
        name="pricing",
        cost=prices,
        starts=np.arange(width + 1, dtype=np.int64) * items,
        index=np.tile(np.arange(items, dtype=np.int64), width),
        value=sizes.T.ravel(),
        row_lower=np.full(width, -math.inf),
        row_upper=np.array(packing.capacity, dtype=float),
        lower=np.zeros(items),
        upper=np.array(packing.demand, dtype=float),
        integral=np.ones(items, dtype=bool),
        row_names=tuple(f"r{r}" for r in range(width)),
        column_names=tuple(f"x{i}" for i in range(items)),
    )
    solution = solver("highs")(program, Limits(time=seconds))
    bound = math.inf if solution.bound is None else solution.bound
    if solution.x is None:
        return (0,) * items, bound
    return tuple(int(n) for n in np.rint(solution.x)), bound


class Master:
    """Minimise the bins: Σ_p a_pi x_p ≥ demand of each item, over a growing set of patterns."""

    def __init__(self, packing: Packing, patterns: Sequence[tuple[int, ...]]) -> None:
        self.packing, self.patterns = packing, list(dict.fromkeys(patterns))
        self.known, self.sent = set(self.patterns), 0
        self.model = Quiet()
        self.model.setOptionValue("output_flag", False)
        for count in packing.demand:
            self.model.addRow(float(count), math.inf, 0, np.empty(0, np.int32), np.empty(0))

    def add(self, pattern: tuple[int, ...]) -> bool:
        """Add a pattern if it is new."""
        if pattern in self.known:
            return False
        self.known.add(pattern)
        self.patterns.append(pattern)
        return True

    def prices(self) -> np.ndarray:
        """Solve the relaxation; give the price of each item."""
        self.send()
        self.model.run()
        return np.maximum(np.array(self.model.getSolution().row_dual), 0.0)

    def send(self) -> None:
        """Give HiGHS the patterns that it does not have yet."""
        for pattern in self.patterns[self.sent :]:
            index = np.flatnonzero(pattern).astype(np.int32)
            values = np.array(pattern, dtype=float)[index]
            self.model.addCol(1.0, 0.0, math.inf, len(index), index, values)
        self.sent = len(self.patterns)

    def whole(self, seconds: float, target: int) -> list[tuple[int, ...]] | None:
        """Give the fewest bins of the known patterns that the time allows."""
        self.send()
        model = Quiet()
        model.setOptionValue("output_flag", False)
        model.passModel(self.model.getModel())
        count = len(self.patterns)
        whole = np.full(count, highspy.HighsVarType.kInteger)
        model.changeColsIntegrality(count, np.arange(count, dtype=np.int32), whole)
        model.setOptionValue("time_limit", max(seconds, 0.0))
        model.setOptionValue("objective_target", target + 0.5)
        model.setOptionValue("mip_abs_gap", 0.999)
        model.run()
        feasible = highspy.SolutionStatus.kSolutionStatusFeasible
        if model.getInfo().primal_solution_status != feasible:
            return None
        used = np.rint(np.array(model.getSolution().col_value)).astype(int)
        return [p for p, n in zip(self.patterns, used.tolist(), strict=True) for _ in range(n)]


def packed_bins(packing: Packing, seconds: float) -> dict[str, object]:
    """Pack by patterns; the bound is Farley's, from exactly priced patterns."""
    start, items = time.monotonic(), range(len(packing.sizes))
    sizes, capacity = np.array(packing.sizes), np.array(packing.capacity)
    orders = [
        np.argsort(-key).tolist() for key in ((sizes / capacity).sum(1), (sizes / capacity).max(1))
    ]
    bins = min((first_fit(packing, order) for order in orders), key=len)
    singles = [tuple(int(i == j) for j in items) for i in items]
    master, bound = (
        Master(packing, [*(p for o in orders for p in first_fit(packing, o)), *singles]),
        1,
    )
    slots = [Slot(0, 1, size) for size in dict.fromkeys(packing.sizes)]
    owner = [packing.sizes.index(slot.sizes) for slot in slots]
    sack = knapsack(slots, range(len(slots)), int(_most_items(packing)), packing.capacity)
    while (left := seconds - (time.monotonic() - start)) > seconds * 0.4:
        prices = master.prices()
        new = False
        priced = solve(sack, prices[owner], outward=False)
        for pattern in containing_each(priced, above=1 + _GAIN, most=30):
            new |= master.add(_capped(packing, owner, pattern, prices))
        if new:
            continue
        pattern, most = exact_price(packing, prices, left / 4)
        total = float(prices @ np.array(packing.demand))
        bound = max(bound, math.ceil(total / max(most, 1.0) - 1e-6))
        if (
            prices @ np.array(pattern) <= 1 + _GAIN
            or not master.add(pattern)
            or bound >= len(bins)
        ):
            break
    if bound < len(bins):
        bins = min(
            bins, master.whole(seconds - (time.monotonic() - start), bound) or bins, key=len
        )
    _check(packing, bins)
    return {
        "name": packing.name,
        "bins": len(bins),
        "bound": bound,
        "seconds": time.monotonic() - start,
    }


def _most_items(packing: Packing) -> int:
    return min(
        int(np.searchsorted(np.cumsum(np.sort(column)), most, side="right"))
        for column, most in zip(np.array(packing.sizes).T, packing.capacity, strict=True)
    )


def _capped(
    packing: Packing, owner: Sequence[int], pattern: Sequence[tuple[int, int]], prices: np.ndarray
) -> tuple[int, ...]:
    """Take each item at most as often as there are any, filling up with the dearest that fit."""
    counts = [0] * len(packing.sizes)
    for slot, copies in pattern:
        counts[owner[slot]] = min(copies, packing.demand[owner[slot]])
    free = np.array(packing.capacity) - np.array(counts) @ np.array(packing.sizes)
    for i in np.argsort(-prices).tolist():
        while counts[i] < packing.demand[i] and (free >= packing.sizes[i]).all():
            counts[i] += 1
            free = free - packing.sizes[i]
    return tuple(counts)


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
