"""The problem as flat arrays: maximise Σ v_tk u_tk, Σ_k u_tk = n_t, Σ d_tkr u_tk ≤ C_r, u whole.

Takes exact integers, gives a frozen `Table` and its nearest doubles; a million items are a few
arrays and not a million objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from synergy_opt.exact import IntArray, exact_sum

FloatArray = npt.NDArray[np.float64]
Choice = tuple[IntArray, IntArray]
"""Items that are taken, ascending, and how often each."""

_CHUNK = 2**19  # items looked at together: temporaries stay at a few megabytes


@dataclass(frozen=True, kw_only=True)
class Table:
    """Groups of items; of each group a fixed number of items is taken, with repetition.

    Parameters
    ----------
    first
        Index of each group's first item, then the number of items: group t has the items
        ``first[t]`` to ``first[t + 1] - 1``, at least one.
    counts
        n_t, how many items of the group are taken.
    value
        Numerators of the items' values; int64, or Python integers where those are too small.
    below
        One denominator a group, for its values.
    demand
        For each dimension the items' demand in whole units, at least 0.
    capacity
        C_r in the same units.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table(first=np.array([0, 2, 3]), counts=np.array([1, 2]),
    ...               value=np.array([1, 3, 5]), below=np.array([2, 1]),
    ...               demand=(np.array([0, 4, 1]),), capacity=(5,))
    >>> table.worth((np.array([1, 2]), np.array([1, 2])))
    Fraction(23, 2)
    >>> table.use((np.array([1, 2]), np.array([1, 2])))
    (6,)
    """

    first: IntArray
    counts: IntArray
    value: IntArray
    below: IntArray
    demand: tuple[IntArray, ...]
    capacity: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def items(self) -> int:
        """Number of items of all groups."""
        return int(self.first[-1])

    @cached_property
    def group(self) -> npt.NDArray[np.int64]:
        """Group of each item."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def worth(self, choice: Choice) -> Fraction:
        """Give Σ v u exactly."""
        items, times = choice
        return weighted_sum(self.value[items], self.below[self.group[items]], times)

    def use(self, choice: Choice) -> tuple[int, ...]:
        """Give Σ d u in each dimension exactly."""
        items, times = choice
        return tuple(whole_sum(amounts[items], times) for amounts in self.demand)

    def fits(self, choice: Choice) -> bool:
        """Say whether no capacity is exceeded and each group takes its number of items."""
        items, times = choice
        taken = np.zeros(len(self), dtype=np.int64)
        np.add.at(taken, self.group[items], times)
        within = all(u <= c for u, c in zip(self.use(choice), self.capacity, strict=True))
        return within and bool((taken == self.counts).all()) and bool((times >= 0).all())

    def gain(self, item: int) -> Fraction:
        """Give one item's value."""
        return Fraction(int(self.value[item]), int(self.below[self.group[item]]))


@dataclass(frozen=True, kw_only=True)
class Floats:
    """The table in doubles, demands as parts of the capacity: what guides, and decides nothing."""

    first: IntArray
    counts: FloatArray
    gain: FloatArray
    amount: FloatArray  # dimensions × items
    room: FloatArray  # capacity in the same parts: 1, or 0 where there is none

    @classmethod
    def of(cls, table: Table) -> Floats:
        """Give the nearest doubles of a table."""
        below = np.repeat(table.below, np.diff(table.first))
        unit = [max(c, 1) for c in table.capacity]
        # NumPy divides int64 by int64 only; a wide capacity needs Python's own division.
        demand = [
            d if u < 2**62 else d.astype(object) for d, u in zip(table.demand, unit, strict=True)
        ]
        return cls(
            first=table.first,
            counts=table.counts.astype(np.float64),
            gain=(table.value / below).astype(np.float64),
            amount=np.array(
                [(d / u).astype(np.float64) for d, u in zip(demand, unit, strict=True)]
            ).reshape(len(unit), table.items),
            room=np.array([c / u for c, u in zip(table.capacity, unit, strict=True)]),
        )

    @property
    def items(self) -> int:
        """Number of items of all groups."""
        return len(self.gain)

    def select(self, keep: npt.NDArray[np.bool_]) -> Floats:
        """Keep some items, at least one a group."""
        total = np.concatenate([[0], np.cumsum(keep)])
        return Floats(
            first=total[self.first],
            counts=self.counts,
            gain=self.gain[keep],
            amount=self.amount[:, keep],
            room=self.room,
        )

    def chunks(self) -> Iterator[tuple[slice, slice]]:
        """Give slices of groups with the slices of their items."""
        start, groups = 0, len(self.counts)
        while start < groups:
            end = int(np.searchsorted(self.first, self.first[start] + _CHUNK, side="right")) - 1
            end = min(max(end, start + 1), groups)
            yield slice(start, end), slice(int(self.first[start]), int(self.first[end]))
            start = end

    def best(self, prices: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int64]]:
        """Give max_k (v − λ·d) of each group and the first item that attains it."""
        best = np.empty(len(self.counts))
        at = np.empty(len(self.counts), dtype=np.int64)
        for groups, items in self.chunks():
            score = self.gain[items] - prices @ self.amount[:, items]
            start = self.first[groups] - items.start
            best[groups] = np.maximum.reduceat(score, start)
            sizes = np.diff(self.first[groups.start : groups.stop + 1])
            hit = np.flatnonzero(score == np.repeat(best[groups], sizes))
            at[groups] = hit[np.searchsorted(hit, start)] + items.start
        return best, at

    def loss(self, prices: FloatArray) -> FloatArray:
        """Give each item's reduced cost: how far it is below its group's best at these prices."""
        best, _ = self.best(prices)
        loss = np.empty(len(self.gain))
        for groups, items in self.chunks():
            sizes = np.diff(self.first[groups.start : groups.stop + 1])
            score = self.gain[items] - prices @ self.amount[:, items]
            loss[items] = np.repeat(best[groups], sizes) - score
        return loss


def whole_sum(numbers: IntArray, times: IntArray) -> int:
    """Give Σ number · times, in int64 only where no sum can overflow."""
    if not len(numbers):
        return 0
    largest = max(abs(int(numbers.max())), abs(int(numbers.min()))) * int(np.abs(times).max())
    if numbers.dtype == object or largest * len(numbers) >= 2**62:
        return sum(int(a) * int(n) for a, n in zip(numbers, times, strict=True))
    return int(numbers @ times)


def weighted_sum(numbers: IntArray, below: IntArray, times: IntArray) -> Fraction:
    """Give Σ number / below · times exactly, one sum a denominator."""
    if below.dtype == object:
        pairs = zip(numbers, below, times, strict=True)
        return exact_sum(Fraction(int(a) * int(n), int(b)) for a, b, n in pairs)
    kinds, which = np.unique(below, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=len(kinds)))])
    numbers, times = numbers[order], times[order]
    return exact_sum(
        Fraction(whole_sum(numbers[a:b], times[a:b]), int(k))
        for k, a, b in zip(kinds, ends[:-1], ends[1:], strict=True)
    )
