"""Mechanisms by name: the built-in ones, and a user's own function.

Takes a name and gives a function from an instance to a placement that never raises anything but
`SynergyError`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from synergy_opt.cli import TRACEBACK, UNTOLD, words
from synergy_opt.cli.aside import aside
from synergy_opt.cli.interrupts import interrupted
from synergy_opt.errors import InvalidInstance, SynergyError
from synergy_opt.loading import load

if TYPE_CHECKING:
    from synergy_opt.answer import Placement, Split
    from synergy_opt.comparison import Mechanism
    from synergy_opt.model import Instance
    from synergy_opt.progress import Watcher
    from synergy_opt.solution import Limits

NAMES = (
    "proportional",
    "greedy",
    "tune",
    "tune-simulated",
    "drf",
    "tetris",
    "optimal",
    "optimal-rounded",
    "packed",
    "packed-split",
)
COMPARED = tuple(name for name in NAMES[:8] if name != "tune-simulated")
"""Run by default: what ends soon on any cluster."""

_HOME = {"tune-simulated": ("tune", "tune_as_simulated")}

HELP = (
    f"{', '.join(NAMES)} (-rounded: stage 2 rounded to whole GPUs, a heuristic; packed: the "
    "optimum in whole GPUs on real servers; -split: any job may be divided; -simulated: with the "
    "choices of the authors' simulator), or a function of yours from an Instance to a Placement: "
    "file.py:function, or module:function with a module of the current directory or an installed "
    "one"
)
HELP_SEVERAL = (
    f"may be repeated (default {', '.join(COMPARED)}, which end soon on any cluster): {HELP}"
)


def mechanism(
    name: str, limits: Limits, *, fewest_splits: bool = False, watch: Watcher | None = None
) -> Mechanism:
    """Give the mechanism of that name; the optimum of stage 1 calls `watch`.

    Raises
    ------
    InvalidInstance
        When there is none, or a user's function cannot be found, or it is not one of stage 2 and
        the fewest split jobs are asked for.
    """
    optimum = name in ("optimal", "optimal-rounded")
    if fewest_splits and not optimum:
        raise InvalidInstance("is for optimal and optimal-rounded", "--fewest-splits")
    if ":" in name:
        return users_own(name)
    if name not in NAMES:
        raise InvalidInstance(
            f"there is no mechanism {name!r}; there are {', '.join(NAMES)}, file.py:function and "
            "module:function"
        )
    if optimum:
        optimal, whole = _optimal(), name == "optimal-rounded"
        return lambda instance: optimal(
            instance, whole_gpus=whole, fewest_splits=fewest_splits, limits=limits, watch=watch
        )
    if name.startswith("packed"):
        from synergy_opt.packed import packed  # noqa: PLC0415

        split: Split = "allowed" if name == "packed-split" else "never"
        return lambda instance: packed(instance, split=split, limits=limits)
    module, function = _HOME.get(name, (name, name))
    found: Mechanism = getattr(import_module(f"synergy_opt.{module}"), function)
    return found


def _optimal() -> Callable[..., Placement]:
    from synergy_opt.optimal import optimal  # noqa: PLC0415 - a solver, 0.2 s to import

    return optimal


def users_own(name: str) -> Mechanism:
    """Import ``file.py:function`` or ``module:function``, the current directory first."""
    try:
        with aside():
            found = load(name)
    except SynergyError:
        raise
    except BaseException as error:  # the module's own code may raise anything, SystemExit too
        raise _fault(name, "cannot be imported", error) from error
    if not callable(found):
        raise InvalidInstance(f"is {type(found).__name__}, not a function", name)
    return _guarded(name, found)


def _guarded(name: str, function: Callable[[Instance], object]) -> Mechanism:
    """Turn whatever a user's function raises, or returns wrongly, into one message."""
    from synergy_opt.certificate import misshapen  # noqa: PLC0415

    def run(instance: Instance) -> Placement:
        try:
            with aside():
                answer = function(instance)
        except BaseException as error:
            if isinstance(error, SynergyError) and words(error) != UNTOLD:
                raise
            raise _fault(name, "raised", error) from error
        fault = next(misshapen(answer), None)
        if fault is not None:
            message = (
                f"must return a Placement, not {type(answer).__name__}"
                if fault.where == "$"
                else f"returned a malformed Placement: {fault.where} {fault.message}"
            )
            raise InvalidInstance(message, name)
        return cast("Placement", answer)

    return run


def _fault(name: str, what: str, error: BaseException) -> InvalidInstance:
    if interrupted(error):
        raise KeyboardInterrupt from error
    if os.environ.get(TRACEBACK):
        import traceback  # noqa: PLC0415

        traceback.print_exception(error)
    where = _last_line(error)
    text = f"{what}: {type(error).__name__}: {words(error)}{where}"
    return InvalidInstance(f"{text}; set {TRACEBACK}=1 for the traceback", name)


def _last_line(error: BaseException) -> str:
    """Say in which file and line the exception was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" ({trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno})"
