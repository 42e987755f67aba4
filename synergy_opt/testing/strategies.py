"""Hypothesis strategies: clusters, profiles, jobs and instances, small and diverse.

Take limits and give valid values that shrink to few servers, few jobs and small numbers. About
half of the instances have many ties, about half leave no GPU free.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import prod

from hypothesis import strategies as st

from synergy_opt.model import Cluster, Instance, Job, Objective, Profile, Server

__all__ = ["NAMES", "clusters", "instances", "jobs", "profiles"]

NAMES = ("cpu", "memory", "network")
"""Names of the resources, in order; a cluster has the first one, two or three."""

# Amounts on and off each other's grids, with denominators that do not divide one another.
_AMOUNTS = st.sampled_from([Fraction(n, d) for d in (1, 2, 3, 7) for n in range(1, 13)])
_ROUND_AMOUNTS = st.integers(1, 4).map(Fraction)

# Axis values relative to the smallest fair share of one GPU.
_FACTORS = [Fraction(f) for f in ("0", "1/4", "1/2", "2/3", "1", "5/4", "3/2", "2", "3", "4", "8")]


@st.composite
def clusters(
    draw: st.DrawFn,
    *,
    resources: int | None = None,
    max_groups: int = 3,
    max_count: int = 4,
    max_gpus: int = 8,
    round_amounts: bool = False,
) -> Cluster:
    """Draw clusters of one or several groups; a server's amounts need be no multiple of its GPUs.

    Parameters
    ----------
    resources
        Number of resources, 1 to 3; default any of these.
    max_groups, max_count, max_gpus
        Limits of groups, servers in a group and GPUs of a server.
    round_amounts
        Few small whole amounts for a GPU: many equal servers, demands and shares.

    Examples
    --------
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=10)
    ... @given(clusters(max_groups=1, max_count=2, max_gpus=4))
    ... def small(cluster):
    ...     assert cluster.gpus <= 8
    >>> small()
    """
    width = draw(st.integers(1, len(NAMES))) if resources is None else resources
    amounts = _ROUND_AMOUNTS if round_amounts else _AMOUNTS
    groups = []
    for i in range(draw(st.integers(1, max_groups))):
        gpus = draw(st.integers(1, max_gpus))
        # Amounts for all GPUs at once are off any grid; for one GPU they give whole shares.
        scale = gpus if round_amounts or draw(st.booleans()) else 1
        capacity = tuple(scale * draw(amounts) for _ in range(width))
        count = draw(st.integers(1, max_count))
        groups.append(Server(type=f"t{i}", count=count, gpus=gpus, capacity=capacity))
    return Cluster(resources=dict.fromkeys(NAMES[:width], "units"), servers=groups)


@st.composite
def profiles(
    draw: st.DrawFn,
    cluster: Cluster,
    name: str = "p",
    *,
    max_points: int = 4,
    hungry: bool = False,
) -> Profile:
    """Draw profiles with a point inside the smallest share and throughput above 0 there.

    The throughput is arbitrary (also not monotone), or the least of one rising function a
    resource (the cache model), or flat.

    Parameters
    ----------
    cluster
        Its resources and its smallest share of a GPU give the axes.
    name
        Of the profile.
    max_points
        Most values on an axis; one more where the profile is hungry.
    hungry
        The profile wants more than its share of each resource.

    Examples
    --------
    >>> from hypothesis import given, settings
    >>> server = Server(type="n", count=1, gpus=2, capacity=(6,))
    >>> @settings(max_examples=10)
    ... @given(profiles(Cluster(resources={"cpu": "cores"}, servers=[server])))
    ... def has_a_floor(profile):
    ...     assert profile.best_within((Fraction(3),), gpus=1) > 0
    >>> has_a_floor()
    """
    axes = []
    for share in cluster.share_of_a_gpu:
        first = draw(st.sampled_from(_FACTORS[:5]))  # at most the share
        rest = draw(st.sets(st.sampled_from(_FACTORS), max_size=max_points - 1))
        if hungry:
            rest = rest | {draw(st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(3)]))}
        axes.append([share * f for f in sorted({first, *(f for f in rest if f > first)})])
    shape = tuple(map(len, axes))
    form = draw(st.sampled_from(["arbitrary", "cache"] + ["flat"] * (not hungry)))
    if form == "arbitrary":
        size = prod(shape)
        values = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size))
        values[0] = max(1, values[0])
        if hungry:
            values[draw(st.integers(0, len(values) - 1))] = 7
    elif form == "cache":
        slopes = [draw(st.integers(1, 4)) for _ in axes]
        points = product(*map(range, shape))
        values = [min(1 + s * i for s, i in zip(slopes, p, strict=True)) for p in points]
    else:
        values = [draw(st.integers(1, 3))] * prod(shape)
    axis = dict(zip(cluster.names, axes, strict=True))
    return Profile(
        name=name,
        axes=axis,
        throughput=_nested(values, shape),
        per=draw(st.sampled_from(["gpu", "gpu", "job"])),
    )


@st.composite
def jobs(
    draw: st.DrawFn,
    cluster: Cluster,
    names: Sequence[str],
    *,
    max_jobs: int = 10,
    ties: bool = False,
    tight: bool = False,
) -> list[Job]:
    """Draw jobs in priority order; GPU demands go beyond the largest server.

    Parameters
    ----------
    cluster
        Where they are to run.
    names
        Names of the profiles to choose from.
    max_jobs
        Most jobs.
    ties
        Few GPU demands, and weight 1 for all.
    tight
        The GPU demands add up to all GPUs of the cluster.

    Examples
    --------
    >>> from hypothesis import given, settings
    >>> server = Server(type="n", count=2, gpus=2, capacity=(6,))
    >>> place = Cluster(resources={"cpu": "cores"}, servers=[server])
    >>> @settings(max_examples=10)
    ... @given(jobs(place, ["p"], tight=True))
    ... def no_gpu_is_free(drawn):
    ...     assert sum(job.gpus for job in drawn) == 4
    >>> no_gpu_is_free()
    """
    weights = st.just(Fraction(1)) if ties else st.sampled_from([Fraction(1), Fraction(5, 3)])
    demands = draw(_gpu_demands(cluster.gpus, max_jobs, ties, tight))
    return [
        Job(id=f"j{i}", gpus=gpus, profile=draw(st.sampled_from(names)), weight=draw(weights))
        for i, gpus in enumerate(demands)
    ]


@st.composite
def instances(
    draw: st.DrawFn,
    *,
    cluster: st.SearchStrategy[Cluster] | None = None,
    max_jobs: int = 10,
    max_profiles: int = 4,
    max_points: int = 4,
    objectives: Sequence[Objective] = ("relative", "absolute"),
) -> Instance:
    """Draw valid instances.

    About half are tie-heavy (few amounts, profiles and GPU demands). About half are tight: few
    servers, jobs that take all their GPUs, most of them hungry for more than their share. GPU
    demands go beyond the largest server where the cluster allows it.

    Parameters
    ----------
    cluster
        Strategy for the cluster; default `clusters`.
    max_jobs, max_profiles, max_points
        Limits of jobs, profiles and values on an axis.
    objectives
        Objectives to choose from.

    Examples
    --------
    >>> from hypothesis import given, settings
    >>> import synergy_opt
    >>> @settings(max_examples=10)
    ... @given(instances(max_jobs=4))
    ... def tune_is_valid(instance):
    ...     assert synergy_opt.violations(instance, synergy_opt.tune(instance)) == ()
    >>> tune_is_valid()
    """
    ties, tight = draw(st.booleans()), draw(st.booleans())
    if cluster is None:
        cluster = clusters(max_count=2 if tight else 4, round_amounts=ties)
    place = draw(cluster)
    models = [
        draw(profiles(place, f"p{i}", max_points=max_points, hungry=tight and i == 0))
        for i in range(draw(st.integers(1, 2 if ties else max_profiles)))
    ]
    names = [model.name for model in models]
    return Instance(
        name="drawn",
        cluster=place,
        profiles=models,
        jobs=draw(jobs(place, names, max_jobs=max_jobs, ties=ties, tight=tight)),
        objective=draw(st.sampled_from(objectives)),
    )


@st.composite
def _gpu_demands(draw: st.DrawFn, gpus: int, max_jobs: int, ties: bool, tight: bool) -> list[int]:
    """Draw GPU demands; tight ones take all GPUs, in any order."""
    sizes = [g for g in ((1, 2, 4) if ties else (1, 1, 2, 3, 4, 5, 8, 16, gpus)) if g <= gpus]
    if not tight:
        return draw(st.lists(st.sampled_from(sizes), max_size=max_jobs))
    count = draw(st.integers(1, min(max_jobs, gpus)))
    inside = st.sampled_from(range(1, gpus)) if gpus > 1 else st.nothing()
    cuts = draw(st.lists(inside, unique=True, min_size=count - 1, max_size=count - 1))
    return [after - before for before, after in pairwise([0, *sorted(cuts), gpus])]


def _nested(values: Sequence[int], shape: Sequence[int]) -> object:
    if not shape:
        return values[0]
    step = len(values) // shape[0]
    return [_nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
