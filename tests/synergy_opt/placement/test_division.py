"""Stage 2 as vectors: each way to divide, worked out by hand on a few servers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from builders import cluster, instance, wants

from synergy_opt.errors import SolverFailed
from synergy_opt.ideal import ideal_allocation
from synergy_opt.placement import division
from synergy_opt.placement.division import (
    Problem,
    best_fit,
    halved,
    most_whole,
    problem_of,
    vertex,
)
from synergy_opt.solution import Basis, Limits, Solution, Stop
from synergy_opt.solvers import solver

F = Fraction
HALF = F(1, 2)


def problem(totals, servers, *, group=None, fair=None):
    """Give a problem; servers are capacities, each a group of its own unless `group` says else."""
    group = list(range(len(servers))) if group is None else group
    return Problem(
        name="p",
        resources=("cpu", "memory")[: len(servers[0]) - 1],
        totals=[tuple(map(F, total)) for total in totals],
        capacities=[tuple(map(F, capacity)) for capacity in servers],
        group=np.array(group),
        fair=np.ones((len(totals), len(servers)), dtype=bool) if fair is None else np.array(fair),
    )


# The problem ---------------------------------------------------------------------------------

RICH = wants("rich", (1, 1, 1), (3, 4, 2))


def two_groups(**options):
    """Give two servers of 2 GPUs with little, one of 4 with much, and three jobs."""
    return instance(
        cluster((2, 2, 3, 4), (1, 4, 16, 12)), (RICH, 1), (RICH, 2), (RICH, 1), **options
    )


def test_the_problem_of_an_allocation():
    """Tests each field: GPUs first, each server's group, where a job makes its fair throughput."""
    question = two_groups()
    found = problem_of(question, ideal_allocation(question))
    assert (found.name, found.resources) == ("small", ("cpu", "memory"))
    assert found.totals == [(1, 4, 2), (2, 8, 4), (1, 4, 2)]
    assert found.capacities == [(2, 3, 4), (4, 16, 12)]
    assert found.group.tolist() == [0, 0, 1]
    assert found.free == [(2, 3, 4), (2, 3, 4), (4, 16, 12)]
    assert found.fair.tolist() == [[True, True]] * 3


def with_one_core_a_gpu(question, allocation, which):
    """Give an allocation in which some jobs have one core a GPU and make a third."""
    jobs = [
        replace(
            choice,
            mixture=((0, F(1)),),
            demand=(F(job.gpus),) * len(choice.demand),
            throughput=choice.throughput / 3,
        )
        if j in which
        else choice
        for j, (job, choice) in enumerate(zip(question.jobs, allocation.jobs, strict=True))
    ]
    return replace(allocation, jobs=tuple(jobs))


@pytest.mark.parametrize("weight", [1, F(1, 3), 3])
@pytest.mark.parametrize("objective", ["relative", "absolute"])
def test_a_job_is_fair_where_it_makes_no_less_than_its_share_there(objective, weight):
    """Tests that with one core a GPU only the poor group is fair, whatever the job's weight."""
    plain = two_groups(objective=objective)
    question = replace(plain, jobs=[replace(job, weight=F(weight)) for job in plain.jobs])
    low = with_one_core_a_gpu(question, ideal_allocation(question), {0, 2})
    found = problem_of(question, low)
    assert found.fair.tolist() == [[True, False], [True, True], [True, False]]
    assert found.fair.dtype == bool
    assert found.allowed.tolist() == [[True, True, False], [True] * 3, [True, True, False]]


def test_one_group_is_always_fair():
    """Tests that no floor is asked where the share is the same everywhere."""
    question = instance(cluster((2, 2, 8, 4)), (RICH, 1))
    low = with_one_core_a_gpu(question, ideal_allocation(question), {0})
    assert low.jobs[0].throughput < 1
    assert problem_of(question, low).fair.tolist() == [[True]]


