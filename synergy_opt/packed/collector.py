"""The garbage collector, told to wait while very many values are made at once.

A placement of tens of thousands of jobs is made of tuples and frozen values that refer to nothing
in a circle; the collector walks them again and again, which takes a third of the time, and frees
none.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def waiting() -> Iterator[None]:
    """Stop automatic collection inside, and restore what was set before."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # What was made is set among the old values; else the next collection walks it all.
            gc.freeze()
            gc.unfreeze()
        if enabled:
            gc.enable()
