"""The linear relaxation of stage 1, exact: a vertex and the multipliers that bound it.

Takes kinds of jobs and gives exact counts and prices, recomputed from the basis that HiGHS ends
with; where there is no basis (a time limit), prices that still give a valid bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from synergy_opt.answer import Bound
from synergy_opt.errors import SolverFailed
from synergy_opt.exact.linear import Equation, solve_exactly
from synergy_opt.ideal.multipliers import price_bound, rationalised
from synergy_opt.kinds import Kind
from synergy_opt.model import Cluster, Instance, Vector
from synergy_opt.program import FloatArray, ideal_program
from synergy_opt.solution import Basis, Limits, Solution, Stop
from synergy_opt.solvers import solver as solver_named

Counts = list[list[Fraction]]
"""For each kind, how many of its jobs are in each of its configurations."""


@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """What the linear programme of stage 1 ends with.

    Parameters
    ----------
    stop
        Why the solver stopped.
    counts
        A vertex, exact; None where a limit came first, or it was refuted and is not needed.
    prices
        The multipliers of the resources, an optimum of the dual; None where a limit came first.
    near
        The solver's floats for them, 0 where it has none.
    """

    stop: Stop
    counts: Counts | None
    prices: Vector | None
    near: tuple[float, ...]


def with_columns(merged: Sequence[Kind], *, rows: bool) -> list[Kind]:
    """Give the kinds with the configurations that get a column: all with `rows`, else the fair."""
    if rows:
        return list(merged)
    return [replace(kind, configurations=kind.configurations.fair()) for kind in merged]


def relax(
    instance: Instance, merged: Sequence[Kind], *, rows: bool, limits: Limits, needed: bool = True
) -> Relaxation:
    """Solve the linear programme of stage 1 with HiGHS and make its answer exact.

    Parameters
    ----------
    instance, merged, rows, limits
        As in `ideal_program`.
    needed
        The vertex is the answer, not only the prices.

    Raises
    ------
    SolverFailed
        When the vertex is needed and its point breaks a bound in exact arithmetic.
    """
    cluster, shown = instance.cluster, with_columns(merged, rows=rows)
    program = ideal_program(instance.name, shown, cluster, integral=False, rows=rows)
    solution = solver_named("highs")(program, limits)
    near = _float_prices(solution, program.row_upper, cluster)
    if solution.basis is None:
        return Relaxation(stop=solution.stop, counts=None, prices=None, near=near)
    matrix = _Matrix(shown, cluster, rows=rows)
    try:
        counts = matrix.counts(solution.basis)
    except SolverFailed:
        # On a grid of many decimals HiGHS' tolerance passes what exact arithmetic refuses.
        if needed:
            raise
        counts = None
    return Relaxation(
        stop=solution.stop,
        counts=counts,
        prices=matrix.prices(solution.basis),
        near=near,
    )


def best_bound(
    merged: Sequence[Kind],
    cluster: Cluster,
    relaxed: Relaxation,
    *,
    integral: bool,
    rows: bool,
    consolidated: bool,
) -> Bound:
    """Give the bound of the dual optimum, or the least near the floats where it is not known."""

    def value(multipliers: Vector) -> Fraction:
        return price_bound(merged, cluster.capacity, multipliers, integral=integral, rows=rows)

    if relaxed.prices is not None:
        multipliers, least = (
            relaxed.prices,
            value(relaxed.prices),
        )  # the dual optimum: no other is better
    else:
        multipliers, least = rationalised(relaxed.near, value)
    return Bound(
        value=least,
        multipliers=multipliers,
        integral=integral,
        rows=rows,
        consolidated=consolidated,
    )


def _float_prices(solution: Solution, limits: FloatArray, cluster: Cluster) -> tuple[float, ...]:
    """Give the duals of the resource rows, in units of the resources; 0 where there are none."""
    if solution.row_duals is None:
        return (0.0,) * len(cluster.names)
    scales = [limits[r] / float(amount) for r, amount in enumerate(cluster.capacity)]
    duals = solution.row_duals[: len(scales)]
    return tuple(max(float(d * s), 0.0) for d, s in zip(duals, scales, strict=True))


class _Matrix:
    """The programme's matrix in exact numbers, column by column, for solving with its basis."""

    def __init__(self, shown: Sequence[Kind], cluster: Cluster, *, rows: bool) -> None:
        self.shown, self.resources = shown, len(cluster.names)
        self.right = list(cluster.capacity) + [Fraction(len(kind)) for kind in shown]
        if rows:
            self.right += [kind.configurations.floor * len(kind) for kind in shown]
        self.rows = rows
        self.owner = [
            (t, k) for t, kind in enumerate(shown) for k in range(len(kind.configurations))
        ]

    def column(self, index: int) -> dict[int, Fraction]:
        """Give the entries of a column by row."""
        t, k = self.owner[index]
        found = self.shown[t].configurations
        entries = {r: found.demand[r][k] for r in range(self.resources)}
        entries[self.resources + t] = Fraction(1)
        if self.rows:
            entries[self.resources + len(self.shown) + t] = found.value[k]
        return entries

    def counts(self, basis: Basis) -> Counts:
        """Solve for the basic columns: the rows that are not basic hold with equality."""
        basic = [int(j) for j in np.flatnonzero(basis.columns)]
        tight = [int(i) for i in np.flatnonzero(~basis.rows)]
        equations: dict[int, dict[int, Fraction]] = {i: {} for i in tight}
        for k, j in enumerate(basic):
            for i, value in self.column(j).items():
                if i in equations:
                    equations[i][k] = value
        system: list[Equation] = [(equations[i], self.right[i]) for i in tight]
        solution = solve_exactly(system, len(basic))
        counts = [[Fraction(0)] * len(kind.configurations) for kind in self.shown]
        for j, value in zip(basic, solution, strict=True):
            t, k = self.owner[j]
            counts[t][k] = value
        self._check(counts)
        return counts

    def prices(self, basis: Basis) -> Vector | None:
        """Solve for the multipliers of the rows that are not basic; None where one is negative."""
        tight = {int(i): k for k, i in enumerate(np.flatnonzero(~basis.rows))}
        system: list[Equation] = []
        for j in np.flatnonzero(basis.columns):
            t, k = self.owner[int(j)]
            entries = self.column(int(j)).items()
            row = {tight[i]: value for i, value in entries if i in tight}
            system.append((row, self.shown[t].configurations.value[k]))
        duals = solve_exactly(system, len(tight))
        prices = tuple(
            duals[tight[r]] if r in tight else Fraction(0) for r in range(self.resources)
        )
        return prices if min(prices) >= 0 else None

    def _check(self, counts: Counts) -> None:
        used = [Fraction(0)] * len(self.right)
        for j, (t, k) in enumerate(self.owner):
            if counts[t][k]:
                for i, value in self.column(j).items():
                    used[i] += value * counts[t][k]
        floors = self.resources + len(self.shown)
        over = any(used[r] > self.right[r] for r in range(self.resources))
        under = any(used[i] < self.right[i] for i in range(self.resources, len(used)))
        over = over or any(used[i] > self.right[i] for i in range(self.resources, floors))
        negative = any(count < 0 for row in counts for count in row)
        if over or under or negative:
            raise SolverFailed("the vertex of stage 1 breaks a bound in exact arithmetic")
