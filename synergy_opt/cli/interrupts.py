"""Ctrl-C at any moment: the program ends with code 130, and says no more than that.

Takes exceptions and signals; gives whether an exception is an interrupt in disguise, and the
handler under which the program runs as a process.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130
_GRACE = 1.0  # s after Ctrl-C in which another one is the same one: the first is being obeyed


def interrupted(error: BaseException) -> bool:
    """Tell whether `error` is, or comes from, a `KeyboardInterrupt`.

    Libraries turn one that hits them while they start into an error of their own.
    """
    found: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if isinstance(one, KeyboardInterrupt):
            return True
        if one is not None and id(one) not in found:
            found.add(id(one))
            pending += [one.__cause__, one.__context__]
    return False


def obey_interrupts() -> None:
    """Handle SIGINT from here on to the end of the process.

    Where it is ignored already, as in a job in the background, that stays so.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _handler())
        sys.unraisablehook = _unraisable


def ignore_interrupts() -> None:
    """Handle SIGINT no more: all is done, and Python's own end would complain in many lines."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def leave() -> None:
    """End the process here: nothing is unwound, so nothing can turn the interrupt away."""
    with suppress(OSError):
        # A progress line hides the cursor of a terminal.
        os.write(2, (b"\x1b[?25h" if os.isatty(2) else b"") + b"synergy-opt: interrupted\n")
    os._exit(INTERRUPTED)


def _handler() -> Callable[[int, FrameType | None], None]:
    last = -_GRACE

    def handle(_signal: int, frame: FrameType | None) -> None:
        nonlocal last
        if _importing(frame) or sys.is_finalizing():
            # No file of ours is open yet, and code that starts up is not made to be unwound.
            leave()
        now = time.monotonic()
        if now - last >= _GRACE:
            last = now
            raise KeyboardInterrupt

    return handle


def _unraisable(lost: UnraisableHookArgs) -> None:
    """Obey an interrupt that came in code which cannot be left, such as a destructor."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        leave()
    sys.__unraisablehook__(lost)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
