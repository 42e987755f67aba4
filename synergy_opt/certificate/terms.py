"""What one job adds to L(λ): max_k (W_k − λ·d_k) over what a bound allows the job.

Takes a job and a `Bound`, gives its term and the step of its values, exact, on integers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from synergy_opt.answer import Bound, PatternBound
from synergy_opt.certificate.facts import Facts, Mask
from synergy_opt.exact import IntArray
from synergy_opt.model import Job

_INT64 = 2**62  # headroom of one bit


def kinds(jobs: Iterable[Job]) -> list[tuple[Job, int]]:
    """Give one job of each kind with the number of jobs of that kind."""
    found: dict[tuple[str, int, Fraction], Job] = {}
    counts: Counter[tuple[str, int, Fraction]] = Counter()
    for job in jobs:
        kind = (job.profile, job.gpus, job.weight)
        found.setdefault(kind, job)
        counts[kind] += 1
    return [(found[kind], count) for kind, count in counts.items()]


def common_step(facts: Facts, job: Job, bound: Bound | PatternBound) -> Fraction:
    """Give the largest number of which every allowed, undominated value is a multiple.

    A placement on dominated points has no more throughput than one on those that dominate them,
    which are allowed as well: what bounds the latter bounds all.
    """
    grid = facts.grid(job)
    allowed = facts.allowed(job, fair=True, consolidated=bound.consolidated)
    worth = grid.worth[allowed & _undominated(grid.worth)]
    return facts.unit(job) * Fraction(math.gcd(*worth.tolist()), grid.denominator)


def _undominated(worth: IntArray) -> Mask:
    """Mark the grid points that make more than every other one within their demand."""
    reach = worth
    for axis in range(worth.ndim):
        reach = np.maximum.accumulate(reach, axis=axis)
    keep = np.ones(worth.shape, dtype=bool)
    for axis in range(worth.ndim):
        # One step back along an axis; before the first point nothing is made.
        before = np.insert(np.delete(reach, -1, axis=axis), 0, -1, axis=axis)
        keep &= np.asarray(worth > before, dtype=bool)
    return keep


def term(facts: Facts, job: Job, bound: Bound) -> Fraction:
    """Give max_k (W_k − λ·d_k) over what the bound allows the job."""
    scores, scale = _scores(facts, job, bound)
    on_average = bound.rows and not bound.integral
    allowed = facts.allowed(job, fair=not on_average, consolidated=bound.consolidated)
    if not on_average:
        return Fraction(int(scores[allowed].max()), scale)
    worth = facts.grid(job).worth[allowed]
    return _fair_on_average(worth, scores[allowed], facts.floor_numerator(job)) / scale


def _scores(facts: Facts, job: Job, bound: Bound) -> tuple[IntArray, int]:
    """Give W_k − λ·d_k at every grid point as integers, with their common denominator."""
    grid = facts.grid(job)
    value = facts.unit(job) / grid.denominator
    pairs = zip(bound.multipliers, grid.axes, strict=True)
    costs = [(axis, price * unit) for price, (axis, unit) in pairs]
    scale = math.lcm(value.denominator, *(cost.denominator for _, cost in costs))
    factor = int(value * scale)
    factors = [(axis, int(cost * scale)) for axis, cost in costs]
    whole = [[x * cost for x in axis] for axis, cost in factors]
    # The largest magnitude that any partial result can have decides where int64 is safe.
    largest = int(grid.worth.max()) * factor + sum(axis[-1] for axis in whole)
    kind = np.int64 if largest < _INT64 else object
    scores = grid.worth.astype(kind) * factor
    for axis, cost in enumerate(whole):
        shape = [1] * grid.worth.ndim
        shape[axis] = -1
        scores = scores - np.array(cost, dtype=kind).reshape(shape)
    return scores, scale


def _fair_on_average(worth: IntArray, scores: IntArray, floor: int) -> Fraction:
    """Give max { Σ score y : Σ worth y ≥ floor, Σ y = 1, y ≥ 0 }.

    Attained by the best fair point, or by one unfair and one fair point that together just reach
    the floor: the edge of the upper hull of (worth, score) above the floor. Each pass finds the
    point furthest above the present edge and puts it in place of the end on its side.
    """
    w, v = worth.astype(object), scores.astype(object)
    fair = np.asarray(worth >= floor, dtype=bool)
    b = int(np.flatnonzero(fair)[v[fair].argmax()])
    a = int(v.argmax())
    if v[a] <= v[b]:
        return Fraction(v[b])
    while True:
        fall, run = v[a] - v[b], w[b] - w[a]
        heights = v * run + w * fall
        k = int(heights.argmax())
        if heights[k] == heights[a]:
            return Fraction(v[b] * run + fall * (w[b] - floor), run)
        a, b = (a, k) if fair[k] else (k, b)
