"""Each rule of the certificate has a planted fault that is named, and a neighbour that passes."""

from dataclasses import replace

import pytest
from certificate_cases import (
    F,
    jobs_of_pair,
    left_out,
    pair,
    placed,
    placement,
    with_job,
)

from synergy_opt.answer import Piece
from synergy_opt.certificate import Violation, verify, violations
from synergy_opt.errors import NotCertified
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

A, B, C, D = jobs_of_pair().values()


def found(answer, instance=None, **stated):
    """Give the broken rules as (rule, where), and all messages in one text."""
    broken = violations(instance or pair(), answer, **stated)
    return [(v.rule, v.where) for v in broken], "\n".join(v.message for v in broken)


def changed(job, index, **changes):
    """Give a job with one piece changed."""
    pieces = list(job.pieces)
    pieces[index] = replace(pieces[index], **changes)
    return replace(job, pieces=tuple(pieces))


def test_a_valid_placement_breaks_no_rule():
    """Tests that nothing is reported of a placement that fills a server exactly."""
    assert violations(pair(), placement(), throughput=F(9, 2)) == ()
    verify(pair(), placement())


def test_whole_numbers_may_be_integers():
    """Tests that integers in place of whole fractions change nothing."""
    piece = Piece(server=0, gpus=2, amounts=(2, 10))
    job = replace(B, demand=(2, 10), throughput=1, pieces=(piece,))
    assert violations(pair(), with_job(job), throughput=F(9, 2)) == ()


def test_verify_raises_with_every_rule():
    """Tests that `verify` raises one error that names all broken rules with their places."""
    answer = with_job(replace(B, throughput=F(2)), instance="other")
    with pytest.raises(NotCertified) as caught:
        verify(pair(), answer)
    assert str(caught.value).splitlines() == [
        "the placement breaks 2 rules",
        "$.instance: instance: the placement is for 'other', not for 'pair'",
        "$.jobs[1].throughput: throughput: job 'B' states 2, but its demand gives 1",
    ]


def test_a_violation_prints_on_one_line():
    """Tests the text of a violation."""
    assert str(Violation(rule="r", where="$.jobs", message="1 of 2")) == "$.jobs: r: 1 of 2"


@pytest.mark.parametrize(
    ("answer", "where", "shown"),
    [
        (with_job(replace(B, throughput=1.0)), "$.jobs[1].throughput", "1.0 of type float"),
        (with_job(replace(B, throughput=True)), "$.jobs[1].throughput", "True of type bool"),
        (with_job(replace(B, demand=(2.0, F(10)))), "$.jobs[1].demand.cpu", "2.0"),
        (with_job(changed(B, 0, gpus=2.0)), "$.jobs[1].pieces[0].gpus", "2.0"),
        (with_job(changed(B, 0, server=F(0))), "$.jobs[1].pieces[0].server", "a whole number"),
        (with_job(changed(B, 0, amounts=(F(2), "10"))), "$.jobs[1].pieces[0].memory", "'10'"),
    ],
)
def test_inexact_numbers_are_named(answer, where, shown):
    """Tests that floats, truth values and texts are refused before anything is computed."""
    rules, text = found(answer)
    assert rules == [("exact-numbers", where)]
    assert shown in text


def test_stated_floats_are_named():
    """Tests that the stated totals must be exact too."""
    rules, _ = found(placement(), throughput=4.5, upper_bound=9.0)
    assert rules == [("exact-numbers", "$.throughput"), ("exact-numbers", "$.upper_bound")]


@pytest.mark.parametrize(
    ("job", "where"),
    [
        (replace(B, demand=(F(2),)), "$.jobs[1].demand"),
        (changed(B, 0, amounts=(F(2), F(10), F(0))), "$.jobs[1].pieces[0]"),
    ],
)
def test_vectors_of_the_wrong_length_are_named(job, where):
    """Tests that a vector has one amount a resource."""
    rules, text = found(with_job(job))
    assert rules == [("amounts", where)]
    assert "amounts for 2 resources" in text


