"""The books of a mechanism: what is free on every server, in whole units, exactly.

Takes a cluster and the amounts that will be handed out, gives a `Ledger` on which pieces are
taken and given back; amounts count in integers on one common denominator a resource, so that
nothing is ever lost to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from synergy_opt.exact import IntArray
from synergy_opt.model import Cluster, Vector

Need = tuple[int, ...]
"""What one GPU of a job takes: 1 GPU, then units of each resource."""

Pieces = tuple[tuple[int, int], ...]
"""Where a job is: pairs of a server and a number of GPUs there, by server, ascending."""

_SMALL = 2**60  # units below this leave int64 room for sums of a few of them


class Ledger:
    """Free GPUs and resources of every server; mutable, made for use inside one pure function.

    A piece is `gpus` GPUs of a job with what each GPU needs of every resource: pieces are
    proportional by construction. ``used + free = capacity`` holds after every call, in integers.

    Parameters
    ----------
    cluster
        Its servers start empty.
    pieces
        What a GPU of each job may get of every resource; with the capacities and the fair shares
        these fix the units. A larger list costs nothing but larger integers.

    Attributes
    ----------
    free : array
        Row 0 free GPUs, then a row a resource in units; a column a server. Negative where more
        was taken than there is (`overdrawn`), which the caller has to settle.
    changes : list of int
        Servers in the order in which they changed; what a `Search` follows.

    Notes
    -----
    `take`, `give`, `holds` are O(K) for K resources. int64 while all amounts fit with headroom,
    Python integers otherwise.

    Examples
    --------
    >>> from synergy_opt.model import Server
    >>> node = Server(type="n", count=2, gpus=8, capacity=(24, 500))
    >>> cluster = Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[node])
    >>> ledger = Ledger(cluster, [(Fraction(10, 3), Fraction(125, 2))])
    >>> need = ledger.need((Fraction(20), Fraction(375)), gpus=6)
    >>> ledger.holds(0, need)
    7
    >>> ledger.take(0, need, 6)
    >>> ledger.holds(0, need), ledger.free_amounts(0)
    (1, (2, (Fraction(4, 1), Fraction(125, 1))))
    """

    __slots__ = ("_weights", "capacity", "changes", "denominators", "free", "groups")

    def __init__(self, cluster: Cluster, pieces: Iterable[Vector] = ()) -> None:
        shares = [group.per_gpu for group in cluster.servers]
        capacities = [group.capacity for group in cluster.servers]
        columns = list(zip(*capacities, *shares, *pieces, strict=True))
        self.denominators = tuple(math.lcm(*(a.denominator for a in column)) for column in columns)
        units = [self._units(group.gpus, group.capacity) for group in cluster.servers]
        self._weights = _weights(self._units(cluster.gpus, cluster.capacity))
        pairs = zip(columns, self.denominators, strict=True)
        largest = max(
            *(int(max(column) * below) for column, below in pairs),
            *(self._measure(row) for row in units),
        )
        table = np.array(units, dtype=np.int64 if largest < _SMALL else object)
        self.groups = np.array(cluster.group_of_server)
        self.capacity: IntArray = np.ascontiguousarray(table[self.groups].T)
        self.free: IntArray = self.capacity.copy()
        self.changes: list[int] = []

    def __len__(self) -> int:
        return len(self.groups)

    def fresh(self, *, gpus_alone: bool = False) -> Ledger:
        """Give an empty ledger with the same units; its `room` may count free GPUs alone."""
        other = object.__new__(Ledger)
        weights = (1,) + (0,) * (len(self._weights) - 1) if gpus_alone else self._weights
        other.denominators, other._weights = self.denominators, weights
        other.groups, other.capacity = self.groups, self.capacity
        other.free, other.changes = self.capacity.copy(), []
        return other

    def need(self, amounts: Vector, gpus: int) -> Need:
        """Give in units what one GPU takes of a job that gets `amounts` for `gpus` GPUs.

        Raises
        ------
        ValueError
            When the amount is no whole number of units: it was not among the pieces announced.
        """
        return self._units(1, [amount / gpus for amount in amounts])

    def _units(self, gpus: int, amounts: Sequence[Fraction]) -> Need:
        scaled = [a * d for a, d in zip(amounts, self.denominators, strict=True)]
        if any(amount.denominator != 1 for amount in scaled):
            raise ValueError(f"no whole units on the denominators {self.denominators}: {amounts}")
        return (gpus, *(amount.numerator for amount in scaled))

    def take(self, server: int, need: Need, gpus: int) -> None:
        """Book a piece of `gpus` GPUs; what is free may become negative (`overdrawn`)."""
        column = self.free[:, server]
        column -= [gpus * units for units in need]
        self.changes.append(server)

    def give(self, server: int, need: Need, gpus: int) -> None:
        """Book a piece back.

        Raises
        ------
        ValueError
            When more would be free than the server has.
        """
        before = self.free[:, server].tolist()
        free = [had + gpus * units for had, units in zip(before, need, strict=True)]
        if any(f > c for f, c in zip(free, self.capacity[:, server].tolist(), strict=True)):
            raise ValueError(f"server {server} would have more free than it has: {free}")
        self.free[:, server] = free
        self.changes.append(server)

    def holds(self, server: int, need: Need) -> int:
        """Count the GPUs of a job with this need that the server has room for, at least 0."""
        free: list[int] = self.free[:, server].tolist()
        return max(0, min(f // units for f, units in zip(free, need, strict=True) if units))

    def hold(self, need: Need) -> IntArray:
        """Give `holds` of every server."""
        rows = [row // units for row, units in zip(self.free, need, strict=True) if units]
        held: IntArray = np.maximum(np.minimum.reduce(rows), 0)
        return held

    def fits(self, pieces: Pieces, need: Need) -> bool:
        """Tell whether every one of these pieces has room."""
        return all(self.holds(server, need) >= gpus for server, gpus in pieces)

    def overdrawn(self, server: int) -> list[int]:
        """List the rows (0 for GPUs, then resources) of which more was taken than there is."""
        return [row for row, free in enumerate(self.free[:, server].tolist()) if free < 0]

    def room(self, server: int) -> int:
        """Measure what is free: the sum over GPUs and resources of free / cluster's capacity.

        In units common to all servers, so that it is a whole number. The measure depends neither
        on the units in which a resource is counted nor on the order of the resources.
        """
        return self._measure(self.free[:, server].tolist())

    def _measure(self, units: Sequence[int]) -> int:
        return sum(weight * free for weight, free in zip(self._weights, units, strict=True))

    def rooms(self) -> IntArray:
        """Give `room` of every server."""
        return np.asarray(sum(w * row for w, row in zip(self._weights, self.free, strict=True)))

    def free_amounts(self, server: int) -> tuple[int, Vector]:
        """Give free GPUs and the exact free amount of each resource."""
        gpus, *units = self.free[:, server].tolist()
        return gpus, tuple(Fraction(u, d) for u, d in zip(units, self.denominators, strict=True))


def _weights(totals: Sequence[int]) -> Need:
    """Give the smallest whole numbers in the ratio of 1 / total."""
    multiple = math.lcm(*totals)
    return tuple(multiple // total for total in totals)
