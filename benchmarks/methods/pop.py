"""POP: split jobs and servers into k random parts, solve each by itself, unite.

Takes an instance and gives a `Placement` without a bound. Source: Narayanan et al., "Solving
Large-Scale Granular Resource Allocation Problems Efficiently with POP", SOSP '21. There every
part has 1/k of every resource; here servers cannot be cut, so that each part has 1/k of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.errors import Infeasible
from synergy_opt.model import Cluster, Instance, Job
from synergy_opt.packed import packed
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits


def pop(instance: Instance, *, parts: int = 4, limits: Limits) -> Placement:
    """Solve k random parts with `packed`, one after the other, each within 1/k of the time.

    Jobs go in random order, largest first, to the part with most free GPUs: a demand that fills
    the cluster leaves no freedom to draw parts uniformly, as the paper does.

    Raises
    ------
    Infeasible
        When a job fits no part.
    """
    rng = Random(f"pop {limits.seed}")
    # Every part has every group, else fair shares, and with them throughputs, would differ.
    parts = min(parts, *(group.count for group in instance.cluster.servers))
    servers = _servers(instance, parts, rng)
    kind = instance.cluster.group_of_server
    free = [sum(instance.cluster.servers[kind[s]].gpus for s in part) for part in servers]
    members: list[list[int]] = [[] for _ in range(parts)]
    jobs = runnable(instance)
    order = sorted(range(len(jobs)), key=lambda i: (-jobs[i].gpus, rng.random()))
    for i in order:
        at = max(range(parts), key=lambda p: free[p])
        if free[at] < jobs[i].gpus:
            raise Infeasible(f"job {jobs[i].id!r} of {jobs[i].gpus} GPUs fits none of the parts")
        free[at] -= jobs[i].gpus
        members[at].append(i)
    share = replace(limits, time=None if limits.time is None else limits.time / parts)
    placed: dict[str, PlacedJob] = {}
    for where, some in zip(servers, members, strict=True):
        found = packed(_part(instance, where, [jobs[i] for i in sorted(some)]), limits=share)
        order_of = sorted(where, key=lambda s: kind[s])
        for job in found.jobs:
            pieces = [replace(piece, server=order_of[piece.server]) for piece in job.pieces]
            pieces.sort(key=lambda piece: piece.server)
            placed[job.id] = replace(job, pieces=tuple(pieces))
    return Placement(
        instance=instance.name, mechanism="pop", jobs=tuple(placed[job.id] for job in jobs)
    )


def _servers(instance: Instance, parts: int, rng: Random) -> list[list[int]]:
    """Deal the servers of each group out, shuffled."""
    dealt: list[list[int]] = [[] for _ in range(parts)]
    at = 0
    kind = instance.cluster.group_of_server
    for group in range(len(instance.cluster.servers)):
        members = [s for s, h in enumerate(kind) if h == group]
        rng.shuffle(members)
        for server in members:
            dealt[at % parts].append(server)
            at += 1
    return dealt


def _part(instance: Instance, servers: Sequence[int], jobs: Sequence[Job]) -> Instance:
    kind = instance.cluster.group_of_server
    counts = [sum(kind[s] == h for s in servers) for h in range(len(instance.cluster.servers))]
    groups = [
        replace(group, count=count)
        for group, count in zip(instance.cluster.servers, counts, strict=True)
        if count
    ]
    return Instance(
        name=instance.name,
        cluster=Cluster(resources=instance.cluster.resources, servers=groups),
        profiles=instance.profiles,
        jobs=jobs,
        objective=instance.objective,
    )
