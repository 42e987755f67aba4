"""Mechanisms by name: the built-in ones, and a user's own function as ``module:function``.

Takes a name and gives a function from an instance to a placement that never raises anything but
`SynergyError`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from synergy_opt.errors import InvalidInstance, SynergyError

if TYPE_CHECKING:
    from synergy_opt.answer import Placement, Split
    from synergy_opt.model import Instance
    from synergy_opt.report import Mechanism
    from synergy_opt.solution import Limits

NAMES = (
    "proportional",
    "greedy",
    "tune",
    "optimal",
    "optimal-whole",
    "packed",
    "packed-split",
)
HELP = (
    f"{', '.join(NAMES)} (-whole: stage 2 in whole GPUs; -split: any job may be divided), or "
    "module:function, a function from an Instance to a Placement in a module of the current "
    "directory or an installed one"
)


def mechanism(name: str, limits: Limits) -> Mechanism:
    """Give the mechanism of that name.

    Raises
    ------
    InvalidInstance
        When there is none, or a user's function cannot be found.
    """
    if ":" in name:
        return users_own(name)
    if name not in NAMES:
        raise InvalidInstance(
            f"there is no mechanism {name!r}; there are {', '.join(NAMES)} and module:function"
        )
    if name.startswith("optimal"):
        optimal, whole = _optimal(), name == "optimal-whole"
        return lambda instance: optimal(instance, whole_gpus=whole, limits=limits)
    if name.startswith("packed"):
        from synergy_opt.packed import packed  # noqa: PLC0415

        split: Split = "allowed" if name == "packed-split" else "never"
        return lambda instance: packed(instance, split=split, limits=limits)
    found: Mechanism = getattr(import_module(f"synergy_opt.{name}"), name)
    return found


def _optimal() -> Callable[..., Placement]:
    from synergy_opt.optimal import optimal  # noqa: PLC0415 - a solver, 0.2 s to import

    return optimal


def users_own(name: str) -> Mechanism:
    """Import ``module:function``, the current directory first."""
    module_name, _, attribute = name.partition(":")
    here = os.getcwd()  # noqa: PTH109 - a string, as sys.path holds them
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: object = import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (KeyboardInterrupt, SynergyError):
        raise
    except BaseException as error:  # the module's own code may raise anything, SystemExit too
        raise _fault(name, "cannot be imported", error) from error
    if not callable(found):
        raise InvalidInstance(f"is {type(found).__name__}, not a function", name)
    return _guarded(name, found)


def _guarded(name: str, function: Callable[[Instance], object]) -> Mechanism:
    """Turn whatever a user's function raises, or returns wrongly, into one message."""
    from synergy_opt.answer import Placement  # noqa: PLC0415

    def run(instance: Instance) -> Placement:
        try:
            answer = function(instance)
        except (KeyboardInterrupt, SynergyError):
            raise
        except BaseException as error:
            raise _fault(name, "raised", error) from error
        if not isinstance(answer, Placement):
            rule = f"must return a Placement, not {type(answer).__name__}"
            raise InvalidInstance(rule, name)
        return answer

    return run


def _fault(name: str, what: str, error: BaseException) -> InvalidInstance:
    from synergy_opt.cli import TRACEBACK  # noqa: PLC0415

    if os.environ.get(TRACEBACK):
        import traceback  # noqa: PLC0415

        traceback.print_exception(error)
    where = _last_line(error)
    text = f"{what}: {type(error).__name__}: {error}{where}; set {TRACEBACK}=1 for the traceback"
    return InvalidInstance(text, name)


def _last_line(error: BaseException) -> str:
    """Say in which file and line the exception was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" ({trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno})"
