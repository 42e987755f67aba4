"""`python -m hived_cells` is the `hived-cells` command."""

import sys

try:
    import os
    import signal
except KeyboardInterrupt:  # these take milliseconds, in which nothing else handles it
    sys.exit(130)


def program() -> int:
    """Run the command as a process of its own, which Ctrl-C ends in one way at any time."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if not ignored:
        # Until the command is loaded nothing is to be put in order, so Ctrl-C just ends it.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from hived_cells.cli import main  # noqa: PLC0415

    try:
        if not ignored:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return main()
    except KeyboardInterrupt:  # before it handles that itself, or after
        return 130


if __name__ == "__main__":
    sys.exit(program())
