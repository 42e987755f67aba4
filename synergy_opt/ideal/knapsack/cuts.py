"""Prices that cut a core's search: the best ones, and others around them.

Takes a core and gives rows of prices. Every row of non-negative prices gives a valid bound for
partial choices; those away from the best ones matter where a partial choice has used more or less
of a dimension than the best answer does.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from synergy_opt.ideal.knapsack.bound import Prices
from synergy_opt.ideal.knapsack.core import Core
from synergy_opt.ideal.knapsack.table import FloatArray

_DIRECTIONS = {1: 2, 2: 12, 3: 12}  # by dimensions; in more of them few prices suit many states
_SCALES = (0.1, 0.3, 1.0, 3.0)


def cutting_prices(core: Core, prices: Prices, gap: Fraction) -> FloatArray:
    """Give λ and rows around it, at distances that make losses of about the gap.

    A price that moves by gap / |Δd| turns a loss of the gap into a gain.
    """
    centre = np.array([float(p) for p in prices])
    steps = np.array([step for row in core.steps for step in row], dtype=np.float64)
    if not len(steps):
        return centre[None, :]
    size = np.abs(steps).mean(axis=0)
    with np.errstate(over="ignore"):
        width = float(gap) / np.maximum(size, 1e-300)
    # A price whose move no double holds stays where it is: its steps are next to nothing.
    width = np.where((size > 0) & np.isfinite(width), width, 0.0)
    directions = np.random.default_rng(0).normal(
        size=(_DIRECTIONS.get(len(centre), 2), len(centre))
    )
    rows = [centre]
    for scale in _SCALES:
        rows.extend(centre + scale * width * directions)
    return np.asarray(np.maximum(np.array(rows), 0.0))
