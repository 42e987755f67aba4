"""Seeded instance families: the same arguments and seed give the same instance, byte for byte.

Takes sizes, shares and a seed and gives an `Instance`: `mix` is like the Synergy paper's
workloads, `scattered` gives every job a profile of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

from synergy_opt.checks import is_whole, not_negative, whole_count
from synergy_opt.draw import GPU_DEMANDS, check_demands, check_split, draw, draw_model
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import Number, exact, shown
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.profiling.cache_model import MODELS

_NAMES = ("cpu", "memory", "storage")
_UNITS = {"cpu": "cores", "memory": "GB", "storage": "MB/s"}
_AMOUNTS: Mapping[str, Number] = {"cpu": 24, "memory": 500, "storage": 800}


def mix(
    *,
    servers: int,
    seed: int,
    split: Sequence[int] = (20, 70, 10),
    gpu_demands: Mapping[int, int] = GPU_DEMANDS,
    load: Number = 1,
    gpus: int = 8,
    cpu: Number = 24,
    memory: Number = 500,
) -> Instance:
    """Give jobs of the twelve synthetic models on identical servers.

    Parameters
    ----------
    servers, gpus, cpu, memory
        Number of servers and what each has (GPUs, cores, GB); default the paper's.
    seed
        Of the generator.
    split
        Weights of image, language and speech models, as in the paper: (20, 70, 10).
    gpu_demands
        Weight of each GPU demand; demands above the cluster are not drawn.
    load
        GPUs asked for over GPUs there, above 0; with 1 all jobs run and no GPU is free (as long
        as 1 is among the demands).

    Returns
    -------
    Instance
        Models are uniform within their class. Jobs come in random order.

    Examples
    --------
    >>> instance = mix(servers=2, seed=7)
    >>> instance.name, instance.cluster.gpus, sum(job.gpus for job in instance.jobs)
    ('mix-2-7', 16, 16)
    """
    check_mix(split, gpu_demands, load)
    rng = Random(f"mix {seed}")  # a string seed is hashed the same way everywhere
    jobs: list[Job] = []
    cluster = _cluster(servers, gpus, {"cpu": cpu, "memory": memory})
    for demand in _gpu_demands(rng, gpu_demands, int(exact(load) * cluster.gpus), cluster.gpus):
        jobs.append(Job(id=f"J{len(jobs) + 1}", gpus=demand, profile=draw_model(rng, split)))
    used = {job.profile for job in jobs}
    return Instance(
        name=f"mix-{servers}-{seed}",
        cluster=cluster,
        profiles=[model.profile() for name, model in MODELS.items() if name in used],
        jobs=jobs,
    )


def scattered(
    *,
    servers: int,
    seed: int,
    resources: int = 2,
    gpu_demands: Mapping[int, int] = GPU_DEMANDS,
    load: Number = 1,
    points: int = 5,
    monotone: bool = True,
) -> Instance:
    """Give jobs that have each its own profile on its own grid.

    Parameters
    ----------
    servers
        Servers of 8 GPUs, 24 cores, 500 GB and 800 MB/s.
    seed, gpu_demands, load
        As in `mix`.
    resources
        1 to 3: cores, then memory, then storage bandwidth.
    points
        Most grid values on an axis, at least 1; the fair share need not be among them.
    monotone
        False: throughput may fall as resources rise.

    Examples
    --------
    >>> instance = scattered(servers=1, seed=1, resources=3, load="0.5")
    >>> len(instance.profiles) == len(instance.jobs), instance.cluster.names
    (True, ('cpu', 'memory', 'storage'))
    """
    if not is_whole(resources) or not 1 <= resources <= len(_NAMES):
        raise InvalidInstance(f"must be 1 to {len(_NAMES)}, not {shown(resources)}", "resources")
    points = whole_count(points, "points")
    check_mix((1, 1, 1), gpu_demands, load)
    rng = Random(f"scattered {seed}")
    cluster = _cluster(servers, 8, {name: _AMOUNTS[name] for name in _NAMES[:resources]})
    demands = _gpu_demands(rng, gpu_demands, int(exact(load) * cluster.gpus), cluster.gpus)
    profiles = [_profile(rng, f"P{i + 1}", cluster, points, monotone) for i in range(len(demands))]
    return Instance(
        name=f"scattered-{servers}-{seed}",
        cluster=cluster,
        profiles=profiles,
        jobs=[
            Job(id=f"J{i + 1}", gpus=demand, profile=f"P{i + 1}")
            for i, demand in enumerate(demands)
        ],
    )


def check_mix(split: Sequence[int], gpu_demands: Mapping[int, int], load: Number) -> None:
    """Check the arguments that the families share.

    Raises
    ------
    InvalidInstance
        Naming the argument and its rule.
    """
    check_split(split)
    check_demands(gpu_demands)
    if not_negative(load, "load") == 0 or exact(load) > 1000:
        raise InvalidInstance(f"must be above 0 and at most 1000, not {load}", "load")


def _cluster(servers: int, gpus: int, amounts: Mapping[str, Number]) -> Cluster:
    capacity = tuple(exact(value) for value in amounts.values())
    server = Server(type=f"{gpus}xGPU", count=servers, gpus=gpus, capacity=capacity)
    return Cluster(resources={name: _UNITS[name] for name in amounts}, servers=[server])


def _gpu_demands(rng: Random, weights: Mapping[int, int], wanted: int, most: int) -> list[int]:
    """Draw demands until they sum to `wanted`, or none fits what is left of it."""
    demands: list[int] = []
    while True:
        left = wanted - sum(demands)
        fitting = {g: w for g, w in weights.items() if g <= min(left, most) and w > 0}
        if not fitting:
            return demands
        demands.append(draw(rng, fitting))


def _profile(rng: Random, name: str, cluster: Cluster, points: int, monotone: bool) -> Profile:
    axes = []
    for (resource, _), share in zip(cluster.resources, cluster.share_of_a_gpu, strict=True):
        # Steps of 1/20 of the share, up to twice the share; the first lies within it.
        first = rng.randrange(1, 21)
        steps = {first, *(rng.randrange(first, 41) for _ in range(rng.randrange(points)))}
        axes.append((resource, [share * Fraction(step, 20) for step in sorted(steps)]))
    return Profile(name=name, axes=axes, throughput=_table(rng, axes, monotone), unit="samples/s")


def _table(rng: Random, axes: Sequence[tuple[str, Sequence[Fraction]]], monotone: bool) -> object:
    """Give min(f_1, …, f_K) of increasing curves, or noise; above 0 everywhere."""
    curves: list[list[int]] = []
    for _, values in axes:
        curve = [rng.randrange(10, 100)]
        while len(curve) < len(values):
            curve.append(curve[-1] + rng.randrange(60))
        curves.append(curve)

    def fill(depth: int, least: int) -> object:
        if depth == len(curves):
            return least if monotone else rng.randrange(1, 200)
        return [fill(depth + 1, min(least, value)) for value in curves[depth]]

    return fill(0, 10**6)
