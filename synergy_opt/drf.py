"""Dominant resource fairness: the job with the smallest dominant share comes first.

Takes an instance and gives the placement of DRF (Ghodsi et al., NSDI '11) with best-case demands,
the way in which Synergy (OSDI '22, §5.7) compares it.
"""

from __future__ import annotations

from fractions import Fraction

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.checks import expect
from synergy_opt.model import Instance, Job, Vector
from synergy_opt.packing.first_fit import FirstFit
from synergy_opt.packing.offers import left_out, offers, placed


def drf(instance: Instance) -> Placement:
    """Give jobs their whole best-case demand, by ascending dominant share.

    A job's dominant share is the largest part that its demand makes of the cluster in any
    resource, GPUs among them, over its weight. DRF raises all jobs' dominant shares together
    (progressive filling); a job of a training cluster is a gang, which runs only with all that it
    demands, and so the one with the smallest dominant share is complete first. Among equals the
    one of higher priority comes first. Demands are static: a job has its best-case demand, on the
    first server with room, or waits.

    Parameters
    ----------
    instance
        All its jobs are candidates, runnable or not: DRF is a policy of its own, and the order of
        `Instance.jobs` decides among equals alone.

    Returns
    -------
    Placement
        Lists all jobs; the ones that wait have no pieces and throughput 0.

    Notes
    -----
    O(n log n + q s) for n jobs of q kinds on s servers. No job that is left out would fit
    beside the others with its demand, on one server or, with more GPUs than any has, on several.

    References
    ----------
    Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource Types",
    NSDI '11, §4.1 and Algorithm 1; §4.3 for weights.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Job, Profile, Server
    >>> cluster = Cluster(
    ...     resources={"cpu": "cores"},
    ...     servers=[Server(type="n", count=1, gpus=4, capacity=(12,))],
    ... )
    >>> hungry = Profile(name="hungry", axes={"cpu": [3, 9]}, throughput=[1, 3])
    >>> modest = Profile(name="modest", axes={"cpu": [1]}, throughput=[1])
    >>> names = ("hungry", "modest", "modest", "modest")
    >>> jobs = [Job(id=i, gpus=1, profile=p) for i, p in zip("abcd", names)]
    >>> instance = Instance(name="i", cluster=cluster, profiles=[hungry, modest], jobs=jobs)
    >>> [(job.id, int(*job.demand)) for job in drf(instance).jobs]
    [('a', 9), ('b', 1), ('c', 1), ('d', 1)]
    """
    expect(Instance, instance, "instance")
    ledger, found = offers(instance, instance.jobs)
    shares: dict[tuple[object, Fraction], Fraction] = {}
    keys = []
    for number, (job, its) in enumerate(zip(instance.jobs, found, strict=True)):
        kind = (its, job.weight)
        if kind not in shares:
            shares[kind] = dominant_share(instance, job, its.demand.amounts)
        keys.append((shares[kind], number))
    first, width = FirstFit(ledger), len(instance.cluster.resources)
    entries: dict[int, PlacedJob] = {}
    for _, number in sorted(keys):
        job, its = instance.jobs[number], found[number]
        pieces = first.place(its) if job.gpus <= first.free_gpus else ()
        entries[number] = placed(job, its.demand, pieces) if pieces else left_out(job, width)
    return Placement(
        instance=instance.name,
        mechanism="drf",
        jobs=tuple(entries[number] for number in range(len(entries))),
    )


def dominant_share(instance: Instance, job: Job, amounts: Vector) -> Fraction:
    """Give max_r d_r / R_r over the GPUs and all resources of the cluster, over the weight."""
    parts = [
        amount / whole for amount, whole in zip(amounts, instance.cluster.capacity, strict=True)
    ]
    return max(Fraction(job.gpus, instance.cluster.gpus), *parts) / job.weight
