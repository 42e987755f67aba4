"""What multipliers prove: the exact value of L(λ), and whether a stated bound keeps to it.

Takes an instance, jobs and a `Bound`; nothing about where the multipliers came from has to be
believed (theory: stage 1, point 6).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from synergy_opt.answer import Bound, PatternBound, Placement
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.pattern_bound import pattern_violations
from synergy_opt.certificate.terms import common_step, kinds, term
from synergy_opt.certificate.violation import Violation, show
from synergy_opt.certificate.wellformed import malformed_bound
from synergy_opt.checks import all_of, expect
from synergy_opt.errors import NotCertified
from synergy_opt.exact import exact_sum
from synergy_opt.model import Instance, Job


def bound_value(instance: Instance, jobs: Iterable[Job], bound: Bound) -> Fraction:
    """Give the upper bound that the multipliers of `bound` prove for fair placements of `jobs`.

    With ``consolidated`` it is for those in which each job stays within the consolidation rule: at
    most the worth of the fewest servers that hold it, one where it fits on one, or its fair share.

    L(λ) = Σ_r λ_r R_r + Σ_j max_k (W_jk − λ·d_jk), W in the unit of the objective. For ``rows``
    without ``integral`` the maximum is over mixtures with Σ W y ≥ W^f; with ``skipping`` a job's
    term is at least 0; with ``integral`` L is rounded down to a multiple of the largest number
    of which every W_jk is a multiple (of a dominated k none, which no placement needs).

    Parameters
    ----------
    instance
        The instance.
    jobs
        Jobs of it, each counted as often as it occurs.
    bound
        Its multipliers and rules; its value is not looked at.

    Returns
    -------
    Fraction
        In the unit of the objective.

    Raises
    ------
    InvalidInstance
        When a job can be none of the instance: its profile is not there, say.
    NotCertified
        When a multiplier is negative or there is not one a resource: that proves nothing.

    Notes
    -----
    O(n·K) for n grid points and K resources, once for all jobs of equal profile, GPUs and weight.
    Source: Lagrangian relaxation of the LP (1–5) of Mohan et al., "Looking Beyond GPUs for DNN
    Scheduling on Multi-Tenant Clusters", OSDI 2022.

    Examples
    --------
    One server with 6 cores; two jobs of which one is faster with 4 cores than with its fair 3:

    >>> from synergy_opt.model import Cluster, Profile, Server
    >>> server = Server(type="2xGPU", count=1, gpus=2, capacity=(6,))
    >>> instance = Instance(
    ...     name="two", cluster=Cluster(resources={"cpu": "cores"}, servers=[server]),
    ...     profiles=[Profile(name="fast", axes={"cpu": [2, 3, 4]}, throughput=[2, 4, 6]),
    ...               Profile(name="flat", axes={"cpu": [2, 3]}, throughput=[5, 5])],
    ...     jobs=[Job(id="A", gpus=1, profile="fast"), Job(id="B", gpus=1, profile="flat")])
    >>> bound_value(instance, instance.jobs, Bound(value=Fraction(3), multipliers=(Fraction(0),)))
    Fraction(5, 2)
    """
    expect(Instance, instance, "instance")
    jobs = all_of(Job, jobs, "jobs")
    for job, _ in kinds(jobs):
        instance.check_job(job)
    faults = list(malformed_bound(instance.cluster.names, bound))
    faults = faults or list(_multiplier_violations(instance, bound))
    if faults:
        raise NotCertified("; ".join(map(str, faults)))
    return _proven(Facts(instance=instance), jobs, bound)


def bound_violations(
    facts: Facts, placement: Placement, total: Fraction, upper_bound: Fraction | None
) -> Iterator[Violation]:
    """Report a stated bound that its multipliers do not prove, or that does not hold here."""
    bound = placement.bound
    if placement.proof in ("multipliers", "patterns") and (bound is None or bound.value != total):
        against = "there is no bound" if bound is None else f"the bound is {show(bound.value)}"
        message = f"states that the bound meets the throughput {show(total)}, but {against}"
        yield Violation(rule="proof", where="$.proof", message=message)
    if bound is None:
        if upper_bound is not None:
            message = f"{show(upper_bound)} is stated without a certificate: nothing proves it"
            yield Violation(rule="unproved-bound", where="$.upper_bound", message=message)
        return
    yield from _stated(facts, placement, bound, upper_bound)
    yield from _holds(placement, bound, total)


def _stated(
    facts: Facts, placement: Placement, bound: Bound | PatternBound, upper_bound: Fraction | None
) -> Iterator[Violation]:
    """Report a bound that is not what its certificate says or proves."""
    if upper_bound is not None and upper_bound != bound.value:
        message = f"states {show(upper_bound)}, but its certificate is for {show(bound.value)}"
        yield Violation(rule="upper-bound", where="$.upper_bound", message=message)
    if isinstance(bound, PatternBound):
        yield from pattern_violations(facts, placement, bound)
        return
    faults = list(_multiplier_violations(facts.instance, bound))
    yield from faults
    if not faults:
        listed = {job.id: facts.jobs[job.id] for job in placement.jobs if job.id in facts.jobs}
        proven = _proven(facts, listed.values(), bound)
        if bound.value < proven:
            message = (
                f"states {show(bound.value)}, but the multipliers prove only {show(proven)}, "
                f"{show(proven - bound.value)} more"
            )
            yield Violation(rule="upper-bound", where="$.upper_bound", message=message)


def _holds(
    placement: Placement, bound: Bound | PatternBound, total: Fraction
) -> Iterator[Violation]:
    """Report a bound that the placement exceeds, or that is not for placements like it."""
    if total > bound.value:
        message = (
            f"the throughput {show(total)} is {show(total - bound.value)} above the bound "
            f"{show(bound.value)}"
        )
        yield Violation(rule="above-bound", where="$.throughput", message=message)
    if placement.left_out and not bound.skipping:
        message = (
            f"{len(placement.left_out)} jobs are left out ({placement.left_out[0]!r} the first), "
            "but the bound is for placements of all jobs: a job's term can be negative"
        )
        yield Violation(rule="skipping", where="$.certificate.skipping", message=message)


def _multiplier_violations(instance: Instance, bound: Bound) -> Iterator[Violation]:
    pairs = zip(instance.cluster.names, bound.multipliers, strict=True)
    for name, price in pairs:
        if price < 0:
            message = f"must not be negative, not {show(price)}"
            where = f"$.certificate.multipliers.{name}"
            yield Violation(rule="multipliers", where=where, message=message)


def _proven(facts: Facts, jobs: Iterable[Job], bound: Bound) -> Fraction:
    prices = zip(bound.multipliers, facts.instance.cluster.capacity, strict=True)
    terms = [price * amount for price, amount in prices]
    above, below = 0, 1  # every value is a multiple of above / below
    for job, count in kinds(jobs):
        worth = term(facts, job, bound)
        terms.append(count * (max(worth, Fraction(0)) if bound.skipping else worth))
        if bound.integral:
            step = common_step(facts, job, bound)
            above = math.gcd(above, step.numerator)
            below = math.lcm(below, step.denominator)
    total = exact_sum(terms)
    if above == 0:  # mixtures, or no job at all
        return total
    steps = total.numerator * below // (total.denominator * above)
    return Fraction(steps * above, below)
