"""Ctrl-C during a solve: the solver is asked to stop, and gives what it has.

Takes the call that solves and the call that cancels it; gives the first one's result.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")


def run_interruptibly(solve: Callable[[], T], cancel: Callable[[], object]) -> tuple[T, bool]:
    """Call `solve` in a thread; on Ctrl-C call `cancel` and wait for it to end.

    While C++ code runs in the main thread Python would notice Ctrl-C only when it returns.

    Returns
    -------
    tuple
        What `solve` returned, and whether Ctrl-C was pressed. Its exception is raised here.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(solve())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    # Not Thread.join: interrupted, it takes a running thread for finished (Python 3.11).
    done, interrupted = Event(), False
    Thread(target=work, daemon=True).start()
    while not done.is_set():
        try:
            done.wait(0.1)
        except KeyboardInterrupt:
            interrupted = True
            cancel()
    if errors:
        raise errors[0]
    return results[0], interrupted
