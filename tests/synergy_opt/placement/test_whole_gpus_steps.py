"""Rounding to whole GPUs on clusters small enough to follow: the order, the shares, the menus."""

from dataclasses import replace
from fractions import Fraction

import pytest
from builders import cluster, demands, instance, wants, where

from synergy_opt.answer import Piece, PlacedJob, Placement
from synergy_opt.demand import Demand
from synergy_opt.ideal import ideal_allocation
from synergy_opt.placement import whole_gpus
from synergy_opt.placement.whole_gpus import realize, unplaced

F = Fraction
FLAT = wants("flat", (1, 1))
CURVE = wants("curve", (2, 2), (4, 4), (6, 6))


def test_jobs_without_a_place_are_placed_by_size():
    """Tests that the largest comes first, by GPUs and not by its number."""
    question = instance(cluster((2, 4, 4)), (FLAT, 1), (FLAT, 4), (FLAT, 2))
    found = realize(question, unplaced(ideal_allocation(question)))
    assert where(found) == {"a": [(1, 1)], "b": [(0, 4)], "c": [(1, 2)]}


def test_jobs_of_equal_gpus_are_placed_by_what_they_want():
    """Tests that the hungrier one comes first, and that equal ones keep their order."""
    hungry = wants("hungry", (1, 1), (4, 3))
    question = instance(cluster((2, 2, 4)), (FLAT, 1), (hungry, 1), (hungry, 1))
    found = realize(question, unplaced(ideal_allocation(question)))
    assert where(found) == {"a": [(0, 1)], "b": [(0, 1)], "c": [(1, 1)]}
    assert demands(found) == {"a": (1,), "b": (3,), "c": (3,)}


def on(server, job, cores, value):
    """Give a job whole on a server."""
    piece = Piece(server=server, gpus=F(1), amounts=(F(cores),))
    return PlacedJob(id=job, demand=(F(cores),), throughput=F(value), pieces=(piece,))


def test_a_job_has_at_least_its_share_on_the_group_that_it_is_on():
    """Tests two jobs on the rich server: the share there is 4 cores, not 2, for either."""
    question = instance(cluster((1, 2, 4), (1, 2, 8)), (CURVE, 1), (CURVE, 1))
    given = Placement(
        instance="small", mechanism="by hand", jobs=(on(1, "a", 2, 1), on(1, "b", 6, 3))
    )
    found = realize(question, given)
    assert where(found) == {"a": [(1, 1)], "b": [(1, 1)]}
    assert demands(found) == {"a": (4,), "b": (4,)}
    assert [job.throughput for job in found.jobs] == [2, 2]
    alone = realize(question, replace(given, jobs=(on(0, "a", 2, 1), on(1, "b", 6, 3))))
    assert demands(alone) == {"a": (4,), "b": (6,)}  # all of the poor server


def given_totals(question, *wishes):
    """Give a placement of jobs on one server, with these totals."""
    ideal = unplaced(ideal_allocation(question))
    jobs = [on(0, job.id, wish, 1) for job, wish in zip(ideal.jobs, wishes, strict=True)]
    return replace(ideal, jobs=tuple(jobs))


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_what_a_job_cannot_use_goes_to_another_one(order):
    """Tests that two cores that one job gives up are the other's, whichever comes first."""
    sated = wants("sated", (1, 1))
    hungry = wants("hungry", (1, 1), (4, 5))
    kinds = {"a": (sated, 1), "b": (hungry, 1)}
    question = instance(cluster((1, 2, 6)), *(kinds[name] for name in order))
    found = realize(question, given_totals(question, 3, 3))
    assert sorted(demands(found).values()) == [(1,), (5,)]
    assert found.proof == "multipliers"


def test_a_job_that_has_all_it_can_use_does_not_end_the_rounding():
    """Tests that one change in a pass, whoever is last in it, is followed by another pass."""
    sated, steady = wants("sated", (1, 1)), wants("steady", (1, 3))
    hungry = wants("hungry", (1, 1), (4, 5))
    question = instance(cluster((1, 3, 9)), (hungry, 1), (sated, 1), (steady, 1))
    found = realize(question, given_totals(question, 3, 3, 3))
    assert demands(found) == {"a": (5,), "b": (1,), "c": (3,)}


