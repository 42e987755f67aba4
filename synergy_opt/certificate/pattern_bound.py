"""What prices of shapes prove: the exact value of a pattern bound, and whether one keeps to it.

Takes an instance, jobs and a `PatternBound`; the charge of a server is found anew by a dynamic
programme in integers, so nothing about where the prices came from has to be believed (theory: "The
packed optimum", point 4).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from synergy_opt.answer import PatternBound, Placement, ShapePrice
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.fullest import fullest
from synergy_opt.certificate.terms import common_step, kinds
from synergy_opt.certificate.violation import Violation, show
from synergy_opt.exact import exact_sum
from synergy_opt.model import Job

Numbers = npt.NDArray[np.object_]


def pattern_value(facts: Facts, jobs: Iterable[Job], bound: PatternBound) -> Fraction:
    """Give the upper bound that the prices of `bound` prove for placements of `jobs`.

    Σ_j π_j + Σ_h s_h σ_h, with σ_h the most that pieces on one server of group h are charged, π_j
    the most that a fair grid point's value exceeds the least charge of pieces that hold the job,
    rounded down to a multiple of the largest number of which every job's value is a multiple.

    Parameters
    ----------
    facts
        Of the instance.
    jobs
        Each counted as often as it occurs.
    bound
        Its shapes and its split model; its value and server prices are not looked at.

    Notes
    -----
    A charge is that of the dearest listed shape that a piece covers. Replacing each piece on a
    server by that shape leaves a multiset of shapes that fits the server, so no server is charged
    more than σ. O(kinds · grid points · g · G) for jobs in pieces, O(kinds · grid points) for
    whole ones, and the dynamic programme of `fullest` for each group.
    """
    groups = facts.instance.cluster.servers
    terms = [group.count * server_price(facts, bound, h) for h, group in enumerate(groups)]
    above, below = 0, 1
    for job, count in kinds(jobs):
        terms.append(count * _excess(facts, job, bound))
        step = common_step(facts, job, bound)
        above, below = math.gcd(above, step.numerator), math.lcm(below, step.denominator)
    total = exact_sum(terms)
    if above == 0:
        return total
    steps = total.numerator * below // (total.denominator * above)
    return Fraction(steps * above, below)


def server_price(facts: Facts, bound: PatternBound, group: int) -> Fraction:
    """Give σ: the most that the pieces on one server of the group can be charged."""
    server = facts.instance.cluster.servers[group]
    shapes = [shape for shape in bound.shapes if shape.group == group]
    below = math.lcm(*(shape.price.denominator for shape in shapes))
    units = [
        math.lcm(room.denominator, *(shape.amounts[r].denominator for shape in shapes))
        for r, room in enumerate(server.capacity)
    ]
    items = [
        (
            shape.gpus,
            tuple(int(a * unit) for a, unit in zip(shape.amounts, units, strict=True)),
            int(shape.price * below),
        )
        for shape in shapes
    ]
    room = tuple(int(a * unit) for a, unit in zip(server.capacity, units, strict=True))
    return Fraction(fullest(items, server.gpus, room), below)


def pattern_violations(
    facts: Facts, placement: Placement, bound: PatternBound
) -> Iterator[Violation]:
    """Report prices that prove nothing, or less than is stated."""
    faults = list(_price_violations(facts, bound))
    yield from faults
    if faults:
        return
    for h, stated in enumerate(bound.servers):
        charged = server_price(facts, bound, h)
        if stated < charged:
            message = f"states {show(stated)}, but pieces charged {show(charged)} fit one server"
            yield Violation(
                rule="server-price", where=f"$.certificate.servers[{h}]", message=message
            )
    listed = [facts.jobs[job.id] for job in placement.jobs if job.id in facts.jobs]
    proven = pattern_value(facts, listed, bound)
    if bound.value < proven:
        message = (
            f"states {show(bound.value)}, but the prices prove only {show(proven)}, "
            f"{show(proven - bound.value)} more"
        )
        yield Violation(rule="upper-bound", where="$.upper_bound", message=message)
    yield from _split_violations(facts, placement, bound)


def _price_violations(facts: Facts, bound: PatternBound) -> Iterator[Violation]:
    groups = facts.instance.cluster.servers
    for i, shape in enumerate(bound.shapes):
        where = f"$.certificate.shapes[{i}]"
        if not 0 <= shape.group < len(groups) or shape.gpus < 1:
            message = f"is of group {shape.group} with {shape.gpus} GPUs: no server has such room"
            yield Violation(rule="shapes", where=where, message=message)
        elif shape.price < 0 or min(shape.amounts) < 0:
            message = "must have no negative price or amount"
            yield Violation(rule="shapes", where=where, message=message)
    if len(bound.servers) != len(groups):
        message = f"has {len(bound.servers)} prices for {len(groups)} groups of servers"
        yield Violation(rule="shapes", where="$.certificate.servers", message=message)


def _split_violations(
    facts: Facts, placement: Placement, bound: PatternBound
) -> Iterator[Violation]:
    if bound.split == "allowed":
        return
    largest = max(group.gpus for group in facts.instance.cluster.servers)
    for i, placed in enumerate(placement.jobs):
        job = facts.jobs.get(placed.id)
        if job is not None and job.gpus <= largest and len(placed.pieces) > 1:
            message = (
                f"the bound is for jobs kept on one server, but job {job.id!r} is on "
                f"{len(placed.pieces)}"
            )
            yield Violation(rule="split-model", where=f"$.jobs[{i}].pieces", message=message)


def _excess(facts: Facts, job: Job, bound: PatternBound) -> Fraction:
    """Give π: the most that a value exceeds the least charge of pieces that hold the job."""
    grid, groups = facts.grid(job), facts.instance.cluster.servers
    below = math.lcm(*(shape.price.denominator for shape in bound.shapes))
    whole = job.gpus <= max(g.gpus for g in groups) and (bound.split == "never" or job.gpus == 1)
    charges: list[Numbers] = [np.zeros(grid.worth.shape, dtype=object)]
    possible = [facts.allowed(job, fair=True, consolidated=True)]
    pieces = [
        (h, gpus, *_charge(facts, job, (h, gpus), bound.shapes, below))
        for h, group in enumerate(groups)
        for gpus in ([job.gpus] if whole else range(1, min(job.gpus, group.gpus) + 1))
        if gpus <= group.gpus
    ]
    for held in range(job.gpus if whole else 1, job.gpus + 1):
        least, reached = np.zeros(grid.worth.shape, dtype=object), np.zeros(grid.worth.shape, bool)
        for h, gpus, charge, fits in pieces:
            before = 0 if whole else held - gpus
            if before < 0:
                continue
            here = possible[before] & fits
            if whole:
                own = facts.floor(job, frozenset([h])) * grid.denominator
                here &= np.asarray(grid.worth >= int(own), dtype=bool)
            total = charges[before] + charge
            better = here & (~reached | np.asarray(total < least, dtype=bool))
            least[better] = total[better]
            reached |= here
        charges.append(least)
        possible.append(reached)
    unit = facts.unit(job) / grid.denominator
    scale = math.lcm(unit.denominator, below)
    worth = grid.worth[possible[-1]].astype(object) * int(unit * scale)
    return Fraction(int((worth - charges[-1][possible[-1]] * (scale // below)).max()), scale)


def _charge(
    facts: Facts, job: Job, piece: tuple[int, int], shapes: Sequence[ShapePrice], below: int
) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Give what a piece (group, GPUs) is charged at each grid point, and where it fits."""
    group, gpus = piece
    grid = facts.grid(job)
    charge = np.zeros(grid.worth.shape, dtype=object)
    for shape in sorted(shapes, key=lambda s: s.price):
        if (shape.group, shape.gpus) == piece:
            pairs = zip(grid.axes, shape.amounts, strict=True)
            covers = tuple(
                slice(bisect_left(axis, amount * job.gpus / gpus / unit), None)
                for (axis, unit), amount in pairs
            )
            charge[covers] = int(shape.price * below)
    fits = np.zeros(grid.worth.shape, dtype=bool)
    room = facts.instance.cluster.servers[group].capacity
    fits[grid.corner(tuple(amount * job.gpus / gpus for amount in room))] = True
    return charge, fits