# Best fit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("totals", "servers", "places"),
    [
        # The largest first, each where it leaves least; equal servers in their order.
        ([(1, 1), (2, 2), (3, 3)], [(4, 4), (3, 3)], [0, 0, 1]),
        ([(2, 2), (2, 2), (2, 2)], [(3, 3), (3, 3)], [0, 1, None]),
        ([(1, 1), (1, 1)], [(2, 2), (2, 2)], [0, 0]),
        # Sizes are parts of the largest server in each row: (1, 4) is 1/4 + 1/2, (2, 1) 1/2 + 1/8.
        ([(2, 1), (1, 4)], [(2, 4), (4, 8)], [1, 0]),
        # A server with room in sum and none in one row is passed over.
        ([(1, 5)], [(4, 4), (1, 6)], [1]),
        ([(3, 3)], [(2, 9), (4, 3)], [1]),
        ([(1, 1), (4, 4)], [(4, 4)], [None, 0]),
        # What is taken counts: 3 + 1 fill the first server in both rows.
        ([(3, 1), (1, 3), (1, 1)], [(4, 4), (4, 4)], [0, 0, 1]),
        # 4/4 + 1/8 are more than 1/4 + 6/8.
        ([(1, 6), (4, 1)], [(4, 8)], [None, 0]),
        ([], [(1, 1)], []),
    ],
)
def test_best_fit(totals, servers, places):
    """Tests the server of each job, None where none has room for all of it."""
    assert best_fit(problem(totals, servers)) == places


def test_best_fit_keeps_jobs_where_they_are_fair():
    """Tests that a job is put only on groups where it may be."""
    fair = [[False, True], [True, True], [False, False]]
    given = problem([(1, 1), (1, 1), (1, 1)], [(2, 2), (3, 3)], fair=fair)
    assert best_fit(given) == [1, 0, None]


# The most jobs that can be whole -------------------------------------------------------------


def test_most_whole_is_more_than_best_fit():
    """Tests 3 + 3 and 2 + 2 + 2 on servers of 6, which best fit spoils, and that 0 is proven."""
    given = problem([(3, 1), (3, 1), (2, 1), (2, 1), (2, 1)], [(6, 9), (6, 9)])
    place_of, fewest = most_whole(given, Limits())
    assert fewest == 0
    assert place_of[0] == place_of[1] != place_of[2] == place_of[3] == place_of[4]


def test_most_whole_leaves_what_cannot_be_whole():
    """Tests three jobs of two GPUs on two servers of three, by kind and by where they may be."""
    place_of, fewest = most_whole(problem([(2, 2)] * 3, [(3, 3), (3, 3)]), Limits())
    assert fewest == 1
    assert sorted(place_of, key=str) == [0, 1, None]
    fair = [[True, False], [False, True], [True, False], [False, True]]
    given = problem([(1, 1)] * 4, [(2, 2), (2, 2)], fair=fair)
    assert most_whole(given, Limits()) == ([0, 1, 0, 1], 0)


def test_most_whole_of_no_jobs():
    """Tests that nothing is placed and nothing split."""
    assert most_whole(problem([], [(1, 1)]), Limits()) == ([], 0)


@pytest.mark.parametrize(
    ("solution", "found"),
    [
        (Solution(stop=Stop.LIMIT), (None, None)),
        (Solution(stop=Stop.LIMIT, bound=1.5), (None, 1)),
        (Solution(stop=Stop.LIMIT, bound=1.9999999), (None, 0)),  # a hair below 2
        (
            Solution(stop=Stop.LIMIT, bound=7.0, x=np.array([0.9999999, 0, 0, 0] * 2)),
            ([0, None], 0),
        ),
        (Solution(stop=Stop.LIMIT, x=np.array([0, 2.0, 0, 0])), ([1, 1], None)),
    ],
)
def test_what_a_solver_knows_of_the_fewest_splits(monkeypatch, solution, found):
    """Tests that a bound is rounded up to jobs, and that there may be no point or no bound."""
    seen = []

    def named(name):
        assert name == "highs"
        return lambda program, limits: seen.append((program, limits)) or solution

    monkeypatch.setattr(division, "solver_named", named)
    limits = Limits(time=3.0)
    assert most_whole(problem([(1, 2)] * 2, [(2, 4), (2, 4)]), limits) == found
    ((program, passed),) = seen
    assert passed is limits
    assert program.name == "p-fewest-splits"
    assert program.row_names == (
        "kind_0",
        "capacity_gpus_0",
        "capacity_cpu_0",
        "capacity_gpus_1",
        "capacity_cpu_1",
    )
    assert program.row_upper.tolist() == [2, 2, 2, 2, 2]
    assert program.upper.tolist() == [2, 2, 2, 2]


# Vertices ------------------------------------------------------------------------------------

HIGHS = solver("highs")


