"""A sound heuristic, and wrong ones, each with one fault that the kit names.

Each takes an instance and gives a placement; `WRONG` says which rule each wrong one breaks. Try
one: ``pytest --pyargs synergy_opt.testing.conformance --mechanism
synergy_opt.testing.examples:overcommits``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from synergy_opt.answer import Piece, PlacedJob, Placement
from synergy_opt.demand import best_case_demand
from synergy_opt.fair_share import job_throughput
from synergy_opt.io import instance_text
from synergy_opt.measures import used_by_server
from synergy_opt.model import Instance, Job, Vector
from synergy_opt.proportional import proportional


def raise_in_order(instance: Instance) -> Placement:
    """Start from proportional sharing; then, in priority order, raise each job to its best.

    A job's best is the configuration of highest throughput that fits what is free on its servers
    together with what it has, the one with least of the first resource among equals, then of the
    next. Every job is placed, and none below its fair share.

    Examples
    --------
    >>> import synergy_opt
    >>> raise_in_order(synergy_opt.shipped("worked-example")).throughput
    Fraction(21, 5)
    """
    return _raised(instance, [job.id for job in instance.jobs])


def _raised(instance: Instance, order: Sequence[str]) -> Placement:
    placement = proportional(instance)
    free = _free(instance, placement)
    jobs = {job.id: job for job in instance.jobs}
    entries = {entry.id: entry for entry in placement.jobs}
    for name in order:
        if name not in entries:
            continue  # not runnable
        entry = entries[name]
        within = _within(entry, free, jobs[name].gpus)
        entries[name] = _given(instance, entry, _best(instance, jobs[name], within))
        for old, new in zip(entry.pieces, entries[name].pieces, strict=True):
            left = zip(free[old.server], old.amounts, new.amounts, strict=True)
            free[old.server] = tuple(amount + was - now for amount, was, now in left)
    return replace(placement, mechanism="raise-in-order", jobs=tuple(entries.values()))


def _free(instance: Instance, placement: Placement) -> list[Vector]:
    """Give the free amount of each resource, a server each."""
    groups, kind = instance.cluster.servers, instance.cluster.group_of_server
    return [
        tuple(most - amount for amount, most in zip(used[1:], groups[g].capacity, strict=True))
        for used, g in zip(used_by_server(instance, placement), kind, strict=True)
    ]


def _within(entry: PlacedJob, free: list[Vector], gpus: int) -> Vector:
    """Give the most of each resource that the job could have where it is, in proportion."""
    rooms = [
        tuple(
            (has + more) * gpus / piece.gpus
            for has, more in zip(piece.amounts, there, strict=True)
        )
        for piece in entry.pieces
        for there in [free[piece.server]]
    ]
    return tuple(min(column) for column in zip(*rooms, strict=True))


def _best(instance: Instance, job: Job, within: Vector) -> Vector:
    """Give the totals of the job's best configuration inside some amounts."""
    profile = instance.profile_of[job.profile]
    scale = job.gpus if profile.per == "gpu" else 1
    axes = [[scale * value for value in axis.tolist()] for _, axis in profile.axes]
    inside = (
        (-profile.throughput[point], tuple(axis[i] for axis, i in zip(axes, point, strict=True)))
        for point in product(*map(range, profile.throughput.shape))
        if all(axis[i] <= most for axis, i, most in zip(axes, point, within, strict=True))
    )
    return min(inside)[1]


def _given(instance: Instance, entry: PlacedJob, demand: Vector) -> PlacedJob:
    """Give a placed job another demand, in proportion on its servers."""
    (job,) = (job for job in instance.jobs if job.id == entry.id)
    return replace(
        entry,
        demand=demand,
        throughput=job_throughput(instance, job, demand),
        pieces=tuple(
            replace(piece, amounts=tuple(amount * piece.gpus / job.gpus for amount in demand))
            for piece in entry.pieces
        ),
    )


