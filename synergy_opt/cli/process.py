"""The program as a process: what surrounds `main` when nothing else runs in this interpreter.

Takes the process as it was started and gives its exit code.
"""

from __future__ import annotations

from synergy_opt.cli import main
from synergy_opt.cli.interrupts import INTERRUPTED, ignore_interrupts, obey_interrupts
from synergy_opt.cli.streams import open_streams


def run() -> int:
    """Run the program; Ctrl-C, closed streams and strange terminals are provided for."""
    try:
        obey_interrupts()
        open_streams()
        code = main()
    except KeyboardInterrupt:  # in the few instructions around what `main` catches itself
        code = INTERRUPTED
    ignore_interrupts()
    return code