def test_unknown_job():
    """Tests that a job that the instance does not have is named, and nothing else of it."""
    rules, text = found(placement(A, B, C, D, left_out("Z")))
    assert rules == [("unknown-job", "$.jobs[4].id")]
    assert "'Z'" in text


def test_an_unknown_job_takes_room():
    """Tests that the pieces of an unknown job count against the capacity."""
    rules, _ = found(placement(A, B, C, D, replace(C, id="Z")))
    assert ("capacity", "$.jobs[4].pieces[0]") in rules


def test_duplicate_job():
    """Tests that a job listed twice is named with its first place."""
    rules, text = found(placement(A, B, C, D, left_out("C")))
    assert ("duplicate-job", "$.jobs[4].id") in rules
    assert "'C' is listed at $.jobs[2]" in text


def test_a_runnable_job_must_be_listed():
    """Tests that a runnable job is listed, if need be without pieces; one that is not need not."""
    rules, text = found(placement(A, B, D))
    assert rules == [("runnable-listed", "$.jobs")]
    assert "'C' (1 GPUs)" in text
    assert violations(pair(), placement(A, B, left_out("C"), D)) == ()
    assert violations(pair(), placement(A, B, C, D, left_out("E"))) == ()


def test_the_order_of_the_list_is_free():
    """Tests that jobs may be listed in any order."""
    assert violations(pair(), placement(D, C, B, A)) == ()


def test_priority():
    """Tests that a job that is not runnable may only take the room of one left out before it."""
    e, f = placed("E", {0: 2}, (2, 10), 1), placed("F", {0: 1}, (1, 5), 1)
    assert violations(pair(), placement(A, left_out("B"), C, D, e)) == ()
    rules, text = found(placement(A, left_out("B"), C, D, f))
    assert rules == [("priority", "$.jobs[4].pieces")]  # E comes before F, and is passed over
    assert "'F'" in text
    assert violations(pair(), placement(A, left_out("B"), C, D, left_out("E"), f)) == ()
    rules, _ = found(placement(A, B, C, D, f))
    assert rules == [("priority", "$.jobs[4].pieces"), ("capacity", "$.jobs[4].pieces[0]")]


def test_left_out_jobs_state_nothing():
    """Tests that a job without pieces states demand 0 and throughput 0."""
    job = replace(left_out("C"), demand=(F(1), F(0)), throughput=F(1, 3))
    rules, text = found(with_job(job))
    assert rules == [("left-out", "$.jobs[2].demand.cpu"), ("left-out", "$.jobs[2].throughput")]
    assert "demand of 1 cpu" in text
    assert "throughput of 1/3" in text


@pytest.mark.parametrize("server", [-1, 2])
def test_servers_exist(server):
    """Tests that a server just outside the range is named, and its pieces take no room."""
    rules, text = found(with_job(changed(B, 0, server=server)))
    assert rules == [("server-exists", "$.jobs[1].pieces[0].server")]
    assert f"no server {server}: they count from 0 to 1" in text


def test_one_piece_a_server():
    """Tests that two pieces of a job on one server are named."""
    half = Piece(server=0, gpus=F(1), amounts=(F(1), F(5)))
    rules, text = found(with_job(replace(B, pieces=(half, half))))
    assert rules == [("one-piece-a-server", "$.jobs[1].pieces[1].server")]
    assert "$.jobs[1].pieces[0]" in text


@pytest.mark.parametrize("gpus", [F(0), F(-1)])
def test_positive_gpus(gpus):
    """Tests that a piece without GPUs is named, even where the totals add up."""
    first = Piece(server=0, gpus=2 - gpus, amounts=tuple(d * (2 - gpus) / 2 for d in B.demand))
    empty = Piece(server=1, gpus=gpus, amounts=tuple(d * gpus / 2 for d in B.demand))
    rules, text = found(with_job(replace(B, pieces=(first, empty))))
    assert ("positive-gpus", "$.jobs[1].pieces[1].gpus") in rules
    assert f"more than 0 GPUs, not {gpus}" in text


