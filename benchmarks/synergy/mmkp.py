"""A reader of the multiple-choice multi-dimensional knapsack files of Khan et al. (2002).

Takes the text of a file and gives a `Table` of the knapsack solver: line 1 the numbers of groups,
items a group and resources; line 2 the capacities; then each group's number and its items, a
value and a demand for each resource. Solutions that follow are not read.
"""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np

from synergy_opt.exact import exact
from synergy_opt.ideal.knapsack import Table

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "mmkp"

# Optima of the whole problems, as the literature gives them: Khan, Li, Manning and Akbar, Studia
# Informatica 2 (2002), proved by branch and bound by Sbihi, J. Comb. Optim. 13 (2007).
_OPTIMA = {"I01": 173, "I02": 364, "I03": 1602, "I04": 3597, "I05": "3905.7", "I06": "4799.3"}


def known_optimum(name: str, resources: int | None) -> Fraction:
    """Give the known optimum of I01 to I07 with two resources, of I01 to I06 with all."""
    if resources is None:
        return Fraction(_OPTIMA[name])
    with (FOLDER / "two_resource_optima.csv").open() as lines:
        known = {row["instance"]: Fraction(row["optimum"]) for row in csv.DictReader(lines)}
    return known[name]


def read_mmkp(text: str, *, resources: int | None = None) -> Table:
    """Read a file's problem, with the first `resources` resources only."""
    words = iter(text.split())
    groups, size, width = (int(next(words)) for _ in range(3))
    used = width if resources is None else resources
    capacity = [exact(next(words)) for _ in range(width)][:used]
    values: list[Fraction] = []
    demands: list[list[Fraction]] = []
    for t in range(groups):
        if int(next(words)) != t + 1:
            raise ValueError(f"group {t + 1} does not begin with its number")
        for _ in range(size):
            values.append(exact(next(words)))
            demands.append([exact(next(words)) for _ in range(width)][:used])
    below = math.lcm(*(v.denominator for v in values))
    units = [
        math.lcm(c.denominator, *(d[r].denominator for d in demands))
        for r, c in enumerate(capacity)
    ]
    return Table(
        first=np.arange(groups + 1, dtype=np.int64) * size,
        counts=np.ones(groups, dtype=np.int64),
        value=np.array([int(v * below) for v in values], dtype=np.int64),
        below=np.full(groups, below, dtype=np.int64),
        demand=tuple(
            np.array([int(d[r] * u) for d in demands], dtype=np.int64) for r, u in enumerate(units)
        ),
        capacity=tuple(int(c * u) for c, u in zip(capacity, units, strict=True)),
    )