def solving(solution, seen):
    """Give a solver that notes what it is asked and says one thing."""
    return lambda program, limits: seen.append((program, limits)) or solution


def test_jobs_that_are_whole_need_no_solver():
    """Tests that their places come back, and that a server given too much has no point."""
    given = problem([(1, 1), (2, 2)], [(2, 2), (2, 2)])
    assert vertex(given, [1, 0], None) == [{1: 1}, {0: 1}]
    assert vertex(given, [0, 0], None) is None


def test_the_rest_is_placed_beside_the_whole_jobs():
    """Tests the programme that is asked for: what is left of servers, and where jobs may be."""
    given = problem(
        [(1, 2), (2, 2), (2, 1)],
        [(2, 3), (3, 2)],
        fair=[[True, True], [True, True], [False, True]],
    )
    seen = []
    basis = Basis(
        columns=np.array([True, True, False, True]),
        rows=np.array([False, False, True, True, False, True]),
    )
    shares = vertex(
        given, [0, None, None], solving(Solution(stop=Stop.OPTIMAL, basis=basis), seen)
    )
    ((program, limits),) = seen
    assert limits == Limits()
    assert program.name == "p-stage-2"
    assert program.row_names[2:] == (
        "capacity_gpus_0",
        "capacity_cpu_0",
        "capacity_gpus_1",
        "capacity_cpu_1",
    )
    assert program.row_upper.tolist() == [1, 1, 1, 1, 3, 2]
    assert program.upper.tolist() == [np.inf, np.inf, 0, np.inf]
    assert program.cost.tolist() == [0, 0, 0, 0]
    assert shares == [{0: 1}, {0: HALF, 1: HALF}, {1: 1}]


def test_preferred_servers_are_the_objective():
    """Tests that they are handed to the programme."""
    seen = []
    with pytest.raises(SolverFailed):
        vertex(
            problem([(1, 1), (1, 1)], [(1, 1), (1, 1)]),
            [None, None],
            solving(Solution(stop=Stop.OPTIMAL), seen),
            preferred=[1, None],
        )
    assert seen[0][0].cost.tolist() == [0, 1, 0, 0]


def test_what_a_solver_may_say_instead_of_a_vertex():
    """Tests no point, an interruption, and no basis: None, the interruption, an error."""
    given = problem([(1, 1)], [(1, 1)])
    assert vertex(given, [None], solving(Solution(stop=Stop.INFEASIBLE), [])) is None
    with pytest.raises(KeyboardInterrupt):
        vertex(given, [None], solving(Solution(stop=Stop.INTERRUPTED), []))
    with pytest.raises(SolverFailed, match="needs a vertex"):
        vertex(given, [None], solving(Solution(stop=Stop.LIMIT), []))
    assert vertex(problem([(3, 1)], [(1, 1), (1, 1)]), [None], HIGHS) is None


def basis(columns, rows):
    """Give a basis from the numbers of its columns and rows."""
    return Solution(
        stop=Stop.OPTIMAL,
        basis=Basis(columns=np.isin(np.arange(4), columns), rows=np.isin(np.arange(6), rows)),
    )


@pytest.mark.parametrize(
    ("columns", "rows", "shares"),
    [
        # Rows: two jobs, then GPUs and cores of server 0, GPUs and cores of server 1.
        # Job 0 (2, 2) and job 1 (1, 3) on servers (2, 4) and (2, 4).
        ([0, 3], [2, 3, 4, 5], [{0: 1}, {1: 1}]),
        ([1, 2], [2, 3, 4, 5], [{1: 1}, {0: 1}]),
        ([0, 1, 3], [3, 4, 5], [{0: 1}, {1: 1}]),  # GPUs of server 0 full: x_00 = 1, x_10 is 0
        ([0, 2, 3], [3, 4, 5], [{0: 1}, {1: 1}]),
        ([0, 1, 2], [2, 4, 5], [{0: HALF, 1: HALF}, {0: 1}]),  # cores of server 0: 3 + 2 x = 4
        ([0, 1, 3], [2, 3, 4], [{0: HALF, 1: HALF}, {1: 1}]),  # cores of server 1
    ],
)
def test_a_basis_is_solved_exactly(columns, rows, shares):
    """Tests the point of a basis; parts of 0 are no pieces."""
    given = problem([(2, 2), (1, 3)], [(2, 4), (2, 4)])
    assert vertex(given, [None, None], solving(basis(columns, rows), [])) == shares


