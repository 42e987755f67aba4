"""The relaxation over loads: each server runs one load, each kind all its jobs.

maximise Σ v_l x_l, Σ_l a_lt x_l = n_t for each kind t, Σ_l x_l ≤ s_h for each group h.
Takes a shop of whole jobs and gives prices of kinds and servers; loads come by column generation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import highspy
import numpy as np

from synergy_opt.errors import SolverFailed
from synergy_opt.packed.loads import Bay, Load, loads_above
from synergy_opt.packed.shapes import Shop
from synergy_opt.program import FloatArray
from synergy_opt.solvers.highs_ import Quiet, run_aside

_STEPS = 2.0**30  # of worth rounded for the search of loads, in a unit
_GAIN = 1e-8
_NEARLY = 0.95  # of a server's price: loads worth that are there from the start
_WIDTH = 400, 20_000  # partial loads that a quick and a thorough search keep
_ROUND = 40  # loads that a round adds at most for each group


class LoadMaster:
    """The relaxation for what is left of the jobs and servers, over a growing set of loads.

    Parameters
    ----------
    shop
        Of whole jobs.
    bays
        Its servers.
    unit
        What values are divided by on the solver.
    late
        Tells when to give up.

    Attributes
    ----------
    loads : list of Load
        In the order of the columns, after one column a kind for jobs left out.
    jobs, servers : list of int
        What is left of each kind and group.
    """

    def __init__(
        self, shop: Shop, bays: Sequence[Bay], unit: float, late: Callable[[], bool]
    ) -> None:
        self.shop, self.bays, self.late, self.unit = shop, bays, late, unit
        self.loads: list[Load] = []
        self.value: list[float] = []
        self._known: set[Load] = set()
        self.jobs = [len(wish.kind) for wish in shop.wishes]
        self.servers = list(shop.counts)
        self.needs: list[dict[int, int]] = []
        self.model = Quiet()
        for name, option in {
            "output_flag": False,
            "threads": 1,
            "solver": "simplex",
            "presolve": "off",
        }.items():
            self.model.setOptionValue(name, option)
        none = np.empty(0, np.int32), np.empty(0)
        for n in self.jobs:
            self.model.addRow(float(n), float(n), 0, *none)
        for n in self.servers:
            self.model.addRow(-math.inf, float(n), 0, *none)
        self.penalty = [1e3 * float(wish.values.max()) / unit + 1e3 for wish in shop.wishes]
        for t, cost in enumerate(self.penalty):
            self.model.addCol(cost, 0.0, math.inf, 1, np.array([t], np.int32), np.array([1.0]))

    def add(
        self,
        loads: Iterable[Load],
        cuts: Callable[[Load], Iterable[tuple[int, int]]] | None = None,
    ) -> int:
        """Add loads that are not there yet; give how many.

        `cuts` gives for a load the further rows that it is in, with its entries there.
        """
        before = len(self.loads)
        for load in loads:
            if load in self._known:
                continue
            self._known.add(load)
            self.loads.append(load)
            need: Counter[int] = Counter()
            value = 0.0
            for kind, configuration, number in load.jobs:
                need[kind] += number
                value += number * float(self.shop.wishes[kind].values[configuration])
            self.value.append(value)
            self.needs.append(need)
            more = [] if cuts is None else list(cuts(load))
            rows = np.array(
                [*need, len(self.jobs) + load.group, *(row for row, _ in more)], dtype=np.int32
            )
            entries = np.array([*need.values(), 1, *(n for _, n in more)], dtype=np.float64)
            self.model.addCol(-value / self.unit, 0.0, self._most(need), len(rows), rows, entries)
        return len(self.loads) - before

    def _most(self, need: dict[int, int]) -> float:
        return math.inf if all(n <= self.jobs[kind] for kind, n in need.items()) else 0.0

    def leave(self, jobs: Sequence[int], servers: Sequence[int]) -> None:
        """Set what is left of the jobs and servers."""
        self.jobs, self.servers = list(jobs), list(servers)
        for i, n in enumerate([*jobs, *servers]):
            self.model.changeRowBounds(i, float(n) if i < len(jobs) else -math.inf, float(n))
        upper = np.array([math.inf] * len(jobs) + [self._most(need) for need in self.needs])
        index = np.arange(len(upper), dtype=np.int32)
        self.model.changeColsBounds(len(upper), index, np.zeros(len(upper)), upper)

    def solve(self) -> FloatArray:
        """Solve; give the prices of kinds, then of servers."""
        run_aside(self.model)
        if self.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise SolverFailed(f"HiGHS ends the relaxation with {self.model.getModelStatus()}")
        return -np.array(self.model.getSolution().row_dual) * self.unit

    def cut(self, weights: Mapping[int, int], limit: int, *, most: bool) -> int:
        """Add the row Σ weight · x ≤ limit, or ≥, over loads; give its position."""
        low, high = (-math.inf, float(limit)) if most else (float(limit), math.inf)
        index = np.array(list(weights), dtype=np.int32) + len(self.jobs)
        entries = np.array(list(weights.values()), dtype=np.float64)
        self.model.addRow(low, high, len(index), index, entries)
        return self.rows - 1

    def uncut(self, row: int) -> None:
        """Take the row away."""
        self.model.deleteRows(1, np.array([row], dtype=np.int32))

    @property
    def rows(self) -> int:
        """Kinds, then groups, then cuts."""
        return int(self.model.getNumRow())

    def duals(self) -> FloatArray:
        """Give the prices of all rows, in units."""
        return -np.array(self.model.getSolution().row_dual)

    def basic(self) -> tuple[list[int], set[int]]:
        """Give the basic columns and the rows whose slack is basic."""
        basis, basic = self.model.getBasis(), highspy.HighsBasisStatus.kBasic
        columns = [j for j, status in enumerate(basis.col_status) if status == basic]
        return columns, {i for i, status in enumerate(basis.row_status) if status == basic}

    def counts(self) -> FloatArray:
        """Give the solution: how often each load is used."""
        return np.array(self.model.getSolution().col_value)[len(self.shop.wishes) :]

    def left_out(self) -> float:
        """Give how many jobs the solution leaves out."""
        return float(np.sum(self.model.getSolution().col_value[: len(self.shop.wishes)]))

    @property
    def objective(self) -> float:
        """Give the value of the solution."""
        return -float(self.model.getInfo().objective_function_value) * self.unit

    def start(self, prices: FloatArray) -> None:
        """Add loads that are nearly worth the servers' prices, and solve."""
        self._priced(prices, _WIDTH[0], part=_NEARLY)
        self.solve()

    def generate(self, prices: FloatArray, *, rounds: int, thorough: bool) -> FloatArray:
        """Add loads that these prices ask for, and solve again, until none is missing.

        Parameters
        ----------
        prices
            To start from.
        rounds
            After which to stop in any case.
        thorough
            True: a search that keeps more partial loads follows where a quick one finds none.
        """
        for _ in range(rounds):
            if self.late():
                break
            new = self._priced(prices, _WIDTH[0])
            if not new and thorough:
                new = self._priced(prices, _WIDTH[1])
            if not new:
                break
            prices = self.solve()
        return prices

    def _priced(self, prices: FloatArray, width: int, part: float = 1.0) -> int:
        new, kinds = 0, len(self.jobs)
        for bay in self.bays:
            if not self.servers[bay.group]:
                continue
            left = bay.within(self.jobs)
            rent = float(prices[kinds + bay.group]) / self.unit
            worth = [
                np.rint(
                    (self.shop.wishes[i.kind].values[list(i.configurations)] - prices[i.kind])
                    / self.unit
                    * _STEPS
                ).astype(np.int64)
                for i in left.items
            ]
            least = int((part * rent + _GAIN * max(1.0, abs(rent))) * _STEPS) + 1
            found = loads_above(left, worth, least, most=width)
            best = np.argsort(-found.worth, kind="stable")[: _ROUND if part == 1.0 else width]
            new += self.add(found.load(i) for i in best.tolist())
        return new
