"""From counts to choices: which of the jobs of a kind gets which configuration.

Takes what a programme of stage 1 says, how many jobs of each kind are in each configuration, and
gives each job its `Choice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from synergy_opt.answer import Choice, vector_sum
from synergy_opt.configurations import Configurations
from synergy_opt.errors import SolverFailed
from synergy_opt.exact import exact_sum
from synergy_opt.fair_share import fair_share
from synergy_opt.ideal.relaxation import Counts
from synergy_opt.kinds import Kind
from synergy_opt.model import Instance, Job
from synergy_opt.program import FloatArray

Mixture = tuple[tuple[int, Fraction], ...]
"""Pairs of a configuration's index and the fraction of a job's time on it."""

_WHOLE = 1e-5  # a solver's integer further from whole is refused; nearer ones are then checked


def whole_counts(x: FloatArray | None, used: Sequence[Kind]) -> Counts | None:
    """Round the solver's integers; they are checked exactly afterwards."""
    if x is None:
        return None
    whole = np.rint(x)
    if len(x) and float(np.abs(x - whole).max()) > _WHOLE:
        raise SolverFailed("the solver's integers are not whole")
    counts, first = [], 0
    for kind in used:
        row = [Fraction(int(n)) for n in whole[first : first + len(kind.configurations)]]
        if sum(row) != len(kind) or min(row) < 0:
            raise SolverFailed(f"the solver gives {sum(row)} configurations to {len(kind)} jobs")
        counts.append(row)
        first += len(row)
    return counts


def at_share(instance: Instance, job: Job, kind: Kind) -> list[Fraction]:
    """Put a kind's jobs where each always fits: at the fair throughput, inside the fair share."""
    found = kind.configurations
    share = fair_share(instance.cluster, job.gpus)
    inside = found.within([share]).points
    chosen = int(np.flatnonzero(found.points == inside[0])[0])
    return [Fraction(len(kind) if k == chosen else 0) for k in range(len(found))]


def choices_of(
    jobs: Sequence[Job], used: Sequence[Kind], counts: Counts, *, averaged: bool
) -> tuple[Choice, ...]:
    """Hand a kind's configurations to its jobs, the best to the job of highest priority.

    `averaged`: each job gets the kind's mean mixture, which keeps row (5) for each of them.
    Otherwise one after the other, so that at most one job a boundary is on a mixture.
    """
    choices: dict[int, Choice] = {}
    for kind, row in zip(used, counts, strict=True):
        values = kind.configurations.value.tolist()
        order = sorted((k for k, c in enumerate(row) if c), key=lambda k: (-values[k], k))
        # Whole numbers as int: many times faster than Fraction.
        left = [int(row[k]) if row[k].denominator == 1 else row[k] for k in order]
        mean = tuple((k, Fraction(c) / len(kind)) for k, c in zip(order, left, strict=True))
        made: dict[Mixture, Choice] = {}
        for member in kind.members:
            mixture = mean if averaged else _take_one(order, left)
            if mixture not in made:
                made[mixture] = _choice(jobs[member], kind.configurations, mixture)
            like = made[mixture]
            choices[member] = Choice(
                id=jobs[member].id,
                mixture=like.mixture,
                demand=like.demand,
                throughput=like.throughput,
            )
    return tuple(choices[i] for i in range(len(jobs)))


def _take_one(order: Sequence[int], left: list[Fraction | int]) -> Mixture:
    """Take one job's worth from the front of what is left, in place."""
    mixture: list[tuple[int, Fraction]] = []
    missing: Fraction | int = 1
    position = 0
    while missing:
        part = min(missing, left[position])
        if part:
            mixture.append((order[position], Fraction(part)))
            left[position] -= part
            missing -= part
        position += 1
    return tuple(mixture)


def _choice(job: Job, found: Configurations, mixture: Mixture) -> Choice:
    parts = [tuple(part * amount for amount in found.demand_at(k)) for k, part in mixture]
    return Choice(
        id=job.id,
        mixture=tuple((int(found.points[k]), part) for k, part in mixture),
        demand=vector_sum(parts, len(found.demand)),
        throughput=exact_sum(part * found.value[k] for k, part in mixture),
    )
