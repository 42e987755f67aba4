"""The upper bound: what multipliers prove, and each way in which a stated bound can fail."""

from dataclasses import replace

import pytest
from certificate_cases import F, jobs_of_pair, left_out, pair, placed, placement

from synergy_opt.answer import Bound, PatternBound, Placement
from synergy_opt.certificate import bound_value, violations
from synergy_opt.errors import NotCertified
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

A, B, C, D = jobs_of_pair().values()

# At λ = 0 each job counts its best: B 1, C 1, D 7/4, and A 1 within one server's worth.
FREE = Bound(value=F(19, 4), multipliers=(F(0), F(0)))


def found(answer, instance=None, **stated):
    """Give the broken rules as (rule, where), and all messages in one text."""
    broken = violations(instance or pair(), answer, **stated)
    return [(v.rule, v.where) for v in broken], "\n".join(v.message for v in broken)


def test_a_proven_bound_passes():
    """Tests that a bound equal to what the multipliers prove, or weaker, breaks no rule."""
    assert bound_value(pair(), pair().jobs[:4], replace(FREE, consolidated=False)) == F(11, 2)
    answer = placement(bound=replace(FREE, value=F(11, 2), consolidated=False))
    assert violations(pair(), answer, throughput=F(9, 2), upper_bound=F(11, 2)) == ()
    assert violations(pair(), placement(bound=FREE)) == ()
    assert violations(pair(), placement(bound=replace(FREE, value=F(6)))) == ()


def test_unproved_bound():
    """Tests that a stated bound without a certificate is named."""
    rules, text = found(placement(), upper_bound=F(100, 3))
    assert rules == [("unproved-bound", "$.upper_bound")]
    assert "100/3 is stated without a certificate" in text


def test_upper_bound_differs_from_its_certificate():
    """Tests that the stated bound must be the certificate's."""
    rules, text = found(placement(bound=FREE), upper_bound=F(7))
    assert rules == [("upper-bound", "$.upper_bound")]
    assert "states 7, but its certificate is for 4.75" in text


def test_upper_bound_below_what_is_proved():
    """Tests that a bound a hair below what the multipliers prove is named with the difference."""
    hair = F(1, 10**30)
    rules, text = found(placement(bound=replace(FREE, value=FREE.value - hair)))
    assert rules == [("upper-bound", "$.upper_bound")]
    assert "prove only 4.75, 0.000000000000000000000000000001 more" in text


def test_a_forged_bound():
    """Tests that a forged value and one below the throughput are both named."""
    rules, text = found(placement(bound=replace(FREE, value=F(4))))
    assert rules == [("upper-bound", "$.upper_bound"), ("above-bound", "$.throughput")]
    assert "the throughput 4.5 is 0.5 above the bound 4" in text


def test_a_stated_total_is_held_to_the_bound():
    """Tests that a stated total above the bound is named, though the jobs' sum is not."""
    rules, _ = found(placement(bound=FREE), throughput=F(6))
    assert rules == [("total-throughput", "$.throughput"), ("above-bound", "$.throughput")]


def test_proof():
    """Tests that "proved by multipliers" is named where the bound does not meet the throughput."""
    better = placed("A", {0: 2, 1: 2}, (12, 40), 1)
    full = placement(better, B, C, placed("D", {1: 1}, (5, 15), F(3, 2)), proof="multipliers")
    rules, text = found(full)
    assert rules == [("proof", "$.proof")]
    assert "the throughput 4.5, but there is no bound" in text
    rules, text = found(replace(full, bound=FREE))
    assert rules == [("proof", "$.proof")]
    assert "but the bound is 4.75" in text
    assert violations(pair(), replace(full, bound=FREE, proof="search")) == ()
    instance = one_axis([6, 9, 12], [1, 2, 3])
    bound = Bound(value=F(12), multipliers=(F(5, 2),))
    job = placed("A", {0: 1}, (3,), 12)
    assert (
        violations(instance, placement(job, instance="axis", bound=bound, proof="multipliers"))
        == ()
    )


