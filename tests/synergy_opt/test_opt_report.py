"""Comparisons: every figure recomputed by hand, and the bound that holds for each row."""

from dataclasses import replace
from fractions import Fraction

import pytest

from synergy_opt import (
    Bound,
    Infeasible,
    Instance,
    InvalidInstance,
    Piece,
    PlacedJob,
    Placement,
    bound_value,
    compare,
    ideal_allocation,
    judge,
    mix,
    optimal,
    packed,
    proportional,
    shipped,
    tune,
)
from synergy_opt.measures import above_a_server, below_floor, server_utilisation, utilisation
from synergy_opt.report import cells, comparison_json, footnotes, gap_text, row_json, table


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
    (failure,) = found.without
    assert (failure.mechanism, str(failure.error)) == ("cannot", "the totals do not fit")
    assert table(found).row_count == 3
    notes = "\n".join(footnotes([found]))
    assert "cannot finds no placement: the totals do not fit" in notes
    assert "✗ the placement breaks a rule" in notes
    document = comparison_json(found)
    assert document["without"] == {"cannot": "the totals do not fit"}
    assert document["proof"] == "multipliers"


def one_job(instance: Instance, **changes: object) -> Placement:
    """Give TUNE's placement with a first job that holds whatever is given."""
    first, *rest = tune(instance).jobs
    return replace(tune(instance), jobs=(replace(first, **changes), *rest))


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (lambda i: one_job(i, throughput=1.5), "exact-numbers"),
        (lambda i: one_job(i, throughput=None), "exact-numbers"),
        (lambda i: one_job(i, demand=(20.0, 420.0)), "exact-numbers"),
        (lambda i: one_job(i, demand=None), "types"),
        (lambda i: one_job(i, demand=(Fraction(1),)), "amounts"),
        (lambda i: one_job(i, pieces=None), "types"),
        (lambda i: one_job(i, pieces=(None,)), "types"),
        (lambda i: one_job(i, pieces=(Piece(server=0, gpus=4.0, amounts=(1, 2.5)),)), "exact"),
        (lambda i: one_job(i, id=["J1"]), "types"),
        (lambda i: replace(tune(i), jobs=None), "types"),
        (lambda i: replace(tune(i), jobs=(job for job in tune(i).jobs)), "types"),
        (lambda i: replace(tune(i), jobs=(["J1"] * 50,)), "types"),
        (lambda i: replace(tune(i), bound=6.0), "types"),
        (lambda i: replace(tune(i), bound=Bound(value=6.0, multipliers=None)), "types"),
        (lambda i: replace(tune(i), split=0), "types"),
        (lambda i: replace(tune(i), proof="surely"), "types"),
        (lambda i: replace(tune(i), mechanism=None), "types"),
        (lambda _: None, "types"),
        (lambda _: {"jobs": []}, "types"),
    ],
)
def test_whatever_a_mechanism_returns_is_judged(answer, rule):
    """Tests that wrong types and floats break a rule, and no figure is shown of them."""
    instance = shipped("worked-example")
    row = judge(instance, "mine", answer(instance), bound=ideal_allocation(instance).bound)
    assert any(f": {rule}" in text for text in row.broken)
    assert (row.throughput, row.gap, row.proof, row.bound) == (None, None, None, None)
    assert cells(row, width=2) == ["mine ✗", *["–"] * 9, "0"]
    document = row_json(row, ("cpu", "memory"))
    assert document["fair"] is document["throughput"] is document["left_out"] is None
    assert document["utilisation"] == {}


def test_a_broken_row_shows_only_what_can_be_counted():
    """Tests that an invented throughput gives no gap, while the parts in use stay."""
    instance = shipped("worked-example")
    row = judge(instance, "mine", one_job(instance, throughput=Fraction(9)))
    assert cells(row, width=2) == ["mine ✗", *["–"] * 6, "100%", "100%", "100%", "0"]


def test_the_library_names_the_function_that_returns_no_placement():
    """Tests wrong arguments of compare: what is no mapping, and a function that forgets."""
    instance = shipped("worked-example")

    def forgets(instance: Instance) -> None:
        tune(instance)

    with pytest.raises(TypeError, match=r"'mine' \(.*forgets\) must return a Placement, not None"):
        compare(instance, {"mine": forgets})
    with pytest.raises(TypeError, match=r"must map names to functions, .*, not list"):
        compare(instance, [tune])
    with pytest.raises(TypeError, match=r"instance must be an Instance, not str"):
        compare("worked-example", {})


