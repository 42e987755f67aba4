"""Instance families: the same parameters and seed give the same bytes on every machine.

Takes a number of servers and a seed and gives an `Instance`. Draws are of integers only, by
Python's own generator seeded with a string; no float decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np

from benchmarks.synergy.packed_cases import different as packed_different
from synergy_opt.exact import ExactArray
from synergy_opt.generate import mix as paper_mix
from synergy_opt.generate import scattered as own_grids
from synergy_opt.model import Cluster, Instance, Job, Objective, Profile, Server

DEMANDS, WEIGHTS = (1, 2, 4, 8), (70, 10, 15, 5)
RESOURCES = {"cpu": "cores", "memory": "GB", "storage": "MB/s", "network": "Gb/s", "cache": "MB"}
AMOUNTS = tuple(map(Fraction, (24, 500, 800, 100, 64)))


def mix(name: str, servers: int, seed: int, *, split: Sequence[int]) -> Instance:
    """Give a mix of the twelve models, as in the Synergy paper's workloads (§5)."""
    return named(name, paper_mix(servers=servers, seed=seed, split=split))


def different(name: str, servers: int, seed: int) -> Instance:
    """Give jobs with a random profile each, on one grid of 18 × 14 points."""
    return named(name, packed_different(servers, seed))


def scattered(name: str, servers: int, seed: int) -> Instance:
    """Give jobs with a random profile each, on a grid of their own."""
    return named(name, own_grids(servers=servers, seed=seed))


def ties(name: str, servers: int, seed: int) -> Instance:
    """Give jobs whose gains are all multiples of one third: most optima are not unique."""
    rng = Random(f"ties {seed}")
    steps = [Fraction(k, 3) for k in range(1, 7)]
    axes = {"cpu": [3 * s for s in steps], "memory": [Fraction(125, 2) * s for s in steps]}
    rules: dict[str, Callable[[int, int], int]] = {
        "cpu": lambda i, _: i,
        "memory": lambda _, j: j,
        "both": min,
        "sum": lambda i, j: (i + j) // 2,
        "flat": lambda i, j: min(i, j, 2),
    }
    profiles = [
        Profile(
            name=key,
            axes=axes,
            throughput=[[rule(i, j) + 1 for j in range(6)] for i in range(6)],
        )
        for key, rule in rules.items()
    ]
    jobs = _jobs(rng, 8 * servers, list(rules))
    return Instance(name=name, cluster=_cluster(servers, 2), profiles=profiles, jobs=jobs)


def without_floor(name: str, servers: int, seed: int) -> Instance:
    """Give jobs without a smallest fair configuration: less of one resource, more of the other.

    A job is fair where a·i + b·j is at least what it is at the share, i and j counting steps of a
    quarter share; rates a and b differ between models, so that trading pays.
    """
    rng = Random(f"without floor {seed}")
    steps = [Fraction(k, 4) for k in (2, 3, 4, 5, 6)]
    axes = {"cpu": [3 * s for s in steps], "memory": [Fraction(125, 2) * s for s in steps]}
    profiles = []
    for k in range(10):
        a, b, gain = rng.randint(1, 3), rng.randint(1, 3), rng.randint(2, 12)
        scores = [[a * i + b * j - 2 * (a + b) for j in range(5)] for i in range(5)]
        table = [[100 + (gain if s > 0 else 8) * s for s in row] for row in scores]
        profiles.append(Profile(name=f"p{k}", axes=axes, throughput=table))
    jobs = _jobs(rng, 8 * servers, [p.name for p in profiles])
    return Instance(name=name, cluster=_cluster(servers, 2), profiles=profiles, jobs=jobs)


def widest_gap(name: str, jobs: int) -> Instance:
    """Give the worst case for rounding: one server of n GPUs, LP 2n − 2, ILP n."""
    step = Fraction(1, 2 * (jobs - 2))
    server = Server(type="n", count=1, gpus=jobs, capacity=(Fraction(jobs), Fraction(jobs)))
    gains = Profile(name="gains", axes={"a": [1], "b": [1, 1 + step]}, throughput=[[1, 2]])
    saves = Profile(name="saves", axes={"a": [Fraction(1, 2), 1], "b": [1]}, throughput=[[1], [1]])
    trade = [[int(i + j >= 2) for j in range(3)] for i in range(3)]
    trades = Profile(name="trades", axes={"a": [0, 1, 2], "b": [0, 1, 2]}, throughput=trade)
    names = ["gains"] * (jobs - 2) + ["saves", "trades"]
    return Instance(
        name=name,
        cluster=Cluster(resources={"a": "units", "b": "units"}, servers=[server]),
        profiles=[gains, saves, trades],
        jobs=[Job(id=f"J{i + 1}", gpus=1, profile=p) for i, p in enumerate(names)],
    )


