"""Faults that released solvers had or have, and what the adapters make of them."""

import math
import subprocess
import sys

import numpy as np
import pytest

from synergy_opt.errors import SolverFailed
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.placement import place
from synergy_opt.program import Program
from synergy_opt.solution import Limits, Solution, Stop
from synergy_opt.solvers import NAMES, solver

ALL_INTEGER = [name for name in NAMES if name != "brute_force"]


def knapsack(values: list[int], weights: list[int], room: int) -> Program:
    """A 0-1 knapsack."""
    n = len(values)
    return Program(
        name="knapsack",
        cost=np.array(values, dtype=float),
        starts=np.array([0, n]),
        index=np.arange(n),
        value=np.array(weights, dtype=float),
        row_lower=np.array([-math.inf]),
        row_upper=np.array([float(room)]),
        lower=np.zeros(n),
        upper=np.ones(n),
        integral=np.ones(n, dtype=bool),
        row_names=("room",),
        column_names=tuple(f"x{i}" for i in range(n)),
        scale=1,
    )


@pytest.mark.parametrize("order", ["highspy, ortools", "ortools, highspy"])
def test_highs_and_ortools_share_a_process(order):
    """Tests that both import orders solve with both (HiGHS 1.15 and OR-tools 9.15 clash)."""
    first, second = order.split(", ")
    code = f"""
import importlib
names = {{"highspy": "highspy", "ortools": "ortools.sat.python.cp_model"}}
for name in ({first!r}, {second!r}):
    importlib.import_module(names[name])
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
instance = mix(servers=2, seed=1)
assert (ideal_allocation(instance, solver="highs").throughput
        == ideal_allocation(instance, solver="cpsat").throughput)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ALL_INTEGER)
def test_default_gap_would_miss_the_optimum(name):
    """Tests that gap 0 finds an optimum that differs from the next best by less than 1e-4."""
    values, weights = [100_003, 100_001, 99_999], [2, 2, 2]
    found = solver(name)(knapsack(values, weights, 4), Limits())
    assert found.stop is Stop.OPTIMAL
    assert found.x is not None
    assert np.rint(found.x).tolist() == [1, 1, 0]


def test_threads_can_change_within_a_process():
    """Tests that HiGHS solves with another number of threads: it says "Not Set" if not reset."""
    program = knapsack([3, 2, 2], [3, 2, 2], 4)
    for threads in (1, 2, 1):
        found = solver("highs")(program, Limits(threads=threads))
        assert (found.stop, found.objective) == (Stop.OPTIMAL, 4.0)


_AMONG_OTHERS = """
import highspy
import numpy as np
from synergy_opt import ideal_allocation, mix, packed
from synergy_opt.solution import Limits

def theirs(threads):
    model = highspy.Highs()
    model.silent()
    model.setOptionValue("threads", threads)
    model.addCol(-1.0, 0.0, 1.0, 0, np.empty(0, np.int32), np.empty(0))
    model.run()
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal

theirs(2)
instance = mix(servers=2, seed=1, split=(33, 33, 34))
assert packed(instance, limits=Limits(time=20)).proof == "loads"
assert ideal_allocation(instance, solver="cvxpy").throughput > 0
theirs(2)
"""


def test_a_solve_of_somebody_else_with_other_threads_does_no_harm(tmp_path):
    """Tests HiGHS with two threads before and after our solves, in one thread of one process."""
    code = subprocess.run(
        [sys.executable, "-W", "error", "-c", _AMONG_OTHERS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert code.returncode == 0, code.stderr


def test_status_outside_the_table_is_a_failure(monkeypatch):
    """Tests that a HiGHS status that is no answer raises, with the status in the message."""
    from synergy_opt.solvers import highs_

    monkeypatch.setattr(highs_, "_STOPS", {})
    with pytest.raises(SolverFailed, match="kOptimal"):
        highs_.solve(knapsack([1], [1], 1), Limits())


def test_cvxpy_at_a_limit_knows_nothing():
    """Tests that cvxpy's zeros at a limit, which violate the constraints, are not an answer."""
    from synergy_opt.runnable import runnable
    from synergy_opt.solvers.cvxpy_ import solve_paper

    instance = mix(servers=8, seed=2)
    found = solve_paper(instance, runnable(instance), Limits(time=0.0))
    assert found.stop is Stop.LIMIT
    assert found.x is None


