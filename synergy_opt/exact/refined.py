"""Systems of a basis in whole numbers, solved exactly where the inverse has a small denominator.

Takes an integer matrix and right-hand sides of any size, and gives the solution as integers over
one denominator: doubles suggest it digit by digit, integers confirm it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

_SMALL = 2000  # the largest denominator of one entry that is looked for
_LARGEST = 10**7  # of the common denominator
_TELLING = 2.0**28  # a double beyond it has no seven digits after the point left
_PROBES = 3


def solve_integers(
    equations: Sequence[Mapping[int, int]], right: Sequence[int]
) -> tuple[list[int], int] | None:
    """Give integers Y and D with B · Y = D · right, for the square matrix B of the equations.

    Parameters
    ----------
    equations
        For each row of B its coefficients by unknown, unknowns counted from 0.
    right
        One integer a row, of any size.

    Returns
    -------
    tuple of list of int and int, or None
        None where B is singular or its inverse large, as far as doubles tell, and where no D up
        to 10⁷ was found for it. Every equation is kept exactly; of a singular matrix that doubles
        took for a regular one, it is one of many solutions.

    Notes
    -----
    B⁻¹ r for a few fixed vectors r shows the denominator D. With Y so far, doubles solve
    B · ΔY = D · right − B · Y for the leading digits of ΔY; the right side is computed in
    integers, and where it is 0 the answer is exact, however it was found. One sparse LU, and
    O(entries) integer operations for every 40 bits or so of the answer. Source: Wan, "An algorithm
    to solve integer linear systems exactly using numerical methods", Journal of Symbolic
    Computation 41 (2006).

    Examples
    --------
    >>> solve_integers([{0: 1, 1: 1}, {0: 1, 1: -1}], [10**20, 1])
    ([100000000000000000001, 99999999999999999999], 2)
    """
    size = len(equations)
    if not size:
        return [], 1
    rows = [i for i, row in enumerate(equations) for _ in row]
    unknowns = [k for row in equations for k in row]
    try:
        values = [float(v) for row in equations for v in row.values()]
        inverse = splu(csc_array((values, (rows, unknowns)), shape=(size, size)))
    except (OverflowError, RuntimeError):  # beyond doubles, singular
        return None
    # Fixed numbers: the same system gives the same answer.
    probes = np.random.default_rng(0).integers(-99, 100, (size, _PROBES)).astype(np.float64)
    below = _denominator(inverse.solve(np.asfortranarray(probes)))
    if below is None:
        return None
    whole, rest = [0] * size, [below * value for value in right]
    while True:
        largest = max(map(abs, rest), default=0)
        if not largest:
            return whole, below
        # What is left, as doubles up to 2^52, and what it is to be multiplied by. The probes were
        # finite and small, so this is finite, too.
        shift = max(largest.bit_length() - 52, 0)
        step = inverse.solve(np.array([float(value >> shift) for value in rest]))
        moves = [round(value) << shift for value in step.tolist()]
        whole = [a + b for a, b in zip(whole, moves, strict=True)]
        rest = [
            value - sum(v * moves[k] for k, v in row.items())
            for value, row in zip(rest, equations, strict=True)
        ]
        if max(map(abs, rest)) * 2 > largest:
            return None  # no progress: D is not a denominator, or doubles cannot tell


def _denominator(columns: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int | None:
    """Give a common denominator of these numbers, None where there is no small one."""
    if not np.abs(columns).max() < _TELLING:  # not a number, too: a matrix close to a singular one
        return None
    below = 1
    for part in np.unique(np.round(np.abs(columns % 1.0), 7)).tolist():
        below = math.lcm(below, Fraction(part).limit_denominator(_SMALL).denominator)
        if below > _LARGEST:
            return None
    return below