def test_negative_amount():
    """Tests that an amount below 0 is named."""
    rules, text = found(with_job(changed(B, 0, amounts=(F(-1, 3), F(10)))))
    assert ("negative-amount", "$.jobs[1].pieces[0].cpu") in rules
    assert "not -1/3" in text


def test_whole_gpus():
    """Tests that half GPUs are named, and whole ones on two servers pass."""
    answer = placement(A, left_out("B"), C, D)
    assert violations(pair(), answer) == ()
    halves = placed("B", {0: F(3, 2), 1: F(1, 2)}, (2, 10), 1)
    rules, text = found(placement(placed("A", {0: 4}, (12, 40), 1), halves, C, left_out("D")))
    assert [r for r in rules if r[0] == "whole-gpus"] == [
        ("whole-gpus", "$.jobs[1].pieces[0].gpus"),
        ("whole-gpus", "$.jobs[1].pieces[1].gpus"),
    ]
    assert "has 1.5 GPUs" in text


def test_one_gpu_whole():
    """Tests that a job of 1 GPU in two pieces is named."""
    rules, text = found(with_job(placed("C", {0: F(1, 2), 1: F(1, 2)}, (1, 5), 1)))
    assert ("one-gpu-whole", "$.jobs[2].pieces") in rules
    assert "has 2 pieces" in text


def test_gpu_total():
    """Tests that a job with a GPU too few is named with both numbers."""
    rules, text = found(with_job(changed(B, 0, gpus=F(1), amounts=(F(1), F(5)))))
    assert ("gpu-total", "$.jobs[1].pieces") in rules
    assert "the pieces of 'B' have 1 GPUs of its 2" in text


def test_demand_total():
    """Tests that pieces that do not add up to the demand are named with both numbers."""
    rules, text = found(with_job(replace(B, demand=(F(7, 3), F(10)))))
    assert ("demand-total", "$.jobs[1].demand.cpu") in rules
    assert "have 2 cpu, but its demand is 7/3" in text


def test_proportional_pieces():
    """Tests that pieces that add up to the demand in other parts than the GPUs are named."""
    low = replace(A.pieces[0], amounts=(F(17, 3), F(20)))
    high = replace(A.pieces[1], amounts=(F(19, 3), F(20)))
    answer = placement(replace(A, pieces=(low, high)), B, left_out("C"), D)
    rules, text = found(answer)
    assert rules == [
        ("proportional-pieces", "$.jobs[0].pieces[0].cpu"),
        ("proportional-pieces", "$.jobs[0].pieces[1].cpu"),
    ]
    assert "2 of 4 GPUs come with 6 cpu of the job's 12, not 17/3" in text


@pytest.mark.parametrize(
    ("demand", "row", "over"),
    [((F(16, 3), 15), "cpu", "1/3"), ((5, 16), "memory", "1"), ((5, F(91, 6)), "memory", "1/6")],
)
def test_capacity(demand, row, over):
    """Tests that a server that is exactly full passes and one a fraction over does not."""
    rules, text = found(with_job(placed("D", {1: 1}, demand, F(3, 2))))
    assert rules == [("capacity", "$.jobs[3].pieces[0]")]
    assert f"{row}, but" in text
    assert f"are taken: {over} too many" in text


def test_capacity_of_gpus():
    """Tests that too many GPUs on a server are named at the piece that goes over."""
    answer = with_job(placed("A", {0: 1, 1: 3}, (12, 40), 1))
    rules, text = found(answer)
    assert ("capacity", "$.jobs[3].pieces[0]") in rules
    assert "server 1 has 4 GPUs, but 5 are taken: 1 too many" in text


def test_throughput_of_a_job():
    """Tests that a throughput that differs by a hair from what the demand gives is named."""
    rules, text = found(with_job(replace(D, throughput=F(3, 2) + F(1, 10**9))))
    assert rules == [("throughput", "$.jobs[3].throughput")]
    assert "job 'D' states 1.500000001, but its demand gives 1.5" in text


