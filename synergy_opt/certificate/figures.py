"""Whether each job's stated throughput is what its demand gives, and no less than its fair floor.

Takes an instance and a placement, gives the broken rules of throughput, floor and consolidation.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from synergy_opt.answer import Bound, PatternBound, PlacedJob, Placement
from synergy_opt.certificate.envelope import best_mixture
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.violation import Violation, show
from synergy_opt.model import Job


def figure_violations(facts: Facts, placement: Placement) -> Iterator[Violation]:
    """Report wrong throughputs ("throughput"), floors ("fair-floor") and "consolidation".

    A job's throughput W is the best grid point within its demand, its floor W^f the same within
    the share of the server groups that it has pieces on. Where the placement's bound is for
    mixtures (``integral`` false), the mixtures themselves are not in the placement: decided is
    whether *some* mixture of the grid points that the bound reckons with lies within the demand
    and makes the stated throughput (or more), and whether that is at least the floor.
    """
    bound = placement.bound
    for i, placed in enumerate(placement.jobs):
        job = facts.jobs.get(placed.id)
        if job is None or not placed.pieces:
            continue
        path = f"$.jobs[{i}]"
        if isinstance(bound, Bound) and not bound.integral:
            yield from _mixture(facts, job, placed, bound, path)
        else:
            yield from _grid_point(facts, job, placed, path)
        if bound is not None and bound.consolidated:
            yield from _consolidation(facts, job, placed, bound, path)


def _grid_point(facts: Facts, job: Job, placed: PlacedJob, path: str) -> Iterator[Violation]:
    best = facts.best(job, placed.demand)
    value = facts.unit(job) * (best or 0)
    if value != placed.throughput:
        message = (
            f"job {job.id!r} states {show(placed.throughput)}, but its demand gives {show(value)}"
        )
        yield Violation(rule="throughput", where=f"{path}.throughput", message=message)
    floor = _floor(facts, job, placed)
    if best is None:
        message = (
            f"no configuration of job {job.id!r} lies within its demand; its fair share gives "
            f"{show(floor)}"
        )
        yield Violation(rule="fair-floor", where=f"{path}.demand", message=message)
    elif best < floor:
        message = f"job {job.id!r} makes {show(best)}, but its fair share gives {show(floor)}"
        yield Violation(rule="fair-floor", where=f"{path}.demand", message=message)


def _mixture(
    facts: Facts, job: Job, placed: PlacedJob, bound: Bound, path: str
) -> Iterator[Violation]:
    allowed = facts.allowed(job, fair=not bound.rows, consolidated=bound.consolidated)
    best = facts.grid(job).best(placed.demand, allowed)
    if best is None or facts.unit(job) * best < placed.throughput:
        # One placement has one bound, so the profile, the GPUs and the demand say all.
        best = facts.once(
            ("mixture", job.profile, job.gpus, tuple(placed.demand)),
            lambda: best_mixture(facts.grid(job), allowed, placed.demand),
        )
    value = facts.unit(job) * (best or 0)
    if value < placed.throughput or best is None:
        message = (
            f"job {job.id!r} states {show(placed.throughput)}, but the best mixture within its "
            f"demand gives {show(value)}"
        )
        yield Violation(rule="throughput", where=f"{path}.throughput", message=message)
    made, floor = placed.throughput / facts.unit(job), _floor(facts, job, placed)
    if made < floor:
        message = f"job {job.id!r} makes {show(made)}, but its fair share gives {show(floor)}"
        yield Violation(rule="fair-floor", where=f"{path}.throughput", message=message)


def _floor(facts: Facts, job: Job, placed: PlacedJob) -> Fraction:
    """Give W^f of the groups that the pieces touch, of all where no piece is on a known server."""
    cluster = facts.instance.cluster
    known = [p.server for p in placed.pieces if 0 <= p.server < cluster.server_count]
    touched = frozenset(cluster.group_of_server[server] for server in known)
    return facts.floor(job, touched or facts.all_groups)


def _consolidation(
    facts: Facts, job: Job, placed: PlacedJob, bound: Bound | PatternBound, path: str
) -> Iterator[Violation]:
    limits = facts.limits(job.gpus)
    if not bound.integral:
        # Each grid point of a mixture fits one of the limits, their mean need not.
        limits = (tuple(max(column) for column in zip(*limits, strict=True)),)
    names = facts.instance.cluster.names
    nearest: list[str] | None = None
    for limit in limits:
        over = [
            f"{show(amount)} {name} above {show(most)}"
            for name, amount, most in zip(names, placed.demand, limit, strict=True)
            if amount > most
        ]
        nearest = over if nearest is None or len(over) < len(nearest) else nearest
    if nearest:
        message = (
            "the bound is for jobs within the consolidation rule (at most the worth of the fewest "
            f"servers that hold a job, or its fair share), but job {job.id!r} ({job.gpus} GPUs) "
            f"has {', '.join(nearest)}"
        )
        yield Violation(rule="consolidation", where=f"{path}.demand", message=message)
