"""Instances and placements for the tests of the certificate, and naive definitions to judge by.

Nothing here uses the certificate or a mechanism: placements are built and judged by hand, one
`Fraction` at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import prod

from hypothesis import strategies as st

from synergy_opt.answer import Piece, PlacedJob, Placement
from synergy_opt.model import Cluster, Instance, Job, Profile, Server, Vector

F = Fraction

# fmt: off
FAST = Profile(name="fast", axes={"cpu": [1, 3, 5], "memory": [10, 20]},
               throughput=[[2, 2], [4, 4], [6, 7]])
FLAT = Profile(name="flat", axes={"cpu": [1, 3], "memory": [5, 10]}, throughput=[[5, 5], [5, 5]])
# fmt: on


def pair(**changes) -> Instance:
    """Two servers of 4 GPUs, 12 cores, 40 GB; A to D run, E and F find no GPUs."""
    jobs = [("A", 4, "fast"), ("B", 2, "flat"), ("C", 1, "flat"), ("D", 1, "fast")]
    jobs += [("E", 2, "flat"), ("F", 1, "flat")]
    fields = {
        "name": "pair",
        "cluster": Cluster(
            resources={"cpu": "cores", "memory": "GB"},
            servers=[Server(type="4xGPU", count=2, gpus=4, capacity=(12, 40))],
        ),
        "profiles": [FAST, FLAT],
        "jobs": [Job(id=name, gpus=gpus, profile=profile) for name, gpus, profile in jobs],
    }
    return Instance(**{**fields, **changes})


def placed(
    job: str, gpus: Mapping[int, object], demand: tuple[object, ...], throughput: object
) -> PlacedJob:
    """Give a job with proportional pieces: server → GPUs."""
    parts = {server: F(k) for server, k in gpus.items()}
    whole, total = tuple(map(F, demand)), sum(parts.values())
    pieces = tuple(
        Piece(server=server, gpus=k, amounts=tuple(d * k / total for d in whole))
        for server, k in parts.items()
    )
    return PlacedJob(id=job, demand=whole, throughput=F(throughput), pieces=pieces)


def jobs_of_pair() -> dict[str, PlacedJob]:
    """Give a valid placement's jobs: server 1 is exactly full in every row."""
    return {
        "A": placed("A", {0: 2, 1: 2}, (12, 40), 1),
        "B": placed("B", {0: 2}, (2, 10), 1),
        "C": placed("C", {1: 1}, (1, 5), 1),
        "D": placed("D", {1: 1}, (5, 15), F(3, 2)),
    }


def placement(*jobs: PlacedJob, instance: str = "pair", **rest) -> Placement:
    """Give a placement of these jobs; default the valid one of `pair`."""
    chosen = jobs or tuple(jobs_of_pair().values())
    return Placement(instance=instance, mechanism="by hand", jobs=chosen, **rest)


def with_job(job: PlacedJob, **rest) -> Placement:
    """Give the valid placement of `pair` with one job put in place of its like."""
    return placement(*{**jobs_of_pair(), job.id: job}.values(), **rest)


def left_out(job: str, width: int = 2) -> PlacedJob:
    """Give a job without a place."""
    return PlacedJob(id=job, demand=(F(0),) * width, throughput=F(0), pieces=())


# Naive definitions ---------------------------------------------------------------------------


def points(instance: Instance, job: Job) -> list[tuple[Vector, Fraction]]:
    """Give every grid point of a job: its totals and its throughput in the profile's unit."""
    profile = instance.profile_of[job.profile]
    scale = job.gpus if profile.per == "gpu" else 1
    axes = [[scale * x for x in axis.tolist()] for _, axis in profile.axes]
    return list(zip(itertools.product(*axes), profile.throughput.tolist(), strict=True))


def within(amounts: Vector, limit: Vector) -> bool:
    """Compare in every resource."""
    return all(a <= b for a, b in zip(amounts, limit, strict=True))


def worth(instance: Instance, job: Job, demand: Vector) -> Fraction | None:
    """Give the best throughput within a demand."""
    return max((w for d, w in points(instance, job) if within(d, demand)), default=None)


def share(instance: Instance, job: Job, groups: set[int]) -> Vector:
    """Give the componentwise smallest fair share over server groups."""
    servers = [instance.cluster.servers[g] for g in groups]
    width = len(instance.cluster.names)
    return tuple(min(job.gpus * s.capacity[r] / s.gpus for s in servers) for r in range(width))


def floor(instance: Instance, job: Job, groups: set[int] | None = None) -> Fraction:
    """Give the fair throughput."""
    every = set(range(len(instance.cluster.servers)))
    found = worth(instance, job, share(instance, job, groups or every))
    assert found is not None
    return found


def unit(instance: Instance, job: Job) -> Fraction:
    """Give what one unit of the profile's throughput counts."""
    if instance.objective == "relative":
        return job.weight / floor(instance, job)
    return job.weight * (job.gpus if instance.profile_of[job.profile].per == "gpu" else 1)