def test_multipliers():
    """Tests that a negative multiplier is named, and 0 passes."""
    rules, text = found(placement(bound=replace(FREE, multipliers=(F(0), F(-1, 7)))))
    assert rules == [("multipliers", "$.certificate.multipliers.memory")]
    assert "not -1/7" in text


def test_multipliers_are_one_a_resource():
    """Tests that a missing multiplier is named."""
    rules, _ = found(placement(bound=replace(FREE, multipliers=(F(0),))))
    assert rules == [("amounts", "$.certificate.multipliers")]


@pytest.mark.parametrize("prices", [(F(-1), F(0)), (F(0),), (0.0, F(0))])
def test_bound_value_refuses_what_proves_nothing(prices):
    """Tests that `bound_value` raises for negative, missing and inexact multipliers."""
    with pytest.raises(NotCertified, match="multipliers"):
        bound_value(pair(), pair().jobs, replace(FREE, multipliers=prices))


def test_skipping():
    """Tests that a job left out voids a bound that does not allow it."""
    answer = placement(A, B, left_out("C"), D, bound=FREE)
    rules, text = found(answer)
    assert rules == [("skipping", "$.certificate.skipping")]
    assert "1 jobs are left out ('C' the first)" in text
    assert violations(pair(), replace(answer, bound=replace(FREE, skipping=True))) == ()


def dear():
    """Give one server whose job B costs more than it is worth at the price that A pays."""
    return Instance(
        name="dear",
        cluster=Cluster(
            resources={"cpu": "c"}, servers=[Server(type="t", count=1, gpus=2, capacity=(4,))]
        ),
        profiles=[
            Profile(name="steep", axes={"cpu": [1, 2, 3]}, throughput=[1, 1, 9]),
            Profile(name="flat", axes={"cpu": [2]}, throughput=[1]),
        ],
        jobs=[Job(id="A", gpus=1, profile="steep"), Job(id="B", gpus=1, profile="flat")],
    )


def test_a_bound_without_skipping_is_wrong_for_placements_that_skip():
    """Tests the reason of the rule: leaving out B, A makes 9, above the bound 4 for both jobs."""
    bound = Bound(value=F(4), multipliers=(F(4),))
    assert bound_value(dear(), dear().jobs, bound) == 16 + (1 - 4) + (1 - 8)
    bound = Bound(value=F(9), multipliers=(F(5, 2),))
    assert bound_value(dear(), dear().jobs, bound) == 10 + F(3, 2).__floor__() - 4
    assert bound_value(dear(), dear().jobs, replace(bound, skipping=True)) == 11
    alone = placement(placed("A", {0: 1}, (3,), 9), left_out("B", 1), instance="dear", bound=bound)
    rules = [rule for rule, _ in found(alone, dear())[0]]
    assert rules == ["skipping"]
    low = replace(bound, value=F(7))
    assert [rule for rule, _ in found(replace(alone, bound=low), dear())[0]] == [
        "above-bound",
        "skipping",
    ]


def test_consolidation():
    """Tests that more than one server's worth is named where the bound assumes the rule."""
    more = placed("A", {0: 2, 1: 2}, (13, 40), 1)
    small = placed("D", {1: 1}, (F(9, 2), 15), 1)
    answer = placement(more, B, C, small)
    assert violations(pair(), answer) == ()
    free = replace(FREE, value=F(11, 2), consolidated=False)
    assert violations(pair(), replace(answer, bound=free)) == ()
    rules, text = found(replace(answer, bound=FREE))
    assert rules == [("consolidation", "$.jobs[0].demand")]
    assert "job 'A' (4 GPUs) has 13 cpu above 12" in text


