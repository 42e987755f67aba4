"""GPU-proportional sharing: every job gets the resources that come with its GPUs.

Takes an instance and gives the placement that every other mechanism is compared with (Synergy,
OSDI '22, §2, "GPU-proportional allocation").
"""

from __future__ import annotations

from itertools import groupby

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.model import Instance
from synergy_opt.packing.fewest_servers import Search
from synergy_opt.packing.ledger import Ledger, Pieces
from synergy_opt.packing.offers import groups_of, placed, shares
from synergy_opt.runnable import runnable


def proportional(instance: Instance) -> Placement:
    """Place every runnable job with its whole fair share.

    Jobs with most GPUs come first, in priority order among equals. Each takes the server with
    fewest free GPUs that holds it; else the fewest servers of one group, the groups in file
    order; else the fewest servers of all groups, with the smallest share among those it touches.

    Parameters
    ----------
    instance
        Jobs beyond the GPUs of the cluster are not runnable and not listed.

    Returns
    -------
    Placement
        Every runnable job is placed with throughput exactly W^f of the groups it touches; with
        one group the relative throughput is the sum of the weights.

    Notes
    -----
    It always fits. A piece of k GPUs on server i holds k · min_T R_r/G ≤ k · R_{i,r}/G_i, since
    i's group is among the touched ones T; hence a server's pieces hold at most R_{i,r} as long as
    their GPUs number at most G_i, and the runnable jobs' GPUs number at most the cluster's.

    O(n log s + g s) for n jobs, s servers and g different GPU demands.

    References
    ----------
    Mohan et al., "Looking Beyond GPUs for DNN Scheduling on Multi-Tenant Clusters", OSDI '22, §2.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Job, Profile, Server
    >>> cluster = Cluster(
    ...     resources={"cpu": "cores"},
    ...     servers=[Server(type="n", count=2, gpus=4, capacity=(12,))],
    ... )
    >>> model = Profile(name="m", axes={"cpu": [1, 3, 5]}, throughput=[1, 2, 3])
    >>> jobs = [Job(id=i, gpus=g, profile="m") for i, g in (("a", 3), ("b", 2), ("c", 3))]
    >>> instance = Instance(name="i", cluster=cluster, profiles=[model], jobs=jobs)
    >>> answer = proportional(instance)
    >>> [[(p.server, int(p.gpus), int(*p.amounts)) for p in job.pieces] for job in answer.jobs]
    [[(0, 3, 9)], [(0, 1, 3), (1, 1, 3)], [(1, 3, 9)]]
    >>> answer.throughput
    Fraction(3, 1)
    """
    jobs = runnable(instance)
    ledger, of = shares(instance, jobs)
    entries: dict[str, PlacedJob] = {}
    descending = sorted(zip(jobs, of, strict=True), key=lambda pair: -pair[0].gpus)
    for gpus, group in groupby(descending, key=lambda pair: pair[0].gpus):
        searches, equal = _searches(ledger, instance, gpus), list(group)
        while equal:
            pieces = _pieces(searches)
            # One server is the choice until it holds no more: every job leaves less room there.
            many = int(ledger.free[0, pieces[0][0]]) // gpus if len(pieces) == 1 else 1
            groups = groups_of(ledger, pieces)
            for job, its in equal[:many]:
                entries[job.id] = placed(job, its.share(groups), pieces)
            need = equal[0][1].share(groups).need  # of one GPU: the same for all
            for server, there in pieces:
                ledger.take(server, need, there * len(equal[:many]))
            del equal[:many]
    return Placement(
        instance=instance.name,
        mechanism="proportional",
        jobs=tuple(entries[job.id] for job in jobs),
    )


def _searches(ledger: Ledger, instance: Instance, gpus: int) -> list[Search]:
    """Look for GPUs alone: over all servers first, then group by group."""
    need = (1,) + (0,) * len(instance.cluster.resources)
    groups = range(len(instance.cluster.servers))
    return [Search(ledger, need, gpus), *(Search(ledger, need, gpus, group=g) for g in groups)]


def _pieces(searches: list[Search]) -> Pieces:
    """Prefer one server, then one group."""
    everywhere, *groups = searches
    pieces = everywhere.fewest()
    assert pieces is not None  # a runnable job's GPUs are free
    if len(pieces) == 1:
        return pieces
    return next((found for group in groups if (found := group.fewest())), pieces)
