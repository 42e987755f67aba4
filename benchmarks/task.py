"""One task of the runner: a method on an instance, in a child process, judged by the harness.

Takes a `Task` and gives a row, plain data. The method's word is recorded as what it said; what is
so comes from the certificate: throughput, rules broken, problems solved, bound.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from benchmarks.environment import environment, today
from benchmarks.instances.catalog import catalog, checksum, load
from benchmarks.methods import Method
from benchmarks.problems import bounded, solved
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import decimal_text
from synergy_opt.io import read_instance, read_placement, write_instance
from synergy_opt.model import Instance

Row = dict[str, object]
_START = 60.0  # seconds for the interpreter, imports and reading, beside the method's own


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is run.

    Parameters
    ----------
    instance
        Name in the catalogue, or the path of an instance file.
    method, seed
        Method with its settings, and the seed of its random choices.
    time, memory
        Limits: seconds by the clock, MB of address space.
    """

    instance: str
    method: Method
    seed: int
    time: float
    memory: int

    @property
    def key(self) -> tuple[object, ...]:
        """Give what tells runs apart; an instance that changed is another one."""
        digest = digest_of(self.instance)
        return self.instance, digest, self.method.label, self.seed, self.time, self.memory


def run_task(task: Task) -> tuple[Row, bytes | None]:
    """Run a task; give its row, and the answer's file where the harness certified it."""
    instance = _instance(task.instance)
    row: Row = {
        "instance": task.instance,
        "sha256": checksum(instance),
        "servers": instance.cluster.server_count,
        "jobs": len(instance.jobs),
        "method": task.method.label,
        "problem": task.method.problem,
        "exact": task.method.exact,
        "seed": task.seed,
        "time_limit": task.time,
        "memory_limit": task.memory,
        "date": today(),
        "environment": environment(),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_instance(instance, folder / "instance.json")
        (folder / "request.json").write_text(json.dumps(_request(task)), "utf-8")
        row |= _child(folder, task.time)
        answer = folder / "placement.json"
        if row["outcome"] != "done" or not answer.exists():
            return row, None
        row |= judged(instance, answer)
        return row, answer.read_bytes() if row["certified"] else None


def judged(instance: Instance, answer: Path) -> Row:
    """Judge an answer's file in exact arithmetic; nothing that it states is believed."""
    stated = read_placement(answer, instance)
    found = stated.violations(instance)
    row: Row = {"certified": not found, "broken": [str(each) for each in found[:3]]}
    if found:
        return row
    placement = stated.placement
    bound = placement.bound
    return row | {
        "throughput": decimal_text(placement.throughput),
        "solves": list(solved(instance, placement)),
        "bound": None if bound is None else decimal_text(bound.value),
        "bounds": list(bounded(bound)),
    }


def _instance(name: str) -> Instance:
    return read_instance(name) if name.endswith(".json") else load(name)


@cache
def digest_of(name: str) -> str:
    """Give the checksum of an instance, on record or computed."""
    known = catalog().get(name)
    return checksum(_instance(name)) if known is None else known.sha256


def _request(task: Task) -> dict[str, object]:
    request = asdict(task) | {"target": task.method.target}
    request["settings"] = {**task.method.fixed, **task.method.settings}
    del request["method"]
    return request


def _child(folder: Path, seconds: float) -> Row:
    """Run the child; end its whole process group at the hard limit, or with us."""
    errors = folder / "stderr"
    began = time.monotonic()
    with errors.open("wb") as stream:
        child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.child", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        timely = False
        try:
            child.wait(timeout=2 * seconds + _START)
            timely = True
        except subprocess.TimeoutExpired:
            pass
        finally:
            _end(child)
    try:
        outcome: Row = json.loads((folder / "outcome.json").read_text("utf-8"))
    except (OSError, ValueError):
        outcome = _fate(child.returncode, errors, timely=timely)
    outcome.setdefault("seconds", round(time.monotonic() - began, 3))
    return outcome


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _fate(code: int, errors: Path, *, timely: bool) -> Row:
    """Say how a child ended that left no outcome."""
    if not timely or code == -signal.SIGXCPU:
        return {"outcome": "time", "message": "ended by the harness: it ignored its time limit"}
    lines = errors.read_text("utf-8", errors="replace").strip().splitlines()
    last = lines[-1][:300] if lines else ""
    if "MemoryError" in last or "bad_alloc" in last:
        return {"outcome": "memory", "message": last}
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return {"outcome": "crashed", "message": f"{how}: {last}"}


def check_instance(name: str) -> None:
    """Refuse what is neither an instance of the catalogue nor a readable file.

    Raises
    ------
    InvalidInstance
        Naming it and the rule.
    """
    if name.endswith(".json"):
        read_instance(name)
    elif name not in catalog():
        raise InvalidInstance("is neither in the catalogue nor a .json file", name)
