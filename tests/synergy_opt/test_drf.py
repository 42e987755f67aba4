"""DRF: the smallest dominant share comes first, with whole best-case demands or none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from builders import cluster, demands, instance, wants, where
from checker import faults
from hypothesis import given
from strategies import instances

from synergy_opt.certificate import violations
from synergy_opt.demand import best_case_demand
from synergy_opt.drf import dominant_share, drf

HUNGRY = wants("hungry", (1, 3), (2, 8))
MODEST = wants("modest", (1, 1))


def test_the_smallest_dominant_share_comes_first_whatever_its_resource():
    """Tests that a share of CPUs is compared with shares of GPUs, not with CPUs."""
    small = instance(cluster((1, 4, 12)), (HUNGRY, 1), (MODEST, 3), (HUNGRY, 1), (MODEST, 1))
    # Shares: 8/12, 3/4, 8/12, 1/4. d and a leave 3 cores and 2 GPUs: neither b nor c fits.
    answer = drf(small)
    assert where(answer) == {"a": [(0, 1)], "b": [], "c": [], "d": [(0, 1)]}
    assert demands(answer)["a"] == (8,)


def test_weights_divide_the_dominant_share():
    """Tests weighted DRF: a job of twice the weight may have twice the share."""
    small = instance(cluster((1, 4, 12)), (MODEST, 1), (HUNGRY, 1))
    one, other = small.jobs
    twice = replace(other, weight=Fraction(2))
    assert dominant_share(small, one, (Fraction(6),)) == Fraction(1, 2)
    assert dominant_share(small, twice, (Fraction(6),)) == Fraction(1, 4)
    # 8/12 / 3 is less than 1/4: the hungry job comes first, and three modest ones beside it.
    jobs = [replace(job, id=f"{i}", weight=Fraction(1)) for i, job in enumerate([one] * 4)]
    jobs.append(replace(other, id="heavy", weight=Fraction(3)))
    placed = [name for name, pieces in where(drf(small.with_jobs(jobs))).items() if pieces]
    assert placed == ["0", "1", "2", "heavy"]


def test_jobs_behind_the_runnable_ones_are_candidates():
    """Tests that DRF is a policy of its own: a small job at the end of the queue goes first."""
    small = instance(cluster((1, 4, 12)), (HUNGRY, 4), (HUNGRY, 1), (MODEST, 1), (MODEST, 1))
    placed = [name for name, pieces in where(drf(small)).items() if pieces]
    assert placed == ["b", "c", "d"]


@given(instances())
def test_placements_keep_every_rule(drawn):
    """Tests with the certificate and an independent checker on drawn clusters."""
    answer = drf(drawn)
    assert not violations(drawn, answer)
    assert faults(drawn, answer, may_skip=True) == []


@given(instances())
def test_placements_are_those_of_the_definition(drawn):
    """Tests against the definition in fractions: by dominant share, on the first server with room.

    Jobs larger than every server are left to the rules above.
    """
    answer = drf(drawn)
    demand = {job.id: best_case_demand(drawn, job).amounts for job in drawn.jobs}
    groups = [drawn.cluster.servers[g] for g in drawn.cluster.group_of_server]
    if any(job.gpus > max(group.gpus for group in groups) for job in drawn.jobs):
        return
    free = [[Fraction(group.gpus), *group.capacity] for group in groups]
    expected = {job.id: [] for job in drawn.jobs}
    for job in sorted(drawn.jobs, key=lambda job: dominant_share(drawn, job, demand[job.id])):
        need = [Fraction(job.gpus), *demand[job.id]]
        for server, row in enumerate(free):
            if all(n <= f for n, f in zip(need, row, strict=True)):
                free[server] = [f - n for n, f in zip(need, row, strict=True)]
                expected[job.id] = [(server, job.gpus)]
                break
    assert where(answer) == expected
    assert all(entry.demand == demand[entry.id] for entry in answer.jobs if entry.pieces)