def keeps_all_rules(instance: Instance, answer: Placement) -> bool:
    """Judge a placement of the runnable jobs, all placed, by the definitions."""
    jobs = {job.id: job for job in instance.jobs}
    groups = enumerate(instance.cluster.servers)
    servers = [(g, s) for g, s in groups for _ in range(s.count)]
    free = [[F(s.gpus), *s.capacity] for _, s in servers]
    for one in answer.jobs:
        if any(not 0 <= p.server < len(servers) for p in one.pieces):
            return False
        touched = {servers[p.server][0] for p in one.pieces}
        if not (_pieces_fit(jobs[one.id], one) and _fair(instance, jobs[one.id], one, touched)):
            return False
        for piece in one.pieces:
            for r, amount in enumerate((piece.gpus, *piece.amounts)):
                free[piece.server][r] -= amount
    return all(amount >= 0 for row in free for amount in row)


def _pieces_fit(job: Job, one: PlacedJob) -> bool:
    servers = [p.server for p in one.pieces]
    return (
        len(set(servers)) == len(servers)
        and all(p.gpus > 0 and p.gpus == int(p.gpus) for p in one.pieces)
        and all(min(p.amounts) >= 0 for p in one.pieces)
        and sum(p.gpus for p in one.pieces) == job.gpus
        and all(p.amounts == tuple(d * p.gpus / job.gpus for d in one.demand) for p in one.pieces)
    )


def _fair(instance: Instance, job: Job, one: PlacedJob, touched: set[int]) -> bool:
    made = worth(instance, job, one.demand)
    if made is None or made < floor(instance, job, touched):
        return False
    return one.throughput == made * unit(instance, job)


# Random instances ----------------------------------------------------------------------------


@st.composite
def instances(draw, *, most_jobs: int = 5, most_points: int = 3, most_resources: int = 3):
    """Draw small instances: 1–3 resources, 1–2 server groups, off-grid shares, any profiles."""
    names = ("cpu", "memory", "disk", "network", "power")[: draw(st.integers(1, most_resources))]
    amount = st.integers(1, 12).map(F) | st.builds(F, st.integers(1, 30), st.integers(2, 4))
    servers = [
        Server(
            type=f"t{g}",
            count=draw(st.integers(1, 2)),
            gpus=draw(st.integers(1, 4)),
            capacity=tuple(draw(amount) for _ in names),
        )
        for g in range(draw(st.integers(1, 2)))
    ]
    cluster = Cluster(resources=dict.fromkeys(names, "u"), servers=servers)
    least = dict(zip(names, cluster.share_of_a_gpu, strict=True))
    profiles = [
        draw(profiles_above(f"p{i}", least, most_points)) for i in range(draw(st.integers(1, 2)))
    ]
    jobs = [
        Job(
            id=f"J{i}",
            gpus=draw(st.integers(1, min(cluster.gpus, 5))),
            profile=draw(st.sampled_from(profiles)).name,
            weight=draw(st.sampled_from([F(1), F(2), F(1, 3)])),
        )
        for i in range(draw(st.integers(1, most_jobs)))
    ]
    objective = draw(st.sampled_from(["relative", "absolute"]))
    return Instance(
        name="random", cluster=cluster, profiles=profiles, jobs=jobs, objective=objective
    )


@st.composite
def profiles_above(draw, name: str, least: Mapping[str, Fraction], most_points: int) -> Profile:
    """Draw a profile whose first grid point lies within `least`, so that every floor exists."""
    axes = {}
    for key, amount in least.items():
        first = amount * draw(st.sampled_from([F(1, 3), F(1, 2), F(1)]))
        steps = draw(st.lists(st.integers(1, 6), max_size=most_points - 1))
        axes[key] = [first + amount * part / 3 for part in itertools.accumulate(steps, initial=0)]
    size = prod(map(len, axes.values()))
    value = st.builds(F, st.integers(1, 12), st.integers(1, 3))
    table = draw(st.lists(value, min_size=size, max_size=size))
    for axis in reversed(list(axes.values())):
        table = [table[i : i + len(axis)] for i in range(0, len(table), len(axis))]
    per = draw(st.sampled_from(["gpu", "job"]))
    return Profile(name=name, axes=axes, throughput=table[0], per=per)


def fair_placement(instance: Instance) -> Placement:
    """Fill the servers in order with the fair shares of the runnable jobs: always possible."""
    room = [
        [i, g, s.gpus]
        for i, (g, s) in enumerate((g, s) for g, s in enumerate(instance.cluster.servers)
                                   for _ in range(s.count))
    ]  # fmt: skip
    free = instance.cluster.gpus
    answers = []
    for job in instance.jobs:
        if job.gpus > free:
            continue
        free -= job.gpus
        taken, groups = dict(_take(room, job.gpus)), set()
        for server in taken:
            groups.add(room[server][1])
        demand = share(instance, job, groups)
        value = floor(instance, job, groups) * unit(instance, job)
        answers.append(placed(job.id, taken, demand, value))
    return Placement(instance=instance.name, mechanism="by hand", jobs=tuple(answers))


def _take(room: list[list[int]], gpus: int) -> Iterator[tuple[int, int]]:
    for entry in room:
        part = min(entry[2], gpus)
        if part:
            entry[2] -= part
            gpus -= part
            yield entry[0], part
