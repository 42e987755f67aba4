"""The kit's rules one by one: what order means, what is passed on, what is left to others."""

from __future__ import annotations

import os
import random
import re
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from builders import cluster, instance, wants
from hypothesis import given

import synergy_opt
from synergy_opt import certificate
from synergy_opt.errors import Infeasible
from synergy_opt.testing import (
    assert_deterministic,
    assert_never_worse_than_proportional,
    assert_pure,
    assert_respects_priority,
    assert_valid,
    examples,
)
from synergy_opt.testing.answers import FORM, Breach, answer
from synergy_opt.testing.families import families
from synergy_opt.testing.rules import _VERIFIED, RULES, claims
from synergy_opt.testing.strategies import clusters, instances

TWO = instance(cluster((1, 1, 2)), (wants("p", (1, 1)), 1), (wants("q", (1, 1)), 1))


def left_out(placement, *names):
    """Give a placement without the pieces of some jobs."""
    zero = (Fraction(0),) * len(placement.jobs[0].demand)
    return replace(
        placement,
        jobs=tuple(
            replace(job, demand=zero, throughput=Fraction(0), pieces=())
            if job.id in names
            else job
            for job in placement.jobs
        ),
    )


def test_every_rule_of_the_certificate_has_its_place():
    """Tests that the kit's groups name rules that exist, and that the rest are claims."""
    listed = set(re.findall(r"``([a-z-]+)``", certificate.__doc__))
    grouped = {rule for rules in _VERIFIED.values() for rule in rules} | {"priority", *FORM}
    assert grouped <= listed
    assert {"multipliers", "upper-bound", "split-bound"} <= listed - grouped


def test_a_job_alike_behind_may_not_be_preferred():
    """Tests priority: of two jobs alike the first one is served; of unlike ones either may be."""
    profile = wants("p", (1, 1))
    alike = instance(cluster((1, 2, 2)), (profile, 1), (profile, 1), (wants("q", (1, 1)), 1))
    placement = synergy_opt.proportional(alike)
    assert_respects_priority(alike, placement)
    assert_respects_priority(alike, left_out(placement, "b"))
    with pytest.raises(AssertionError, match="'a' has no place, but 'b' behind it"):
        assert_respects_priority(alike, left_out(placement, "a"))


def test_a_job_beyond_the_runnable_ones_needs_room_left_out():
    """Tests that the certificate's rule of priority is part of the kit's."""
    last = replace(TWO, jobs=TWO.jobs[::-1])
    placement = replace(synergy_opt.proportional(last), instance=TWO.name)
    with pytest.raises(AssertionError, match="of higher priority"):
        assert_respects_priority(TWO, placement)


def test_less_than_proportional_is_said_with_both_sums():
    """Tests the comparison of sums over the jobs placed, and that those left out do not count."""
    placement = synergy_opt.proportional(TWO)
    assert_never_worse_than_proportional(TWO, left_out(placement, "a"))
    less = replace(placement, jobs=(replace(placement.jobs[0], throughput=Fraction(1, 3)),))
    with pytest.raises(AssertionError, match=r"make 1/3 together, .* these jobs 1$"):
        assert_never_worse_than_proportional(TWO, less)


@given(instances(cluster=clusters(max_groups=1)))
def test_fair_placements_on_one_group_are_never_worse(drawn):
    """Tests the theorem behind the rule: fairness gives it, on one group of servers."""
    assert_never_worse_than_proportional(drawn, synergy_opt.tune(drawn))


def test_valid_means_placed_and_fair_unless_allowed():
    """Tests what `allow` waives, and that it knows no other word."""
    placement = synergy_opt.proportional(TWO)
    assert_valid(TWO, placement)
    with pytest.raises(AssertionError, match="placed: job 'a'"):
        assert_valid(TWO, left_out(placement, "a"))
    assert_valid(TWO, left_out(placement, "a"), allow={"skipping"})
    poor = synergy_opt.shipped("worked-example")
    below = synergy_opt.testing.examples.below_the_floor(poor)
    with pytest.raises(AssertionError, match="fair-floor: job 'J1'"):
        assert_valid(poor, below)
    assert_valid(poor, below, allow=["unfair"])
    with pytest.raises(ValueError, match="skipping, unfair, not anything"):
        assert_valid(poor, below, allow=["anything"])


