"""Comparisons: every figure recomputed by hand, and the bound that holds for each row."""

from dataclasses import replace
from fractions import Fraction

from synergy_opt import (
    Infeasible,
    Instance,
    Piece,
    PlacedJob,
    Placement,
    compare,
    proportional,
    shipped,
    tune,
)
from synergy_opt.measures import above_a_server, below_floor, server_utilisation, utilisation
from synergy_opt.report import comparison_json, footnotes, gap_text, judge, table


def moved(instance: Instance, cpu: int, memory: int) -> Placement:
    """Give TUNE's placement with other amounts for the first job, which runs alone."""
    piece = Piece(server=0, gpus=Fraction(4), amounts=(Fraction(cpu), Fraction(memory)))
    job = replace(tune(instance).jobs[0], demand=piece.amounts, pieces=(piece,))
    rest = [
        PlacedJob(id=j.id, demand=(Fraction(0),) * 2, throughput=Fraction(0), pieces=())
        for j in instance.jobs[1:]
    ]
    return Placement(instance=instance.name, mechanism="mine", jobs=(job, *rest))


def test_utilisation_is_what_is_placed_over_what_is_there():
    """Tests the parts in use by server and in all, on the worked example."""
    instance = shipped("worked-example")
    placement = moved(instance, 12, 125)
    assert utilisation(instance, placement) == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 8))
    assert server_utilisation(instance, placement) == [
        (Fraction(1, 2), Fraction(1, 2), Fraction(1, 4)),
        (0, 0, 0),
    ]


def test_left_out_and_slow_jobs_are_below_their_floor():
    """Tests who is below the fair throughput, by the share of the groups that are touched."""
    instance = shipped("worked-example")
    assert below_floor(instance, tune(instance)) == ()
    assert below_floor(instance, moved(instance, 12, 250)) == ("J2", "J3", "J4")
    groups = shipped("two-groups")
    assert below_floor(groups, proportional(groups)) == ()


def test_a_row_that_is_not_consolidated_gets_the_weaker_bound():
    """Tests that more than a server's worth is noticed, and no stronger bound is claimed."""
    instance = shipped("worked-example")
    assert above_a_server(instance, tune(instance)) == ()
    assert above_a_server(instance, moved(instance, 36, 420)) == ("J1",)
    bound = compare(instance, {}).ideal.bound
    row = judge(instance, "mine", moved(instance, 20, 420), bound=bound)
    assert row.bound is not None
    assert row.bound.skipping
    assert row.bound.consolidated
    assert row.below == ("J2", "J3", "J4")
    assert gap_text(row).endswith("*")


def test_an_unfair_row_has_no_bound():
    """Tests that a placed job below its floor leaves the row without a gap."""
    instance = shipped("worked-example")
    placement = tune(instance)
    first = replace(placement.jobs[0], throughput=Fraction(1, 2))
    bound = compare(instance, {}).ideal.bound
    unfair = replace(placement, jobs=(first, *placement.jobs[1:]))
    row = judge(instance, "mine", unfair, bound=bound)
    assert row.bound is None
    assert row.gap is None
    assert gap_text(row) == "–"
    assert any("throughput" in rule for rule in row.broken)


def test_a_placement_of_other_jobs_is_marked_and_not_measured():
    """Tests that unknown jobs and servers give the broken rules and no figures."""
    instance = shipped("worked-example")
    placement = tune(instance)
    stranger = replace(placement.jobs[0], id="X")
    far = replace(placement.jobs[0], pieces=(replace(placement.jobs[0].pieces[0], server=9),))
    for job in (stranger, far):
        row = judge(instance, "mine", replace(placement, jobs=(job, *placement.jobs[1:])))
        assert row.broken
        assert row.utilisation == ()
    empty = Placement(instance=instance.name, mechanism="mine", jobs=())
    assert judge(instance, "mine", empty).broken


def test_a_placement_of_nothing_has_no_gap():
    """Tests that throughput 0 is no division by zero."""
    instance = shipped("worked-example")
    nothing = replace(moved(instance, 12, 250))
    out = replace(nothing.jobs[0], demand=(Fraction(0),) * 2, throughput=Fraction(0), pieces=())
    nothing = replace(nothing, jobs=(out, *nothing.jobs[1:]))
    row = judge(instance, "mine", nothing, bound=compare(instance, {}).ideal.bound)
    assert row.gap is None
    assert gap_text(row) == "∞*"


def test_the_table_and_its_footnotes_show_every_mark():
    """Tests the rows of a table, the marks, and a mechanism that finds nothing."""

    def cannot(instance: Instance) -> Placement:
        raise Infeasible("the totals do not fit")

    def wrong(instance: Instance) -> Placement:
        return Placement(instance=instance.name, mechanism="wrong", jobs=())

    seen: list[str] = []
    instance = shipped("worked-example")
    mechanisms = {"tune": tune, "cannot": cannot, "wrong": wrong}
    found = compare(instance, mechanisms, progress=seen.append)
    assert seen == ["bound", "tune", "cannot", "wrong"]
    assert [row.mechanism for row in found.rows] == ["tune", "wrong"]
    assert found.without == (("cannot", "the totals do not fit"),)
    assert table(found).row_count == 3
    notes = "\n".join(footnotes([found]))
    assert "cannot finds no placement: the totals do not fit" in notes
    assert "✗ the placement breaks a rule" in notes
    document = comparison_json(found)
    assert document["without"] == {"cannot": "the totals do not fit"}
    assert document["proof"] == "multipliers"
