"""What one server can run: multisets of whole jobs, priced by kind, found by bounded enumeration.

Takes the kinds of whole jobs and a price for each, and gives every load of a server whose worth
exceeds a limit: each kind at most as often as there are jobs of it, which the patterns of slots do
not ask. For clusters of few servers that makes the tighter relaxation (theory: "The packed
optimum").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from synergy_opt.packed.pricing import Index
from synergy_opt.packed.shapes import Shop

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.object_]

_CELLS = 1500  # of the table of bounds, for each number of GPUs


@dataclass(frozen=True, kw_only=True)
class Item:
    """The fair configurations of one kind that fit a server of a group.

    Parameters
    ----------
    kind
        Position of the kind.
    copies
        Most jobs of it on one server.
    configurations
        Positions among the kind's configurations.
    sizes
        Configurations × (GPUs, resources), in units.
    """

    kind: int
    copies: int
    configurations: tuple[int, ...]
    sizes: Index


@dataclass(frozen=True, kw_only=True)
class Bay:
    """A server of a group, and what can be on it.

    Parameters
    ----------
    group
        Position of the group.
    room
        GPUs and units of each resource.
    items
        Largest jobs first.
    cells
        How many units of GPUs and of each resource make a cell of the table of bounds.
    """

    group: int
    room: tuple[int, ...]
    items: tuple[Item, ...]
    cells: tuple[int, ...]

    def within(self, jobs: Sequence[int]) -> Bay:
        """Give the server for what is left of the jobs of each kind."""
        items = (replace(i, copies=min(i.copies, jobs[i.kind])) for i in self.items)
        return replace(self, items=tuple(i for i in items if i.copies))


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Load:
    """Jobs on one server of a group: triples (kind, configuration, jobs), ascending."""

    group: int
    jobs: tuple[tuple[int, int, int], ...]


def bays(shop: Shop) -> list[Bay] | None:
    """Give the servers of all groups; None where jobs are divided or numbers are large."""
    if any(wish.pieces for wish in shop.wishes):
        return None
    found = []
    for h, group in enumerate(shop.instance.cluster.servers):
        room = (group.gpus, *shop.capacity[h])
        if max(room) >= 2**40:
            return None
        items = []
        for t, wish in enumerate(shop.wishes):
            some = [
                c
                for c in range(len(wish.configurations))
                if wish.fair(c, frozenset([h])) and shop.fits(shop.piece(wish, c, h, wish.gpus))
            ]
            if some:
                rows = [[wish.gpus, *wish.sizes[c].tolist()] for c in some]
                copies = min(len(wish.kind), group.gpus // wish.gpus)
                sizes = np.array(rows, dtype=np.int64)
                items.append(Item(kind=t, copies=copies, configurations=tuple(some), sizes=sizes))
        items.sort(key=lambda item: (-int(item.sizes[0, 0]), item.kind))
        found.append(Bay(group=h, room=room, items=tuple(items), cells=_cells(room, items)))
    return found


def _cells(room: Sequence[int], items: Sequence[Item]) -> tuple[int, ...]:
    """Give steps in which all sizes are whole, or coarser ones where these are too many."""
    levels = max(2, int(_CELLS ** (1 / max(len(room) - 1, 1))))
    cells = [1]
    for r in range(1, len(room)):
        step = math.gcd(*(int(n) for item in items for n in item.sizes[:, r])) or 1
        cells.append(max(step, -(-room[r] // levels)))
    return tuple(cells)


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Loads of one group, as they were found.

    Parameters
    ----------
    group
        Of the servers.
    numbers
        Pairs (kind, configuration).
    taken
        Loads × most jobs: positions among `numbers`, −1 where there is no further job.
    worth
        Of each load.
    complete
        True: these are all.
    """

    group: int
    numbers: tuple[tuple[int, int], ...]
    taken: npt.NDArray[np.int32]
    worth: Index
    complete: bool

    def __len__(self) -> int:
        return len(self.taken)

    def load(self, row: int) -> Load:
        """Give one of them."""
        counts = Counter(self.taken[row].tolist())
        jobs = sorted((*self.numbers[j], n) for j, n in counts.items() if j >= 0)
        return Load(group=self.group, jobs=tuple(jobs))

    def sums(self, gains: Index) -> Index:
        """Add up gains of the pairs over the jobs of each load."""
        found: Index = np.append(gains, 0)[self.taken].sum(axis=1, dtype=gains.dtype)
        return found

    def needs(self, kinds: int) -> Index:
        """Count the jobs of each kind: kinds × loads."""
        kind_of = np.array([kind for kind, _ in self.numbers] + [kinds], dtype=np.int64)
        needs = np.zeros((kinds + 1, len(self.taken)), dtype=np.int64)
        columns = np.arange(len(self.taken))
        for place in range(self.taken.shape[1]):
            np.add.at(needs, (kind_of[self.taken[:, place]], columns), 1)
        return needs[:kinds]


