"""Placements without a solver: every job its fair share, and what the steps of TUNE give.

Takes a shop and gives `Runs` to start from or to fall back on; says whether whole jobs fit at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from synergy_opt.fair_share import fair_share
from synergy_opt.model import Job
from synergy_opt.packed.gpu_packing import Filled, gpu_packing
from synergy_opt.packed.runs import Pieces, Run, Runs
from synergy_opt.packed.shapes import Shop, Wish
from synergy_opt.packing import Held, Packing
from synergy_opt.packing.offers import offers

_Order = list[tuple[int, int, int]]
"""Triples (−GPUs, job, kind), ascending."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """The placement by fair shares.

    Parameters
    ----------
    runs
        None where none was found.
    decided
        True: found, or there is no placement with whole jobs on one server each.
    """

    runs: Runs | None
    decided: bool = True


def proportional_start(shop: Shop) -> Start:
    """Give every job its fair share, whole jobs first and largest first.

    Each goes to the server with the fewest free GPUs that hold it; where that leads nowhere, by an
    exact search (`gpu_packing`). Jobs that may be divided then take the servers with most free
    GPUs. All resources fit, since shares of the GPUs of a server sum to at most the server.
    """
    order = [(-wish.gpus, i, t) for t, wish in enumerate(shop.wishes) for i in wish.kind.members]
    whole = sorted(row for row in order if not shop.wishes[row[2]].pieces)
    parted = sorted(row for row in order if shop.wishes[row[2]].pieces)
    room = _free(shop)
    where = _best_fit(room, whole)
    if where is None:
        has = Counter(size for size, servers in _free(shop).items() for _ in servers)
        packing = gpu_packing(Counter(-size for size, _, _ in whole), has)
        if packing.servers is None:
            return Start(runs=None, decided=packing.decided)
        room = _free(shop)
        where = _filled(room, whole, packing.servers)
    for _, job, t in parted:
        pieces = _divided(room, shop.wishes[t].gpus)
        if pieces is None:
            return Start(runs=None)  # fewer GPUs than the jobs ask for
        where[job] = pieces
    return Start(runs=_with_shares(shop, where))


def tune_runs(shop: Shop, jobs: Sequence[Job]) -> Runs | None:
    """Give what the steps of TUNE lead to; None where that divides a job that must stay whole.

    Each job gets the best of its configurations inside what TUNE gives it.
    """
    ledger, of = offers(shop.instance, jobs)
    packing = Packing(ledger, len(shop.instance.cluster.servers))
    sizes = [tuple(units * o.gpus for units in o.demand.need) for o in of]
    for number in sorted(range(len(jobs)), key=sizes.__getitem__, reverse=True):
        packing.place(number, of[number])
    runs: dict[int, Run] = {}
    known: dict[tuple[int, tuple[int, ...]], int | None] = {}
    for t, wish in enumerate(shop.wishes):
        for job in wish.kind.members:
            held = packing.held[job]
            if len(held.pieces) > 1 and not wish.pieces:
                return None
            key = t, held.offer.need
            if key not in known:
                known[key] = _within(shop, wish, held)
            configuration = known[key]
            touched = frozenset(int(ledger.groups[server]) for server, _ in held.pieces)
            if configuration is None or not wish.fair(configuration, touched):
                return None
            pieces = tuple(sorted(held.pieces))
            runs[job] = Run(wish=t, configuration=configuration, pieces=pieces)
    found = Runs.of(shop, (runs[job] for job in sorted(runs)))
    found.check()
    return found


def _within(shop: Shop, wish: Wish, held: Held) -> int | None:
    """Give the best configuration that asks for no more than the job holds."""
    amounts = zip(held.offer.amounts, shop.units, strict=True)
    return _best(wish, [int(amount * unit) for amount, unit in amounts])


def _best(wish: Wish, most: Sequence[int]) -> int | None:
    inside = [c for c, row in enumerate(wish.sizes.tolist()) if all(map(int.__le__, row, most))]
    values = wish.configurations.value.numerators
    return max(inside, key=lambda c: (values[c], -c), default=None)


def _free(shop: Shop) -> dict[int, list[int]]:
    """Give the servers by free GPUs, those with the lowest numbers last."""
    cluster = shop.instance.cluster
    room: dict[int, list[int]] = defaultdict(list)
    for server in reversed(range(cluster.server_count)):
        room[cluster.servers[cluster.group_of_server[server]].gpus].append(server)
    return room


def _best_fit(room: dict[int, list[int]], whole: _Order) -> dict[int, Pieces] | None:
    where: dict[int, Pieces] = {}
    for size, job, _ in whole:
        enough = [free for free in room if free >= -size and room[free]]
        if not enough:
            return None
        where[job] = (_claim(room, min(enough), -size),)
    return where


def _filled(
    room: dict[int, list[int]], whole: _Order, servers: Sequence[Filled]
) -> dict[int, Pieces]:
    """Put the jobs on servers as the packing says."""
    waiting: dict[int, list[int]] = defaultdict(list)
    for size, job, _ in reversed(whole):
        waiting[-size].append(job)
    where: dict[int, Pieces] = {}
    for gpus, taken in servers:
        server = room[gpus].pop()
        room[gpus - sum(taken)].append(server)
        for size in taken:
            where[waiting[size].pop()] = ((server, size),)
    return where


def _divided(room: dict[int, list[int]], gpus: int) -> Pieces | None:
    enough = [free for free in room if free >= gpus and room[free]]
    if enough:
        return (_claim(room, min(enough), gpus),)
    pieces, missing = [], gpus
    while missing:
        most = max(free for free in room if room[free])
        if most == 0:
            return None
        pieces.append(_claim(room, most, min(most, missing)))
        missing -= pieces[-1][1]
    return tuple(sorted(pieces))


def _claim(room: dict[int, list[int]], free: int, gpus: int) -> tuple[int, int]:
    server = room[free].pop()
    room[free - gpus].append(server)
    return server, gpus


def _with_shares(shop: Shop, where: dict[int, Pieces]) -> Runs:
    """Give every job the best configuration inside its share of the groups that it touches."""
    cluster = shop.instance.cluster
    runs: dict[int, Run] = {}
    known: dict[tuple[int, frozenset[int]], int] = {}
    for t, wish in enumerate(shop.wishes):
        for job in wish.kind.members:
            groups = frozenset(cluster.group_of_server[server] for server, _ in where[job])
            if (t, groups) not in known:
                share = fair_share(cluster, wish.gpus, groups=groups)
                most = [int(a * unit) for a, unit in zip(share, shop.units, strict=True)]
                best = _best(wish, most)
                assert best is not None  # the floor is the best inside the share
                known[t, groups] = best
            runs[job] = Run(wish=t, configuration=known[t, groups], pieces=where[job])
    found = Runs.of(shop, (runs[job] for job in sorted(runs)))
    found.check()
    return found
