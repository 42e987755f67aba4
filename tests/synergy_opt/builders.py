"""Short ways to write small instances and to read placements."""

from __future__ import annotations

from fractions import Fraction

from synergy_opt.model import Cluster, Instance, Job, Profile, Server

NAMES = ("cpu", "memory", "network")


def cluster(*groups):
    """Give a cluster of groups written as (count, gpus, amount, …)."""
    servers = [
        Server(type=f"t{i}", count=count, gpus=gpus, capacity=tuple(map(Fraction, capacity)))
        for i, (count, gpus, *capacity) in enumerate(groups)
    ]
    width = len(servers[0].capacity)
    return Cluster(resources=dict.fromkeys(NAMES[:width], "units"), servers=servers)


def wants(name, *points, per="gpu"):
    """Give a profile from points (throughput, amount, …): W is the best point within.

    Its grid holds all combinations of the amounts; below every point the throughput is 0.
    """
    axes = [sorted({Fraction(p[1 + r]) for p in points}) for r in range(len(points[0]) - 1)]

    def table(prefix):
        if len(prefix) == len(axes):
            inside = (
                p[0] for p in points if all(a <= x for a, x in zip(p[1:], prefix, strict=True))
            )
            return max(inside, default=0)
        return [table((*prefix, x)) for x in axes[len(prefix)]]

    names = dict(zip(NAMES, axes, strict=False))
    return Profile(name=name, axes=names, throughput=table(()), per=per)


def instance(place, *jobs, **options):
    """Give an instance of jobs written as (profile, gpus), named a, b, c and so on."""
    models = {profile.name: profile for profile, _ in jobs}
    listed = [
        Job(id=chr(ord("a") + i), gpus=gpus, profile=profile.name)
        for i, (profile, gpus) in enumerate(jobs)
    ]
    return Instance(name="small", cluster=place, profiles=models.values(), jobs=listed, **options)


def where(placement):
    """Give for each job its pieces as pairs of server and GPUs."""
    return {job.id: [(p.server, int(p.gpus)) for p in job.pieces] for job in placement.jobs}


def demands(placement):
    """Give for each job its demand."""
    return {job.id: job.demand for job in placement.jobs}
