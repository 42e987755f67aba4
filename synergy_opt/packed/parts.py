"""Very many different jobs: the servers in parts, each with an even mixture of the jobs.

Takes a problem with more kinds of jobs than one relaxation takes well, solves parts of it that
share slots and patterns, and gives a placement of the whole; its bound comes from their mean
prices and steps from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from synergy_opt.kinds import Kind
from synergy_opt.model import Cluster, Instance
from synergy_opt.packed.boxed import settled
from synergy_opt.packed.generation import first_columns, generate, rounded_prices
from synergy_opt.packed.lift import lifted
from synergy_opt.packed.master import Columns, Opened, Relaxation
from synergy_opt.packed.options import Uses, costs
from synergy_opt.packed.pricing import Prices
from synergy_opt.packed.problem import Problem, State
from synergy_opt.packed.runs import Run, Runs, runs_of
from synergy_opt.packed.start import proportional_start
from synergy_opt.packed.whole import Counts, best_whole, floors
from synergy_opt.program import FloatArray

DIRECT = 2500  # kinds up to which one relaxation takes all
_PATIENCE = 30.0  # seconds for the whole numbers of a part, where there is no limit
_POOL = 800  # patterns that a part takes over from earlier ones
_KEPT = 0.4  # part of the time that is kept for the bound
_GAP = 5e-5  # relative gap at which a part is good enough
_KINDS = 500  # of a part, about


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Some servers of each group, and some jobs.

    Parameters
    ----------
    problem
        Of the part; its jobs count from 0.
    jobs
        For each of them its position among all jobs.
    servers
        For each server of the part its number in the whole cluster.
    """

    problem: Problem
    jobs: tuple[int, ...]
    servers: tuple[int, ...]


