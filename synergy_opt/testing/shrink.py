"""Smaller instances that still show the same.

Takes an instance and a question, and gives an instance from which nothing can be left out without
changing the answer. Hypothesis shrinks what it has drawn; this shrinks any instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import ExactArray
from synergy_opt.model import Cluster, Instance, Profile


def shrink(instance: Instance, shows: Callable[[Instance], bool]) -> Instance:
    """Leave out jobs, servers, groups and grid values as long as `shows` stays true.

    Parameters
    ----------
    instance
        One for which `shows` is true.
    shows
        The question. It is asked of valid instances only.

    Returns
    -------
    Instance
        One for which it is true, and for which it is false once any one job, server, grid value
        or weight is left out.

    Notes
    -----
    O(m²) questions in the worst case, for m things that can be left out.

    Examples
    --------
    >>> import synergy_opt
    >>> small = shrink(synergy_opt.shipped("worked-example"), lambda it: "J3" in str(it.jobs))
    >>> len(small.jobs), small.cluster.server_count, small.profiles[0].throughput.shape
    (1, 1, (1, 1))
    """
    for smaller in _smaller(instance):
        if shows(smaller):
            return shrink(smaller, shows)
    return instance


def _smaller(instance: Instance) -> Iterator[Instance]:
    """Give the valid instances that are one step smaller, the largest steps first."""
    for changes in _changes(instance):
        with suppress(InvalidInstance):
            yield replace(instance, **changes)  # type: ignore[arg-type]


def _changes(instance: Instance) -> Iterator[Mapping[str, object]]:
    jobs = instance.jobs
    if len(jobs) > 3:
        half = len(jobs) // 2
        yield {"jobs": jobs[:half]}
        yield {"jobs": jobs[half:]}
    for i in reversed(range(len(jobs))):
        yield {"jobs": jobs[:i] + jobs[i + 1 :]}
    used = {job.profile for job in jobs}
    if len(used) < len(instance.profiles):
        yield {"profiles": [each for each in instance.profiles if each.name in used]}
    yield from ({"cluster": each} for each in _smaller_clusters(instance.cluster))
    for i, profile in enumerate(instance.profiles):
        for less in _smaller_profiles(profile):
            yield {"profiles": (*instance.profiles[:i], less, *instance.profiles[i + 1 :])}
    for i, job in enumerate(jobs):
        if job.weight != 1:
            one = replace(job, weight=Fraction(1))
            yield {"jobs": (*jobs[:i], one, *jobs[i + 1 :])}


def _smaller_clusters(cluster: Cluster) -> Iterator[Cluster]:
    groups = cluster.servers
    for i, group in enumerate(groups):
        if len(groups) > 1:
            yield replace(cluster, servers=groups[:i] + groups[i + 1 :])
        if group.count > 1:
            one_less = replace(group, count=group.count - 1)
            yield replace(cluster, servers=(*groups[:i], one_less, *groups[i + 1 :]))


def _smaller_profiles(profile: Profile) -> Iterator[Profile]:
    for r, (name, axis) in enumerate(profile.axes):
        for i in range(len(axis)) if len(axis) > 1 else ():
            left = ExactArray(np.delete(axis.numerators, i), axis.denominator)
            table = np.delete(profile.throughput.numerators, i, axis=r)
            yield replace(
                profile,
                axes=(*profile.axes[:r], (name, left), *profile.axes[r + 1 :]),
                throughput=ExactArray(table, profile.throughput.denominator),
            )
