"""Hypothesis strategies for instances: small, diverse, often with ties, often tight."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

from hypothesis import strategies as st

from synergy_opt.model import Cluster, Instance, Job, Profile, Server

NAMES = ("cpu", "memory", "network")

# Amounts on and off each other's grids, with denominators that do not divide one another.
AMOUNTS = st.sampled_from([Fraction(n, d) for d in (1, 2, 3, 7) for n in range(1, 13)])
ROUND_AMOUNTS = st.integers(1, 4).map(Fraction)

# Axis values relative to the smallest fair share of one GPU.
FACTORS = [Fraction(f) for f in ("0", "1/4", "1/2", "2/3", "1", "5/4", "3/2", "2", "3", "4", "8")]


@st.composite
def clusters(draw, *, resources=None, max_groups=3, max_count=4, max_gpus=8, round_amounts=False):
    """Clusters of one or several groups; a server's amounts need be no multiple of its GPUs.

    Parameters
    ----------
    resources
        Number of resources; default 1 to 3.
    max_groups, max_count, max_gpus
        Limits of groups, servers in a group and GPUs of a server.
    round_amounts
        Few small whole amounts for a GPU: many equal servers, demands and shares.
    """
    width = draw(st.integers(1, len(NAMES))) if resources is None else resources
    amounts = ROUND_AMOUNTS if round_amounts else AMOUNTS
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
def profiles(draw, cluster, name, *, max_points=4, hungry=False):
    """Profiles with a point inside the smallest share and throughput above 0 there.

    The throughput is arbitrary (also not monotone), or the least of one rising function a
    resource (the cache model), or flat. A hungry one wants more than its share of something.
    """
    axes = []
    for share in cluster.share_of_a_gpu:
        first = draw(st.sampled_from(FACTORS[:5]))  # at most the share
        rest = draw(st.sets(st.sampled_from(FACTORS), max_size=max_points - 1))
        if hungry:
            rest = rest | {Fraction(draw(st.sampled_from([Fraction(3, 2), 2, 3])))}
        axes.append([share * f for f in sorted({first, *(f for f in rest if f > first)})])
    shape = tuple(map(len, axes))
    form = draw(st.sampled_from(["arbitrary", "cache"] + ["flat"] * (not hungry)))
    if form == "arbitrary":
        values = draw(st.lists(st.integers(0, 6), min_size=_size(shape), max_size=_size(shape)))
        values[0] = max(1, values[0])
        if hungry:
            values[draw(st.integers(0, len(values) - 1))] = 7
    elif form == "cache":
        slopes = [draw(st.integers(1, 4)) for _ in axes]
        points = product(*map(range, shape))
        values = [min(1 + s * i for s, i in zip(slopes, p, strict=True)) for p in points]
    else:
        values = [draw(st.integers(1, 3))] * _size(shape)
    axis = dict(zip(cluster.names, axes, strict=True))
    per = draw(st.sampled_from(["gpu", "gpu", "job"]))
    return Profile(name=name, axes=axis, throughput=_nested(values, shape), per=per)


@st.composite
def instances(
    draw,
    *,
    cluster=None,
    max_jobs=10,
    max_profiles=4,
    max_points=4,
    objectives=("relative", "absolute"),
):
    """Draw valid instances.

    About half are tie-heavy (few amounts, profiles and GPU demands). About half are tight: few
    servers, jobs that take all their GPUs, most of them hungry for more than their share. GPU
    demands go beyond the largest server where the cluster allows it.

    Parameters
    ----------
    cluster
        Strategy for the cluster; default `clusters()`.
    max_jobs, max_profiles, max_points
        Limits of jobs, profiles and values on an axis.
    objectives
        Objectives to choose from.
    """
    ties, tight = draw(st.booleans()), draw(st.booleans())
    if cluster is None:
        cluster = clusters(max_count=2 if tight else 4, round_amounts=ties)
    place = draw(cluster)
    models = [
        draw(profiles(place, f"p{i}", max_points=max_points, hungry=tight and i == 0))
        for i in range(draw(st.integers(1, 2 if ties else max_profiles)))
    ]
    demands = draw(_gpu_demands(place.gpus, max_jobs, ties, tight))
    weights = st.just(Fraction(1)) if ties else st.sampled_from([Fraction(1), Fraction(5, 3)])
    jobs = [
        Job(
            id=f"j{i}",
            gpus=gpus,
            profile=draw(st.sampled_from(models)).name,
            weight=draw(weights),
        )
        for i, gpus in enumerate(demands)
    ]
    objective = draw(st.sampled_from(objectives))
    return Instance(name="drawn", cluster=place, profiles=models, jobs=jobs, objective=objective)


@st.composite
def _gpu_demands(draw, gpus, max_jobs, ties, tight):
    """Draw GPU demands; tight ones take all GPUs, in any order."""
    sizes = [g for g in ((1, 2, 4) if ties else (1, 1, 2, 3, 4, 5, 8, 16, gpus)) if g <= gpus]
    if not tight:
        return draw(st.lists(st.sampled_from(sizes), max_size=max_jobs))
    count = draw(st.integers(1, min(max_jobs, gpus)))
    inside = st.sampled_from(range(1, gpus)) if gpus > 1 else st.nothing()
    cuts = draw(st.lists(inside, unique=True, min_size=count - 1, max_size=count - 1))
    return [after - before for before, after in pairwise([0, *sorted(cuts), gpus])]


def _size(shape):
    size = 1
    for length in shape:
        size *= length
    return size


def _nested(values, shape):
    if not shape:
        return values[0]
    step = len(values) // shape[0]
    return [_nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
