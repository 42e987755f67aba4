"""The master programme: jobs in slots, slots in patterns, patterns on servers.

Takes the columns that are known and gives the prices of its linear relaxation, which grows by
columns, and the best whole numbers of its integer programme (theory: "The packed optimum").

maximise Σ w u, with a row a kind, Σ u = jobs; a row a slot, pieces in it + what it lends to
smaller slots ≤ copies in patterns + what larger slots lend to it; a row a group, Σ patterns ≤
servers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import highspy
import numpy as np
import numpy.typing as npt

from synergy_opt.errors import SolverFailed
from synergy_opt.packed.options import Option
from synergy_opt.packed.pricing import Pattern
from synergy_opt.packed.shapes import Shop, Slot
from synergy_opt.program import FloatArray
from synergy_opt.solvers.highs_ import Quiet, run_aside


class LeftOut(NamedTuple):
    """A job of the kind without a place."""

    wish: int


class Loan(NamedTuple):
    """A slot that serves as a smaller one."""

    large: int
    small: int


class Opened(NamedTuple):
    """A server of the group, divided by the pattern."""

    group: int
    pattern: Pattern


Key = LeftOut | Loan | Option | Opened
"""What a column counts."""


@dataclass(kw_only=True)
class Columns:
    """The columns of a master programme, in the order in which they came.

    Parameters
    ----------
    shop
        Gives the rows.
    penalty
        Cost of a job that no option places, in units; such columns keep the relaxation feasible.
    unit
        What costs are divided by, so that a solver's absolute tolerances mean something.
    """

    shop: Shop
    penalty: float
    unit: float = 1.0
    made_of: list[Key] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    entries: list[tuple[list[int], list[float]]] = field(default_factory=list)
    known: set[Key] = field(default_factory=set)

    @property
    def rows(self) -> int:
        """Kinds, then slots, then groups."""
        return len(self.shop.wishes) + len(self.shop.slots) + len(self.shop.capacity)

    def add_left_out(self) -> None:
        """Add a column a kind for jobs without a place."""
        for t in range(len(self.shop.wishes)):
            self._add(LeftOut(t), -self.penalty, [t], [1.0])

    def add_loans(self, pairs: Iterable[Loan]) -> None:
        """Add columns by which a slot serves as a smaller one."""
        first = len(self.shop.wishes)
        for loan in pairs:
            self._add(loan, 0.0, [first + loan.large, first + loan.small], [1.0, -1.0])

    def add_options(self, options: Iterable[Option]) -> int:
        """Add options that are not there yet; gives how many."""
        first, before = len(self.shop.wishes), len(self.cost)
        for option in options:
            if option in self.known:
                continue
            value = self.shop.wishes[option.wish].values[option.configuration]
            index = [option.wish, *(first + slot for slot, _ in option.slots)]
            self._add(
                option, value / self.unit, index, [1.0, *(float(n) for _, n in option.slots)]
            )
        return len(self.cost) - before

    def add_patterns(self, group: int, patterns: Iterable[Pattern]) -> int:
        """Add patterns that are not there yet; gives how many."""
        first, before = len(self.shop.wishes), len(self.cost)
        last = first + len(self.shop.slots) + group
        for pattern in patterns:
            key = Opened(group, pattern)
            if key in self.known:
                continue
            index = [*(first + slot for slot, _ in pattern), last]
            self._add(key, 0.0, index, [*(-float(n) for _, n in pattern), 1.0])
        return len(self.cost) - before

    def _add(self, key: Key, cost: float, index: list[int], value: list[float]) -> None:
        self.known.add(key)
        self.made_of.append(key)
        self.cost.append(cost)
        self.entries.append((index, value))

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Give the lower and upper bounds of the rows."""
        jobs = [float(len(wish.kind)) for wish in self.shop.wishes]
        free = [-np.inf] * (len(self.shop.slots) + len(self.shop.capacity))
        limits = [0.0] * len(self.shop.slots) + [float(n) for n in self.shop.counts]
        return np.array(jobs + free), np.array(jobs + limits)

    def matrix(
        self, first: int = 0
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], FloatArray]:
        """Give starts, rows and values of the columns from `first` on."""
        some = self.entries[first:]
        lengths = [len(index) for index, _ in some]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        index = np.fromiter((i for rows, _ in some for i in rows), dtype=np.int32)
        value = np.fromiter((v for _, values in some for v in values), dtype=np.float64)
        return starts, index, value


def loans(slots: Sequence[Slot]) -> list[Loan]:
    """Give the pairs (slot, next smaller slot) of equal group and GPUs, without detours.

    O(n²) comparisons among the n slots of one group and number of GPUs.
    """
    found: list[Loan] = []
    families: dict[tuple[int, int], list[int]] = {}
    for i, slot in enumerate(slots):
        families.setdefault((slot.group, slot.gpus), []).append(i)
    for members in families.values():
        sizes = [slots[i].sizes for i in members]
        rank = np.array(
            [
                np.unique(_array(column), return_inverse=True)[1]
                for column in zip(*sizes, strict=True)
            ]
        ).T
        below = np.asarray((rank[:, None, :] >= rank[None, :, :]).all(axis=2))
        np.fill_diagonal(below, val=False)
        steps = below.astype(np.float32)
        detour = np.asarray(steps @ steps > 0)
        pairs = np.argwhere(below & ~detour).tolist()
        found += [Loan(members[a], members[b]) for a, b in pairs]
    return found


def _array(column: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.array(column, dtype=np.int64 if max(column) < 2**62 else object)


class Relaxation:
    """The linear relaxation in HiGHS, which keeps its basis as columns are added."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.model = Quiet()
        options = {"output_flag": False, "threads": 1, "solver": "simplex", "presolve": "off"}
        for name, value in options.items():
            self.model.setOptionValue(name, value)
        lower, upper = columns.bounds()
        empty = np.empty(0, dtype=np.int32)
        self.model.addRows(
            len(lower), lower, upper, 0, np.zeros(len(lower), np.int32), empty, np.empty(0)
        )
        self._sent = 0

    def solve(self) -> FloatArray:
        """Solve with all columns; give the prices of the rows, those of slots and groups ≥ 0."""
        self._send()
        run_aside(self.model)
        if self.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise SolverFailed(f"HiGHS ends the relaxation with {self.model.getModelStatus()}")
        self.prices: FloatArray = -np.array(self.model.getSolution().row_dual) * self.columns.unit
        return self.prices

    def values(self) -> FloatArray:
        """Give the solution's columns."""
        return np.array(self.model.getSolution().col_value)

    def losses(self) -> FloatArray:
        """Give the reduced costs: what a use of each column loses against the relaxation."""
        return np.array(self.model.getSolution().col_dual) * self.columns.unit

    @property
    def objective(self) -> float:
        """Give the value of the relaxation."""
        return -float(self.model.getInfo().objective_function_value) * self.columns.unit

    def basic(self) -> tuple[list[int], list[int]]:
        """Give the basic columns and the rows whose slack is basic."""
        basis, basic = self.model.getBasis(), highspy.HighsBasisStatus.kBasic
        columns = [j for j, status in enumerate(basis.col_status) if status == basic]
        return columns, [i for i, status in enumerate(basis.row_status) if status == basic]

    def _send(self) -> None:
        count = len(self.columns.cost) - self._sent
        if not count:
            return
        starts, index, value = self.columns.matrix(self._sent)
        self.model.addCols(
            count,
            -np.array(self.columns.cost[self._sent :]),
            np.zeros(count),
            np.full(count, np.inf),
            len(index),
            starts[:-1],
            index,
            value,
        )
        self._sent = len(self.columns.cost)
