"""``python -m benchmarks run``: methods × instances × seeds, resumable, in child processes.

Takes names and limits and gives lines in a results file, each as its run ends. Parallel by joblib:
local processes, a Dask cluster or Ray; only this process writes.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from benchmarks.instances.catalog import matching
from benchmarks.methods import BUILT_IN, GROUP, method
from benchmarks.rows import Row, append, keys, mend, read_results
from benchmarks.task import Task, check_instance, run_task
from synergy_opt.cli import DONE, FAILED
from synergy_opt.errors import InvalidInstance
from synergy_opt.solution import Limits

BACKENDS = ("loky", "dask", "ray")


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.add_argument("results", type=Path, help="results file; runs that are in it are skipped")
    parser.add_argument(
        "--instance",
        nargs="+",
        default=["mix-*-4-*"],
        metavar="NAME",
        help="names, families or patterns of the catalogue, or instance files (.json)",
    )
    parser.add_argument(
        "--method",
        nargs="+",
        default=["packed", "tune"],
        metavar="METHOD",
        help=f"of {', '.join(BUILT_IN)}; package.module:function; an entry point of {GROUP}; "
        "settings follow as name,key=value",
    )
    parser.add_argument("--seed", nargs="+", type=int, default=[0])
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="S")
    parser.add_argument("--memory-limit", type=int, default=4096, metavar="MB")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--backend", choices=BACKENDS, default="loky")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of the Dask or Ray cluster")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run what is not in the file yet; 1 where a run failed."""
    if not 0 < options.time_limit < math.inf or options.memory_limit < 1:
        raise InvalidInstance("time and memory limits must be above 0, and finite")
    if options.jobs < 1:
        raise InvalidInstance(f"must be at least 1, not {options.jobs}", "--jobs")
    for seed in options.seed:
        Limits(seed=seed)  # refuses what no method takes
    tasks = list(_tasks(options))
    mend(options.results)
    with options.results.open("ab"):  # what cannot be written is no place for a day of runs
        pass
    known = keys(read_results(options.results))
    missing = [task for task in tasks if task.key not in known]
    print(f"{len(tasks)} runs, {len(tasks) - len(missing)} of them in {options.results} already")
    faults = 0
    with backend(options.backend, options.scheduler):
        for row in perform(missing, options.results, jobs=options.jobs):
            print(_line(row), flush=True)
            faults += row["outcome"] in ("failed", "crashed")
    return FAILED if faults else DONE


def perform(tasks: Iterable[Task], results: Path, *, jobs: int) -> Iterator[Row]:
    """Run tasks, adding each row as its run ends, in whatever order that is."""
    from joblib import Parallel, delayed  # noqa: PLC0415 - an extra

    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    for row, answer in parallel(delayed(run_task)(task) for task in tasks):
        append(results, row, answer)
        yield row


@contextmanager
def backend(name: str, scheduler: str | None) -> Iterator[None]:
    """Let joblib run on a backend; a cluster that was started here is closed here.

    Raises
    ------
    InvalidInstance
        When the backend is not installed.
    """
    import joblib  # noqa: PLC0415

    inner: AbstractContextManager[object] = nullcontext()
    try:
        if name == "dask":
            from distributed import Client  # noqa: PLC0415 - an extra

            inner = Client(scheduler) if scheduler else Client(dashboard_address=None)
        elif name == "ray":
            import ray  # noqa: PLC0415 - brought by the user
            from ray.util.joblib import register_ray  # noqa: PLC0415

            register_ray()
            ray.init(address=scheduler)
    except ImportError as error:
        raise InvalidInstance(f"is not installed ({error.name})", f"--backend {name}") from None
    with inner, joblib.parallel_config(name):
        yield


def _tasks(options: argparse.Namespace) -> Iterator[Task]:
    files = [name for name in options.instance if name.endswith(".json")]
    patterns = [name for name in options.instance if not name.endswith(".json")]
    for name in files:
        check_instance(name)
    names = [*files, *(entry.name for entry in matching(patterns))]
    methods = [method(text) for text in options.method]
    for name in names:
        for each in methods:
            for seed in options.seed:
                yield Task(
                    instance=name,
                    method=each,
                    seed=seed,
                    time=options.time_limit,
                    memory=options.memory_limit,
                )


def _line(row: Row) -> str:
    said = row.get("said") or "-"
    if row["outcome"] != "done":
        what = f"{row['outcome']}: {row['message']}" if row["message"] else str(row["outcome"])
    elif row["certified"]:
        what = f"{row['throughput']} certified, bound {row['bound'] or '-'}"
    else:
        what = f"NOT CERTIFIED: {row['broken']}"
    took = row.get("cpu_seconds", row["seconds"])
    return f"{row['instance']:24} {row['method']:24} {took:8.3f} s  said {said:8} {what}"
