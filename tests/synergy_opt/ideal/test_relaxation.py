"""Stage 1's linear programme in exact arithmetic: what HiGHS' tolerance lets pass is refused."""

from fractions import Fraction

import numpy as np
import pytest
from builders import cluster, instance, wants

from synergy_opt.errors import SolverFailed
from synergy_opt.ideal import relaxation
from synergy_opt.ideal.multipliers import price_bound
from synergy_opt.ideal.relaxation import best_bound, relax
from synergy_opt.kinds import kinds
from synergy_opt.solution import Basis, Limits, Solution, Stop

# Two jobs want 5 of 6 cores each: with both at 5 the row of the cores is broken.
TWO = instance(
    cluster((1, 2, 6)), (wants("p", (1, 3), (2, 5)), 1), (wants("q", (1, 3), (3, 5)), 1)
)
MERGED = kinds(TWO, TWO.jobs)


def beyond(program, limits):
    """Give a basis of both jobs' larger configurations; the row of the cores stays slack."""
    columns = np.array([False, True, False, True])
    rows = np.array([True, False, False])
    return Solution(
        stop=Stop.OPTIMAL, row_duals=np.zeros(3), basis=Basis(columns=columns, rows=rows)
    )


def test_a_vertex_that_exact_arithmetic_refutes(monkeypatch):
    """Tests that such a vertex is an error where it is the answer, and no answer where not.

    Its prices are believed no more than any others: they give a valid bound, if a poor one.
    """
    monkeypatch.setattr(relaxation, "solver_named", lambda name: beyond)
    with pytest.raises(SolverFailed, match="breaks a bound in exact arithmetic"):
        relax(TWO, MERGED, rows=False, limits=Limits())
    found = relax(TWO, MERGED, rows=False, limits=Limits(), needed=False)
    assert found.counts is None
    assert found.prices == (0,)
    bound = best_bound(MERGED, TWO.cluster, found, integral=True, rows=False, consolidated=True)
    assert bound.value == price_bound(MERGED, TWO.cluster.capacity, (Fraction(0),)) == 5


def test_without_a_basis_the_floats_give_the_bound(monkeypatch):
    """Tests that at a limit the solver's duals are prices all the same, and there is no vertex."""

    def early(program, limits):
        # The row is in units of its own; the price of a core is dual · row limit / cores.
        return Solution(stop=Stop.LIMIT, row_duals=np.array([6 / program.row_upper[0] / 2, 0, 0]))

    monkeypatch.setattr(relaxation, "solver_named", lambda name: early)
    found = relax(TWO, MERGED, rows=False, limits=Limits())
    assert (found.counts, found.prices) == (None, None)
    assert found.near == pytest.approx((0.5,))
    bound = best_bound(MERGED, TWO.cluster, found, integral=False, rows=False, consolidated=True)
    assert bound.multipliers == (Fraction(1, 2),)
    # 6 · 1/2 for the cores, 1 − 3/2 and 3 − 5/2 for the jobs' best configurations.
    assert bound.value == 3 - Fraction(1, 2) + Fraction(1, 2)