@pytest.mark.parametrize("weights", [(1, 1), (100, 1)])
@pytest.mark.parametrize("order", ["cst", "cts"])
def test_who_lost_most_is_served_first(order, weights):
    """Tests that room that is left goes to the job farthest below its ideal, weights apart."""
    steep = wants("steep", (2, 3), (20, 5))
    mild = wants("mild", (2, 3), (4, 5))
    kinds = {"c": (FLAT, 1), "s": (steep, 1), "t": (mild, 1)}
    question = instance(cluster((1, 3, 9)), *(kinds[name] for name in order))
    weight = {"s": 1, "t": weights[0], "c": 1}
    jobs = [
        replace(job, weight=F(weight[name]))
        for job, name in zip(question.jobs, order, strict=True)
    ]
    question = replace(question, jobs=jobs)
    found = realize(question, given_totals(question, 3, 5, 5))
    got = dict(zip(order, (job.demand for job in found.jobs), strict=True))
    assert got == {"c": (1,), "s": (5,), "t": (3,)}


def test_the_menu_of_a_job_is_its_fair_configurations_best_first():
    """Tests values in shares, and that of equal values the smaller demand comes first."""
    both = wants("both", (2, 1, 1), (4, 3, 1), (4, 1, 3), (6, 3, 3))
    question = instance(cluster((1, 2, 6, 6)), (both, 1), (both, 1))
    found = list(whole_gpus._configurations(question, question.jobs[0]))
    assert found == [Demand(amounts=(F(3), F(3)), value=F(1))]
    poor = instance(cluster((1, 2, 6, 3)), (both, 1), (both, 1))
    assert list(whole_gpus._configurations(poor, poor.jobs[0])) == [
        Demand(amounts=(F(3), F(3)), value=F(3, 2)),
        Demand(amounts=(F(1), F(3)), value=F(1)),
        Demand(amounts=(F(3), F(1)), value=F(1)),
    ]


@pytest.mark.parametrize(
    ("amounts", "demand"),
    [
        (4, Demand(amounts=(F(4),), value=F(2))),
        (5, Demand(amounts=(F(5),), value=F(2))),  # the best grid point inside
        (2, Demand(amounts=(F(2),), value=F(1))),  # as good as the share
        (1, Demand(amounts=(F(3),), value=F(1))),  # nothing inside: the share of three cores
    ],
)
def test_a_wish_is_worth_at_least_the_share(amounts, demand):
    """Tests ideal totals above, at and below the share of three cores."""
    question = instance(cluster((1, 2, 6)), (CURVE, 1))
    assert whole_gpus._wish(question, question.jobs[0], (F(amounts),)) == demand


def test_the_units_of_the_books_hold_every_wish_and_every_configuration():
    """Tests thirds of a wish and halves of a configuration: needs a GPU, in units."""
    halves = wants("halves", (2, F(1, 2)), (5, F(3, 2)))
    question = instance(cluster((1, 4, 4)), (halves, 2), (halves, 2))
    jobs = [replace(job, weight=F(7)) for job in question.jobs]
    ideal = unplaced(ideal_allocation(question))
    wish = replace(ideal.jobs[0], demand=(F(5, 3) * 2,))
    ledger, offers, menus = whole_gpus._offers(
        question, jobs, replace(ideal, jobs=(wish, ideal.jobs[1]))
    )
    assert ledger.denominators == (6,)
    assert [offer.gpus for offer in offers] == [2, 2]
    assert [offer.demand.amounts for offer in offers] == [(F(10, 3),), ideal.jobs[1].demand]
    assert offers[0].demand.value == F(5, 2)  # not times the weight
    assert offers[0].demand.need == (1, 10)
    assert [(o.amounts, o.value, o.need) for o in menus[0]] == [
        ((3,), F(5, 2), (1, 9)),
        ((1,), 1, (1, 3)),
    ]
    assert menus[0] is menus[1]
    assert whole_gpus._size(offers[0]) == (2, 20)
