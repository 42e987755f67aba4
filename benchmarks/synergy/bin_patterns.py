"""Patterns of vector bins: what fits one bin, priced by the search for loads of `packed`.

Takes bins and items with a demand each and gives a master programme that grows by patterns. They
are priced by that search on rounded bounds; what it lists is exact, in integers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import highspy
import numpy as np

from synergy_opt.packed.loads import Bay, Item, loads_above
from synergy_opt.solvers.highs_ import Quiet

Pattern = tuple[int, ...]
"""Copies of each item type in a bin."""

STEPS = 2**30  # of a bin's price
_GAIN = 1e-7
_LEVELS = 20  # of each capacity in the table of bounds
_ROUND = 30  # patterns that a round adds at most


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
        whole = [round(price * STEPS) for price in prices.tolist()]
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
            found, _ = self.listed(prices, round((1 + _GAIN) * STEPS), width)
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