def test_a_large_job_on_more_servers_than_it_needs_is_not_under_the_bound():
    """Tests a job that fits on no server: spread, it can have more than the bound reckons with."""
    servers = [Server(type="t", count=4, gpus=3, capacity=(4,))]
    instance = Instance(
        name="wide",
        cluster=Cluster(resources={"cpu": "c"}, servers=servers),
        profiles=[Profile(name="p", axes={"cpu": [0, 16]}, throughput=[1, 10], per="job")],
        jobs=[Job(id="A", gpus=4, profile="p")],
    )
    spread = placement(placed("A", dict.fromkeys(range(4), 1), (16,), 10), instance="wide")
    assert violations(instance, spread) == ()
    bound = Bound(value=F(1), multipliers=(F(0),))
    rules, text = found(replace(spread, bound=bound), instance)
    assert ("consolidation", "$.jobs[0].demand") in rules
    assert "at most the worth of the fewest servers that hold a job, or its fair share" in text
    assert "job 'A' (4 GPUs) has 16 cpu above 8" in text


def uneven(gpus):
    """Give servers of 4, 2 and 2 GPUs, one with many cores, and a job of `gpus` GPUs."""
    servers = [
        Server(type="big", count=1, gpus=4, capacity=(4, 8)),
        Server(type="small", count=2, gpus=2, capacity=(10, 2)),
    ]
    axes = {"cpu": [F(1, 2), 4, 10], "memory": [F(1, 2), 5]}
    table = [[1, 1], [1, 2], [1, 8]]
    return Instance(
        name="uneven",
        cluster=Cluster(resources={"cpu": "c", "memory": "m"}, servers=servers),
        profiles=[Profile(name="p", axes=axes, throughput=table, per="job")],
        jobs=[Job(id="A", gpus=gpus, profile="p")],
        objective="absolute",
    )


@pytest.mark.parametrize(
    ("gpus", "worth"),
    # 2 GPUs: one server of either kind, (4, 8) or (10, 2); 3: only (4, 8); 5: two servers, 14
    # cores and 10 GB would do for (10, 5).
    [(1, 2), (2, 2), (3, 2), (4, 2), (5, 8), (8, 8)],
)
def test_consolidation_limits(gpus, worth):
    """Tests which grid points the rule leaves to jobs that fit on one server, and to larger."""
    instance = uneven(gpus)
    free = Bound(value=F(0), multipliers=(F(0), F(0)))
    assert bound_value(instance, instance.jobs, free) == worth
    assert bound_value(instance, instance.jobs, replace(free, consolidated=False)) == 8


def test_consolidation_of_a_larger_job():
    """Tests that a job of 5 GPUs on three servers is held to the worth of two."""
    instance = Instance(
        name="three",
        cluster=Cluster(
            resources={"cpu": "c"}, servers=[Server(type="t", count=3, gpus=4, capacity=(4,))]
        ),
        profiles=[Profile(name="p", axes={"cpu": [1]}, throughput=[1])],
        jobs=[Job(id="A", gpus=5, profile="p")],
    )
    bound = Bound(value=F(1), multipliers=(F(0),))
    two = placed("A", {0: 2, 1: 2, 2: 1}, (8,), 1)
    assert violations(instance, placement(two, instance="three", bound=bound)) == ()
    more = placed("A", {0: 2, 1: 2, 2: 1}, (F(17, 2),), 1)
    assert violations(instance, placement(more, instance="three")) == ()
    rules, text = found(placement(more, instance="three", bound=bound), instance)
    assert rules == [("consolidation", "$.jobs[0].demand")]
    assert "job 'A' (5 GPUs) has 8.5 cpu above 8" in text


def test_consolidation_of_a_mixture():
    """Tests that the mean of a mixture is held to the largest of the limits in each resource."""
    instance = uneven(2)
    bound = Bound(value=F(2), multipliers=(F(0), F(0)), integral=False)
    mean = placed("A", {0: 2}, (4, 5), F(3, 2))
    assert violations(instance, placement(mean, instance="uneven", bound=bound)) == ()
    over = placed("A", {0: 1, 1: 1}, (4, F(17, 2)), F(3, 2))
    rules, text = found(placement(over, instance="uneven", bound=bound), instance)
    assert ("consolidation", "$.jobs[0].demand") in rules
    assert "8.5 memory above 8" in text