def in_parts(problem: Problem, state: State) -> Iterator[State]:
    """Give the bound of a sample's prices, then the placement of all parts and a lower bound.

    Jobs are dealt to the parts in the order of what they choose at the sample's prices, so that
    every part has about the same demand and the parts' prices are about the same.
    """
    count = -(-len(problem.uses) // _KINDS)
    sample = _parts(problem, count, [float(use.wish.values.max()) for use in problem.uses])[0]
    columns, prices, _ = _relaxed(sample.problem, [])
    state = state.tighter(problem.bound(rounded_prices(prices, columns.unit)))
    yield state
    kept = 0.0 if problem.left is None else problem.left * _KEPT
    pool, found, total = _used(columns), dict[int, Run](), np.zeros(len(problem.shop.slots))
    parts = _parts(problem, count, _choices(problem.uses, prices))
    for i, part in enumerate(parts):
        columns, prices, relaxed = _relaxed(part.problem, pool)
        total += prices
        left = problem.left
        counts = best_whole(
            columns,
            seconds=_PATIENCE if left is None else max(left - kept, 0.1) / (len(parts) - i),
            target=np.inf,
            seed=problem.limits.seed,
            gap=_GAP,
            at_least=floors(columns, relaxed),
        )
        runs = _runs(part.problem, columns, counts)
        if runs is None or counts.interrupted:
            break
        pool = list(dict.fromkeys(_used(columns, counts) + pool))[:_POOL]
        for job, run in zip(part.jobs, runs.runs, strict=True):
            pieces = tuple(sorted((part.servers[s], gpus) for s, gpus in run.pieces))
            wish = problem.wish_of[job]
            found[job] = Run(wish=wish, configuration=run.configuration, pieces=pieces)
    prices = total / (i + 1)
    state = state.tighter(problem.bound(rounded_prices(prices, columns.unit)))
    if len(found) == problem.jobs:
        whole = Runs.of(problem.shop, (found[job] for job in range(problem.jobs)))
        whole.check()
        state = state.better(whole)
    yield state
    if not problem.late and not state.within(problem.limits.gap):
        prices = settled(problem, prices, pool, columns.unit)
        yield state.tighter(problem.bound(rounded_prices(prices, columns.unit)))


def _relaxed(problem: Problem, pool: Sequence[Opened]) -> tuple[Columns, FloatArray, FloatArray]:
    """Give the columns of a part, the prices of its slots, lifted, and the relaxation's counts."""
    columns = first_columns(problem)
    for group, pattern in pool:
        columns.add_patterns(group, [pattern])
    relaxation = Relaxation(columns)
    least, most = lifted(problem.sacks, generate(problem, columns, relaxation))
    return columns, (least + most) / 2, relaxation.values()


def _runs(problem: Problem, columns: Columns, counts: Counts) -> Runs | None:
    found = None
    if counts.columns is not None:
        found = runs_of(columns, counts.columns, problem.jobs)
    return found or proportional_start(problem.shop).runs


def _used(columns: Columns, counts: Counts | None = None) -> list[Opened]:
    """Give the patterns that are used, all of them without counts."""
    numbers = counts.columns if counts is not None else None
    return [
        key
        for j, key in enumerate(columns.made_of)
        if isinstance(key, Opened) and (numbers is None or numbers[j])
    ]


def _choices(uses: Sequence[Uses], prices: Prices) -> list[tuple[int, float]]:
    """Give for each kind what it chooses at these prices, in the order of the slots, and gains."""
    chosen = []
    for use in uses:
        cost, possible = costs(use, prices)
        gain = np.where(possible, use.wish.values - cost, -np.inf)
        best = int(gain.argmax())
        chosen.append((int(use.slots[:, best].max()), float(gain[best])))
    return chosen


def _parts(problem: Problem, count: int, order: Sequence[object]) -> list[_Part]:
    """Divide servers evenly, and deal the jobs: largest first, then by `order` of their kinds."""
    cluster = problem.shop.instance.cluster
    share = [
        [n * (c + 1) // count - n * c // count for n in problem.shop.counts] for c in range(count)
    ]
    free = [
        sum(n * g.gpus for n, g in zip(counts, cluster.servers, strict=True)) for counts in share
    ]
    members: list[dict[int, list[int]]] = [{} for _ in range(count)]
    kinds = sorted(range(len(problem.uses)), key=lambda t: (-problem.uses[t].wish.gpus, order[t]))
    turn = 0
    for t in kinds:
        wish = problem.uses[t].wish
        for job in wish.kind.members:
            fits = [c for c in range(count) if free[c] >= wish.gpus] or range(count)
            part = max(fits, key=lambda c: (free[c], -((c - turn) % count)))
            turn = part + 1
            free[part] -= wish.gpus
            members[part].setdefault(t, []).append(job)
    return [_part(problem, c, count, share[c], members[c]) for c in range(count) if members[c]]


def _part(
    problem: Problem, c: int, count: int, share: Sequence[int], members: dict[int, list[int]]
) -> _Part:
    goods, cluster = problem.shop, problem.shop.instance.cluster
    jobs = sorted(job for some in members.values() for job in some)
    place = {job: i for i, job in enumerate(jobs)}
    uses = []
    for t, some in members.items():
        use = problem.uses[t]
        kind = Kind(
            members=tuple(place[job] for job in some),
            gpus=use.wish.gpus,
            configurations=use.wish.kind.configurations,
        )
        uses.append(replace(use, wish=replace(use.wish, kind=kind)))
    servers, first = [], 0
    for n, mine in zip(goods.counts, share, strict=True):
        servers += [first + n * c // count + i for i in range(mine)]
        first += n
    groups = [replace(g, count=max(n, 1)) for g, n in zip(cluster.servers, share, strict=True)]
    smaller = Instance(
        name=goods.instance.name,
        cluster=Cluster(resources=cluster.resources, servers=groups),
        profiles=(),
        jobs=(),
    )
    part = replace(goods, instance=smaller, wishes=tuple(use.wish for use in uses))
    return _Part(
        problem=replace(problem, shop=part, jobs=len(jobs), uses=tuple(uses)),
        jobs=tuple(jobs),
        servers=tuple(servers),
    )
