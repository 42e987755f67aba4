"""One adapter a file, each the same: build in the solver's format, call, copy into a `Solution`.

Takes a `Program` and `Limits`, gives a `Solution`; the solver's package is imported only when its
adapter is asked for. `cvxpy_` is the exception: it writes down the paper's own formulation, job by
job, so that it shares no matrix with the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from synergy_opt.program import Program
from synergy_opt.solution import Limits, Solution

NAMES = ("highs", "scipy", "cpsat", "brute_force")
"""Solvers of a `Program`."""


class Solver(Protocol):
    """What every adapter's `solve` is."""

    def __call__(self, program: Program, limits: Limits) -> Solution:
        """Solve the programme within the limits."""
        ...


def solver(name: str) -> Solver:
    """Give the adapter of this name, one of `NAMES`."""
    if name not in NAMES:
        raise ValueError(f"no solver {name!r}; there are {', '.join(NAMES)}")
    module = name if name == "brute_force" else f"{name}_"
    return cast("Solver", import_module(f"synergy_opt.solvers.{module}").solve)
