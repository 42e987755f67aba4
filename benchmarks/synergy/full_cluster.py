"""A cluster that an allocation fills to the last core and byte: the hard case of stage 2.

Takes a number of servers of 8 GPUs and gives an instance with its allocation.
"""

from __future__ import annotations

from fractions import Fraction

from synergy_opt.answer import Allocation, Bound, Choice
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Cluster, Instance, Job, Profile, Server


def full_cluster(servers: int, *, different: bool) -> tuple[Instance, Allocation]:
    """Give an instance with an allocation that leaves no slack: capacity = what the jobs have.

    The demands are those of stage 1 on a mix of twelve models. `different` adds to each job's a
    number of 10,007ths of a unit a GPU of its own.
    """
    load = mix(servers=servers, seed=0)
    wanted: list[tuple[int, tuple[Fraction, ...]]] = []
    for i, (job, choice) in enumerate(zip(load.jobs, ideal_allocation(load).jobs, strict=True)):
        noise = Fraction(i * 7919 % 10_007, 10_007) if different else Fraction(0)
        wanted.append((job.gpus, tuple(amount + job.gpus * noise for amount in choice.demand)))
    total = [sum((demand[r] for _, demand in wanted), Fraction(0)) for r in range(2)]
    names = {demand: f"p{i}" for i, demand in enumerate(dict.fromkeys(d for _, d in wanted))}
    cluster = Cluster(
        resources={"cpu": "cores", "memory": "GB"},
        servers=[
            Server(type="full", count=servers, gpus=8, capacity=tuple(t / servers for t in total))
        ],
    )
    flat = [
        # All grid points make the same: the allocation takes the last one, which is its demand.
        Profile(
            name=name,
            axes={"cpu": [0, cpu], "memory": [0, memory]},
            throughput=[[1, 1], [1, 1]],
            per="job",
        )
        for (cpu, memory), name in names.items()
    ]
    jobs = [
        Job(id=f"j{i}", gpus=gpus, profile=names[demand])
        for i, (gpus, demand) in enumerate(wanted)
    ]
    one, last = Fraction(1), ((3, Fraction(1)),)
    allocation = Allocation(
        instance="full",
        jobs=tuple(
            Choice(id=job.id, mixture=last, demand=demand, throughput=one)
            for job, (_, demand) in zip(jobs, wanted, strict=True)
        ),
        bound=Bound(value=Fraction(len(jobs)), multipliers=(Fraction(0), Fraction(0))),
        proof="multipliers",
    )
    return Instance(name="full", cluster=cluster, profiles=flat, jobs=jobs), allocation