def overcommits(instance: Instance) -> Placement:
    """Give every job all that it can use, whatever its server has."""
    jobs = {job.id: job for job in instance.jobs}
    return _changed(
        instance,
        lambda entry: _given(instance, entry, best_case_demand(instance, jobs[entry.id]).amounts),
    )


def disproportionate(instance: Instance) -> Placement:
    """Give the first of a job's pieces a little that the last one had."""

    def shift(entry: PlacedJob) -> PlacedJob:
        if len(entry.pieces) < 2:
            return entry
        first, *others, last = entry.pieces
        little = last.amounts[0] / 2
        return replace(entry, pieces=(_more(first, little), *others, _more(last, -little)))

    return _changed(instance, shift)


def below_the_floor(instance: Instance) -> Placement:
    """Give every job half of the first resource that its fair share has."""

    def halve(entry: PlacedJob) -> PlacedJob:
        first, *others = entry.demand
        return _given(instance, entry, (first / 2, *others))

    return _changed(instance, halve)


def random_seed(instance: Instance) -> Placement:
    """Raise the jobs in an order that is shuffled anew each time."""
    order = [job.id for job in instance.jobs]
    random.Random().shuffle(order)
    return _raised(instance, order)


def hash_order(instance: Instance) -> Placement:
    """Raise the jobs in the order of a set of their names, which the hash seed decides."""
    return _raised(instance, list({job.id for job in instance.jobs}))


_SEEN: dict[str, Placement] = {}


def remembers(instance: Instance) -> Placement:
    """Keep answers, under a key that forgets the order of the jobs."""
    jobs = tuple(sorted(instance.jobs, key=lambda job: job.id))
    key = instance_text(replace(instance, jobs=jobs))
    return _SEEN.setdefault(key, raise_in_order(instance))


def changes_its_input(instance: Instance) -> Placement:
    """Sort the instance's own list of jobs, frozen or not."""
    answer = raise_in_order(instance)
    ordered = tuple(sorted(instance.jobs, key=lambda job: (-job.gpus, job.id)))
    object.__setattr__(instance, "jobs", ordered)
    return answer


def wrong_throughput(instance: Instance) -> Placement:
    """State what each job would make if it could use its demand to the last drop."""
    return _changed(
        instance, lambda entry: replace(entry, throughput=entry.throughput + Fraction(1, 100))
    )


def ignores_priority(instance: Instance) -> Placement:
    """Serve the jobs from the last to the first, and leave out those whose GPUs are gone."""
    backwards = {entry.id: entry for entry in _backwards(instance).jobs}
    nothing = (Fraction(0),) * len(instance.cluster.names)
    return Placement(
        instance=instance.name,
        mechanism="ignores-priority",
        jobs=tuple(
            backwards.get(
                job.id, PlacedJob(id=job.id, demand=nothing, throughput=Fraction(0), pieces=())
            )
            for job in instance.jobs
        ),
    )


def _backwards(instance: Instance) -> Placement:
    return proportional(replace(instance, jobs=instance.jobs[::-1]))


def _more(piece: Piece, amount: Fraction) -> Piece:
    first, *others = piece.amounts
    return replace(piece, amounts=(first + amount, *others))


def _changed(instance: Instance, change: Callable[[PlacedJob], PlacedJob]) -> Placement:
    placement = proportional(instance)
    return replace(placement, mechanism="wrong", jobs=tuple(map(change, placement.jobs)))


WRONG: Mapping[str, str] = {
    "overcommits": "capacity",
    "disproportionate": "proportional-pieces",
    "below_the_floor": "fair-floor",
    "random_seed": "deterministic",
    "hash_order": "another-process",
    "remembers": "another-process",
    "changes_its_input": "pure",
    "wrong_throughput": "throughput",
    "ignores_priority": "priority",
}
"""Each wrong one, and the rule under whose name the kit's failure is saved."""
