"""``python -m synergy_opt`` is the program ``synergy-opt``."""

import sys

try:
    import os
    import signal
except KeyboardInterrupt:  # these take milliseconds, in which nothing else handles it
    sys.exit(130)


def program() -> int:
    """Run the program as a process of its own: with its signals, its streams and its end."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        # Until the program is loaded nothing is to be put in order, so Ctrl-C just ends it.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from synergy_opt.cli.process import run  # noqa: PLC0415

    return run()


if __name__ == "__main__":
    sys.exit(program())
