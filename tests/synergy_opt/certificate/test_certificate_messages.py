"""What is said of wrong answers, to the letter, and of arguments of another type."""

from dataclasses import replace

import pytest
from certificate_cases import F, jobs_of_pair, pair, placement, with_job

from synergy_opt.answer import Bound
from synergy_opt.certificate import bound_value, verify, violations
from synergy_opt.errors import InvalidInstance, NotCertified
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

B = jobs_of_pair()["B"]
FREE = Bound(value=F(19, 4), multipliers=(F(0), F(0)))


def refused(answer, **stated):
    """Give the lines of the error that `verify` raises."""
    with pytest.raises(NotCertified) as caught:
        verify(pair(), answer, **stated)
    return str(caught.value).splitlines()


def test_one_broken_rule_is_counted_as_one():
    """Tests that `verify` passes on what is stated beside the placement, each by itself."""
    assert refused(placement(), throughput=F(5)) == [
        "the placement breaks 1 rule",
        "$.throughput: total-throughput: states 5, but its jobs add up to 4.5",
    ]
    assert refused(placement(), upper_bound=F(5)) == [
        "the placement breaks 1 rule",
        "$.upper_bound: unproved-bound: 5 is stated without a certificate: nothing proves it",
    ]
    assert refused(placement(), throughput=F(5), upper_bound=F(6))[0] == (
        "the placement breaks 2 rules"
    )


def test_arguments_of_another_type_are_named():
    """Tests that the error says which argument it is."""
    with pytest.raises(TypeError, match=r"^instance must be an Instance, not str$"):
        violations("pair", placement())
    with pytest.raises(TypeError, match=r"^instance must be an Instance, not str$"):
        bound_value("pair", (), FREE)
    with pytest.raises(InvalidInstance, match=r"^jobs\[0\]: must be of type Job, not str$"):
        bound_value(pair(), ["A"], FREE)


def test_all_faults_of_multipliers_are_in_one_error():
    """Tests that `bound_value` names every negative multiplier."""
    with pytest.raises(NotCertified) as caught:
        bound_value(pair(), pair().jobs, replace(FREE, multipliers=(F(-1), F(-2))))
    assert str(caught.value) == (
        "$.certificate.multipliers.cpu: multipliers: must not be negative, not -1; "
        "$.certificate.multipliers.memory: multipliers: must not be negative, not -2"
    )


def test_proof_by_patterns_needs_a_bound_that_meets_the_throughput():
    """Tests that both proofs by a bound are held to it."""
    answer = placement(proof="patterns")
    (broken,) = violations(pair(), answer)
    assert (broken.rule, broken.where) == ("proof", "$.proof")
    assert broken.message == (
        "states that the bound meets the throughput 4.5, but there is no bound"
    )


def test_the_step_of_a_sum_is_that_of_all_its_values():
    """Tests rounding with halves of one kind and thirds of another: multiples of 1/6."""
    server = Server(type="t", count=1, gpus=2, capacity=(10,))
    profiles = [
        Profile(name="halves", axes={"cpu": [1]}, throughput=[F(3, 2)]),
        Profile(name="thirds", axes={"cpu": [1]}, throughput=[F(4, 3)]),
    ]
    jobs = [Job(id=p.name, gpus=1, profile=p.name) for p in profiles]
    for listed in (jobs, jobs[::-1]):
        instance = Instance(
            name="i",
            cluster=Cluster(resources={"cpu": "c"}, servers=[server]),
            profiles=profiles,
            jobs=listed,
            objective="absolute",
        )
        # 10/100 + 3/2 + 4/3 − 2/100: down to 17/6 by sixths, to 5/2 or 8/3 by coarser steps.
        bound = Bound(value=F(3), multipliers=(F(1, 100),))
        assert bound_value(instance, listed, bound) == F(17, 6)


def test_a_violation_of_every_group_of_rules_in_order():
    """Tests the order: list, pieces, capacity, figures, total, bound."""
    late = replace(B, throughput=F(2))
    assert refused(with_job(late, instance="other", bound=FREE), throughput=F(7)) == [
        "the placement breaks 4 rules",
        "$.instance: instance: the placement is for 'other', not for 'pair'",
        "$.jobs[1].throughput: throughput: job 'B' states 2, but its demand gives 1",
        "$.throughput: total-throughput: states 7, but its jobs add up to 5.5",
        "$.throughput: above-bound: the throughput 7 is 2.25 above the bound 4.75",
    ]
