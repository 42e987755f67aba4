"""A cluster that an allocation fills to the last core and byte: the hard case of stage 2.

Takes a number of servers of 8 GPUs and gives an instance with its allocation.
"""

from __future__ import annotations

from fractions import Fraction

from synergy_opt.answer import Allocation, Choice
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Cluster, Instance, Job, Profile, Server


def full_cluster(servers: int, *, different: bool) -> tuple[Instance, Allocation]:
    """Give an instance with an allocation that leaves no slack: capacity = what the jobs have.

    `different` gives each job a demand of its own, in 10,007ths of a unit a GPU.
    """
    load = mix(servers=servers, seed=0)
    drawn = ideal_allocation(load)
    scale = {job.id: job.gpus for job in load.jobs}
    jobs = []
    for i, job in enumerate(drawn.jobs):
        noise = Fraction(i * 7919 % 10_007, 10_007) if different else Fraction(0)
        demand = tuple(amount + scale[job.id] * noise for amount in job.demand)
        jobs.append(
            Choice(id=job.id, mixture=job.mixture, demand=demand, throughput=job.throughput)
        )
    gpus = sum(scale[job.id] for job in jobs)
    total = [sum((job.demand[r] for job in jobs), Fraction(0)) for r in range(2)]
    short = 8 * servers - gpus  # jobs of one GPU take what is left over
    share = Fraction(3), Fraction(125, 2)
    whole = ((0, Fraction(1)),)
    jobs += [
        Choice(id=f"rest{i}", mixture=whole, demand=share, throughput=Fraction(1))
        for i in range(short)
    ]
    total = [t + short * part for t, part in zip(total, share, strict=True)]
    server = Server(type="full", count=servers, gpus=8, capacity=tuple(t / servers for t in total))
    flat = Profile(name="flat", axes={"cpu": [0], "memory": [0]}, throughput=[[1]])
    instance = Instance(
        name="full",
        cluster=Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[server]),
        profiles=[flat],
        jobs=[Job(id=job.id, gpus=scale.get(job.id, 1), profile="flat") for job in jobs],
    )
    allocation = Allocation(instance="full", jobs=tuple(jobs), bound=drawn.bound, proof="none")
    return instance, allocation
