"""Smaller instances that still show the same.

Takes an instance and a question, and gives an instance that cannot be made smaller by one step
without changing the answer. Faster than Hypothesis here: a step is a job, a server, a value of a
grid, not a byte of what was drawn; and it shrinks any instance, not only drawn ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import ExactArray
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

_Change = Mapping[str, object]


def shrink(instance: Instance, shows: Callable[[Instance], bool]) -> Instance:
    """Leave out jobs, servers and grid values and round numbers as long as `shows` stays true.

    Parameters
    ----------
    instance
        One for which `shows` is true.
    shows
        The question. It is asked of valid instances only.

    Returns
    -------
    Instance
        One for which it is true, and for which it is false after any one further step.

    Notes
    -----
    About as many questions as there are steps, and as many again at the end; in the worst case
    the square of that.

    Examples
    --------
    >>> import synergy_opt
    >>> small = shrink(synergy_opt.shipped("worked-example"), lambda it: len(it.jobs) > 0)
    >>> len(small.jobs), small.cluster.gpus, small.profiles[0].throughput.tolist()
    (1, 1, [Fraction(1, 1)])
    """
    start = 0
    while True:
        changes = list(_changes(instance))
        for i in range(len(changes)):
            at = (start + i) % len(changes)
            smaller = _changed(instance, changes[at])
            if smaller is not None and shows(smaller):
                # What comes before has failed a moment ago: go on from here.
                instance, start = smaller, at
                break
        else:
            return instance


def _changed(instance: Instance, change: _Change) -> Instance | None:
    try:
        return replace(instance, **change)  # type: ignore[arg-type]
    except InvalidInstance:
        return None


def _changes(instance: Instance) -> Iterator[_Change]:
    """Give what could be smaller, the largest steps first."""
    jobs, clusters = list(_jobs(instance.jobs)), list(_clusters(instance.cluster))
    yield from ({"jobs": each} for each in jobs)
    used = {job.profile for job in instance.jobs}
    if len(used) < len(instance.profiles):
        yield {"profiles": [each for each in instance.profiles if each.name in used]}
    yield from ({"cluster": each} for each in clusters)
    for i, profile in enumerate(instance.profiles):
        for less in _profiles(profile):
            yield {"profiles": (*instance.profiles[:i], less, *instance.profiles[i + 1 :])}
    if instance.objective != "relative":
        yield {"objective": "relative"}
    numbered = tuple(replace(job, id=f"j{i}") for i, job in enumerate(instance.jobs))
    if numbered != instance.jobs:
        yield {"jobs": numbered}
    # Where no GPU is free, a job and a server can only become smaller together.
    yield from ({"jobs": fewer, "cluster": less} for fewer in jobs for less in clusters)
    for less in clusters:
        capped = tuple(replace(job, gpus=min(job.gpus, less.gpus)) for job in instance.jobs)
        if capped != instance.jobs:
            yield {"jobs": capped, "cluster": less}


def _jobs(jobs: tuple[Job, ...]) -> Iterator[tuple[Job, ...]]:
    if len(jobs) > 3:
        half = len(jobs) // 2
        yield jobs[:half]
        yield jobs[half:]
    for i in reversed(range(len(jobs))):
        yield jobs[:i] + jobs[i + 1 :]
    for i, job in enumerate(jobs):
        smaller = [replace(job, gpus=job.gpus - 1)] if job.gpus > 1 else []
        smaller += [replace(job, weight=Fraction(1))] if job.weight != 1 else []
        first = jobs[0].profile
        smaller += [replace(job, profile=first)] if job.profile != first else []
        yield from ((*jobs[:i], less, *jobs[i + 1 :]) for less in smaller)


def _clusters(cluster: Cluster) -> Iterator[Cluster]:
    groups = cluster.servers
    for i, group in enumerate(groups):
        if len(groups) > 1:
            yield replace(cluster, servers=groups[:i] + groups[i + 1 :])
        for less in _servers(group):
            yield replace(cluster, servers=(*groups[:i], less, *groups[i + 1 :]))


def _servers(group: Server) -> Iterator[Server]:
    if group.count > 1:
        yield replace(group, count=group.count - 1)
    if group.gpus > 1:
        yield replace(group, gpus=group.gpus - 1)
    for r, amount in enumerate(group.capacity):
        if amount.denominator > 1:
            whole = (*group.capacity[:r], Fraction(ceil(amount)), *group.capacity[r + 1 :])
            yield replace(group, capacity=whole)


def _profiles(profile: Profile) -> Iterator[Profile]:
    for r, (name, axis) in enumerate(profile.axes):
        for i in range(len(axis)) if len(axis) > 1 else ():
            left = ExactArray(np.delete(axis.numerators, i), axis.denominator)
            table = np.delete(profile.throughput.numerators, i, axis=r)
            yield replace(
                profile,
                axes=(*profile.axes[:r], (name, left), *profile.axes[r + 1 :]),
                throughput=ExactArray(table, profile.throughput.denominator),
            )
    numerators, one = profile.throughput.numerators, profile.throughput.denominator
    for point in np.ndindex(*profile.throughput.shape):
        if numerators[point] > one:
            table = numerators.copy()
            table[point] = one
            yield replace(profile, throughput=ExactArray(table, one))
