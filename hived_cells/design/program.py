"""The design of one tenant's cells as a mixed-integer programme: takes a history, gives arrays.

Variables: x_k cells reserved of each level; in each scenario s, z_{s,k} groups served and
m_{s,k} of them in cells of their own size. Minimised, times the number of moments (so that it is
a whole number):

    Σ_s weight_s · [ unmet · Σ_k w_k (D_{s,k} − z_{s,k})  +  Σ_k w_k (z_{s,k} − m_{s,k}) ]

subject to Σ_{l≥k} w_l z_{s,l} ≤ Σ_{l≥k} w_l x_l for each level k (groups fit into cells if and
only if this holds); m_{s,k} ≤ x_k, m_{s,k} ≤ z_{s,k}; Σ_k w_k x_k = share; the largest job fits.
Only x need be whole: then some optimal z and m are, too.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hived_cells.design.demand import History
from hived_cells.hierarchy import Chain

__all__ = ["Program", "program_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Minimise constant + cost·v with row_lower ≤ A v ≤ row_upper, rows in sparse form."""

    constant: int
    cost: Floats
    upper: Floats  # 0 ≤ v ≤ upper
    integral: npt.NDArray[np.bool_]
    row_lower: Floats
    row_upper: Floats
    starts: Ints
    index: Ints
    value: Floats
    levels: int  # the first variables are x_1 … x_n


def program_of(chain: Chain, share: int, history: History, *, unmet: int) -> Program:
    """Return the programme of one tenant.

    Parameters
    ----------
    chain
        The hardware.
    share
        The tenant's GPUs.
    history
        What it wanted.
    unmet
        Misfit GPUs that count as much as one unmet GPU.

    Examples
    --------
    >>> from hived_cells.design.demand import Scenario
    >>> history = History((Scenario(1, (0, 3, 0)),), largest=(0, 1, 0))
    >>> program = program_of(Chain(2, (8,)), 8, history, unmet=8)
    >>> len(program.cost), len(program.row_lower), program.constant
    (6, 9, 24)
    """
    levels, sizes = chain.levels, chain.sizes
    scenarios = history.scenarios
    count = levels * (1 + 2 * len(scenarios))
    cost = np.zeros(count)
    upper = np.full(count, float(share))
    integral = np.zeros(count, dtype=bool)
    integral[:levels] = True
    rows: list[tuple[float, float, list[tuple[int, int]]]] = []
    rows.append((share, share, [(k - 1, sizes[k]) for k in range(1, levels + 1)]))
    for level in range(1, levels + 1):
        entries = [(k - 1, sizes[k] // sizes[level]) for k in range(level, levels + 1)]
        rows.append((history.largest[level], np.inf, entries))
    constant = 0
    for number, scenario in enumerate(scenarios):
        served = levels * (1 + 2 * number)
        fitting = served + levels
        for level in range(1, levels + 1):
            z, m, size = served + level - 1, fitting + level - 1, sizes[level]
            constant += scenario.weight * unmet * size * scenario.groups[level]
            cost[z] = -scenario.weight * size * (unmet - 1)
            cost[m] = -scenario.weight * size
            upper[z] = upper[m] = scenario.groups[level]
            rows.append((-np.inf, 0, [(m, 1), (level - 1, -1)]))
            rows.append((-np.inf, 0, [(m, 1), (z, -1)]))
            nested = [(served + above - 1, sizes[above]) for above in range(level, levels + 1)]
            nested += [(above - 1, -sizes[above]) for above in range(level, levels + 1)]
            rows.append((-np.inf, 0, nested))
    lengths = [len(entries) for _, _, entries in rows]
    flat = [entry for _, _, entries in rows for entry in entries]
    return Program(
        constant=constant,
        cost=cost,
        upper=upper,
        integral=integral,
        row_lower=np.array([row[0] for row in rows], dtype=float),
        row_upper=np.array([row[1] for row in rows], dtype=float),
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        index=np.array([column for column, _ in flat], dtype=np.int32),
        value=np.array([value for _, value in flat], dtype=float),
        levels=levels,
    )
