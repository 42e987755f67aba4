"""Synergy-GREEDY: first fit on best-case demands; what does not fit is skipped.

Takes an instance and gives the naive baseline of Synergy (OSDI '22, §3.3).
"""

from __future__ import annotations

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.checks import expect
from synergy_opt.model import Instance
from synergy_opt.packing.first_fit import FirstFit
from synergy_opt.packing.offers import left_out, offers, placed


def greedy(instance: Instance) -> Placement:
    """Place each job in priority order on the first server with room for its best-case demand.

    A job that no server has room for is skipped: it is listed without pieces and with throughput
    0, although its GPUs may be free. That is the published algorithm's weakness, not a fault. The
    walk goes on with the next job as long as GPUs are free, as far as the jobs that wait behind
    the runnable ones; the authors' simulator does so too.

    A job with more GPUs than any server has cannot be on one server; the paper does not say what
    first fit means for it. Here it takes the fewest servers that hold it, the lowest ones among
    equals, with resources proportional to GPUs, and is skipped where all together do not. A
    smaller job is never split.

    Parameters
    ----------
    instance
        A job with more GPUs than are free when its turn comes is not listed.

    Returns
    -------
    Placement
        Placed jobs have their best-case demand, W = max_k W_k ≥ W^f; skipped ones have 0.

    Notes
    -----
    O(n + q s) for n jobs of q kinds on s servers: nothing is given back, so the first server
    with room for a kind only moves forward.

    References
    ----------
    Mohan et al., "Looking Beyond GPUs for DNN Scheduling on Multi-Tenant Clusters", OSDI '22,
    §3.3.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Job, Profile, Server
    >>> cluster = Cluster(
    ...     resources={"cpu": "cores"},
    ...     servers=[Server(type="n", count=1, gpus=4, capacity=(12,))],
    ... )
    >>> model = Profile(name="m", axes={"cpu": [1, 3, 5]}, throughput=[1, 2, 3])
    >>> jobs = [Job(id=i, gpus=2, profile="m") for i in "ab"]
    >>> instance = Instance(name="i", cluster=cluster, profiles=[model], jobs=jobs)
    >>> answer = greedy(instance)
    >>> answer.throughput, answer.left_out
    (Fraction(3, 2), ('b',))
    """
    expect(Instance, instance, "instance")
    ledger, found = offers(instance, instance.jobs)
    width = len(instance.cluster.resources)
    first = FirstFit(ledger)
    entries: list[PlacedJob] = []
    for job, its in zip(instance.jobs, found, strict=True):
        if job.gpus > first.free_gpus:
            continue
        pieces = first.place(its)
        entries.append(placed(job, its.demand, pieces) if pieces else left_out(job, width))
    return Placement(instance=instance.name, mechanism="greedy", jobs=tuple(entries))