@pytest.mark.parametrize("per", ["gpu", "job"])
def test_absolute_throughput(per):
    """Tests that the absolute objective counts weight · W, times g for a profile per GPU."""
    profile = Profile(name="p", axes={"cpu": [1]}, throughput=[7], per=per)
    instance = Instance(
        name="one",
        cluster=Cluster(
            resources={"cpu": "c"}, servers=[Server(type="t", count=1, gpus=2, capacity=(4,))]
        ),
        profiles=[profile],
        jobs=[Job(id="A", gpus=2, profile="p", weight=F(1, 3))],
        objective="absolute",
    )
    value = F(14 if per == "gpu" else 7, 3)
    answer = placement(placed("A", {0: 2}, (2,), value), instance="one")
    assert violations(instance, answer) == ()
    answer = placement(placed("A", {0: 2}, (2,), 21 / F(3) - value), instance="one")
    assert found(answer, instance)[0] == [("throughput", "$.jobs[0].throughput")]


def test_total_throughput():
    """Tests that the stated total must be the sum of the jobs."""
    rules, text = found(placement(), throughput=F(5))
    assert rules == [("total-throughput", "$.throughput")]
    assert "states 5, but its jobs add up to 4.5" in text


def test_fair_floor():
    """Tests that a job below its fair throughput is named with both numbers."""
    rules, text = found(with_job(placed("D", {1: 1}, (F(8, 3), 15), F(1, 2))))
    assert rules == [("fair-floor", "$.jobs[3].demand")]
    assert "job 'D' makes 2, but its fair share gives 4" in text
    assert violations(pair(), with_job(placed("D", {1: 1}, (3, 15), 1))) == ()


def test_fair_floor_without_a_configuration():
    """Tests that a demand with no grid point inside is below the floor, with throughput 0."""
    rules, text = found(with_job(placed("D", {1: 1}, (F(2, 3), 15), 0)))
    assert rules == [("fair-floor", "$.jobs[3].demand")]
    assert "no configuration of job 'D' lies within its demand" in text


def two_groups():
    """Give one rich server and one poor one, 2 GPUs each, and two jobs of 2 GPUs."""
    servers = [Server(type=t, count=1, gpus=2, capacity=c) for t, c in (("r", (8,)), ("p", (2,)))]
    profile = Profile(name="p", axes={"cpu": [1, 2, 4]}, throughput=[1, 2, 4])
    jobs = [Job(id=i, gpus=2, profile="p") for i in "AB"]
    cluster = Cluster(resources={"cpu": "c"}, servers=servers)
    return Instance(name="two", cluster=cluster, profiles=[profile], jobs=jobs)


def test_the_floor_is_that_of_the_groups_touched():
    """Tests that a job on the rich group alone needs its share there; across both, the smaller."""
    poor = placed("B", {1: 2}, (2,), 1)
    assert (
        violations(two_groups(), placement(placed("A", {0: 2}, (8,), 4), poor, instance="two"))
        == ()
    )
    rules, text = found(
        placement(placed("A", {0: 2}, (4,), 2), poor, instance="two"), two_groups()
    )
    assert rules == [("fair-floor", "$.jobs[0].demand")]
    assert "makes 2, but its fair share gives 4" in text
    across = placed("A", {0: 1, 1: 1}, (2,), 1)
    other = placed("B", {0: 1, 1: 1}, (2,), 1)
    assert violations(two_groups(), placement(across, other, instance="two")) == ()


def test_long_numbers_are_shown_about():
    """Tests that a number of thousands of digits is reported and not refused by Python."""
    long = F(7**9000, 3**9000)
    rules, text = found(with_job(replace(D, throughput=F(1, 3**9000))), throughput=1 + 1 / long)
    assert ("throughput", "$.jobs[3].throughput") in rules
    assert "about " in text