def test_limit_without_an_answer_gives_the_fair_shares():
    """Tests that a limit before the first answer gives every job its floor, and a valid bound."""
    instance = mix(servers=8, seed=2)
    found = ideal_allocation(instance, solver="cvxpy", limits=Limits(time=0.0))
    assert found.proof == "none"
    assert found.throughput >= len(found.jobs)
    assert found.bound.value >= found.throughput


def test_interior_point_without_crossover_is_refused():
    """Tests that stage 2 refuses an answer that is no vertex: it would split every job."""
    import highspy

    instance = mix(servers=4, seed=3)
    allocation = ideal_allocation(instance)

    def interior(program: Program, limits: Limits) -> Solution:
        from synergy_opt.solvers.highs_ import Quiet, _model, _solution

        model = Quiet()
        model.setOptionValue("solver", "ipm")
        model.setOptionValue("run_crossover", "off")
        model.passModel(_model(program))
        model.run()
        if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return Solution(stop=Stop.INFEASIBLE)
        return _solution(model, program, Stop.OPTIMAL)

    with pytest.raises(SolverFailed, match="basis"):
        place(instance, allocation, solver=interior)


def test_point_that_overfills_is_refused(monkeypatch):
    """Tests that a solver's answer beyond capacity raises with the amounts, whatever it claims."""
    from synergy_opt.ideal import allocation

    def greedy_liar(program: Program, limits: Limits) -> Solution:
        x = np.zeros(len(program.cost))
        rows = [name.startswith("jobs_") for name in program.row_names]
        for i in np.flatnonzero(rows):
            part = program.index[program.starts[i] : program.starts[i + 1]]
            x[part[np.argmax(program.cost[part])]] = program.row_upper[i]
        return Solution(stop=Stop.OPTIMAL, objective=1e9, bound=1e9, x=x)

    monkeypatch.setattr(allocation, "solver_named", lambda name: greedy_liar)
    with pytest.raises(SolverFailed, match=r"takes .* of .* cpu"):
        ideal_allocation(mix(servers=2, seed=5, split=(50, 0, 50)), solver="scipy")


def test_integers_that_are_not_whole_are_refused(monkeypatch):
    """Tests that 0.9 for an integer raises, while 0.9999999 is rounded."""
    from synergy_opt.ideal import allocation

    honest = solver("scipy")

    def smudged(by: float):
        def solve(program: Program, limits: Limits) -> Solution:
            found = honest(program, limits)
            return Solution(stop=found.stop, objective=found.objective, x=found.x * (1 - by))

        return solve

    instance = mix(servers=2, seed=5)
    monkeypatch.setattr(allocation, "solver_named", lambda name: smudged(0.1))
    with pytest.raises(SolverFailed, match="not whole"):
        ideal_allocation(instance, solver="scipy")
    monkeypatch.setattr(allocation, "solver_named", lambda name: smudged(1e-7))
    assert ideal_allocation(instance, solver="scipy").throughput == (
        ideal_allocation(instance, solver="highs").throughput
    )


def test_counts_that_lose_a_job_are_refused(monkeypatch):
    """Tests that an answer which leaves a job without a configuration raises."""
    from synergy_opt.ideal import allocation

    def nothing(program: Program, limits: Limits) -> Solution:
        return Solution(stop=Stop.OPTIMAL, objective=0.0, x=np.zeros(len(program.cost)))

    monkeypatch.setattr(allocation, "solver_named", lambda name: nothing)
    with pytest.raises(SolverFailed, match="configurations to"):
        ideal_allocation(mix(servers=2, seed=5), solver="scipy")


def test_objective_is_recomputed():
    """Tests that the throughput is the sum over the chosen grid points, not the solver's float."""
    instance = mix(servers=4, seed=6)
    found = ideal_allocation(instance)
    assert found.throughput == sum(job.throughput for job in found.jobs)
    assert found.throughput.denominator < 10**12
