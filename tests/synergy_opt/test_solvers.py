"""Adapters: each copies a programme into its solver and what the solver says into a `Solution`."""

import importlib
import math
import os
import signal
import threading

import numpy as np
import pytest

from synergy_opt.errors import SolverFailed
from synergy_opt.program import Program
from synergy_opt.solution import Limits, Stop
from synergy_opt.solvers import NAMES, solver


def program(rows, upper, cost, columns_upper, integral=True, scale=1) -> Program:
    """A programme from dense rows ≤ `upper`."""
    matrix = np.array(rows, dtype=float).reshape(len(upper), len(cost))
    m, n = matrix.shape
    return Program(
        name="small",
        cost=np.array(cost, dtype=float),
        starts=np.arange(m + 1) * n,
        index=np.tile(np.arange(n), m),
        value=matrix.ravel(),
        row_lower=np.full(m, -math.inf),
        row_upper=np.array(upper, dtype=float),
        lower=np.zeros(n),
        upper=np.array(columns_upper, dtype=float),
        integral=np.full(n, integral),
        row_names=tuple(f"r{i}" for i in range(m)),
        column_names=tuple(f"x{j}" for j in range(n)),
        scale=scale,
    )


@pytest.mark.parametrize("name", NAMES)
def test_small_integer_programme(name):
    """Tests that every solver finds the one optimum of a small integer programme."""
    found = solver(name)(program([[2, 3, 1], [4, 1, 2]], [5, 11], [5, 4, 3], [9, 9, 9]), Limits())
    assert found.stop is Stop.OPTIMAL
    assert found.x is not None
    assert np.rint(found.x).tolist() == [0, 0, 5]
    assert found.objective == pytest.approx(15)
    assert found.bound == pytest.approx(15)


@pytest.mark.parametrize("name", NAMES)
def test_infeasible_programme(name):
    """Tests that every solver says infeasible, with no point at all."""
    small = program([[1, 1]], [-1], [1, 1], [1, 1])
    found = solver(name)(small, Limits())
    assert (found.stop, found.x) == (Stop.INFEASIBLE, None)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "cpsat"])
def test_empty_programme(name):
    """Tests that nothing to decide is decided at once."""
    found = solver(name)(program([], [], [], []), Limits())
    assert (found.stop, found.objective) == (Stop.OPTIMAL, 0.0)


def test_costs_that_no_integer_scale_makes_whole():
    """Tests that CP-SAT rounds such costs up, so that its bound stays a bound."""
    third = program([[1, 1]], [1], [1 / 3, 0.25], [1, 1], scale=0)
    found = solver("cpsat")(third, Limits())
    assert found.objective == 1 / 3
    assert found.bound is not None
    assert found.bound >= 1 / 3


@pytest.mark.parametrize("rows", [[[0.5, 1]], [[1, 1]]])
def test_cpsat_refuses_what_is_not_whole(rows):
    """Tests that fractional rows and continuous columns are refused, not rounded."""
    whole = rows == [[0.5, 1]]
    with pytest.raises(SolverFailed, match="integer"):
        solver("cpsat")(program(rows, [1], [1, 1], [1, 1], integral=whole), Limits())


def test_brute_force_gives_up():
    """Tests that a programme too large to enumerate is refused after a bounded search."""
    large = program([[1] * 40], [40], [1] * 40, [9] * 40)
    with pytest.raises(SolverFailed, match="gives up"):
        solver("brute_force")(large, Limits())
    with pytest.raises(SolverFailed, match="negative"):
        solver("brute_force")(program([[-1]], [1], [1], [1]), Limits())


def test_unknown_solver():
    """Tests that an unknown name is refused with the names that exist."""
    with pytest.raises(ValueError, match="highs, scipy, cpsat"):
        solver("gurobi")


def test_linear_programme_has_a_basis_and_duals():
    """Tests that HiGHS gives a vertex's basis and the duals of its rows, all at least 0."""
    found = solver("highs")(
        program([[1, 2], [3, 1]], [4, 6], [3, 2], [math.inf, math.inf], integral=False), Limits()
    )
    assert found.basis is not None
    assert found.row_duals is not None
    assert found.row_duals == pytest.approx([0.6, 0.8])
    assert int(found.basis.columns.sum() + found.basis.rows.sum()) == 2


def hard_programme() -> Program:
    """A market-split problem: no solver closes it at once."""
    random = np.random.default_rng(0)
    rows = random.integers(1, 1000, (20, 200))
    return program(rows, rows.sum(axis=1) // 2, random.integers(1, 1000, 200), np.ones(200))


@pytest.mark.parametrize("name", ["highs", "scipy", "cpsat"])
def test_time_limit(name):
    """Tests that a time limit gives the best point so far and the bound, and says why."""
    found = solver(name)(hard_programme(), Limits(time=1.0))
    assert found.stop is Stop.LIMIT
    assert found.bound is not None
    if found.x is not None:
        assert found.objective is not None
        assert found.objective <= found.bound


@pytest.mark.parametrize("name", ["highs", "cpsat"])
def test_interrupt_keeps_what_there_is(name, monkeypatch, capfd):
    """Tests that Ctrl-C stops the solver, gives its bound and prints nothing, time and again."""
    # Whatever ran in this process before: Ctrl-C is Python's again.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    adapter = importlib.import_module(f"synergy_opt.solvers.{name}_")
    honest = adapter.run_interruptibly

    def interrupted_later(solve, cancel):
        # From here on Ctrl-C is looked after; earlier it would stop the test run.
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        return honest(solve, cancel)

    monkeypatch.setattr(adapter, "run_interruptibly", interrupted_later)
    found = solver(name)(hard_programme(), Limits(time=60.0))
    assert found.stop is Stop.INTERRUPTED
    assert found.bound is not None
    assert capfd.readouterr() == ("", "")