def resources(name: str, servers: int, seed: int, *, count: int) -> Instance:
    """Give eight models over `count` resources, of which some matter to each and some do not."""
    rng = Random(f"resources {count} {seed}")
    steps = [Fraction(k, 2) for k in (1, 2, 3)]
    cluster = _cluster(servers, count)
    axes = [
        (key, [share * s for s in steps])
        for key, share in zip(cluster.names, cluster.share_of_a_gpu, strict=True)
    ]
    profiles = []
    for k in range(8):
        curves = []
        for _ in range(count):
            low, high = rng.randint(40, 100), rng.randint(100, 200)
            curves.append((low, 100, high) if rng.randrange(2) else (100, 200, 200))
        values = [
            min(c[i] for c, i in zip(curves, at, strict=True))
            for at in product(range(3), repeat=count)
        ]
        table = ExactArray(np.array(values).reshape((3,) * count))
        profiles.append(Profile(name=f"p{k}", axes=axes, throughput=table))
    jobs = _jobs(rng, 8 * servers, [p.name for p in profiles])
    return Instance(name=name, cluster=cluster, profiles=profiles, jobs=jobs)


def groups(name: str, servers: int, seed: int) -> Instance:
    """Give a mix on three kinds of servers: half 8 GPUs, a quarter richer, a quarter small."""
    quarter = servers // 4
    kinds = [
        Server(type="8xGPU", count=servers - 2 * quarter, gpus=8, capacity=AMOUNTS[:2]),
        Server(type="8xGPU-rich", count=quarter, gpus=8, capacity=(Fraction(64), Fraction(1000))),
        Server(type="4xGPU", count=quarter, gpus=4, capacity=(Fraction(32), Fraction(256))),
    ]
    cluster = Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=kinds)
    load = Fraction(cluster.gpus, 8 * servers)
    drawn = paper_mix(servers=servers, seed=seed, split=(33, 33, 34), load=load)
    return Instance(name=name, cluster=cluster, profiles=drawn.profiles, jobs=drawn.jobs)


def triplets(name: str, servers: int, seed: int) -> Instance:
    """Give three jobs a server that fill it to the last tenth in one way: optimum 2 a job.

    After the triplets of bin packing (Falkenauer, 1996): each server's GPUs, tenths of cores and
    GB are cut at random; a job makes 2 with its cut, 1 with a part of it that is within its share.
    """
    rng = Random(f"triplets {seed}")
    profiles: list[Profile] = []
    jobs: list[tuple[int, str]] = []
    for _ in range(servers):
        gpus = rng.choice(((3, 3, 2), (4, 2, 2), (4, 3, 1), (5, 2, 1)))
        cores, memory = _cut(rng, 240), _cut(rng, 500)
        for g, c, m in zip(gpus, cores, memory, strict=True):
            k = len(jobs) + 1
            low = (
                min(Fraction(c, 20), Fraction(3 * g, 2)),
                min(Fraction(m, 2), Fraction(125 * g, 4)),
            )
            axes = {"cpu": [low[0], Fraction(c, 10)], "memory": [low[1], Fraction(m)]}
            table = [[1, 1], [1, 2]]
            profiles.append(Profile(name=f"p{k}", axes=axes, throughput=table, per="job"))
            jobs.append((g, f"p{k}"))
    rng.shuffle(jobs)
    return Instance(
        name=name,
        cluster=_cluster(servers, 2),
        profiles=profiles,
        jobs=[Job(id=f"J{i + 1}", gpus=g, profile=p) for i, (g, p) in enumerate(jobs)],
        objective="absolute",
    )


def named(name: str, instance: Instance) -> Instance:
    """Give the instance under another name."""
    objective: Objective = instance.objective
    return Instance(
        name=name,
        cluster=instance.cluster,
        profiles=instance.profiles,
        jobs=instance.jobs,
        objective=objective,
    )


def _cluster(servers: int, count: int) -> Cluster:
    units = dict(list(RESOURCES.items())[:count])
    server = Server(type="8xGPU", count=servers, gpus=8, capacity=AMOUNTS[:count])
    return Cluster(resources=units, servers=[server])


def _jobs(rng: Random, gpus: int, profiles: Sequence[str]) -> list[Job]:
    """Draw jobs until they ask for all GPUs."""
    jobs: list[Job] = []
    while gpus:
        weights = [w if g <= gpus else 0 for g, w in zip(DEMANDS, WEIGHTS, strict=True)]
        ticket, g = rng.randrange(sum(weights)), DEMANDS[0]
        for g, weight in zip(DEMANDS, weights, strict=True):  # noqa: B007  # g is the answer
            ticket -= weight
            if ticket < 0:
                break
        profile = profiles[rng.randrange(len(profiles))]
        jobs.append(Job(id=f"J{len(jobs) + 1}", gpus=g, profile=profile))
        gpus -= g
    return jobs


def _cut(rng: Random, whole: int) -> tuple[int, int, int]:
    """Cut a whole into three parts of at least a tenth."""
    least = whole // 10
    a, b = sorted((rng.randrange(whole - 3 * least + 1), rng.randrange(whole - 3 * least + 1)))
    return a + least, b - a + least, whole - b - 2 * least
