"""Synergy-TUNE: best-case demands where they fit, fair shares where they do not.

Takes an instance and gives the placement of the paper's heuristic (Synergy, OSDI '22, §4.2).
"""

from __future__ import annotations

from dataclasses import dataclass

from synergy_opt.answer import Placement
from synergy_opt.ledger import Ledger, Need, Pieces
from synergy_opt.model import Instance
from synergy_opt.offers import Groups, Offer, Offers, groups_of, offers, placed
from synergy_opt.runnable import runnable
from synergy_opt.search import Search


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
    packing = _Packing(ledger, len(instance.cluster.servers))

    def size(number: int) -> Need:
        return tuple(units * of[number].gpus for units in of[number].demand.need)

    for number in sorted(range(len(jobs)), key=size, reverse=True):  # stable: priority last
        packing.place(number, of[number])
    held = [packing.held[number] for number in range(len(jobs))]
    return Placement(
        instance=instance.name,
        mechanism="tune",
        jobs=tuple(
            placed(job, place.offer.amounts, place.offer.value, place.pieces)
            for job, place in zip(jobs, held, strict=True)
        ),
    )


@dataclass(slots=True)
class _Held:
    """Where a job is, what it has and what its share is there."""

    pieces: Pieces
    offer: Offer
    share: Offer

    def surplus(self, server: int, row: int) -> int:
        """Count the units above the share on one server: what switching gives there."""
        per_gpu = self.offer.need[row] - self.share.need[row]
        return per_gpu * dict(self.pieces)[server]


class _Packing:
    """The jobs placed so far and the books."""

    def __init__(self, ledger: Ledger, groups: int) -> None:
        self._ledger = ledger
        self._on: list[list[int]] = [[] for _ in range(len(ledger))]  # jobs on each server
        self.held: dict[int, _Held] = {}
        self._size: tuple[int, Need] | None = None
        self._searches: dict[tuple[Need, int | None], Search] = {}
        # Shares are tried on each group alone and, last, across all of them.
        one = [(frozenset({g}), g) for g in range(groups)]
        every = [(frozenset(range(groups)), None)] if groups > 1 else []
        self._places: list[tuple[Groups, int | None]] = [*one, *every]

    def place(self, number: int, offers: Offers) -> None:
        """Place one job, by the first of the three steps that works."""
        size = (offers.gpus, offers.demand.need)
        if size != self._size:
            # Equal sizes follow each other: the searches of earlier ones are not needed again.
            self._size, self._searches = size, {}
        found = self._by_demand(offers) or self._by_share(offers)
        if found:
            self._enter(number, found)
        else:
            held = self._by_gpus(offers)
            self._enter(number, held)
            self._settle([server for server, _ in held.pieces])

    def _search(self, need: Need, offers: Offers, group: int | None = None) -> Pieces | None:
        key = (need, group)
        if key not in self._searches:
            self._searches[key] = Search(self._ledger, need, offers.gpus, group=group)
        return self._searches[key].fewest()

    def _by_demand(self, offers: Offers) -> _Held | None:
        pieces = self._search(offers.demand.need, offers)
        if pieces is None:
            return None
        share = offers.share(groups_of(self._ledger, pieces))
        # The demand is capped at the worth of the fewest servers that the job needs; split over
        # small servers that are rich in resources, its share may be worth more.
        fair = offers.demand.value >= share.value
        return _Held(pieces, offers.demand, share) if fair else None

    def _by_share(self, offers: Offers) -> _Held | None:
        """Choose among groups the fewest servers, then least room, then the first group."""
        found = []
        for groups, group in self._places:
            share = offers.share(groups)
            if not offers.demand.exceeds(share):
                continue  # a smaller demand did not fit either
            pieces = self._search(share.need, offers, group)
            if pieces is None:
                continue
            share = offers.share(groups_of(self._ledger, pieces))
            # Across groups, the share of the ones touched may be larger than what was sought.
            if self._ledger.fits(pieces, share.need):
                found.append(_Held(pieces, share, share))
        return min(found, key=self._cost, default=None)

    def _cost(self, held: _Held) -> tuple[int, int]:
        room = sum(self._ledger.room(server) for server, _ in held.pieces)
        return len(held.pieces), room

    def _by_gpus(self, offers: Offers) -> _Held:
        gpus_alone = tuple(int(row == 0) for row in range(len(offers.demand.need)))
        pieces = self._search(gpus_alone, offers)
        assert pieces is not None  # a runnable job's GPUs are free
        share = offers.share(groups_of(self._ledger, pieces))
        inside = offers.demand.value >= share.value and not offers.demand.exceeds(share)
        return _Held(pieces, offers.demand if inside else share, share)

    def _enter(self, number: int, held: _Held) -> None:
        self.held[number] = held
        for server, gpus in held.pieces:
            self._ledger.take(server, held.offer.need, gpus)
            self._on[server].append(number)

    def _settle(self, servers: list[int]) -> None:
        """Switch jobs to their shares until nothing is overdrawn on these servers or elsewhere."""
        while servers:
            server = servers[-1]
            missing = self._ledger.overdrawn(server)
            if missing:
                servers += self._switch(self._giver(server, missing[0]))
            else:
                servers.pop()

    def _giver(self, server: int, row: int) -> int:
        """Choose the job on this server that is to give some of a resource."""
        missing = -int(self._ledger.free[row, server])
        surplus = {n: self.held[n].surplus(server, row) for n in self._on[server]}
        enough = [n for n, units in surplus.items() if units >= missing]
        if enough:
            return min(enough, key=lambda n: (surplus[n], -n))
        return max(surplus, key=lambda n: (surplus[n], n))  # above 0, see the guarantee

    def _switch(self, number: int) -> list[int]:
        """Give a job its share on all its servers, and say which they are."""
        held = self.held[number]
        for server, gpus in held.pieces:
            self._ledger.give(server, held.offer.need, gpus)
            self._ledger.take(server, held.share.need, gpus)
        held.offer = held.share
        return [server for server, _ in held.pieces]