@pytest.mark.parametrize(
    ("mechanism", "says"),
    [
        (lambda _: next(iter(())), r"raised StopIteration:  \(.*test_testing_rules.py"),
        (lambda _: sys.exit(3), "raised SystemExit: 3"),
        (lambda _: None, "gave NoneType instead of a Placement"),
        (
            lambda it: replace(synergy_opt.proportional(it), jobs=[]),
            r"types: must be a tuple, not \[\] of type list",
        ),
    ],
)
def test_no_answer_is_a_breach_of_one_rule(mechanism, says):
    """Tests exceptions, exits and other types: "answers" says so, and the other rules wait."""
    found = {rule: check(TWO, mechanism) for rule, check in RULES.items()}
    assert re.search(says, found["answers"].sentence)
    assert [rule for rule, breach in found.items() if breach] == ["answers"]


def test_infeasible_is_to_leave_every_job_out():
    """Tests that `Infeasible` breaks "placed" alone, which skipping allows."""

    def gives_up(_):
        raise Infeasible("no room")

    found = [rule for rule, check in RULES.items() if check(TWO, gives_up)]
    assert found == ["placed"]
    assert "raised Infeasible (no room)" in RULES["placed"](TWO, gives_up).sentence


def test_a_false_bound_is_a_claim():
    """Tests that a bound below what its multipliers prove is found."""
    wide = synergy_opt.shipped("worked-example")
    honest = synergy_opt.optimal(wide)
    assert claims(wide, honest) is None
    boast = replace(honest, bound=replace(honest.bound, value=honest.bound.value - 1))
    assert "bound" in claims(wide, boast)


def test_what_a_call_changes_is_named():
    """Tests the environment, the directory, both shared generators and the instance."""
    folder = Path.cwd()

    def named(change):
        try:
            assert_pure(TWO, change)
        except AssertionError as error:
            return str(error)
        finally:
            os.chdir(folder)
            os.environ.pop("KIT", None)
        return "nothing"

    assert "environment" in named(lambda _: os.environ.update(KIT="1"))
    assert "directory" in named(lambda _: os.chdir("/"))
    assert "Python's random" in named(lambda _: random.random())
    assert "NumPy's random" in named(lambda _: np.random.rand())  # noqa: NPY002
    assert "changes the instance" in named(lambda it: object.__setattr__(it, "jobs", it.jobs[:1]))
    assert "no instance any more" in named(lambda it: object.__setattr__(it, "jobs", None))
    assert named(synergy_opt.tune) == "nothing"


def test_two_calls_are_compared_to_the_byte():
    """Tests jobs, their number, and what is stated beside them."""
    answers = iter(
        [
            synergy_opt.proportional(TWO),
            replace(synergy_opt.proportional(TWO), jobs=()),
            replace(synergy_opt.proportional(TWO), mechanism="other"),
            synergy_opt.proportional(TWO),
        ]
    )
    with pytest.raises(AssertionError, match="then no further job"):
        assert_deterministic(TWO, lambda _: next(answers))
    with pytest.raises(AssertionError, match="other statements"):
        assert_deterministic(TWO, lambda _: next(answers))
    once = iter([synergy_opt.proportional(TWO)])
    with pytest.raises(AssertionError, match="a placement, then answers: raised StopIteration"):
        assert_deterministic(TWO, lambda _: next(once))


def test_the_seeded_instances_have_the_traits_that_they_are_for():
    """Tests names, waiting jobs, equals among them, jobs too large for a server, two groups."""
    all_of_them = families()
    names = [each.name for each in all_of_them]
    assert len(set(names)) == len(names)
    assert any(len(synergy_opt.runnable(each)) < len(each.jobs) for each in all_of_them)
    assert any(RULES["priority"](each, examples.ignores_priority) for each in all_of_them)
    assert any(len(each.cluster.servers) > 1 for each in all_of_them)
    assert any(
        job.gpus > max(group.gpus for group in each.cluster.servers)
        for each in all_of_them
        for job in each.jobs
    )


def test_a_well_formed_answer_is_passed_on():
    """Tests that `answer` gives the placement of a copy, and a breach prints as one line."""
    assert answer(synergy_opt.tune, TWO) == synergy_opt.tune(TWO)
    assert str(Breach(rule="r", sentence="s")) == "r: s"