def one_axis(throughput, axis, gpus=2, capacity=4, **changes):
    """Give one server with one job of 1 GPU."""
    return Instance(
        name="axis",
        cluster=Cluster(
            resources={"cpu": "c"},
            servers=[Server(type="t", count=1, gpus=gpus, capacity=(capacity,))],
        ),
        profiles=[Profile(name="p", axes={"cpu": axis}, throughput=throughput)],
        jobs=[Job(id="A", gpus=1, profile="p")],
        objective="absolute",
        **changes,
    )


def test_integral_bounds_are_rounded_down():
    """Tests that L(λ) is rounded to multiples of the values' step, for whole choices only."""
    instance = one_axis([6, 9, 12], [1, 2, 3])
    bound = Bound(value=F(0), multipliers=(F(5, 2),))
    assert bound_value(instance, instance.jobs, replace(bound, integral=False)) == 10 + F(9, 2)
    assert bound_value(instance, instance.jobs, bound) == 12


def test_dominated_values_do_not_refine_the_step():
    """Tests that a value that no placement needs does not weaken the rounding."""
    instance = one_axis([6, 9, F(19, 2), 12, F(35, 3)], [1, 2, F(5, 2), 3, 4])
    bound = Bound(value=F(0), multipliers=(F(5, 2),))
    assert bound_value(instance, instance.jobs, bound) == F(29, 2)
    instance = one_axis([6, 9, F(26, 3), 12, F(35, 3)], [1, 2, F(5, 2), 3, 4])
    assert bound_value(instance, instance.jobs, bound) == 12


def test_no_jobs():
    """Tests that the bound of no jobs is the price of the cluster."""
    bound = Bound(value=F(0), multipliers=(F(1, 3),))
    assert bound_value(one_axis([1], [1]), (), bound) == F(4, 3)


def test_no_jobs_by_pattern_prices():
    """Tests that without jobs the servers' prices are the bound, and 0 of nothing suffices."""
    empty = pair(jobs=[])
    nothing = Placement(instance="pair", mechanism="mine", jobs=())
    bound = PatternBound(value=F(0), shapes=(), servers=(F(0),), split="never")
    assert violations(empty, replace(nothing, bound=bound)) == ()
    broken = violations(empty, replace(nothing, bound=replace(bound, value=F(-1))))
    assert [each.rule for each in broken] == ["upper-bound", "above-bound"]


def test_mixtures_fair_on_average():
    """Tests `rows`: time on a cheap unfair point is allowed, with a rich one to make up."""
    # The share is 2 cores, W^f = 4. At price 1 the points are worth 3, 2, 2.5 (W = 3, 4, 6.5).
    instance = one_axis([3, 4, F(13, 2)], [0, 2, 4])
    bound = Bound(value=F(0), multipliers=(F(1),), integral=False)
    assert bound_value(instance, instance.jobs, bound) == 4 + F(5, 2)
    # 5/7 on the first and 2/7 on the last make exactly 4 and are worth 20/7.
    rows = replace(bound, rows=True)
    assert bound_value(instance, instance.jobs, rows) == 4 + F(20, 7)
    # Whole choices fair on average are fair: `rows` then changes nothing.
    assert bound_value(instance, instance.jobs, replace(rows, integral=True)) == F(13, 2)


