"""A first answer: the relaxation's vertex rounded, repaired, and improved with what is left.

Takes a table with a vertex in doubles and gives whole counts that fit, or None; every capacity is
checked in integers.
"""

from __future__ import annotations

import numpy as np

from synergy_opt.exact import IntArray
from synergy_opt.ideal.knapsack.relaxed import Relaxed
from synergy_opt.ideal.knapsack.table import Choice, FloatArray, Floats, Table

_MOVES = 300
_NEAR = 2**16  # items that a move may go to: those with the least loss


def rounded(table: Table, floats: Floats, relaxed: Relaxed) -> Choice | None:
    """Round the vertex down, give the jobs that are left over their nearest item, repair, improve.

    Complexity: O(items) once, then O(near items · K) a move.
    """
    whole = np.floor(relaxed.part + 1e-6).astype(np.int64)
    taken = np.zeros(table.items, dtype=np.int64)
    np.add.at(taken, relaxed.items, np.maximum(whole, 0))
    for t in np.flatnonzero(np.add.reduceat(taken, table.first[:-1]) != table.counts):
        inside = slice(int(table.first[t]), int(table.first[t + 1]))
        _complete(taken[inside], floats, inside, relaxed.prices, int(table.counts[t]))
    loss = floats.loss(relaxed.prices)
    near = np.flatnonzero(loss <= _limit(loss))
    taken = _repair(table, floats, taken, near, loss)
    if not table.fits(as_choice(taken)):
        return None
    better = as_choice(_improve(table, floats, taken.copy(), near))
    return better if table.fits(better) else as_choice(taken)


def as_choice(taken: IntArray) -> Choice:
    """Give the items that are taken with their counts."""
    items = np.flatnonzero(taken)
    return items, taken[items]


def _limit(loss: FloatArray) -> float:
    return float(np.partition(loss, _NEAR)[_NEAR]) if len(loss) > _NEAR else float(np.inf)


def _complete(
    taken: IntArray, floats: Floats, inside: slice, prices: FloatArray, count: int
) -> None:
    """Bring one group to its count: at the item with the least loss among the smallest."""
    missing = count - int(taken.sum())
    score = floats.gain[inside] - prices @ floats.amount[:, inside]
    if missing > 0:
        support = np.flatnonzero(taken)
        where = support[np.argmax(score[support])] if len(support) else int(np.argmax(score))
        taken[where] += missing
    while missing < 0:
        where = int(np.flatnonzero(taken)[0])
        cut = min(-missing, int(taken[where]))
        taken[where] -= cut
        missing += cut


class _Moves:
    """Moves of one unit of a group from an item that is taken to a near one."""

    def __init__(
        self,
        table: Table,
        floats: Floats,
        taken: IntArray,
        near: IntArray,
    ) -> None:
        self.table, self.floats, self.taken, self.near = table, floats, taken, near
        held = np.flatnonzero(taken)
        groups = table.group[held]
        # The item of each group that is given up: its largest count.
        order = np.lexsort((taken[held], groups))
        last = np.concatenate([groups[order][1:] != groups[order][:-1], [True]])
        self.source = np.zeros(len(table), dtype=np.int64)
        self.source[groups[order][last]] = held[order][last]
        self.use = list(table.use((held, taken[held])))

    def spare(self) -> FloatArray:
        pairs = zip(self.table.capacity, self.use, strict=True)
        return np.array([(c - u) / max(c, 1) for c, u in pairs])

    def changes(self) -> tuple[FloatArray, FloatArray]:
        """Give each move's change of value and of demand."""
        source = self.source[self.table.group[self.near]]
        gain = self.floats.gain[self.near] - self.floats.gain[source]
        return gain, self.floats.amount[:, self.near] - self.floats.amount[:, source]

    def make(self, move: int, times: int) -> None:
        """Move up to `times` units, at most those of the item that is given up."""
        target = int(self.near[move])
        group = int(self.table.group[target])
        source = int(self.source[group])
        times = min(times, int(self.taken[source]))
        self.taken[source] -= times
        self.taken[target] += times
        for r, amounts in enumerate(self.table.demand):
            self.use[r] += times * (int(amounts[target]) - int(amounts[source]))
        inside = slice(int(self.table.first[group]), int(self.table.first[group + 1]))
        self.source[group] = inside.start + int(np.argmax(self.taken[inside]))


def _repair(
    table: Table,
    floats: Floats,
    taken: IntArray,
    near: IntArray,
    loss: FloatArray,
) -> IntArray:
    """While a capacity is exceeded, make the move that loses least for what it relieves."""
    moves = _Moves(table, floats, taken, near)
    for _ in range(_MOVES):
        spare = moves.spare()
        if min(c - u for c, u in zip(table.capacity, moves.use, strict=True)) >= 0:
            break
        _, amount = moves.changes()
        over = np.maximum(-spare, 0.0)
        after = np.maximum(-(spare[:, None] - amount), 0.0)
        relief = over.sum() - after.sum(axis=0)
        if not (relief > 0).any():
            break
        extra = loss[near] - loss[moves.source[table.group[near]]]
        with np.errstate(over="ignore"):  # a relief of next to nothing: the worst move there is
            ratio = np.where(relief > 0, (extra + 1e-9) / np.maximum(relief, 1e-300), np.inf)
        best = int(np.argmin(ratio))
        moves.make(best, max(int(over.sum() / relief[best]), 1))
    return moves.taken


def _improve(
    table: Table,
    floats: Floats,
    taken: IntArray,
    near: IntArray,
) -> IntArray:
    """While a move fits and gains, make the one that gains most."""
    moves = _Moves(table, floats, taken, near)
    for _ in range(_MOVES):
        spare = moves.spare()
        gain, amount = moves.changes()
        fits = (amount <= spare[:, None] * (1 - 1e-12)).all(axis=0) & (gain > 1e-12)
        if not fits.any():
            break
        best = int(np.argmax(np.where(fits, gain, 0.0)))
        step = amount[:, best]
        room = spare[step > 0] / step[step > 0]
        moves.make(best, max(int(room.min() * (1 - 1e-12)) if len(room) else 2**31, 1))
    return moves.taken
