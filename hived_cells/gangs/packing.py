"""Pods into bins: takes how many bins of which capacity there are, gives who goes where.

Bins that are alike are one entry, so the cost depends on the number of different capacities and
sizes, not on the number of nodes.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["BUDGET", "Bin", "Filled", "Packing", "pack"]

BUDGET = 20_000  # search steps before a packing is given up undecided
MAX_SEARCHED = 200  # pods of sizes that do not divide each other; each is a level of recursion

Contents = tuple[tuple[int, int], ...]  # (GPUs a pod, pods)
Origin = tuple[int, ...]  # the caller's name for bins


class Bin(NamedTuple):
    """Bins that are alike.

    Examples
    --------
    >>> Bin((0,), capacity=8, number=2, origin=(1,)).capacity
    8
    """

    preference: tuple[int, ...]  # lower is taken first
    capacity: int  # GPUs
    number: int  # of such bins
    origin: Origin


class Filled(NamedTuple):
    """Bins that get the same pods.

    Examples
    --------
    >>> Filled((1,), 2, ((4, 2),)).number
    2
    """

    origin: Origin
    number: int  # of bins
    contents: Contents


class Packing(NamedTuple):
    """What `pack` found.

    Examples
    --------
    >>> Packing(None, exact=True).filled is None
    True
    """

    filled: tuple[Filled, ...] | None  # None: no packing found
    exact: bool  # for None: whether there is none; a packing that was found is one


def pack(bins: Sequence[Bin], pods: Iterable[tuple[int, int]], *, budget: int = BUDGET) -> Packing:
    """Put every pod whole into a bin, the preferred bins that can take it first.

    Largest pods first, each into a bin that has pods already, else into the most preferred one.
    Where each size divides the next larger one this finds a packing whenever one exists: the
    number of pods of the largest size that still fit is Σ floor(c / size), and filling any of
    them lowers Σ floor(c / smaller) by the same. Other sizes are searched in full when that
    fails, up to `budget` steps and `MAX_SEARCHED` pods. O(sizes x kinds of bins) without that.

    Examples
    --------
    >>> four = [Bin((0,), 4, 1, (1,)), Bin((1,), 8, 1, (2,))]
    >>> pack(four, [(4, 2)]).filled
    (Filled(origin=(1,), number=1, contents=((4, 1),)), \
Filled(origin=(2,), number=1, contents=((4, 1),)))
    >>> pack([Bin((0,), 7, 1, (1,)), Bin((1,), 6, 1, (2,))], [(3, 3), (2, 2)]).filled
    (Filled(origin=(2,), number=1, contents=((3, 2),)), \
Filled(origin=(1,), number=1, contents=((3, 1), (2, 2))))
    """
    ordered = merged(pods)
    room = sum([one.capacity * one.number for one in bins])
    if sum([size * count for size, count in ordered]) > room:
        return Packing(None, exact=True)
    if (filled := _greedy(bins, ordered)) is not None:
        return Packing(filled, exact=True)
    if all(larger % smaller == 0 for (larger, _), (smaller, _) in pairwise(ordered)):
        return Packing(None, exact=True)
    return _search(bins, ordered, budget)


def merged(pods: Iterable[tuple[int, int]]) -> Contents:
    """Return the pods with equal sizes together, largest first.

    Examples
    --------
    >>> merged([(1, 2), (4, 1), (1, 1)])
    ((4, 1), (1, 3))
    """
    counts: dict[int, int] = {}
    for size, count in pods:
        counts[size] = counts.get(size, 0) + count
    return tuple(sorted(counts.items(), reverse=True))


class _Open:
    """Bins of one entry on their way."""

    __slots__ = ("capacity", "contents", "count", "key", "origin")

    def __init__(
        self, key: tuple[int, ...], capacity: int, count: int, origin: Origin, contents: Contents
    ) -> None:
        self.key = key
        self.capacity = capacity
        self.count = count
        self.origin = origin
        self.contents = contents


def _greedy(bins: Sequence[Bin], pods: Contents) -> tuple[Filled, ...] | None:
    left = [_Open((1, *one.preference), one.capacity, one.number, one.origin, ()) for one in bins]
    for size, number in pods:
        missing = number
        while missing:
            best = None
            for one in left:
                if one.count and one.capacity >= size and (best is None or one.key < best.key):
                    best = one
            if best is None:
                return None
            each = best.capacity // size
            if missing >= each:
                taken = min(best.count, missing // each)
            else:
                each, taken = missing, 1
            best.count -= taken
            missing -= taken * each
            rest = best.capacity - each * size
            contents = (*best.contents, (size, each))
            left.append(_Open((0, rest), rest, taken, best.origin, contents))
    return tuple([Filled(o.origin, o.count, o.contents) for o in left if o.contents and o.count])


def _search(bins: Sequence[Bin], pods: Contents, budget: int) -> Packing:
    """Try every capacity for every pod; states that led nowhere are remembered."""
    if sum(count for _, count in pods) > MAX_SEARCHED:
        return Packing(None, exact=False)
    sizes = [size for size, count in pods for _ in range(count)]
    needed = [sum(sizes[place:]) for place in range(len(sizes) + 1)]
    room: dict[int, int] = {}
    for one in bins:
        room[one.capacity] = room.get(one.capacity, 0) + one.number
    dead: set[tuple[int, tuple[tuple[int, int], ...]]] = set()
    choices: list[int] = []
    steps = 0

    def fits(place: int, left: dict[int, int]) -> bool:
        nonlocal steps
        if place == len(sizes):
            return True
        steps += 1
        size = sizes[place]
        useful = {c: n for c, n in left.items() if n and c >= sizes[-1]}
        key = (place, tuple(sorted(useful.items())))
        if key in dead or steps > budget:
            return False
        if sum(c * n for c, n in useful.items()) >= needed[place]:
            for capacity in sorted(c for c in useful if c >= size):
                after = dict(useful)
                after[capacity] -= 1
                after[capacity - size] = after.get(capacity - size, 0) + 1
                choices.append(capacity)
                if fits(place + 1, after):
                    return True
                choices.pop()
        dead.add(key)
        return False

    if fits(0, room):
        return Packing(_carried_out(bins, sizes, choices), exact=True)
    return Packing(None, exact=steps <= budget)


def _carried_out(bins: Sequence[Bin], sizes: list[int], choices: list[int]) -> tuple[Filled, ...]:
    """Turn the capacity chosen for each pod into the contents of bins."""
    closed = {one: one.number for one in sorted(bins, key=lambda one: one.preference)}
    opened: list[tuple[int, Bin, list[int]]] = []
    for size, capacity in zip(sizes, choices, strict=True):
        for place, (rest, one, inside) in enumerate(opened):
            if rest == capacity:
                opened[place] = (rest - size, one, [*inside, size])
                break
        else:
            one = next(o for o, count in closed.items() if count and o.capacity == capacity)
            closed[one] -= 1
            opened.append((capacity - size, one, [size]))
    return tuple(
        Filled(one.origin, 1, merged((size, 1) for size in inside)) for _, one, inside in opened
    )
