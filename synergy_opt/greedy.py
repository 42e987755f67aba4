"""Synergy-GREEDY: first fit on best-case demands; what does not fit is skipped.

Takes an instance and gives the naive baseline of Synergy (OSDI '22, §3.3).
"""

from __future__ import annotations

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.ledger import Ledger, Pieces
from synergy_opt.model import Instance
from synergy_opt.offers import Offers, left_out, offers, placed
from synergy_opt.runnable import runnable
from synergy_opt.search import Search


def greedy(instance: Instance) -> Placement:
    """Place each job in priority order on the first server with room for its best-case demand.

    A job that no server has room for is skipped: it is listed without pieces and with throughput
    0, although its GPUs may be free. That is the published algorithm's weakness, not a fault.

    A job with more GPUs than any server has cannot be on one server; the paper does not say what
    first fit means for it. Here it takes the fewest servers that hold it, the lowest ones among
    equals, with resources proportional to GPUs, and is skipped where all together do not. A
    smaller job is never split.

    Parameters
    ----------
    instance
        Jobs beyond the GPUs of the cluster are not runnable and not listed.

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
    jobs = runnable(instance)
    ledger, found = offers(instance, jobs)
    first = _FirstFit(ledger)
    entries: list[PlacedJob] = []
    for job, its in zip(jobs, found, strict=True):
        pieces = first.pieces(its)
        if not pieces:
            entries.append(left_out(job, len(instance.cluster.resources)))
            continue
        for server, gpus in pieces:
            ledger.take(server, its.demand.need, gpus)
        entries.append(placed(job, its.demand.amounts, its.demand.value, pieces))
    return Placement(instance=instance.name, mechanism="greedy", jobs=tuple(entries))


class _FirstFit:
    """Where the next job of each kind goes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._largest = int(ledger.capacity[0].max())
        self._first: dict[Offers, int] = {}
        self._searches: dict[Offers, Search] = {}

    def pieces(self, offers: Offers) -> Pieces:
        """Give the pieces of the next job of this kind; none where it does not fit."""
        if offers.gpus > self._largest:
            return self._several(offers)
        server, need = self._first.get(offers, 0), offers.demand.need
        while server < len(self._ledger) and self._ledger.holds(server, need) < offers.gpus:
            server += 1
        self._first[offers] = server
        return ((server, offers.gpus),) if server < len(self._ledger) else ()

    def _several(self, offers: Offers) -> Pieces:
        if offers not in self._searches:
            self._searches[offers] = Search(
                self._ledger, offers.demand.need, offers.gpus, first=True
            )
        return self._searches[offers].fewest() or ()
