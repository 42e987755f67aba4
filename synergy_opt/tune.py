"""Synergy-TUNE: best-case demands where they fit, fair shares where they do not.

Takes an instance and gives the placement of the paper's heuristic (Synergy, OSDI '22, §4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from synergy_opt.answer import Placement
from synergy_opt.model import Instance, Job
from synergy_opt.packing import Packing, hungriest
from synergy_opt.packing.offers import Offers, offers, placed
from synergy_opt.runnable import runnable


def tune(instance: Instance) -> Placement:
    """Place every runnable job with its best-case demand or its whole fair share.

    Jobs are taken by GPUs, then by best-case demand of each resource in order, all descending,
    then by priority. Each job is tried

    1. with its best-case demand on the fewest servers that hold it. One server is chosen as the
       one with least free resources that fits, measured by `Ledger.room`: the sum over GPUs and
       resources of what is free over what the cluster has;
    2. if that exceeds the fair share in any resource, with the whole fair share, likewise;
    3. on the fewest servers with enough free GPUs, whatever else is free there. It gets its
       best-case demand if that lies inside the share, else the share, and jobs that hold more
       than their share are switched to it until nothing is overdrawn. The job to switch is the
       one with the least surplus that covers what is missing, else the largest surplus, the
       lowest priority among equals. One that holds no more than its share of what is missing
       gives nothing and is not switched. A job is switched on all its servers at once.

    A job's share belongs to the groups T of servers that it touches: F_T = g · min_T R_r/G in
    each resource r.

    Parameters
    ----------
    instance
        Jobs beyond the GPUs of the cluster are not runnable and not listed.

    Returns
    -------
    Placement
        Every runnable job is placed, with W ≥ W^f(T).

    Notes
    -----
    **Guarantee.** *Step 3 finds GPUs*, since the runnable jobs' GPUs number at most the cluster's
    and every job placed holds exactly its own. *It always fits.* Say resource r is overdrawn on
    server i. Its pieces number k ≤ G_i GPUs in all and hold more than R_{i,r} ≥ k · R_{i,r}/G_i,
    so one of them holds more per GPU than R_{i,r}/G_i. Since i's group is in that job's T, the
    job holds more than F_T of r: it has not been switched, and switching it gives some of r. Each
    job is switched at most once, so this ends, and it ends with nothing overdrawn. Switching may
    raise another resource, here or on another server of the job; then the same argument holds
    there. *It is fair*: a job has its share, or a demand with W ≥ W^f(T). The demand and the
    share are never mixed: the smaller of both in each resource may be worth less than either.

    With several groups the proof needs the smallest share over the groups touched, and only
    those; with the mean over the cluster it would be false.

    O(n log s + q s log s) for n jobs of q kinds on s servers of bounded size.

    References
    ----------
    Mohan et al., "Looking Beyond GPUs for DNN Scheduling on Multi-Tenant Clusters", OSDI '22,
    §4.2.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Job, Profile, Server
    >>> cluster = Cluster(
    ...     resources={"cpu": "cores"},
    ...     servers=[Server(type="n", count=1, gpus=4, capacity=(12,))],
    ... )
    >>> hungry = Profile(name="hungry", axes={"cpu": [3, 5]}, throughput=[2, 3])
    >>> modest = Profile(name="modest", axes={"cpu": [1]}, throughput=[1])
    >>> jobs = [Job(id=i, gpus=2, profile=p) for i, p in (("a", "hungry"), ("b", "modest"))]
    >>> instance = Instance(name="i", cluster=cluster, profiles=[hungry, modest], jobs=jobs)
    >>> answer = tune(instance)
    >>> [(job.id, int(*job.demand), str(job.throughput)) for job in answer.jobs]
    [('a', 10, '3/2'), ('b', 2, '1')]
    """
    jobs = runnable(instance)
    ledger, of = offers(instance, jobs)
    packing = Packing(ledger, len(instance.cluster.servers))
    order = sorted(enumerate(of), key=lambda pair: pair[1].size, reverse=True)  # stable
    return _placed(instance, "tune", jobs, packing, order)


def tune_as_simulated(instance: Instance) -> Placement:
    """Place every runnable job as `tune` does, with the choices of the authors' own simulator.

    Guarantee and cost are those of `tune`. The paper's figures were measured with this program
    (msr-fiddle/synergy, ``simulator/``), which is not what the paper's text says:

    - Jobs are taken by GPUs, then by priority (`las_synergy_new.py`; `fifo_synergy_new.py` by
      priority alone, the same where all have one GPU). Sorted by demand, hungry jobs lie side by
      side and leave GPUs without cores for the others; in the order of arrival they mix.
    - The server with least room is the one with fewest free GPUs, the first of equals.
    - The job to switch is the one that holds most cores a GPU, then most memory, and so on.

    A job of several GPUs is placed as `tune` places it, on the fewest servers.

    Parameters
    ----------
    instance
        Jobs beyond the GPUs of the cluster are not runnable and not listed.

    Returns
    -------
    Placement
        Every runnable job is placed, with W ≥ W^f(T).

    Examples
    --------
    >>> import synergy_opt
    >>> tune_as_simulated(synergy_opt.shipped("worked-example")).throughput
    Fraction(17, 3)
    """
    jobs = runnable(instance)
    ledger, of = offers(instance, jobs)
    packing = Packing(
        ledger.fresh(gpus_alone=True), len(instance.cluster.servers), giver=hungriest
    )
    order = sorted(enumerate(of), key=lambda pair: pair[1].gpus, reverse=True)  # stable
    return _placed(instance, "tune-simulated", jobs, packing, order)


def _placed(
    instance: Instance,
    name: str,
    jobs: Sequence[Job],
    packing: Packing,
    order: Iterable[tuple[int, Offers]],
) -> Placement:
    """Place the jobs in this order and list them by priority."""
    for _, equal in groupby(order, key=lambda pair: pair[1].size):
        packing.place_equal(list(equal))
    held = [packing.held[number] for number in range(len(jobs))]
    return Placement(
        instance=instance.name,
        mechanism=name,
        jobs=tuple(
            placed(job, place.offer, place.pieces) for job, place in zip(jobs, held, strict=True)
        ),
    )
