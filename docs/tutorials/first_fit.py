"""First fit: each job on the first server that has its GPUs, with its fair share there."""

from fractions import Fraction

from synergy_opt import (
    Instance,
    Piece,
    PlacedJob,
    Placement,
    fair_share,
    job_throughput,
    runnable,
)


def first_fit(instance: Instance) -> Placement:
    """Place each runnable job whole, in priority order; leave out those that fit nowhere."""
    group_of = instance.cluster.group_of_server
    free = [instance.cluster.servers[group].gpus for group in group_of]
    nothing = (Fraction(0),) * len(instance.cluster.names)
    jobs = []
    for job in runnable(instance):
        amounts, throughput, pieces = nothing, Fraction(0), ()
        server = next((s for s, gpus in enumerate(free) if gpus >= job.gpus), None)
        if server is not None:
            free[server] -= job.gpus
            amounts = fair_share(instance.cluster, job.gpus, groups=[group_of[server]])
            throughput = job_throughput(instance, job, amounts)
            pieces = (Piece(server=server, gpus=Fraction(job.gpus), amounts=amounts),)
        jobs.append(PlacedJob(id=job.id, demand=amounts, throughput=throughput, pieces=pieces))
    return Placement(instance=instance.name, mechanism="first-fit", jobs=tuple(jobs))
