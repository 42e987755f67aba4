"""Where jobs run: from counts of columns to jobs on servers.

Takes counts of patterns and options and gives `Runs`: for each job its configuration and the
servers of its pieces; `placement_of` writes them down as a `Placement`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from synergy_opt.answer import PatternBound, Piece, PlacedJob, Placement, Proof
from synergy_opt.errors import SolverFailed
from synergy_opt.exact import exact_sum
from synergy_opt.model import Job, Vector
from synergy_opt.packed.master import Columns, LeftOut, Loan, Opened
from synergy_opt.packed.options import Option
from synergy_opt.packed.shapes import Shop

Pieces = tuple[tuple[int, int], ...]
"""Pairs (server, GPUs there), by server, ascending."""


class Run(NamedTuple):
    """How one job runs: a fair configuration of its wish, and its pieces."""

    wish: int
    configuration: int
    pieces: Pieces


@dataclass(frozen=True, kw_only=True)
class Runs:
    """A run for every job, in the order of the jobs."""

    shop: Shop
    runs: tuple[Run, ...]

    @cached_property
    def value(self) -> Fraction:
        """Throughput, exact."""
        counts = Counter((run.wish, run.configuration) for run in self.runs)
        return exact_sum(
            n * self.shop.wishes[t].configurations.value[c] for (t, c), n in counts.items()
        )

    def check(self) -> None:
        """Raise `SolverFailed` where a server has less than it is asked for, exactly."""
        shop = self.shop
        cluster = shop.instance.cluster
        flat = [(t, c, gpus, server) for t, c, some in self.runs for server, gpus in some]
        pieces = np.fromiter(chain.from_iterable(flat), np.int64, 4 * len(flat)).reshape(-1, 4)
        # Equal pieces are looked up once.
        wide = 1 + int(pieces[:, 1].max(initial=0)), 1 + int(pieces[:, 2].max(initial=0))
        code = (pieces[:, 0] * wide[0] + pieces[:, 1]) * wide[1] + pieces[:, 2]
        _, first, which = np.unique(code, return_index=True, return_inverse=True)
        table = [self._amounts(*key) for key in pieces[first, :3].tolist()]
        has = [(g.gpus, *shop.capacity[h]) for h, g in enumerate(cluster.servers)]
        largest = max((max(row) for row in [*table, *has]), default=0) * max(len(flat), 1)
        kind = np.int64 if largest < 2**62 else object
        used = np.zeros((cluster.server_count, len(shop.units) + 1), dtype=kind)
        if flat:
            np.add.at(used, pieces[:, 3], np.array(table, dtype=kind)[which])
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
    free = _opened(columns, counts)
    _lend(columns, counts, free)
    wanted: dict[int, list[tuple[int, tuple[tuple[int, int], ...], int]]] = defaultdict(list)
    for count, key in zip(counts, columns.made_of, strict=True):
        if count and isinstance(key, LeftOut):
            return None
        if count and isinstance(key, Option):
            wanted[key.wish].append((key.configuration, key.slots, count))
    runs: list[Run | None] = [None] * jobs
    for t, wish in enumerate(shop.wishes):
        values = wish.configurations.value.numerators
        members = iter(wish.kind.members)
        for configuration, slots, count in sorted(wanted[t], key=lambda w: (-values[w[0]], w)):
            for pieces in _taken(shop, slots, count, free):
                runs[next(members)] = Run(wish=t, configuration=configuration, pieces=pieces)
    found = Runs(shop=shop, runs=tuple(run for run in runs if run is not None))
    if len(found.runs) != jobs:
        raise SolverFailed("the solver's whole numbers leave a job without an option")
    found.check()
    return found


def _opened(columns: Columns, counts: Sequence[int]) -> dict[int, list[int]]:
    """Give for each slot the servers that have one, with a pattern on each server."""
    next_server = [0]
    for count in columns.shop.counts:
        next_server.append(next_server[-1] + count)
    free: dict[int, list[int]] = defaultdict(list)
    for count, key in zip(counts, columns.made_of, strict=True):
        if not count or not isinstance(key, Opened):
            continue
        first = next_server[key.group]
        next_server[key.group] += count
        for slot, copies in key.pattern:
            free[slot] += [first + i for i in range(count) for _ in range(copies)]
    return free


def _lend(columns: Columns, counts: Sequence[int], free: dict[int, list[int]]) -> None:
    """Let larger slots serve as smaller ones, the largest first, in place."""
    flows = [
        (key, count)
        for count, key in zip(counts, columns.made_of, strict=True)
        if count and isinstance(key, Loan)
    ]
    for loan, count in sorted(flows, reverse=True):
        if len(free[loan.large]) < count:
            raise SolverFailed("the solver's whole numbers lend a slot that is not there")
        free[loan.small] += free[loan.large][-count:]
        del free[loan.large][-count:]


def _taken(
    shop: Shop, slots: Sequence[tuple[int, int]], count: int, free: dict[int, list[int]]
) -> list[Pieces]:
    """Take the slots of `count` jobs of an option; give each job's pieces."""
    if any(len(free[slot]) < copies * count for slot, copies in slots):
        raise SolverFailed("the solver's whole numbers use a slot that is not there")
    if len(slots) == 1 and slots[0][1] == 1:
        servers, gpus = free[slots[0][0]], shop.slots[slots[0][0]].gpus
        last = servers[: -count - 1 : -1]
        del servers[-count:]
        return [((server, gpus),) for server in last]
    found: list[Pieces] = []
    for _ in range(count):
        pieces: Counter[int] = Counter()
        for slot, copies in slots:
            for _ in range(copies):
                pieces[free[slot].pop()] += shop.slots[slot].gpus
        found.append(tuple(sorted(pieces.items())))
    return found


def placement_of(
    found: Runs, jobs: Sequence[Job], bound: PatternBound, proof: Proof, *, stopped: bool
) -> Placement:
    """Write runs down as a placement, with exact pieces; `stopped` by a limit or Ctrl-C."""
    shop = found.shop
    placed: list[PlacedJob] = []
    known: dict[tuple[int, int], tuple[Vector, Fraction]] = {}
    parts: dict[tuple[int, int, int], tuple[Fraction, Vector]] = {}
    for job, (t, c, pieces) in zip(jobs, found.runs, strict=True):
        chosen = known.get((t, c))
        if chosen is None:
            options = shop.wishes[t].configurations
            chosen = known[t, c] = options.demand_at(c), options.value[c]
        written = []
        for server, gpus in pieces:
            part = parts.get((t, c, gpus))
            if part is None:
                amounts = tuple(amount * gpus / job.gpus for amount in chosen[0])
                part = parts[t, c, gpus] = Fraction(gpus), amounts
            written.append(Piece(server=server, gpus=part[0], amounts=part[1]))
        placed.append(
            PlacedJob(id=job.id, demand=chosen[0], throughput=chosen[1], pieces=tuple(written))
        )
    return Placement(
        instance=shop.instance.name,
        mechanism="packed" if bound.split == "never" else "packed-split",
        jobs=tuple(placed),
        bound=bound,
        proof=proof,
        stopped=stopped,
    )