def test_one_mechanism_that_fails_does_not_stop_the_others():
    """Tests that any error of this package is the row's reason."""

    def fails(instance: Instance) -> Placement:
        raise InvalidInstance("is odd", "mine")

    found = compare(shipped("worked-example"), {"mine": fails, "tune": tune})
    assert [(f.mechanism, str(f.error)) for f in found.without] == [("mine", "mine: is odd")]
    assert [row.proof for row in found.rows] == ["multipliers"]


def test_what_reaches_the_optimum_of_stage_1_has_its_proof():
    """Tests that optimality by search is stage 1's word, and a mechanism's own is not believed."""
    instance = shipped("two-groups")

    def boasts(instance: Instance) -> Placement:
        return replace(proportional(instance), proof="core")

    found = compare(instance, {"optimal": optimal, "boasts": boasts, "tune": tune})
    assert found.ideal.proof == "core"
    assert [row.proof for row in found.rows] == ["core", None, None]


def test_fractional_gpus_are_marked():
    """Tests the mark, its footnote and the JSON of a row that no real servers can hold."""
    found = compare(shipped("two-groups"), {"optimal": optimal, "tune": tune})
    first, second = found.rows
    assert cells(first, width=2)[0] == "optimal †"
    assert cells(second, width=2)[0] == "tune"
    assert "† fractional GPUs: no real servers can hold this" in footnotes([found])
    rows = comparison_json(found)["mechanisms"]
    assert [row["whole_gpus"] for row in rows] == [False, True]
    # Where no job is split, the vertex is a placement that servers can hold.
    (row,) = compare(shipped("worked-example"), {"optimal": optimal}).rows
    assert row.whole_gpus
    assert row.placement.split is not None


@pytest.mark.parametrize("name", ["worked-example", "two-groups", "three-resources"])
def test_the_bound_of_each_row_can_be_checked_from_the_json(name: str):
    """Tests that multipliers and rules in the JSON give the bound that stands beside them."""
    from synergy_opt import greedy

    instance = shipped(name)
    found = compare(instance, {"greedy": greedy, "tune": tune})
    document = comparison_json(found)
    assert document["consolidated"] is True
    for row, placed in zip(document["mechanisms"], found.rows, strict=True):
        rules = dict(row["certificate"])
        prices = rules.pop("multipliers")
        stated = Bound(
            value=Fraction(row["bound"]),
            multipliers=tuple(Fraction(prices[key]) for key in instance.cluster.names),
            **rules,
        )
        by_id = {job.id: job for job in instance.jobs}
        jobs = [by_id[job.id] for job in placed.placement.jobs]
        assert bound_value(instance, jobs, stated) <= stated.value
        assert row["consolidated"] is True


def test_the_condition_of_the_bound_is_stated_below_every_table():
    """Tests that the footnotes say for which placements bound and gap are."""
    notes = footnotes([compare(shipped("worked-example"), {})])
    rule = "that of the fewest servers that hold it, or its fair share"
    assert any(rule in note for note in notes)


def test_what_a_placement_remembers_of_its_sums_is_not_believed():
    """Tests that another number in the place of a computed sum changes no figure."""
    instance = shipped("worked-example")
    placement = tune(instance)
    placement.__dict__["throughput"] = Fraction(9)
    row = judge(instance, "mine", placement)
    assert not row.broken
    assert row.throughput == Fraction(17, 3)


def test_left_out_jobs_are_measured_against_the_better_weaker_bound():
    """Tests that prices too high where jobs may be skipped do not make the bound loose."""
    instance = shipped("worked-example")
    high = replace(ideal_allocation(instance).bound, multipliers=(Fraction(9), Fraction(9)))
    row = judge(instance, "mine", moved(instance, 20, 420), bound=high)
    assert row.bound is not None
    assert row.bound.multipliers == (0, 0)
    assert row.bound.value == Fraction(17, 3)


def test_a_proof_by_ones_own_bound_is_kept_apart_from_the_common_one():
    """Tests that packed, proven by its own bound below stage 1's, breaks no rule against that."""
    instance = mix(servers=4, seed=1)
    (row,) = compare(instance, {"packed": packed}).rows
    assert row.placement.proof == "patterns"
    assert row.placement.bound.value == row.throughput < row.bound.value
    assert (row.broken, row.proof) == ((), None)
    own = judge(instance, "packed", row.placement, bound=row.placement.bound)
    assert (own.gap, own.proof) == (0, "patterns")
