"""Stage 2 step by step: what each way is given, what is handed on, each figure of the split."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from builders import cluster, instance, wants

from synergy_opt.answer import Piece, SplitBound
from synergy_opt.errors import Infeasible, SolverFailed
from synergy_opt.ideal import ideal_allocation
from synergy_opt.placement import fractional, place, stage_2_program
from synergy_opt.placement.division import Problem
from synergy_opt.solution import Limits
from synergy_opt.solvers import solver

F = Fraction
HALF = F(1, 2)
FLAT = wants("flat", (1, 1))
HIGHS = solver("highs")

# Three jobs of 2 GPUs and 2 cores on two servers of 3: one has to be cut in halves.
THREE = instance(cluster((2, 3, 3)), (FLAT, 2), (FLAT, 2), (FLAT, 2))
IDEAL = ideal_allocation(THREE)
HALVED = [{0: F(1)}, {1: F(1)}, {0: HALF, 1: HALF}]


def test_every_field_of_a_placement():
    """Tests pieces, figures, and what the allocation brings along."""
    given = replace(IDEAL, stopped=True, proof="core")
    found = place(THREE, given)
    whole = [(Piece(server=i, gpus=F(2), amounts=(F(2),)),) for i in (0, 1)]
    parts = tuple(Piece(server=i, gpus=F(1), amounts=(F(1),)) for i in (0, 1))
    assert [job.pieces for job in found.jobs] == [*whole, parts]
    assert [(job.id, job.demand, job.throughput) for job in found.jobs] == [
        (choice.id, choice.demand, choice.throughput) for choice in IDEAL.jobs
    ]
    assert found.split == SplitBound(
        servers=2,
        rows_per_server=2,
        components=1,
        extra_pieces=1,
        split_jobs=1,
        tight_rows=4,
        fewest=None,
    )
    assert (found.instance, found.mechanism) == ("small", "optimal")
    assert (found.bound, found.proof, found.stopped) == (IDEAL.bound, "core", True)
    assert not place(THREE, IDEAL).stopped


@pytest.mark.parametrize(
    ("large", "options", "halves"),
    [
        (6, {}, False),  # three jobs on two servers are not above 6
        (5, {}, True),
        (5, {"fewest_splits": True}, False),
        (5, {"bisection": False}, False),
        (6, {"bisection": True}, True),
        (6, {"bisection": True, "fewest_splits": True}, True),
    ],
)
def test_when_servers_are_halved(monkeypatch, large, options, halves):
    """Tests the size from which on they are, and who may decide otherwise."""
    seen = []
    monkeypatch.setattr(fractional, "_LARGE", large)
    monkeypatch.setattr(
        fractional, "halved", lambda problem, solve: seen.append((problem.totals, solve)) or HALVED
    )
    found = place(THREE, IDEAL, solver=HIGHS, **options)
    assert seen == ([([(2, 2)] * 3, HIGHS)] if halves else [])
    assert found.split.fewest == (1 if options == {"fewest_splits": True} else None)


def test_the_size_from_which_servers_are_halved():
    """Tests the number that the notes of `place` give."""
    assert fractional._LARGE == 20_000


def test_limits_are_a_limits():
    """Tests that a bare number is refused."""
    with pytest.raises(TypeError, match="limits must be a Limits"):
        place(THREE, IDEAL, limits=5)


@pytest.mark.parametrize(
    ("searched", "fewest", "kept"),
    [
        ([1, 0, None], 1, [0, 1, None]),  # no more whole jobs than best fit has
        ([1, 0, 1], 0, [1, 0, 1]),
        (None, 1, [0, 1, None]),
        (None, None, [0, 1, None]),
    ],
)
def test_the_search_for_the_fewest_splits(monkeypatch, searched, fewest, kept):
    """Tests that its point is taken where it has more whole jobs, and its bound always."""
    limits, asked, given = Limits(time=7.0), [], []
    monkeypatch.setattr(
        fractional, "most_whole", lambda problem, at: asked.append(at) or (searched, fewest)
    )
    monkeypatch.setattr(
        fractional,
        "vertex",
        lambda problem, whole, solve: given.append((whole, solve)) or HALVED,
    )
    found = place(THREE, IDEAL, fewest_splits=True, limits=limits, solver=HIGHS)
    assert asked == [limits]
    assert given == [(kept, HIGHS)]
    assert found.split.fewest == fewest
    place(THREE, IDEAL, limits=limits)
    assert asked == [limits]  # only where it is asked for


def test_whole_jobs_move_where_the_rest_does_not_fit(monkeypatch):
    """Tests the second programme: no job is whole beforehand, and where it was is preferred."""
    given = []

    def vertex(problem, whole, solve, *, preferred=None):
        given.append((whole, preferred, solve))
        return None if preferred is None else HALVED

    monkeypatch.setattr(fractional, "vertex", vertex)
    place(THREE, IDEAL, solver=HIGHS)
    assert given == [([0, 1, None], None, HIGHS), ([None] * 3, [0, 1, None], HIGHS)]


def test_one_group_that_cannot_be_divided_is_infeasible(monkeypatch):
    """Tests that nothing more is tried with one group of servers."""
    tried = []
    monkeypatch.setattr(fractional, "vertex", lambda *a, **k: tried.append(1))
    with pytest.raises(Infeasible, match="cannot be divided among these server groups"):
        place(THREE, IDEAL)
    assert len(tried) == 2


# Two groups ----------------------------------------------------------------------------------

POOR_RICH = cluster((1, 2, 2), (1, 2, 8))
HUNGRY = wants("hungry", (1, 1), (2, 4))


def on_two_groups(gpus, cores, throughput):
    """Give an instance of one job and an allocation of `cores` a GPU to it."""
    question = instance(POOR_RICH, (HUNGRY, gpus))
    allocation = ideal_allocation(question)
    point = {1: 0, 4: 1}[cores]
    choice = replace(
        allocation.jobs[0],
        mixture=((point, F(1)),),
        demand=(F(cores * gpus),),
        throughput=F(throughput),
    )
    return question, replace(allocation, jobs=(choice,))


def test_fairness_is_that_of_the_groups_touched():
    """Tests each group alone, both together, and the unit of the throughput."""
    poor, both = [{0: F(1)}], [{0: HALF, 1: HALF}]
    rich, group = [{1: F(1)}], np.array([0, 1])
    question, allocation = on_two_groups(2, 1, 1)
    assert fractional._is_fair(question, allocation, group, poor)
    assert fractional._is_fair(question, allocation, group, both)
    assert not fractional._is_fair(question, allocation, group, rich)
    question, allocation = on_two_groups(2, 4, 2)
    assert fractional._is_fair(question, allocation, group, rich)
    hair = replace(allocation.jobs[0], throughput=2 - F(1, 10**9))
    assert not fractional._is_fair(question, replace(allocation, jobs=(hair,)), group, rich)
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        fractional._is_fair(question, allocation, group, [])


def test_fairness_counts_in_the_unit_of_the_objective():
    """Tests two GPUs of weight 3 in the absolute objective: 6 for each unit of the profile."""
    question, allocation = on_two_groups(2, 4, 12)
    jobs = [replace(question.jobs[0], weight=F(3))]
    question = replace(question, jobs=jobs, objective="absolute")
    assert fractional._is_fair(question, allocation, np.array([0, 1]), [{1: F(1)}])
    low = replace(allocation, jobs=(replace(allocation.jobs[0], throughput=F(11)),))
    assert not fractional._is_fair(question, low, np.array([0, 1]), [{1: F(1)}])


def test_a_second_look_lets_every_job_everywhere(monkeypatch):
    """Tests that where nothing is found a vertex with all groups is asked for."""
    question, allocation = on_two_groups(2, 1, 1)
    seen = []

    def at_vertex(problem, solve, limits, *, fewest_splits):
        seen.append((problem.fair.tolist(), solve, limits, fewest_splits))
        return ([{0: F(1)}], 0) if problem.fair.all() else (None, None)

    monkeypatch.setattr(fractional, "_at_vertex", at_vertex)
    monkeypatch.setattr(fractional, "halved", lambda problem, solve: None)
    limits = Limits(time=9.0)
    found = place(question, allocation, solver=HIGHS, limits=limits, fewest_splits=True)
    assert seen == [
        ([[True, False]], HIGHS, limits, True),
        ([[True, True]], HIGHS, limits, True),
    ]
    assert found.split.fewest == 0
    del seen[:]
    place(question, allocation, solver=HIGHS, bisection=True)
    assert seen == [([[True, True]], HIGHS, Limits(), False)]


def test_a_second_look_that_is_not_fair_is_refused(monkeypatch):
    """Tests that the outcome is judged, and what is said."""
    question, allocation = on_two_groups(2, 1, 1)
    answers = iter([(None, None), ([{1: F(1)}], None)])
    monkeypatch.setattr(fractional, "_at_vertex", lambda *a, **k: next(answers))
    with pytest.raises(
        Infeasible, match=r"^no division of stage 1's totals was found that is fair"
    ):
        place(question, allocation)
    monkeypatch.setattr(fractional, "_at_vertex", lambda *a, **k: (None, None))
    with pytest.raises(Infeasible, match=r"^the totals of stage 1 cannot be divided among these"):
        place(question, allocation)


# The figures ---------------------------------------------------------------------------------


def chain():
    """Give the problem of four jobs of 1 GPU and 2 cores on four servers of 2 GPUs and 3 cores."""
    return Problem(
        name="chain",
        resources=("cpu",),
        totals=[(F(1), F(2))] * 4,
        capacities=[(F(2), F(3))],
        group=np.zeros(4, dtype=np.int64),
        fair=np.ones((4, 1), dtype=bool),
    )


@pytest.mark.parametrize(
    ("shares", "components", "extra", "split", "tight"),
    [
        ([{0: F(1)}, {1: F(1)}, {2: F(1)}, {3: F(1)}], 4, 0, 0, 0),
        ([{0: F(1)}, {0: HALF, 1: HALF}, {1: F(1)}, {3: F(1)}], 3, 1, 1, 2),
        ([{0: F(1)}, {0: HALF, 1: HALF}, {1: HALF, 2: HALF}, {3: F(1)}], 2, 2, 2, 1),
        ([{0: F(1)}, {1: F(1, 4), 2: F(1, 4), 3: HALF}, {1: F(1)}, {2: F(1)}], 2, 2, 1, 0),
    ],
)
def test_the_figures_of_a_split(shares, components, extra, split, tight):
    """Tests servers, rows, components with empty servers, pieces, split jobs and full rows."""
    found = fractional._split_bound(chain(), shares)
    assert found == SplitBound(
        servers=4,
        rows_per_server=2,
        components=components,
        extra_pieces=extra,
        split_jobs=split,
        tight_rows=tight,
    )
    assert all(
        type(getattr(found, n)) is int for n in ("components", "extra_pieces", "split_jobs")
    )


def test_a_server_given_a_hair_too_much_is_noticed():
    """Tests that full rows are no fault and anything more is, in any row of any server."""
    full = [{0: F(1)}, {0: HALF, 1: HALF}, {1: F(1)}, {3: F(1)}]
    assert fractional._split_bound(chain(), full).tight_rows == 2
    hair = F(1, 10**12)
    for over in (
        [{0: F(1)}, {0: HALF + hair, 1: HALF - hair}, {2: F(1)}, {3: F(1)}],
        [{0: F(1)}, {1: F(1)}, {3: F(1)}, {2: HALF - hair, 3: HALF + hair}],
    ):
        with pytest.raises(SolverFailed, match=r"^stage 2 gives a server more than it has"):
            fractional._split_bound(chain(), over)


def test_more_pieces_than_a_vertex_has_are_refused(monkeypatch):
    """Tests both bounds: q (s − κ) and the full rows."""
    roomy = instance(cluster((2, 9, 9)), (FLAT, 2), (FLAT, 2), (FLAT, 2))
    monkeypatch.setattr(fractional, "halved", lambda problem, solve: HALVED)
    with pytest.raises(SolverFailed, match=r"^1 extra pieces: this is no vertex"):
        place(roomy, ideal_allocation(roomy), bisection=True)  # no row is full
    assert place(THREE, IDEAL, bisection=True).split.extra_pieces == 1
    cut = [{0: F(3, 4), 1: F(1, 4)}, {0: F(1, 4), 1: F(3, 4)}, {0: HALF, 1: HALF}]
    monkeypatch.setattr(fractional, "halved", lambda problem, solve: cut)
    with pytest.raises(SolverFailed, match=r"^3 extra pieces: this is no vertex"):
        place(THREE, IDEAL, bisection=True)  # all four rows are full, but q (s − κ) is 2


def test_the_whole_programme_of_stage_2():
    """Tests name, rows, bounds by fairness, and best fit as the objective."""
    question, allocation = on_two_groups(2, 1, 1)
    program = stage_2_program(question, allocation)
    assert program.name == "small-stage-2"
    assert program.row_names[1:] == (
        "capacity_gpus_0",
        "capacity_cpu_0",
        "capacity_gpus_1",
        "capacity_cpu_1",
    )
    assert program.value.tolist() == [1] * 6
    assert program.row_upper.tolist() == [1, 1, 1, 1, 4]
    assert program.upper.tolist() == [np.inf, 0]
    assert program.cost.tolist() == [1, 0]
