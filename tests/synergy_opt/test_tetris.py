"""Tetris: every server takes the best aligned job that fits, with its best-case demand."""

from __future__ import annotations

from fractions import Fraction

from builders import cluster, instance, wants, where
from checker import faults
from hypothesis import given
from strategies import instances

from synergy_opt.certificate import violations
from synergy_opt.demand import best_case_demand
from synergy_opt.tetris import tetris

MODEST = wants("modest", (1, 1, 1))
CPU = wants("cpu", (1, 2, 2), (2, 9, 2))
MEMORY = wants("memory", (1, 2, 2), (2, 2, 9))


def test_alignment_prefers_what_the_server_has_most_of():
    """Tests that after a CPU-hungry job the memory-hungry one is better aligned, not its twin."""
    small = instance(cluster((1, 4, 12, 12)), (CPU, 1), (CPU, 1), (MEMORY, 1), (MODEST, 1))
    answer = tetris(small)
    assert where(answer) == {"a": [(0, 1)], "b": [], "c": [(0, 1)], "d": [(0, 1)]}


def test_among_equals_the_higher_priority_goes_first():
    """Tests that the policy's order decides between jobs of one kind."""
    small = instance(cluster((1, 4, 12, 12)), (MODEST, 3), (MODEST, 3))
    assert where(tetris(small)) == {"a": [(0, 3)], "b": []}


def test_a_job_larger_than_a_server_is_placed_first_on_the_fewest():
    """Tests that the filling of single servers does not starve a large job."""
    small = instance(cluster((3, 4, 12, 12)), (MODEST, 1), (MODEST, 6))
    assert where(tetris(small)) == {"a": [(1, 1)], "b": [(0, 4), (1, 2)]}


@given(instances())
def test_placements_keep_every_rule(drawn):
    """Tests with the certificate and an independent checker on drawn clusters."""
    answer = tetris(drawn)
    assert not violations(drawn, answer)
    assert faults(drawn, answer, may_skip=True) == []


@given(instances())
def test_placements_are_those_of_the_definition(drawn):
    """Tests against the definition in fractions, server by server.

    Jobs larger than every server are left to the rules above.
    """
    groups = [drawn.cluster.servers[g] for g in drawn.cluster.group_of_server]
    if any(job.gpus > max(group.gpus for group in groups) for job in drawn.jobs):
        return
    demand = {
        job.id: (Fraction(job.gpus), *best_case_demand(drawn, job).amounts) for job in drawn.jobs
    }
    expected = {job.id: [] for job in drawn.jobs}
    for server, group in enumerate(groups):
        whole = [Fraction(group.gpus), *group.capacity]
        free = list(whole)
        while True:
            fitting = [
                job
                for job in drawn.jobs
                if not expected[job.id]
                and all(n <= f for n, f in zip(demand[job.id], free, strict=True))
            ]
            if not fitting:
                break
            best = max(  # the first of equals
                fitting,
                key=lambda job: sum(
                    n * f / w**2 for n, f, w in zip(demand[job.id], free, whole, strict=True)
                ),
            )
            free = [f - n for n, f in zip(demand[best.id], free, strict=True)]
            expected[best.id] = [(server, best.gpus)]
    assert where(tetris(drawn)) == expected
