"""The optimum under TUNE's restrictions, one at a time: what TUNE loses by which of them.

Takes an instance, and a placement of it, and gives instances whose optimum is a restricted one.
TUNE knows two amounts a job, its best-case demand and its share, and it chooses servers before it
knows what their jobs will hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import networkx as nx

from synergy_opt.answer import Placement
from synergy_opt.demand import best_case_demand, share_demand
from synergy_opt.model import Cluster, Instance, Job, Profile, Server, Vector


def all_or_share(instance: Instance) -> Instance:
    """Give the instance in which a job can have its best-case demand, or its share, and no other.

    What lies between is worth the share where it covers the share, and else half of that, which is
    no fair answer.
    """
    kinds = {(job.profile, job.gpus): job for job in instance.jobs}
    return Instance(
        name=f"{instance.name}, all or share",
        cluster=instance.cluster,
        profiles=[_two_points(instance, job) for job in kinds.values()],
        jobs=[
            Job(id=job.id, gpus=job.gpus, profile=_kind(job), weight=job.weight)
            for job in instance.jobs
        ],
    )


def _two_points(instance: Instance, job: Job) -> Profile:
    best, share = best_case_demand(instance, job), share_demand(instance, job)
    names = instance.cluster.names
    axes = [sorted(set(pair)) for pair in zip(best.amounts, share.amounts, strict=True)]

    def value(amounts: Vector) -> Fraction:
        if _covers(amounts, best.amounts):
            return best.value
        return share.value if _covers(amounts, share.amounts) else share.value / 2

    def table(inside: Vector) -> object:
        if len(inside) == len(axes):
            return value(inside)
        return [table((*inside, amount)) for amount in axes[len(inside)]]

    return Profile(
        name=_kind(job), axes=dict(zip(names, axes, strict=True)), throughput=table(()), per="job"
    )


def _kind(job: Job) -> str:
    return f"{job.profile}, {job.gpus} GPUs"


def _covers(amounts: Vector, other: Vector) -> bool:
    return all(mine >= theirs for mine, theirs in zip(amounts, other, strict=True))


def server_by_server(instance: Instance, placement: Placement) -> Iterator[Instance]:
    """Give an instance a server: the jobs that the placement has there, and no others.

    Servers that share a job are one instance, in which its jobs may change places. For clusters of
    one kind of server.
    """
    (kind,) = instance.cluster.servers
    jobs = {job.id: job for job in instance.jobs}
    touches = nx.Graph()
    for entry in placement.jobs:
        touches.add_edges_from((("job", entry.id), ("server", p.server)) for p in entry.pieces)
    for number, together in enumerate(nx.connected_components(touches)):
        inside = {name for what, name in together if what == "job"}
        yield Instance(
            name=f"{instance.name}, servers {number}",
            cluster=Cluster(
                resources=instance.cluster.resources,
                servers=[
                    Server(
                        type=kind.type,
                        count=len(together) - len(inside),
                        gpus=kind.gpus,
                        capacity=kind.capacity,
                    )
                ],
            ),
            profiles=instance.profiles,
            jobs=[jobs[name] for name in jobs if name in inside],
        )
