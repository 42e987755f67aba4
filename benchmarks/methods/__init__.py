"""Methods by name, ours and their rivals, behind one interface.

Takes a specification such as ``packed``, ``pop,parts=4`` or ``package.module:function`` and gives
a `Method`. A method is one function from an `Instance` to a `Placement` or an `Answer`; where it
has a parameter ``limits`` it is given the run's `Limits`, and its settings by their names. Another
distribution adds methods by the entry-point group ``synergy_hived.benchmarks.methods``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Literal

from synergy_opt.answer import Placement
from synergy_opt.errors import InvalidInstance
from synergy_opt.model import Instance
from synergy_opt.solution import Limits, Stop

GROUP = "synergy_hived.benchmarks.methods"
Problem = Literal["whole", "split", "ideal"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a method gives: a placement, and what it says of it. Nothing of this is believed.

    Parameters
    ----------
    placement
        None where it found none.
    said
        ``"optimal"`` where it claims that, ``"limit"`` where it stopped early, ``""`` where it
        claims nothing.
    bound
        The upper bound that it claims, a float as its solver has it; None where the placement
        carries a bound with its certificate, or where there is none.
    """

    placement: Placement | None
    said: Literal["optimal", "limit", "infeasible", ""] = ""
    bound: float | None = None


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method as the runner knows it.

    Parameters
    ----------
    name, settings
        As given: ``pop`` and ``{"parts": 4}``.
    fixed
        Arguments that the name stands for, such as the solver.
    target
        ``module:function``, imported in the child process alone.
    problem
        What it tries to solve; heuristics are measured against the problem named here.
    exact
        Whether it means to prove an optimum.
    """

    name: str
    target: str
    problem: Problem
    exact: bool
    settings: Mapping[str, object]
    fixed: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Give the name with its settings, as a user writes it."""
        return ",".join([self.name, *(f"{k}={v}" for k, v in sorted(self.settings.items()))])


_OURS, _RIVALS = "benchmarks.methods.ours", "benchmarks.methods.rivals"
_SOLVERS = ("highs", "cpsat", "scipy", "scip")
BUILT_IN: Mapping[str, tuple[str, Problem, bool]] = {
    "packed": (f"{_OURS}:whole", "whole", True),
    "packed-split": (f"{_OURS}:split", "split", True),
    "ideal-core": (f"{_OURS}:ideal", "ideal", True),
    "optimal-rounded": (f"{_OURS}:rounded", "split", False),
    "tune": ("synergy_opt.tune:tune", "split", False),
    "greedy": ("synergy_opt.greedy:greedy", "split", False),
    "proportional": ("synergy_opt.proportional:proportional", "split", False),
    "drf": ("synergy_opt.drf:drf", "split", False),
    "tetris": ("synergy_opt.tetris:tetris", "split", False),
    "pop": ("benchmarks.methods.pop:pop", "whole", False),
    "paper-cvxpy": (f"{_RIVALS}:paper", "ideal", True),
    "paper-cvxpy-vectorised": ("benchmarks.methods.vectorised:vectorised", "ideal", True),
    **{f"ideal-{name}": (f"{_RIVALS}:ideal", "ideal", True) for name in _SOLVERS},
    **{f"whole-{name}": (f"{_RIVALS}:whole", "whole", True) for name in _SOLVERS},
}


def method(text: str) -> Method:
    """Give the method that a specification names; its function is not imported yet.

    Raises
    ------
    InvalidInstance
        When there is no such method, or a setting is not ``key=value``.
    """
    name, *pairs = text.split(",")
    settings: dict[str, object] = {}
    fixed: dict[str, object] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (equals and key.isidentifier()):
            raise InvalidInstance(f"must be name,key=value,…, not {pair!r}", text)
        settings[key] = int(value) if value.lstrip("-").isdigit() else value
    if name in BUILT_IN:
        target, problem, exact = BUILT_IN[name]
        if target.startswith(_RIVALS):
            fixed["solver"] = name.partition("-")[2]
    elif ":" in name:
        target, problem, exact = name, "split", False
    else:
        target, problem, exact = _plugged_in(name), "split", False
    return Method(
        name=name, target=target, problem=problem, exact=exact, settings=settings, fixed=fixed
    )


def _plugged_in(name: str) -> str:
    for point in entry_points(group=GROUP):
        if point.name == name:
            return point.value
    known = ", ".join(BUILT_IN)
    raise InvalidInstance(
        f"there is no such method; there are {known}, package.module:function and the entry "
        f"points of {GROUP}",
        name,
    )


def call(
    target: str, instance: Instance, limits: Limits, settings: Mapping[str, object]
) -> Answer:
    """Import a method and run it, in this process.

    Raises
    ------
    TypeError
        When it returns neither a `Placement` nor an `Answer`.
    """
    module, _, attribute = target.partition(":")
    function: Callable[..., object] = getattr(import_module(module), attribute)
    given = dict(settings)
    if "limits" in inspect.signature(function).parameters:
        given["limits"] = limits
    found = function(instance, **given)
    if isinstance(found, Placement):
        return claims(found)
    if not isinstance(found, Answer):
        raise TypeError(f"{target} must return a Placement, not {type(found).__name__}")
    return found


def claims(placement: Placement, stop: Stop | None = None, bound: float | None = None) -> Answer:
    """Say of a placement what it says itself, or what the solver's stop says."""
    if stop is None:
        optimal, limit = placement.proof not in (None, "none"), placement.stopped
    else:
        optimal, limit = stop is Stop.OPTIMAL, stop is not Stop.OPTIMAL
    said: Literal["optimal", "limit", ""] = "optimal" if optimal else "limit" if limit else ""
    return Answer(placement=placement, said=said, bound=bound)
