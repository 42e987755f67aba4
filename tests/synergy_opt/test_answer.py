"""Answers print themselves, and their figures follow from their parts."""

from dataclasses import replace
from fractions import Fraction

from synergy_opt import ideal_allocation, shipped, tune
from synergy_opt.answer import Bound, SplitBound, relative_gap, vector_sum


def test_an_answer_prints_what_matters():
    """Tests the texts of an allocation and of placements with jobs split and left out."""
    instance = shipped("worked-example")
    ideal = ideal_allocation(instance)
    assert str(ideal) == (
        "Allocation of 'worked-example': 4 jobs, throughput 5.66667 ≤ 5.66667 (proof: multipliers)"
    )
    assert ideal.gap == 0
    placement = tune(instance)
    assert str(placement) == "Placement of 'worked-example' by tune: 4 jobs, throughput 5.66667"
    first, second, *rest = placement.jobs
    split = replace(first, pieces=(*first.pieces, *second.pieces))
    out = replace(second, pieces=(), throughput=Fraction(0))
    bound = Bound(value=Fraction(6), multipliers=(Fraction(0),) * 2)
    changed = replace(placement, jobs=(split, out, *rest), bound=bound)
    assert str(changed).endswith("4 jobs, 1 left out, 1 split, throughput 3.66667 ≤ 6")
    assert changed.split_jobs == ("J1",)
    assert changed.left_out == ("J2",)


def test_figures_follow_from_their_parts():
    """Tests gap, split limit and sums of vectors, also of none."""
    assert relative_gap(Fraction(4), Fraction(5)) == Fraction(1, 4)
    assert relative_gap(Fraction(0), Fraction(0)) == 0
    split = SplitBound(
        servers=4, rows_per_server=3, components=2, extra_pieces=5, split_jobs=4, tight_rows=9
    )
    assert split.limit == 6
    assert vector_sum([], 2) == (0, 0)
    assert vector_sum([(Fraction(1), Fraction(2)), (Fraction(3), Fraction(4))], 2) == (4, 6)