def loads_above(
    bay: Bay,
    worth: Sequence[Numbers],
    least: int,
    *,
    most: int,
    late: Callable[[], bool] = lambda: False,
) -> Listed:
    """Give the loads worth at least `least`, and whether these are all.

    Parameters
    ----------
    bay
        The server.
    worth
        For each item the worth of its configurations less the kind's price: integers.
    least
        Where to cut.
    most
        Partial loads to keep at each step: with more, those of the highest bounds.
    late
        Tells when to give up.

    Notes
    -----
    Kinds are taken in order. A partial load is kept where its worth and the most that the kinds
    to come can add, in room rounded outwards to cells, reach `least`: nothing is left out.
    """
    tables = _tables(bay, worth)
    room = np.array([bay.room], dtype=np.int64)
    total = np.zeros(1, dtype=worth[0].dtype if worth else np.int64)
    taken = np.zeros((1, 0), dtype=np.int32)
    cells, complete = np.array(bay.cells), True
    numbers: list[tuple[int, int]] = []
    for i, item in enumerate(bay.items):
        first = len(numbers)
        numbers += [(item.kind, c) for c in item.configurations]
        kept = [(room, total, taken)]
        layer, last = kept[0], np.zeros(len(room), dtype=np.int64)
        for copy in range(1, item.copies + 1):
            grown, ends = [], []
            table = tables[i][item.copies - copy]
            for c in range(len(item.configurations)):
                left = layer[0] - item.sizes[c]
                good = (left >= 0).all(axis=1) & (last <= c)
                some = np.flatnonzero(good)
                sums = layer[1][some] + worth[i][c]
                bound = sums + table[tuple((left[some] // cells).T)]
                reach = np.asarray(bound >= least, dtype=bool)
                some, sums = some[reach], sums[reach]
                marks = np.full((len(some), 1), first + c, dtype=np.int32)
                grown.append((left[some], sums, np.hstack([layer[2][some], marks])))
                ends.append(np.full(len(some), c))
            rooms, worths, marked = zip(*grown, strict=True)
            layer = np.concatenate(rooms), np.concatenate(worths), np.concatenate(marked)
            last = np.concatenate(ends)
            if not len(last):
                break
            kept.append(layer)
        width = max(k[2].shape[1] for k in kept)
        room, total, taken = (
            np.concatenate([k[0] for k in kept]),
            np.concatenate([k[1] for k in kept]),
            np.concatenate([_wide(k[2], width) for k in kept]),
        )
        bound = total + tables[i + 1][-1][tuple((room // cells).T)]
        keep = np.flatnonzero(np.asarray(bound >= least, dtype=bool))
        if len(keep) > most:
            keep, complete = keep[np.argsort(-bound[keep], kind="stable")[:most]], False
        room, total, taken = room[keep], total[keep], taken[keep]
        if late():
            complete = False
            break
    return Listed(
        group=bay.group, numbers=tuple(numbers), taken=taken, worth=total, complete=complete
    )


def _wide(rows: npt.NDArray[np.int32], width: int) -> npt.NDArray[np.int32]:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=-1)


def _tables(bay: Bay, worth: Sequence[Numbers]) -> list[list[Numbers]]:
    """Give for each item, and copies still allowed, the most that a room holds from it on.

    Sizes are rounded down to cells, and so is the room: no less than the truth. The last entry of
    an item is the one with all its copies; after the last item there is nothing.
    """
    cells = np.array(bay.cells)
    shape = tuple(int(n) // c + 1 for n, c in zip(bay.room, bay.cells, strict=True))
    empty = np.zeros(shape, dtype=worth[0].dtype if worth else np.int64)
    tables: list[list[Numbers]] = [[empty]]
    for item, gains in zip(reversed(bay.items), reversed(worth), strict=True):
        steps = (item.sizes // cells).tolist()
        found: list[Numbers] = [tables[-1][-1]]
        for _ in range(item.copies):
            before, after = found[-1], found[-1].copy()
            for gain, step in zip(gains.tolist(), steps, strict=True):
                if any(n >= m for m, n in zip(shape, step, strict=True)):
                    continue  # larger than the server
                to = tuple(slice(n, None) for n in step)
                of = tuple(slice(None, m - n) for m, n in zip(shape, step, strict=True))
                np.maximum(after[to], before[of] + gain, out=after[to])
            found.append(after)
        tables.append(found)
    return tables[::-1]