@pytest.mark.parametrize(
    ("columns", "rows", "rule"),
    [
        ([0, 2], [2, 3, 4, 5], "breaks a row in exact arithmetic"),  # 3 of 2 GPUs on server 0
        ([0, 1, 3], [2, 4, 5], "negative part in exact arithmetic"),  # cores: 2 x = 4, x_01 = −1
        ([0, 1], [1, 3, 4, 5], "breaks a row in exact arithmetic"),  # job 1 is nowhere
        ([0], [2, 3, 4, 5], "not a basis"),
    ],
)
def test_a_basis_that_is_none_is_refused(columns, rows, rule):
    """Tests that every bound and every row is looked at exactly."""
    given = problem([(2, 2), (1, 3)], [(2, 4), (2, 4)])
    with pytest.raises(SolverFailed, match=rule):
        vertex(given, [None, None], solving(basis(columns, rows), []))


# Halving -------------------------------------------------------------------------------------


def sums(given, shares):
    """Give what each server is given."""
    used = [[F(0)] * len(vector) for vector in given.free]
    for total, row in zip(given.totals, shares, strict=True):
        assert sum(row.values()) == 1
        for i, part in row.items():
            used[i] = [u + part * a for u, a in zip(used[i], total, strict=True)]
    return [tuple(row) for row in used]


def test_halving_one_group():
    """Tests jobs in thirds and halves of units on servers that they fill exactly."""
    totals = [(1, F(1, 2)), (1, F(1, 3)), (2, F(7, 6)), (2, 2)]
    given = problem(totals, [(2, F(4, 3))], group=[0, 0, 0])
    assert sums(given, halved(given, None)) == [(2, F(4, 3))] * 3
    short = problem(totals, [(2, F(4, 3) - F(1, 1000))], group=[0, 0, 0])
    assert halved(short, None) is None
    assert halved(problem([(3, 1), (4, 1)], [(2, 9)], group=[0, 0, 0]), None) is None


def test_halving_several_groups():
    """Tests that jobs go to the groups where they may be, and there to all of its servers."""
    totals = [(2, 2), (2, 2), (2, 2), (1, 5), (1, 5), (2, 10)]
    fair = [[True, False]] * 3 + [[False, True]] * 3
    given = problem(totals, [(2, 2), (2, 10)], group=[0, 0, 0, 1, 1], fair=fair)
    shares = halved(given, HIGHS)
    assert sums(given, shares) == [(2, 2)] * 3 + [(2, 10)] * 2
    assert all({0, 1, 2} >= row.keys() for row in shares[:3])
    assert all({3, 4} >= row.keys() for row in shares[3:])
    assert (
        halved(problem(totals, [(2, 2), (2, 9)], group=[0, 0, 0, 1, 1], fair=fair), HIGHS) is None
    )


def test_halving_several_groups_may_cut_between_them():
    """Tests a job that no group holds beside the others: parts of it on both, in sum the whole."""
    given = problem([(2, 2), (2, 2), (2, 2)], [(3, 3), (3, 3)], group=[0, 1])
    shares = halved(given, HIGHS)
    assert sums(given, shares) == [(3, 3), (3, 3)]
    assert sum(len(row) for row in shares) == 4


def test_the_groups_as_servers():
    """Tests that a group counts as one server with all that its servers have."""
    given = problem([(1, 1)], [(2, F(1, 3)), (4, 5)], group=[0, 0, 0, 1])
    found = division._as_groups(given, [3, 1])
    assert found.free == [(6, 1), (4, 5)]
    assert found.totals == given.totals
    assert found.group.tolist() == [0, 1]


def test_numbers_in_whole_units():
    """Tests the units of each row."""
    assert division._whole((F(1, 2), F(2, 3), F(4)), (2, 6, 1)) == (1, 4, 4)


def test_a_solver_is_asked_only_for_the_division_among_groups():
    """Tests that the programme has a server for each group, and no jobs are whole beforehand."""
    seen = []
    given = problem([(1, 1), (1, 1)], [(2, 2), (2, 2)], group=[0, 0, 1])
    assert halved(given, solving(Solution(stop=Stop.INFEASIBLE), seen)) is None
    ((program, _),) = seen
    assert program.shape == (2 + 2 * 2, 2 * 2)
    assert program.row_upper.tolist() == [1, 1, 4, 4, 2, 2]
