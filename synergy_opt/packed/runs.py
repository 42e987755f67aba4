"""Where jobs run: from counts of columns to jobs on servers.

Takes counts of patterns and options and gives `Runs`: for each job its configuration and the
servers of its pieces; `placement_of` writes them down as a `Placement`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np

from synergy_opt.answer import PatternBound, Piece, PlacedJob, Placement, Proof
from synergy_opt.errors import SolverFailed
from synergy_opt.exact import IntArray, exact_sum
from synergy_opt.model import Job, Vector
from synergy_opt.packed.frozen import from_columns
from synergy_opt.packed.master import Columns, LeftOut, Loan, Opened
from synergy_opt.packed.options import Option
from synergy_opt.packed.shapes import Shop, Wish

Pieces = tuple[tuple[int, int], ...]
"""Pairs (server, GPUs there), by server, ascending."""


class Run(NamedTuple):
    """How one job runs: a fair configuration of its wish, and its pieces."""

    wish: int
    configuration: int
    pieces: Pieces


@dataclass(frozen=True, kw_only=True, eq=False)
class Runs:
    """A run for every job, in the order of the jobs, as columns: there are very many.

    Parameters
    ----------
    shop
        What the jobs wish and the servers have.
    wish, configuration, pieces
        For each job its kind, its fair configuration and the number of its pieces.
    server, gpus
        For each piece where it is and its GPUs; the pieces of a job stand together, by server,
        ascending.
    """

    shop: Shop
    wish: IntArray
    configuration: IntArray
    pieces: IntArray
    server: IntArray
    gpus: IntArray

    @classmethod
    def of(cls, shop: Shop, runs: Iterable[Run]) -> Runs:
        """Take the runs one by one."""
        listed = list(runs)
        flat = np.fromiter(
            chain.from_iterable(piece for run in listed for piece in run.pieces), np.int64
        ).reshape(-1, 2)
        return cls(
            shop=shop,
            wish=np.array([run.wish for run in listed], np.int64),
            configuration=np.array([run.configuration for run in listed], np.int64),
            pieces=np.array([len(run.pieces) for run in listed], np.int64),
            server=flat[:, 0],
            gpus=flat[:, 1],
        )

    @property
    def runs(self) -> list[Run]:
        """The runs, one by one."""
        flat = iter(zip(self.server.tolist(), self.gpus.tolist(), strict=True))
        columns = self.wish.tolist(), self.configuration.tolist(), self.pieces.tolist()
        return [Run(t, c, tuple(islice(flat, n))) for t, c, n in zip(*columns, strict=True)]

    @cached_property
    def value(self) -> Fraction:
        """Throughput, exact."""
        pairs, which = self.chosen
        return exact_sum(
            n * self.shop.wishes[t].configurations.value[c]
            for (t, c), n in zip(pairs, np.bincount(which).tolist(), strict=True)
        )

    @cached_property
    def chosen(self) -> tuple[list[tuple[int, int]], IntArray]:
        """Kind and configuration of every job, each pair once, and which one a job has."""
        wide = 1 + int(self.configuration.max(initial=0))
        found, which = np.unique(self.wish * wide + self.configuration, return_inverse=True)
        return list(zip((found // wide).tolist(), (found % wide).tolist(), strict=True)), which

    @cached_property
    def parts(self) -> tuple[list[tuple[int, int, int]], IntArray]:
        """Kind, configuration and GPUs of every piece, each triple once, and which one it has."""
        pairs, of_job = self.chosen
        wide = 1 + int(self.gpus.max(initial=0))
        code = np.repeat(of_job, self.pieces) * wide + self.gpus
        found, which = np.unique(code, return_inverse=True)
        return [(*pairs[k // wide], k % wide) for k in found.tolist()], which

    def check(self) -> None:
        """Raise `SolverFailed` where a server has less than it is asked for, exactly."""
        shop = self.shop
        cluster = shop.instance.cluster
        parts, which = self.parts
        table = [self._amounts(*part) for part in parts]
        has = [(g.gpus, *shop.capacity[h]) for h, g in enumerate(cluster.servers)]
        largest = max((max(row) for row in [*table, *has]), default=0) * max(len(which), 1)
        kind = np.int64 if largest < 2**62 else object
        used = np.zeros((cluster.server_count, len(shop.units) + 1), dtype=kind)
        if len(which):
            np.add.at(used, self.server, np.array(table, dtype=kind)[which])
        most = np.repeat(np.array(has, dtype=kind), shop.counts, axis=0)
        if (used > most).any():
            raise SolverFailed("the packed answer overfills a server")

    def _amounts(self, wish: int, configuration: int, gpus: int) -> tuple[int, ...]:
        """Give what a piece takes: GPUs, then each resource, in units."""
        found = self.shop.wishes[wish]
        sizes = found.sizes[configuration].tolist()
        return gpus, *(size * gpus // found.gpus for size in sizes)


def runs_of(columns: Columns, counts: Sequence[int], jobs: int) -> Runs | None:
    """Put jobs into the slots that counts of columns provide; None where a job is left out.

    Of equal jobs the one of highest priority gets the best configuration.
    """
    shop = columns.shop
    used = [(key, n) for n, key in zip(counts, columns.made_of, strict=True) if n]
    if any(isinstance(key, LeftOut) for key, _ in used):
        return None
    free = _opened(shop, [(key, n) for key, n in used if isinstance(key, Opened)])
    _lend(free, [(key, n) for key, n in used if isinstance(key, Loan)])
    wanted: dict[int, list[tuple[int, tuple[tuple[int, int], ...], int]]] = defaultdict(list)
    for key, count in used:
        if isinstance(key, Option):
            wanted[key.wish].append((key.configuration, key.slots, count))
    wish, configuration = np.full(jobs, -1), np.zeros(jobs, np.int64)
    pieces: list[tuple[IntArray, IntArray, IntArray]] = []
    for t, of in enumerate(shop.wishes):
        values = of.configurations.value.numerators
        members, first = np.array(of.kind.members, np.int64), 0
        for c, slots, count in sorted(wanted[t], key=lambda w: (-values[w[0]], w)):
            chosen = members[first : first + count]
            first += count
            wish[chosen], configuration[chosen] = t, c
            for slot, copies in slots:
                servers = _taken(free, slot, copies * count)[::-1]
                gpus = np.full(len(servers), shop.slots[slot].gpus)
                pieces.append((np.repeat(chosen, copies), servers, gpus))
    if (wish < 0).any():
        raise SolverFailed("the solver's whole numbers leave a job without an option")
    nothing = np.empty((3, 0), np.int64)
    job, server, gpus = np.concatenate([nothing, *map(np.array, pieces)], axis=1)
    # Pieces of a job on one server are one piece.
    most = shop.instance.cluster.server_count
    place, which = np.unique(job * most + server, return_inverse=True)
    sizes = np.zeros(len(place), np.int64)
    np.add.at(sizes, which, gpus)
    found = Runs(
        shop=shop,
        wish=wish,
        configuration=configuration,
        pieces=np.bincount(place // most, minlength=jobs),
        server=place % most,
        gpus=sizes,
    )
    found.check()
    return found


def _opened(shop: Shop, patterns: Iterable[tuple[Opened, int]]) -> dict[int, IntArray]:
    """Give for each slot the servers that have one, with a pattern on each server."""
    next_server = [0]
    for count in shop.counts:
        next_server.append(next_server[-1] + count)
    free: dict[int, list[IntArray]] = defaultdict(list)
    for key, count in patterns:
        first = next_server[key.group]
        next_server[key.group] += count
        for slot, copies in key.pattern:
            free[slot].append(np.repeat(np.arange(first, first + count), copies))
    return {slot: np.concatenate(servers) for slot, servers in free.items()}


def _lend(free: dict[int, IntArray], flows: Iterable[tuple[Loan, int]]) -> None:
    """Let larger slots serve as smaller ones, the largest first, in place."""
    for loan, count in sorted(flows, reverse=True):
        lent = _taken(free, loan.large, count)
        free[loan.small] = np.concatenate([free.get(loan.small, lent[:0]), lent])


def _taken(free: dict[int, IntArray], slot: int, count: int) -> IntArray:
    """Take the last servers that have such a slot."""
    servers = free.get(slot, np.empty(0, np.int64))
    if len(servers) < count:
        raise SolverFailed("the solver's whole numbers use a slot that is not there")
    free[slot] = servers[: len(servers) - count]
    return servers[len(servers) - count :]


def placement_of(
    found: Runs, jobs: Sequence[Job], bound: PatternBound, proof: Proof, *, stopped: bool
) -> Placement:
    """Write runs down as a placement, with exact pieces; `stopped` by a limit or Ctrl-C."""
    shop = found.shop
    parts, which = found.parts
    gpus = [Fraction(n) for _, _, n in parts]
    amounts = [_share(shop.wishes[t], c, n) for t, c, n in parts]
    part = which.tolist()
    columns: list[Iterable[object]]
    columns = [found.server.tolist(), map(gpus.__getitem__, part), map(amounts.__getitem__, part)]
    pieces = from_columns(Piece, len(part), columns)
    chosen, of_job = found.chosen
    demands = [shop.wishes[t].configurations.demand_at(c) for t, c in chosen]
    values = [shop.wishes[t].configurations.value[c] for t, c in chosen]
    pair = of_job.tolist()
    ends = [0, *np.cumsum(found.pieces).tolist()]
    columns = [
        [job.id for job in jobs],
        map(demands.__getitem__, pair),
        map(values.__getitem__, pair),
        [tuple(pieces[i:j]) for i, j in pairwise(ends)],
    ]
    return Placement(
        instance=shop.instance.name,
        mechanism="packed" if bound.split == "never" else "packed-split",
        jobs=tuple(from_columns(PlacedJob, len(jobs), columns)),
        bound=bound,
        proof=proof,
        stopped=stopped,
    )


def _share(wish: Wish, configuration: int, gpus: int) -> Vector:
    """Give what a piece of so many GPUs has of each resource."""
    part = Fraction(gpus, wish.gpus)
    return tuple(amount * part for amount in wish.configurations.demand_at(configuration))
