"""The best loads of a list, decided in exact arithmetic: branch and bound with safe bounds.

Takes every load that a better placement may use, and a placement to beat. A solver's relaxation
only suggests prices; each bound is computed again from them in integers over the whole list, so
that a node is closed by proof, never by a solver's word.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np

from synergy_opt.exact import exact_sum
from synergy_opt.exact.refined import solve_integers
from synergy_opt.packed.bound import rounded_down
from synergy_opt.packed.load_cuts import Cut, Mark, counted, marks, signed
from synergy_opt.packed.load_master import LoadMaster
from synergy_opt.packed.loads import Listed, Load
from synergy_opt.packed.pricing import Index
from synergy_opt.program import FloatArray
from synergy_opt.solvers.highs_ import run_aside

_STEPS = 2**40  # of prices in a unit
_FRACTION = 1e-6
_CLOSE = 1e-7  # relative: this near to the value to beat, prices are found exactly
_ROUND = 200  # listed loads that a round of pricing adds at most


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a search ended.

    Parameters
    ----------
    loads
        Better than what was to be beaten, None where nothing is or was found.
    decided
        True: every combination of the listed loads was decided.
    nodes
        Relaxations solved.
    """

    loads: tuple[Load, ...] | None
    decided: bool
    nodes: int


class LoadSearch:
    """Branch and bound over listed loads, for exactly the master's jobs and servers.

    Parameters
    ----------
    master
        Its loads are loads that may be used as well; grows.
    listed
        For each group.
    lattice
        All values are multiples of it, if there is one.
    late
        Tells when to give up.
    """

    def __init__(
        self,
        master: LoadMaster,
        listed: Sequence[Listed],
        lattice: Fraction | None,
        late: Callable[[], bool],
    ) -> None:
        self._master, self._listed = master, listed
        self._lattice, self._late = lattice, late
        self._unit, kinds = Fraction(master.unit), len(master.jobs)
        self._needs = [some.needs(kinds) for some in listed]
        most = (int(needs.sum(axis=0).max(initial=0)) for needs in self._needs)
        self._most_jobs = max(most, default=0)  # in a load
        # Rounded up: bounds made of these hold for the true values.
        self._scaled = [
            some.sums(np.array([self._ceiling(k, c) for k, c in some.numbers], dtype=np.int64))
            for some in listed
        ]
        self._cuts: list[Cut] = []
        self._weights: list[list[Index]] = []  # of a cut, for each group's listed loads
        self._best: tuple[Load, ...] | None = None
        self._floor, self._nodes, self._undecided = Fraction(0), 0, False

    def run(self, floor: Fraction) -> Outcome:
        """Search for a value above `floor`."""
        self._floor = floor
        self._explore()
        return Outcome(loads=self._best, decided=not self._undecided, nodes=self._nodes)

    def _ceiling(self, kind: int, configuration: int) -> int:
        value = self._master.shop.wishes[kind].configurations.value[configuration]
        return math.ceil(value / self._unit * _STEPS)

    def _explore(self) -> None:
        self._nodes += 1
        if self._undecided or not self._solved():
            self._undecided = True
            return
        if self._closed():
            return
        counts = self._master.counts()
        if self._master.left_out() < _FRACTION and self._whole(counts) and self._closed():
            return
        branch = self._branch(counts)
        if branch is None:
            self._undecided = True  # whole, and its bound could not be shown exactly
            return
        mark, low = branch
        for cut in (
            Cut(mark=mark, limit=low + 1, most=False),
            Cut(mark=mark, limit=low, most=True),
        ):
            inside = {j: n for j, load in enumerate(self._master.loads) if (n := cut.weight(load))}
            self._cuts.append(cut)
            self._weights.append([counted(some, mark) for some in self._listed])
            row = self._master.cut(inside, cut.limit, most=cut.most)
            self._explore()
            self._master.uncut(row)
            self._cuts.pop()
            self._weights.pop()

    def _solved(self) -> bool:
        """Solve the relaxation over all listed loads; False where that ends in any other way."""
        while not self._late():
            run_aside(self._master.model)
            if self._master.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                return False
            if not self._priced():
                return True
        return False

    def _priced(self) -> int:
        """Add the listed loads that the prices ask for."""
        rows, kinds, new = self._master.duals(), len(self._master.jobs), 0
        for h, some in enumerate(self._listed):
            gain = self._scaled[h] / _STEPS - rows[:kinds] @ self._needs[h]
            for price, weights in zip(
                rows[kinds + len(self._listed) :], self._weights, strict=True
            ):
                gain -= price * weights[h]
            good = np.flatnonzero(gain > max(rows[kinds + h], 0.0) + 1e-9)
            best = good[np.argsort(-gain[good], kind="stable")[:_ROUND]]
            new += self._master.add((some.load(j) for j in best.tolist()), self._entries)
        return new

    def _entries(self, load: Load) -> list[tuple[int, int]]:
        first = len(self._master.jobs) + len(self._listed)
        return [(first + i, n) for i, cut in enumerate(self._cuts) if (n := cut.weight(load))]

    def _value(self, load: Load) -> Fraction:
        wishes = self._master.shop.wishes
        return exact_sum(n * wishes[t].configurations.value[c] for t, c, n in load.jobs)

    def _whole(self, counts: FloatArray) -> bool:
        """Take over a whole solution that is better; tell whether it is whole."""
        near = np.rint(counts)
        if np.abs(counts - near).max() > _FRACTION:
            return False
        loads = [self._master.loads[j] for j in np.flatnonzero(near) for _ in range(int(near[j]))]
        placed: Counter[int] = Counter()
        for load in loads:
            for kind, _, number in load.jobs:
                placed[kind] += number
        on = Counter(load.group for load in loads)
        if [placed[t] for t in range(len(self._master.jobs))] != self._master.jobs or any(
            on[h] > n for h, n in enumerate(self._master.servers)
        ):
            return False
        value = exact_sum(map(self._value, loads))
        if value > self._floor:
            self._floor, self._best = value, tuple(loads)
        return True

    def _closed(self) -> bool:
        """Tell whether no whole solution of this node is above the floor, by an exact bound."""
        rows = self._master.duals()
        kinds, groups = len(self._master.jobs), len(self._listed)
        scaled = np.rint(np.concatenate([rows[:kinds], rows[kinds + groups :]]) * float(_STEPS))
        if np.abs(scaled).max(initial=0.0) * self._largest_load() >= 2.0**61:
            return False  # a sum of prices over a load might not be an int64
        prices = scaled.astype(np.int64)
        total = sum(p * n for p, n in zip(prices[:kinds].tolist(), self._master.jobs, strict=True))
        kept = [
            signed(cut, price)
            for cut, price in zip(self._cuts, prices[kinds:].tolist(), strict=True)
        ]
        total += sum(price * cut.limit for price, cut in zip(kept, self._cuts, strict=True))
        for h, number in enumerate(self._master.servers):
            left = self._scaled[h] - prices[:kinds] @ self._needs[h]
            for price, weights in zip(kept, self._weights, strict=True):
                left = left - price * weights[h]
            total += number * max(0, int(left.max(initial=0)))
        bound = Fraction(total, _STEPS) * self._unit
        if rounded_down(bound, self._lattice) <= self._floor:
            return True
        near = float(bound - self._floor) <= _CLOSE * float(abs(self._floor))
        return near and self._closed_exactly()

    def _largest_load(self) -> float:
        """Give no less than what the entries of a load sum to, over jobs and cuts; at least 1."""
        cuts = sum(
            max((int(some.max(initial=0)) for some in weights), default=0)
            for weights in self._weights
        )
        return float(1 + self._most_jobs + cuts)

    def _closed_exactly(self) -> bool:
        """Do it with the exact prices of the basis, where these can be had."""
        found = self._basis_prices()
        if found is None:
            return False
        rows, below = found  # integers over `below`
        kinds, groups = len(self._master.jobs), len(self._listed)
        kept = [signed(cut, p) for cut, p in zip(self._cuts, rows[kinds + groups :], strict=True)]
        total = sum(r * n for r, n in zip(rows[:kinds], self._master.jobs, strict=True))
        total += sum(price * cut.limit for price, cut in zip(kept, self._cuts, strict=True))
        bound, scale = Fraction(total, below), below * self._unit
        near = np.array([float(r / scale) for r in rows[:kinds]])
        for h, number in enumerate(self._master.servers):
            some = self._listed[h]
            if not len(some):
                continue
            gain = self._scaled[h] / _STEPS - near @ self._needs[h]
            size = np.abs(self._scaled[h]) / _STEPS + np.abs(near) @ self._needs[h]
            for price, weights in zip(kept, self._weights, strict=True):
                gain -= float(price / scale) * weights[h]
                size += abs(float(price / scale)) * weights[h]
            # Doubles sort out what is far below the largest, by far more than their rounding of
            # terms of this size; the rest is compared exactly.
            close = np.flatnonzero(gain >= gain.max() - 1e-6 * max(1.0, size.max()))
            largest = Fraction(0)
            for j in close.tolist():
                charge = sum(rows[t] * int(n) for t, n in enumerate(self._needs[h][:, j]) if n)
                charge += sum(
                    price * int(weights[h][j])
                    for price, weights in zip(kept, self._weights, strict=True)
                )
                largest = max(largest, self._value(some.load(j)) - Fraction(charge, below))
            bound += number * largest
        return bound <= self._floor

    def _basis_prices(self) -> tuple[list[int], int] | None:
        columns, slack = self._master.basic()
        rows = [i for i in range(self._master.rows) if i not in slack]
        if len(rows) != len(columns):
            return None
        place = {row: i for i, row in enumerate(rows)}
        kinds = len(self._master.jobs)
        equations: list[dict[int, int]] = []
        costs: list[Fraction] = []
        for column in columns:
            if column < kinds:  # a job left out
                entries = {column: 1}
                costs.append(Fraction(self._master.penalty[column]) * -self._unit)
            else:
                load = self._master.loads[column - kinds]
                entries = dict(self._master.needs[column - kinds])
                entries[kinds + load.group] = 1
                entries |= dict(self._entries(load))
                costs.append(self._value(load))
            equations.append({place[row]: n for row, n in entries.items() if row in place})
        below = math.lcm(*(cost.denominator for cost in costs))
        solved = solve_integers(equations, [int(cost * below) for cost in costs])
        if solved is None:
            return None
        numerators, denominator = solved
        prices = [0] * self._master.rows
        for row, numerator in zip(rows, numerators, strict=True):
            prices[row] = numerator
        return prices, denominator * below

    def _branch(self, counts: FloatArray) -> tuple[Mark, int] | None:
        """Give a mark whose sum is not whole, and that sum rounded down."""
        used = np.flatnonzero(counts > _FRACTION).tolist()
        for level in range(3):
            sums: dict[Mark, float] = {}
            for j in used:
                for mark, number in marks(self._master.loads[j])[level].items():
                    sums[mark] = sums.get(mark, 0.0) + number * float(counts[j])
            parts = {mark: abs(total - round(total)) for mark, total in sums.items()}
            if not parts:
                continue
            mark = max(parts, key=parts.__getitem__)
            if parts[mark] > _FRACTION:
                return mark, math.floor(sums[mark])
        return None
