"""Whole GPUs from stage 2's fractional answer.

Takes a placement whose split jobs have fractional GPUs and gives one that real servers can hold,
with every job's floor kept (Synergy, §4.1.3, names the difficulty and leaves it open).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from synergy_opt.answer import Allocation, PlacedJob, Placement
from synergy_opt.configurations import configurations
from synergy_opt.demand import Demand, share_demand
from synergy_opt.fair_share import unit_value
from synergy_opt.model import Instance, Job, Vector
from synergy_opt.packing import Held, Packing
from synergy_opt.packing.ledger import Ledger, Need, Pieces
from synergy_opt.packing.offers import Offer, Offers, groups_of, placed
from synergy_opt.placement.belongs import jobs_of_placement

Kind = tuple[str, int, Vector]
"""Profile, GPU demand and ideal total: jobs of a kind are treated alike."""


def realize(instance: Instance, placement: Placement) -> Placement:
    """Round a placement to whole GPUs on real servers.

    Jobs on one server stay there. The others are placed again, largest first, by the steps of
    `Packing`: the ideal totals where they fit, else the fair share, and as a last resort on GPUs
    alone, with jobs there switched to their shares. Then each job takes the best configuration
    that what is free on its servers allows, those that lost most of their ideal first, until
    nothing changes.

    Parameters
    ----------
    instance, placement
        A placement of the instance, as `place` gives it.

    Returns
    -------
    Placement
        Whole GPUs, pieces proportional to GPUs, one server for a job of one GPU, capacities and
        fair floors exact. Its throughput is at most the bound, which is handed on; so is `proof`
        where nothing of the throughput is lost, else it is ``"none"``.

    Raises
    ------
    InvalidInstance
        When the placement is another instance's: jobs, GPUs or servers that are not here.

    Notes
    -----
    That the floors can always be kept is the argument of `tune`.

    Examples
    --------
    >>> from synergy_opt.ideal import ideal_allocation
    >>> from synergy_opt.placement import place
    >>> from synergy_opt.model import Cluster, Instance, Job, Profile, Server
    >>> cluster = Cluster(resources={"cpu": "cores"},
    ...                   servers=[Server(type="n", count=2, gpus=3, capacity=(3,))])
    >>> flat = Profile(name="flat", axes={"cpu": [1]}, throughput=[1])
    >>> jobs = [Job(id=name, gpus=2, profile="flat") for name in "abc"]
    >>> instance = Instance(name="three", cluster=cluster, profiles=[flat], jobs=jobs)
    >>> whole = realize(instance, place(instance, ideal_allocation(instance)))
    >>> [(piece.server, int(piece.gpus)) for piece in whole.jobs[2].pieces]
    [(0, 1), (1, 1)]
    """
    jobs = jobs_of_placement(instance, placement)
    ledger, of, menus = _offers(instance, jobs, placement)
    packing = Packing(ledger, len(instance.cluster.servers))
    left = []
    for number, (job, there) in enumerate(zip(jobs, placement.jobs, strict=True)):
        if len(there.pieces) == 1:
            pieces: Pieces = ((there.pieces[0].server, job.gpus),)
            share = of[number].share(groups_of(ledger, pieces))
            wish = of[number].demand
            packing.enter(
                number, Held(pieces, wish if wish.value >= share.value else share, share)
            )
        else:
            left.append(number)
    packing.settle(list(range(len(ledger))))
    for number in sorted(left, key=lambda n: _size(of[n]), reverse=True):
        packing.place(number, of[number])
    while _improve(packing, of, menus):
        pass
    return _answer(placement, jobs, packing)


def unplaced(allocation: Allocation) -> Placement:
    """Give an allocation as a placement whose jobs have no place yet, for `realize`."""
    return Placement(
        instance=allocation.instance,
        mechanism="optimal",
        jobs=tuple(
            PlacedJob(id=c.id, demand=c.demand, throughput=c.throughput, pieces=())
            for c in allocation.jobs
        ),
        bound=allocation.bound,
        stopped=allocation.stopped,
    )


def _size(offers: Offers) -> Need:
    return tuple(units * offers.gpus for units in offers.demand.need)


def _offers(
    instance: Instance, jobs: list[Job], placement: Placement
) -> tuple[Ledger, list[Offers], list[list[Offer]]]:
    """Give the empty books, each job's wish and share, and its configurations, best first."""
    keys: list[Kind] = [
        (job.profile, job.gpus, there.demand)
        for job, there in zip(jobs, placement.jobs, strict=True)
    ]
    first = {key: replace(job, weight=Fraction(1)) for key, job in zip(keys, jobs, strict=True)}
    wishes = {key: _wish(instance, job, key[2]) for key, job in first.items()}
    options = {
        (job.profile, job.gpus): list(_configurations(instance, job)) for job in first.values()
    }
    pieces = [tuple(a / key[1] for a in wish.amounts) for key, wish in wishes.items()]
    pieces += [tuple(a / g for a in d.amounts) for (_, g), ds in options.items() for d in ds]
    ledger = Ledger(instance.cluster, pieces)
    offers = {key: Offers(instance, job, ledger, wishes[key]) for key, job in first.items()}
    menus = {
        (name, gpus): [
            Offer(amounts=d.amounts, value=d.value, need=ledger.need(d.amounts, gpus)) for d in ds
        ]
        for (name, gpus), ds in options.items()
    }
    return ledger, [offers[key] for key in keys], [menus[job.profile, job.gpus] for job in jobs]


def _wish(instance: Instance, job: Job, amounts: Vector) -> Demand:
    """Give the ideal total with the value of the best grid point inside it, or the share."""
    best = instance.profile_of[job.profile].best_within(amounts, job.gpus)
    share = share_demand(instance, job)
    value = None if best is None else best * unit_value(instance, job)
    if value is None or value < share.value:
        return share  # a mixture of configurations, none of which the job can have alone
    return Demand(amounts=amounts, value=value)


def _configurations(instance: Instance, job: Job) -> Iterator[Demand]:
    """Give the fair configurations of a job, best first."""
    found = configurations(instance, job).fair()
    for k in sorted(range(len(found)), key=lambda k: (-found.value[k], found.demand_at(k))):
        yield Demand(amounts=found.demand_at(k), value=found.value[k])


def _improve(packing: Packing, of: list[Offers], menus: list[list[Offer]]) -> bool:
    """Let each job take the best that its servers allow; tell whether anything changed.

    A job that takes less for the same value makes room for one that was looked at before it.
    """

    def loss(number: int) -> tuple[Fraction, int]:
        return packing.held[number].offer.value - of[number].demand.value, number

    changed = False
    for number in sorted(packing.held, key=loss):
        before = packing.held[number].offer
        packing.upgrade(number, menus[number])
        changed |= packing.held[number].offer.need != before.need
    return changed


def _answer(placement: Placement, jobs: list[Job], packing: Packing) -> Placement:
    held = [packing.held[number] for number in range(len(jobs))]
    whole = replace(
        placement,
        jobs=tuple(placed(job, h.offer, h.pieces) for job, h in zip(jobs, held, strict=True)),
        split=None,
    )
    if placement.bound is not None and whole.throughput == placement.bound.value:
        return replace(whole, proof="multipliers")
    kept = whole.throughput == placement.throughput
    return replace(whole, proof=placement.proof if kept else "none")
