"""Linear programmes as data: what a solver is given, and what the MPS and LP files hold.

Takes kinds of jobs or an allocation and gives a frozen `Program`: maximise cost·x subject to
row_lower ≤ A x ≤ row_upper, lower ≤ x ≤ upper, some x integer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from synergy_opt.kinds import Kind
from synergy_opt.model import Cluster, Vector

FloatArray = npt.NDArray[np.float64]

_SAFE = 2**53  # integers up to here are doubles


@dataclass(frozen=True, kw_only=True)
class Program:
    """A mixed-integer linear programme, to be maximised.

    Parameters
    ----------
    name
        For the exported file.
    cost
        Objective, one number a column.
    starts, index, value
        The matrix by rows: row i has columns ``index[starts[i]:starts[i+1]]``.
    row_lower, row_upper, lower, upper
        Bounds of rows and columns; infinite where there is none.
    integral
        Which columns must be whole.
    row_names, column_names
        What each stands for; unique.
    scale
        A number that makes every cost whole, where a small one exists: solvers that know only
        integers use it. Else 0.
    """

    name: str
    cost: FloatArray
    starts: npt.NDArray[np.int64]
    index: npt.NDArray[np.int64]
    value: FloatArray
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    integral: npt.NDArray[np.bool_]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    scale: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.row_lower), len(self.cost)

    def normalised(self) -> tuple[Program, FloatArray, float]:
        """Give the programme for a solver with absolute tolerances: all numbers at most about 1.

        Rows of coprime integers and costs in anybody's unit may be huge or tiny, and a tolerance
        of 10⁻⁹ then means nothing or everything.

        Returns
        -------
        tuple
            The programme with each row and the objective divided by its largest coefficient, the
            divisor of each row, and that of the objective.
        """
        lengths = np.diff(self.starts)
        row_of = np.repeat(np.arange(len(lengths)), lengths)
        scales = np.ones(len(lengths))
        np.maximum.at(largest := np.zeros(len(lengths)), row_of, np.abs(self.value))
        scales[largest > 0] = largest[largest > 0]
        unit = float(np.abs(self.cost).max(initial=0.0)) or 1.0
        scaled = replace(
            self,
            cost=self.cost / unit,
            value=self.value / scales[row_of],
            row_lower=self.row_lower / scales,
            row_upper=self.row_upper / scales,
        )
        return scaled, scales, unit


def ideal_program(
    name: str,
    kinds: Sequence[Kind],
    cluster: Cluster,
    *,
    integral: bool = True,
    rows: bool = False,
) -> Program:
    """Give the programme of stage 1, LP(1–5) of the paper (Synergy, §4.1.1), over kinds.

    Column u_tk counts the jobs of kind t in configuration k. Rows: one a resource (2, 3), scaled
    to coprime integers; one a kind (4); with `rows` one a kind for the floor (5), else the unfair
    configurations are left out beforehand by the caller (fixing).

    Parameters
    ----------
    name
        Of the instance.
    kinds
        With the configurations that are to have columns.
    cluster
        Gives the capacities.
    integral
        Whole numbers of jobs, the paper's ILP.
    rows
        Write the floor as rows.
    """
    sizes = [len(kind.configurations) for kind in kinds]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    columns = int(first[-1])
    counts = np.array([len(kind) for kind in kinds], dtype=np.float64)
    matrix = _Rows()
    for r, resource in enumerate(_row_names(cluster.names)):
        amounts = [kind.configurations.demand[r] for kind in kinds]
        capacity = cluster.capacity[r]
        below = math.lcm(capacity.denominator, *(a.denominator for a in amounts))
        whole = [a.numerators.astype(object) * (below // a.denominator) for a in amounts]
        above = int(capacity * below)
        common = math.gcd(above, *(int(n) for w in whole for n in w))
        values = np.concatenate([(w // common).astype(np.float64) for w in whole] or [np.empty(0)])
        matrix.add(resource, np.arange(columns), values, -math.inf, above // common)
    for t, count in enumerate(counts):
        matrix.add(f"jobs_{t}", np.arange(first[t], first[t + 1]), np.ones(sizes[t]), count, count)
    if rows:
        for t, kind in enumerate(kinds):
            floor = kind.configurations.floor * len(kind)
            values, (least,) = _whole_row(kind.configurations.value.tolist(), [floor])
            matrix.add(f"floor_{t}", np.arange(first[t], first[t + 1]), values, least, math.inf)
    gains = [kind.configurations.value for kind in kinds]
    return matrix.program(
        name=f"{name}-stage-1",
        cost=np.concatenate([gain.to_floats() for gain in gains] or [np.empty(0)]),
        # Implied by the rows; a bound would let a vertex have columns that are not basic at it.
        upper=np.repeat(counts, sizes) if integral else np.full(columns, math.inf),
        integral=np.full(columns, integral),
        column_names=tuple(
            f"u_{t}_{int(point)}"
            for t, kind in enumerate(kinds)
            for point in kind.configurations.points
        ),
        scale=_scale([gain.denominator for gain in gains]),
    )


def placement_program(
    name: str,
    totals: Sequence[Vector],
    free: Sequence[Vector],
    resources: Sequence[str],
    *,
    allowed: npt.NDArray[np.bool_],
    preferred: Sequence[int | None] | None = None,
) -> Program:
    """Give the programme of stage 2 (Synergy, §4.1.2): which part of each job is on which server.

    Column x_ij, in the order of servers within jobs, is the part of job j on server i. Rows: each
    job whole, Σ_i x_ij = 1; each server's GPUs and resources, Σ_j D_jr x_ij ≤ R_ir, scaled to
    coprime integers.

    Parameters
    ----------
    name
        Of the instance.
    totals
        D_j = (g_j, d*_j), GPUs first.
    free
        What each server has, GPUs first.
    resources
        Their names, without the GPUs.
    allowed
        Jobs × servers: where a job may be.
    preferred
        For each job a server that it had better be on, or None: the cost of x_ij is 1 there and 0
        elsewhere. The paper's objective, the number of split jobs, is not linear; any vertex has
        the split bound, and this one splits few jobs where there is slack.
    """
    jobs, servers = allowed.shape
    matrix = _Rows()
    for j in range(jobs):
        matrix.add(f"job_{j}", np.arange(j * servers, (j + 1) * servers), np.ones(servers), 1, 1)
    names = _row_names(("gpus", *resources))
    scaled = [_whole_row([t[r] for t in totals], [f[r] for f in free]) for r in range(len(names))]
    stride = np.arange(jobs) * servers
    for i in range(servers):
        for resource, (values, limits) in zip(names, scaled, strict=True):
            matrix.add(f"{resource}_{i}", stride + i, values, -math.inf, limits[i])
    cost = np.zeros(jobs * servers)
    for j, server in enumerate(preferred or ()):
        if server is not None:
            cost[j * servers + server] = 1.0
    return matrix.program(
        name=f"{name}-stage-2",
        cost=cost,
        # x ≤ 1 is implied by the rows, as in stage 1.
        upper=np.where(allowed.ravel(), math.inf, 0.0),
        integral=np.zeros(jobs * servers, dtype=bool),
        column_names=tuple(f"x_{i}_{j}" for j in range(jobs) for i in range(servers)),
        scale=1,
    )


def fewest_splits_program(
    name: str,
    totals: Sequence[Vector],
    counts: Sequence[int],
    free: Sequence[Vector],
    resources: Sequence[str],
    *,
    allowed: npt.NDArray[np.bool_],
) -> Program:
    """Give the programme that keeps the most jobs whole, over kinds of jobs with equal totals.

    Column u_ki counts the whole jobs of kind k on server i, v_ki is what the split jobs of the
    kind have there. Rows: Σ_i u_ki + v_ki = n_k, and each server's capacities. Maximise Σ u; the
    jobs that are not whole are the split ones.

    Parameters
    ----------
    name, free, resources
        As in `placement_program`.
    totals, counts
        D_k and the number of jobs n_k of each kind.
    allowed
        Kinds × servers.
    """
    kinds, servers = allowed.shape
    cells, matrix = kinds * servers, _Rows()
    for k, count in enumerate(counts):
        here = np.arange(k * servers, (k + 1) * servers)
        both = np.concatenate([here, here + cells])
        matrix.add(f"kind_{k}", both, np.ones(2 * servers), count, count)
    stride = np.arange(kinds) * servers
    names = _row_names(("gpus", *resources))
    scaled = [_whole_row([t[r] for t in totals], [f[r] for f in free]) for r in range(len(names))]
    for i in range(servers):
        both = np.concatenate([stride + i, stride + i + cells])
        for resource, (values, limits) in zip(names, scaled, strict=True):
            matrix.add(f"{resource}_{i}", both, np.tile(values, 2), -math.inf, limits[i])
    most = np.where(allowed, np.array(counts)[:, None], 0.0).ravel()
    pairs = [f"{k}_{i}" for k in range(kinds) for i in range(servers)]
    return matrix.program(
        name=f"{name}-fewest-splits",
        cost=np.concatenate([np.ones(cells), np.zeros(cells)]),
        upper=np.concatenate([most, most]),
        integral=np.concatenate([np.ones(cells, bool), np.zeros(cells, bool)]),
        column_names=(*(f"u_{pair}" for pair in pairs), *(f"v_{pair}" for pair in pairs)),
        scale=1,
    )


def _row_names(resources: Sequence[str]) -> list[str]:
    """Give names that MPS and LP files can hold: ASCII letters, digits and _, unique."""
    clean = [f"capacity_{re.sub('[^A-Za-z0-9]', '_', name)}" for name in resources]
    return [n if clean.count(n) == 1 else f"{n}_r{r}" for r, n in enumerate(clean)]


def _whole_row(
    amounts: Sequence[Fraction], limits: Sequence[Fraction]
) -> tuple[FloatArray, list[int]]:
    """Scale a row's coefficients and its limits to coprime integers."""
    below = math.lcm(*(number.denominator for number in [*amounts, *limits]))
    whole = [int(number * below) for number in [*amounts, *limits]]
    common = max(math.gcd(*whole), 1)
    values = np.array([n // common for n in whole[: len(amounts)]], dtype=object)
    return values.astype(np.float64), [n // common for n in whole[len(amounts) :]]


class _Rows:
    """Rows as they are written down one after the other."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.index: list[npt.NDArray[np.int64]] = []
        self.value: list[FloatArray] = []
        self.bounds: list[tuple[float, float]] = []

    def add(
        self,
        name: str,
        index: npt.NDArray[np.int64],
        value: FloatArray,
        lower: float,
        upper: float,
    ) -> None:
        self.names.append(name)
        self.index.append(index)
        self.value.append(value)
        self.bounds.append((lower, upper))

    def program(
        self,
        *,
        name: str,
        cost: FloatArray,
        upper: FloatArray,
        integral: npt.NDArray[np.bool_],
        column_names: tuple[str, ...],
        scale: int,
    ) -> Program:
        lengths = [len(index) for index in self.index]
        bounds = np.array(self.bounds, dtype=np.float64).reshape(-1, 2)
        return Program(
            name=name,
            cost=cost,
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            index=np.concatenate([*self.index, np.empty(0, np.int64)]).astype(np.int64),
            value=np.concatenate([*self.value, np.empty(0)]),
            row_lower=bounds[:, 0],
            row_upper=bounds[:, 1],
            lower=np.zeros(len(cost)),
            upper=upper,
            integral=integral,
            row_names=tuple(self.names),
            column_names=column_names,
            scale=scale,
        )


def _scale(denominators: Sequence[int]) -> int:
    scale = math.lcm(*denominators)
    return scale if scale < _SAFE else 0
