"""Tetris: each server takes the job whose demand is best aligned with what is free there.

Takes an instance and gives the placement of Tetris' packing (Grandl et al., SIGCOMM '14, §3.2)
with best-case demands, the way in which Synergy (OSDI '22, §5.7) compares it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.checks import expect
from synergy_opt.model import Instance
from synergy_opt.packing.fewest_servers import Search
from synergy_opt.packing.ledger import Ledger, Pieces
from synergy_opt.packing.offers import Offers, left_out, offers, placed


def tetris(instance: Instance) -> Placement:
    """Fill server after server with the jobs of highest alignment that fit.

    The alignment of a job and a server is the dot product of the job's best-case demand and the
    server's free GPUs and resources, both as parts of what the server has. As long as a job fits
    on the server, the one of highest alignment is placed, the one of higher priority among
    equals. Demands are static: a job has its best-case demand or waits. Of Tetris' two parts this
    is the packing; the order of remaining work, which the other mixes in, is the policy's here.

    Tetris' tasks each fit on a machine. A job with more GPUs than any server has is placed before
    the others, by priority, on the fewest servers that hold it.

    Parameters
    ----------
    instance
        All its jobs are candidates, runnable or not; the order of `Instance.jobs` decides among
        equals alone.

    Returns
    -------
    Placement
        Lists all jobs; the ones that wait have no pieces and throughput 0.

    Notes
    -----
    O(n + m q) for n jobs of q kinds, m of which are placed. No job that is left out would fit
    beside the others with its demand on one server; jobs with more GPUs than any server has were
    tried first, and would not fit either.

    References
    ----------
    Grandl et al., "Multi-resource Packing for Cluster Schedulers", SIGCOMM '14, §3.2.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Job, Profile, Server
    >>> cluster = Cluster(
    ...     resources={"cpu": "cores"},
    ...     servers=[Server(type="n", count=1, gpus=4, capacity=(12,))],
    ... )
    >>> hungry = Profile(name="hungry", axes={"cpu": [3, 9]}, throughput=[1, 3])
    >>> modest = Profile(name="modest", axes={"cpu": [1]}, throughput=[1])
    >>> names = ("modest", "hungry", "hungry", "modest")
    >>> jobs = [Job(id=i, gpus=1, profile=p) for i, p in zip("abcd", names)]
    >>> instance = Instance(name="i", cluster=cluster, profiles=[hungry, modest], jobs=jobs)
    >>> [(job.id, int(*job.demand)) for job in tetris(instance).jobs]
    [('a', 1), ('b', 9), ('c', 0), ('d', 1)]
    """
    expect(Instance, instance, "instance")
    ledger, found = offers(instance, instance.jobs)
    waiting: dict[Offers, deque[int]] = {}
    for number, its in enumerate(found):
        waiting.setdefault(its, deque()).append(number)
    where = _large(ledger, waiting)
    for server in range(len(ledger)):
        where |= _fill(ledger, server, waiting)
    width = len(instance.cluster.resources)
    entries: list[PlacedJob] = []
    for number, (job, its) in enumerate(zip(instance.jobs, found, strict=True)):
        pieces = where.get(number, ())
        entries.append(placed(job, its.demand, pieces) if pieces else left_out(job, width))
    return Placement(instance=instance.name, mechanism="tetris", jobs=tuple(entries))


def _large(ledger: Ledger, waiting: dict[Offers, deque[int]]) -> dict[int, Pieces]:
    """Place the jobs that no server has the GPUs for, and take them off the list."""
    largest = int(ledger.capacity[0].max())
    large = [its for its in waiting if its.gpus > largest]
    searches = {its: Search(ledger, its.demand.need, its.gpus, first=True) for its in large}
    where: dict[int, Pieces] = {}
    order = sorted((number, kind) for kind in large for number in waiting.pop(kind))
    for number, its in order:
        pieces = searches[its].fewest() or ()
        for server, gpus in pieces:
            ledger.take(server, its.demand.need, gpus)
        where[number] = pieces
    return where


def _fill(ledger: Ledger, server: int, waiting: dict[Offers, deque[int]]) -> dict[int, Pieces]:
    """Place jobs on one server until none fits; what fits once less is free fitted before."""
    where: dict[int, Pieces] = {}
    capacity = ledger.capacity[:, server].tolist()
    multiple = math.lcm(*(whole**2 for whole in capacity))
    weights = [multiple // whole**2 for whole in capacity]
    fitting = [its for its, numbers in waiting.items() if numbers]
    while True:
        fitting = [
            its
            for its in fitting
            if waiting[its] and ledger.holds(server, its.demand.need) >= its.gpus
        ]
        if not fitting:
            return where
        free = ledger.free[:, server].tolist()
        prices = [weight * units for weight, units in zip(weights, free, strict=True)]

        def rank(its: Offers, prices: Sequence[int] = prices) -> tuple[int, int]:
            pairs = zip(prices, its.demand.need, strict=True)
            return its.gpus * sum(price * units for price, units in pairs), -waiting[its][0]

        best = max(fitting, key=rank)
        ledger.take(server, best.demand.need, best.gpus)
        where[waiting[best].popleft()] = ((server, best.gpus),)
