"""One run in a process of its own: reads a request, runs the method, writes the answer.

Called as ``python -m benchmarks.child FOLDER``: takes ``request.json`` there, gives
``placement.json`` where there is one and ``outcome.json``. Limits of memory and processor time are
set before any of the method's code is imported; the parent's clock is the last resort.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

GRACE = 1.5  # times the time limit, before the processor limit ends a method that ignores it
_LOOK = 0.5  # seconds between looks at whether the parent is still there


def main(folder: Path) -> int:
    """Run the request."""
    request = json.loads((folder / "request.json").read_text("utf-8"))
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    megabytes, seconds = request["memory"], request["time"]
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20,) * 2)
    end = int(seconds * GRACE) + 30
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 5))
    try:
        outcome = _run(folder, request)
    except MemoryError:
        outcome = {"outcome": "memory", "message": f"needs more than {megabytes} MB"}
    except Exception as error:  # a method may raise anything; the row says what
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        memory = isinstance(error, OSError) and "allocate" in text
        outcome = {"outcome": "memory" if memory else "failed", "message": text[:300]}
    (folder / "outcome.json").write_text(json.dumps(outcome), "utf-8")
    return 0


def _run(folder: Path, request: dict[str, object]) -> dict[str, object]:
    # Imported here: what memory they take is within the limit.
    from benchmarks.methods import call  # noqa: PLC0415
    from synergy_opt.io import read_instance, write_placement  # noqa: PLC0415
    from synergy_opt.solution import Limits  # noqa: PLC0415

    instance = read_instance(folder / "instance.json")
    limits = Limits(time=float(str(request["time"])), seed=int(str(request["seed"])))
    settings = request["settings"]
    assert isinstance(settings, dict)
    _warm(str(request["target"]))
    clock, cpu = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(sys.stderr):
        found = call(str(request["target"]), instance, limits, settings)
    took = time.perf_counter() - clock, time.process_time() - cpu
    if found.placement is not None:
        write_placement(found.placement, instance, folder / "placement.json")
    return {
        "outcome": "done" if found.placement is not None else "nothing",
        "message": "",
        "seconds": took[0],
        "cpu_seconds": took[1],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "said": found.said,
        "claimed_bound": found.bound,
    }


def _end_with(parent: int) -> None:
    """End this process group when the parent is gone: a killed study leaves no run behind."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _warm(target: str) -> None:
    """Import what the method needs on an instance of its own, so that imports are not timed."""
    from benchmarks.methods import call  # noqa: PLC0415
    from synergy_opt.io import shipped  # noqa: PLC0415
    from synergy_opt.solution import Limits  # noqa: PLC0415

    if target.startswith(("benchmarks.", "synergy_opt.")):
        settings = {"solver": "cvxpy"} if target.endswith(":paper") else {}
        with contextlib.suppress(Exception):
            call(target, shipped("worked-example"), Limits(time=5), settings)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
