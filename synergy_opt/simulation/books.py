"""Who holds what on which server: ``used + free = capacity``, checked at every decision.

Takes the entries of the running jobs and gives what is in use; a placement that does not add up is
refused with `NotCertified`. Nothing here knows how a mechanism came to its answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from synergy_opt.answer import PlacedJob
from synergy_opt.errors import NotCertified
from synergy_opt.model import Cluster, Vector

Row = tuple[int, ...]  # units on one server: GPUs, then each resource
Rows = list[tuple[int, Row]]  # server and units of each piece

_KEPT = 100_000  # entries of the memory, lest a mechanism's fresh values fill it up


class Books:
    """Free and used amounts of a cluster; mutable, made for use inside one pure function.

    Amounts are whole numbers on one denominator a resource, which grows when somebody is given a
    finer amount. What is free is carried along from decision to decision, what is used is counted
    anew each time.

    Examples
    --------
    >>> from synergy_opt.answer import Piece
    >>> from synergy_opt.model import Server
    >>> server = Server(type="n", count=1, gpus=4, capacity=(12,))
    >>> books = Books(Cluster(resources={"cpu": "cores"}, servers=[server]))
    >>> piece = Piece(server=0, gpus=Fraction(3), amounts=(Fraction(10, 3),))
    >>> entry = PlacedJob(id="a", demand=piece.amounts, throughput=Fraction(1), pieces=(piece,))
    >>> books.hold([(3, entry)])
    (Fraction(3, 1), Fraction(10, 3))
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        limits = [(Fraction(group.gpus), *group.capacity) for group in cluster.servers]
        self._limits = [limits[group] for group in cluster.group_of_server]
        self._denominators = [
            math.lcm(*(amount.denominator for amount in column))
            for column in zip(*limits, strict=True)
        ]
        self._known: dict[tuple[int, int], tuple[PlacedJob, Rows]] = {}
        self._empty()

    def _empty(self) -> None:
        """Start with nothing held, in the units that now apply."""
        self._known.clear()
        self._held: dict[str, Rows] = {}
        self._capacity = [list(self._units(limits)) for limits in self._limits]
        self._free = [list(row) for row in self._capacity]

    def _units(self, amounts: Iterable[Fraction]) -> Row:
        pairs = zip(amounts, self._denominators, strict=True)
        return tuple(amount.numerator * (d // amount.denominator) for amount, d in pairs)

    def hold(self, running: Sequence[tuple[int, PlacedJob]]) -> Vector:
        """Book what runs from now on, and give what is in use of the GPUs and each resource.

        Parameters
        ----------
        running
            GPU demand and entry of each job that has a place.

        Raises
        ------
        NotCertified
            When pieces do not add up to the job, or a server gives more than it has.
        """
        entries = {entry.id: self._rows(gpus, entry) for gpus, entry in running}
        if len(entries) < len(running):
            raise NotCertified("a job is placed twice")
        if any(rows is None for rows in entries.values()):  # the units were too coarse
            self._empty()
            return self.hold(running)
        rows_of = {name: rows for name, rows in entries.items() if rows is not None}
        self._change(rows_of)
        return self._count(rows_of)

    def _rows(self, gpus: int, entry: PlacedJob) -> Rows | None:
        """Give a job's pieces in units; None where those have just become finer."""
        key = (id(entry.pieces), gpus)
        known = self._known.get(key)
        if known and known[0].pieces is entry.pieces and known[0].demand is entry.demand:
            return known[1]
        pieces = [(piece.gpus, *piece.amounts) for piece in entry.pieces]
        self._check(gpus, entry, pieces)
        for amounts in pieces:
            finer = [
                math.lcm(d, amount.denominator)
                for d, amount in zip(self._denominators, amounts, strict=True)
            ]
            if finer != self._denominators:
                self._denominators = finer
                return None
        servers = (piece.server for piece in entry.pieces)
        rows = list(zip(servers, map(self._units, pieces), strict=True))
        if len(self._known) > _KEPT:
            self._known.clear()
        self._known[key] = (entry, rows)
        return rows

    def _check(self, gpus: int, entry: PlacedJob, pieces: Sequence[Vector]) -> None:
        width = 1 + len(self._cluster.resources)
        if any(len(amounts) != width for amounts in pieces) or len(entry.demand) != width - 1:
            raise NotCertified(f"job {entry.id!r} has not one amount of each resource")
        servers = [piece.server for piece in entry.pieces]
        if len(set(servers)) < len(servers):
            raise NotCertified(f"job {entry.id!r} has two pieces on one server")
        if not all(0 <= server < len(self._limits) for server in servers):
            raise NotCertified(f"job {entry.id!r} is on a server that there is not: {servers}")
        if any(amount < 0 for amounts in pieces for amount in amounts):
            raise NotCertified(f"job {entry.id!r} holds less than nothing")
        sums = tuple(sum(column, Fraction(0)) for column in zip(*pieces, strict=True))
        if sums != (gpus, *entry.demand):
            raise NotCertified(f"the pieces of job {entry.id!r} do not add up to what it has")

    def _change(self, rows_of: dict[str, Rows]) -> None:
        """Give back what is no longer held, then take what is new."""
        for name, rows in self._held.items():
            if rows_of.get(name) is not rows:
                for server, units in rows:
                    free = self._free[server]
                    for r, amount in enumerate(units):
                        free[r] += amount
        for name, rows in rows_of.items():
            if self._held.get(name) is not rows:
                for server, units in rows:
                    free = self._free[server]
                    for r, amount in enumerate(units):
                        free[r] -= amount
        self._held = rows_of

    def _count(self, rows_of: dict[str, Rows]) -> Vector:
        """Count what is used, check it against what is free, and give the totals."""
        used = [[0] * len(self._denominators) for _ in self._capacity]
        for rows in rows_of.values():
            for server, units in rows:
                row = used[server]
                for r, amount in enumerate(units):
                    row[r] += amount
        names = ("GPUs", *self._cluster.names)
        for server, (row, free, whole) in enumerate(
            zip(used, self._free, self._capacity, strict=True)
        ):
            if min(free) < 0:
                what = names[free.index(min(free))]
                raise NotCertified(f"server {server} gives more {what} than it has")
            if [u + f for u, f in zip(row, free, strict=True)] != whole:
                raise NotCertified(f"used + free is not the capacity on server {server}")
        totals = map(sum, zip(*used, strict=True))
        return tuple(Fraction(t, d) for t, d in zip(totals, self._denominators, strict=True))
