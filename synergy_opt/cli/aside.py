"""Code that is not ours, run so that nothing it does to the process reaches our output.

Takes nothing and gives a context: what is printed inside goes to standard error, and the current
directory is afterwards what it was before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress


@contextmanager
def aside() -> Iterator[None]:
    """Send standard output to standard error and come back to the current directory."""
    with _same_folder(), _descriptor_aside(), redirect_stdout(sys.stderr):
        yield


@contextmanager
def _same_folder() -> Iterator[None]:
    """Come back to where we were; relative paths of the command line start there."""
    here = os.open(".", os.O_RDONLY)  # not its name, which may change or go
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)


@contextmanager
def _descriptor_aside() -> Iterator[None]:
    """Redirect the descriptor too, which C code and child processes write to."""
    if sys.stdout is not sys.__stdout__ or sys.stdout is None:
        yield  # somebody has redirected it already, as a test runner does
        return
    kept, stream = os.dup(1), sys.stdout
    os.dup2(2, 1)
    try:
        yield
    finally:
        # What was printed through sys.__stdout__ belongs to the other side.
        with suppress(OSError, ValueError):
            stream.flush()
        os.dup2(kept, 1)
        os.close(kept)
