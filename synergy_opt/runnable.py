"""Which jobs run this round: jobs in priority order whose GPU demand fits.

Takes an instance and gives the runnable ones among its jobs (Synergy, §4.2, "Runnable-set
selection").
"""

from __future__ import annotations

from synergy_opt.checks import expect
from synergy_opt.model import Instance, Job


def runnable(instance: Instance) -> tuple[Job, ...]:
    """Walk the priority order and take each job whose GPU demand is still available.

    No job is skipped unless its GPU demand cannot be met, whatever it asks of other resources.

    Returns
    -------
    tuple of Job
        In priority order; their GPU demands sum to at most the cluster's GPUs.

    Examples
    --------
    >>> from synergy_opt import Cluster, Instance, Job, Profile, Server
    >>> cluster = Cluster(resources={"cpu": "cores"},
    ...                   servers=[Server(type="n", count=1, gpus=4, capacity=(8,))])
    >>> jobs = [Job(id=f"j{gpus}", gpus=gpus, profile="m") for gpus in (3, 2, 1)]
    >>> instance = Instance(name="i", cluster=cluster, jobs=jobs, profiles=[
    ...     Profile(name="m", axes={"cpu": [1]}, throughput=[1])])
    >>> [job.id for job in runnable(instance)]
    ['j3', 'j1']
    """
    expect(Instance, instance, "instance")
    free, chosen = instance.cluster.gpus, []
    for job in instance.jobs:
        if job.gpus <= free:
            chosen.append(job)
            free -= job.gpus
    return tuple(chosen)
