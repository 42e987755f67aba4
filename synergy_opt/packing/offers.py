"""What a job may be given, worked out once for all jobs of the same profile and GPU demand.

Takes an instance and its runnable jobs, gives a `Offers` a job: the best-case demand and the fair
share on any groups of servers, with what they are worth and in the units of a common ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from synergy_opt.answer import Piece, PlacedJob
from synergy_opt.demand import Demand, best_case_demand, share_demand
from synergy_opt.model import Instance, Job, Vector
from synergy_opt.packing.ledger import Ledger, Need, Pieces

Groups = frozenset[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A total of each resource that a job may get.

    Parameters
    ----------
    amounts
        The job's total of each resource.
    value
        The job's term of the objective, for weight 1.
    need
        What one of its GPUs takes, in units of the ledger.
    parts
        Pieces that jobs with this offer were given before, by where they are.
    """

    amounts: Vector
    value: Fraction
    need: Need
    parts: dict[Pieces, tuple[Piece, ...]] = field(default_factory=dict, compare=False, repr=False)

    def exceeds(self, other: Offer) -> bool:
        """Tell whether this offer asks for more than `other` of any resource."""
        return any(mine > theirs for mine, theirs in zip(self.need, other.need, strict=True))


class Shares:
    """All jobs of one profile and GPU demand; their weights may differ.

    Parameters
    ----------
    instance, job
        One job of the kind, with weight 1.
    ledger
        Whose units are used.
    """

    __slots__ = ("_instance", "_job", "_ledger", "_shares", "gpus")

    def __init__(self, instance: Instance, job: Job, ledger: Ledger) -> None:
        self._instance, self._job, self._ledger = instance, job, ledger
        self._shares: dict[Groups, Offer] = {}
        self.gpus = job.gpus

    def share(self, groups: Groups) -> Offer:
        """Give the whole fair share on these server groups (`share_demand`), memoised."""
        if groups not in self._shares:
            share = share_demand(self._instance, self._job, groups=groups)
            self._shares[groups] = self._offer(share)
        return self._shares[groups]

    def _offer(self, demand: Demand) -> Offer:
        need = self._ledger.need(demand.amounts, self.gpus)
        return Offer(amounts=demand.amounts, value=demand.value, need=need)


class Offers(Shares):
    """The shares of a kind of jobs, and what they would like best.

    Parameters
    ----------
    instance, job
        One job of the kind, with weight 1.
    ledger
        Its units include this kind's best-case demand.
    demand
        The best-case demand (`best_case_demand`).

    Attributes
    ----------
    size : tuple of int
        GPUs and best-case demand of the whole job, in units: what jobs are sorted by.
    """

    __slots__ = ("demand", "size")

    def __init__(self, instance: Instance, job: Job, ledger: Ledger, demand: Demand) -> None:
        super().__init__(instance, job, ledger)
        self.demand = self._offer(demand)
        self.size: Need = tuple(units * job.gpus for units in self.demand.need)


class _Shares:
    """The shares of all kinds met so far, in the units of one ledger."""

    def __init__(self, instance: Instance) -> None:
        self.ledger = Ledger(instance.cluster)
        self.of: dict[tuple[str, int], Shares] = {}


class _Catalogue:
    """The offers of all kinds met so far, in the units of one ledger."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._demands: dict[tuple[str, int], tuple[Job, Demand]] = {}
        self.ledger = Ledger(instance.cluster)
        self.of: dict[tuple[str, int], Offers] = {}

    def add(self, first: dict[tuple[str, int], Job]) -> None:
        """Take in kinds; where that changes the units, all offers are made anew."""
        for key, job in first.items():
            one = replace(job, weight=Fraction(1))
            self._demands[key] = one, best_case_demand(self._instance, one)
        pieces = [
            tuple(a / gpus for a in demand.amounts)
            for (_, gpus), (_, demand) in self._demands.items()
        ]
        self.ledger = Ledger(self._instance.cluster, pieces)
        self.of = {
            key: Offers(self._instance, job, self.ledger, demand)
            for key, (job, demand) in self._demands.items()
        }


def shares(instance: Instance, jobs: Iterable[Job]) -> tuple[Ledger, list[Shares]]:
    """Give an empty ledger in whose units all shares are whole, and each job's shares."""
    memo = instance.memo.get("shares")
    if memo is None:
        memo = instance.memo["shares"] = _Shares(instance)
    assert isinstance(memo, _Shares)
    jobs = tuple(jobs)
    for job in jobs:
        if (job.profile, job.gpus) not in memo.of:
            one = replace(job, weight=Fraction(1))
            memo.of[job.profile, job.gpus] = Shares(instance, one, memo.ledger)
    return memo.ledger.fresh(), [memo.of[job.profile, job.gpus] for job in jobs]


def offers(instance: Instance, jobs: Iterable[Job]) -> tuple[Ledger, list[Offers]]:
    """Give an empty ledger in whose units all demands and shares are whole, and each job's offers.

    One `best_case_demand` a pair of profile and GPU demand: O(kinds · grid + jobs). Instances
    that `Instance.with_jobs` made of each other share it.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Profile, Server
    >>> cluster = Cluster(
    ...     resources={"cpu": "cores"},
    ...     servers=[Server(type="n", count=1, gpus=4, capacity=(12,))],
    ... )
    >>> model = Profile(name="m", axes={"cpu": [1, 3, 5]}, throughput=[1, 2, 3])
    >>> jobs = [Job(id=i, gpus=2, profile="m") for i in "ab"]
    >>> instance = Instance(name="i", cluster=cluster, profiles=[model], jobs=jobs)
    >>> _, (a, b) = offers(instance, jobs)
    >>> a is b, a.demand.amounts, a.share(frozenset({0})).amounts
    (True, (Fraction(10, 1),), (Fraction(6, 1),))
    """
    memo = instance.memo.get("offers")
    if memo is None:
        memo = instance.memo["offers"] = _Catalogue(instance)
    assert isinstance(memo, _Catalogue)
    jobs = tuple(jobs)
    new: dict[tuple[str, int], Job] = {}
    for job in jobs:
        if (job.profile, job.gpus) not in memo.of:
            new.setdefault((job.profile, job.gpus), job)
    if new:
        memo.add(new)
    return memo.ledger.fresh(), [memo.of[job.profile, job.gpus] for job in jobs]


def groups_of(ledger: Ledger, pieces: Pieces) -> Groups:
    """Give the server groups that these pieces touch."""
    return frozenset(int(ledger.groups[server]) for server, _ in pieces)


def placed(job: Job, offer: Offer, pieces: Pieces) -> PlacedJob:
    """Give the job's entry in a placement: k of g GPUs carry exactly k/g of the amounts."""
    parts = offer.parts.get(pieces)
    if parts is None:
        parts = offer.parts[pieces] = tuple(
            Piece(server=server, gpus=Fraction(gpus), amounts=_part(offer.amounts, gpus, job.gpus))
            for server, gpus in pieces
        )
    value = offer.value if job.weight == 1 else offer.value * job.weight
    return PlacedJob(id=job.id, demand=offer.amounts, throughput=value, pieces=parts)


def left_out(job: Job, resources: int) -> PlacedJob:
    """Give the entry of a runnable job that gets no place."""
    return PlacedJob(
        id=job.id, demand=(Fraction(0),) * resources, throughput=Fraction(0), pieces=()
    )


def _part(amounts: Vector, gpus: int, of: int) -> Vector:
    return amounts if gpus == of else tuple(amount * gpus / of for amount in amounts)