@pytest.mark.parametrize(
    ("cores", "worth"),
    [
        # W^f = 4 at 2 cores; at price 1 the points are worth W − cores.
        ([0, F("0.55"), 2, F("3.5")], [3, F("3.5"), 4, 6]),  # a better end below the floor
        ([0, 2, F("3.5"), F("6.55")], [3, 4, 6, 9]),  # a better end above it
        ([0, F("0.55"), 2, F("3.5"), F("6.55")], [3, F("3.5"), 4, 6, 9]),  # both
    ],
)
def test_mixtures_fair_on_average_on_a_hull(cores, worth):
    """Tests `rows` where the edge above the floor is not that of the two best points."""
    instance = one_axis(worth, cores)
    bound = Bound(value=F(0), multipliers=(F(1),), integral=False, rows=True, consolidated=False)
    points = [(F(w), w - c) for w, c in zip(worth, cores, strict=True)]
    pairs = [(4 - w, x - w, v, u) for w, v in points for x, u in points if w < 4 <= x]
    best = max(v + (u - v) * above / run for above, run, v, u in pairs)
    assert best > max(v for w, v in points if w >= 4)
    assert bound_value(instance, instance.jobs, bound) == 4 + best


def test_mixtures_fair_on_average_where_no_price_makes_them_better():
    """Tests `rows` at price 0: the best point is fair and nothing is gained by mixing."""
    instance = one_axis([3, 4, F(13, 2)], [0, 2, 4])
    bound = Bound(value=F(0), multipliers=(F(0),), integral=False, rows=True)
    assert bound_value(instance, instance.jobs, bound) == F(13, 2)


def test_huge_numbers_leave_int64():
    """Tests that numbers beyond 64 bits are computed exactly."""
    big = 10**40
    instance = one_axis([big, big + 1, 2 * big], [1, 2, big], capacity=4)
    bound = Bound(value=F(0), multipliers=(F(1, big + 3),), consolidated=False, integral=False)
    expected = 4 * F(1, big + 3) + 2 * big - F(big, big + 3)
    assert bound_value(instance, instance.jobs, bound) == expected
    bound = replace(bound, integral=True, multipliers=(F(0),))
    assert bound_value(instance, instance.jobs, bound) == 2 * big


def mixed(cores, throughput, **rules):
    """Give a placement whose one job states a mixture."""
    bound = Bound(value=F(20), multipliers=(F(0),), integral=False, **rules)
    job = placed("A", {0: 1}, (cores,), throughput)
    return placement(job, instance="axis", bound=bound)


@pytest.mark.parametrize(
    ("cores", "most"), [(2, 4), (F(5, 2), 5), (3, 6), (F(10, 3), F(20, 3)), (4, 8)]
)
def test_throughput_of_a_mixture(cores, most):
    """Tests that a mixture makes at most the concave envelope at its demand, exactly."""
    instance = one_axis([3, 4, F(9, 2), 8], [1, 2, 3, 4])
    assert violations(instance, mixed(cores, most)) == ()
    rules, text = found(mixed(cores, most + F(1, 10**12)), instance)
    assert rules == [("throughput", "$.jobs[0].throughput")]
    assert "the best mixture within its demand gives" in text


def test_a_mixture_may_make_less_but_not_less_than_its_floor():
    """Tests that a mixture below the envelope passes down to the fair floor."""
    instance = one_axis([3, 4, F(9, 2), 8], [1, 2, 3, 4])
    assert violations(instance, mixed(3, 4)) == ()
    rules, text = found(mixed(3, F(39, 10)), instance)
    assert rules == [("fair-floor", "$.jobs[0].throughput")]
    assert "makes 3.9, but its fair share gives 4" in text


def test_mixtures_of_unfair_points_need_rows():
    """Tests that time on an unfair point counts only where the bound reckons with it."""
    # Half on 0 cores and half on 4 makes 5.5 with 2 cores; fair points make 4 there.
    instance = one_axis([3, 4, 8], [0, 2, 4])
    assert violations(instance, mixed(2, F(11, 2), rows=True)) == ()
    rules, _ = found(mixed(2, F(11, 2)), instance)
    assert rules == [("throughput", "$.jobs[0].throughput")]


def test_no_mixture_within_the_demand():
    """Tests that a demand below every allowed point is named, whatever is stated."""
    instance = one_axis([3, 4, 8], [1, 2, 4])
    for stated in (F(0), F(4)):
        rules, _ = found(mixed(F(3, 2), stated), instance)
        assert ("throughput", "$.jobs[0].throughput") in rules
