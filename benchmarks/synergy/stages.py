"""Stage 1 by its core and stage 2 by bisection, at scale: time, gap, memory, and HiGHS beside it.

Takes names of tasks, or of groups of them, and gives a table with one row a task and a JSON file;
ends with code 1 where a row is not within its limits. Each task runs in a child process of its
own, so that peak memory is its own; a rival that a task names has another.

    python -m benchmarks.synergy.stages --output stages.json
    python -m benchmarks.synergy.stages stage-1 stage-2-8192
    python -m benchmarks.synergy.stages mmkp

Times are of the process's CPU, without building the instance ("after loading"); the clock's time
is beside them. The gap is that of the multipliers' bound alone; "proof" says what closed the rest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

from benchmarks.synergy.different_jobs import different_jobs
from benchmarks.synergy.full_cluster import full_cluster
from benchmarks.synergy.measured import (
    Row,
    in_child,
    interrupted_after,
    machine,
    print_table,
    timed,
    write_json,
)
from benchmarks.synergy.mmkp import FOLDER, known_optimum, read_mmkp
from synergy_opt.answer import Allocation
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation, stage_1_program
from synergy_opt.ideal.knapsack import solve
from synergy_opt.model import Instance
from synergy_opt.placement import place
from synergy_opt.solution import Limits, Stop
from synergy_opt.solvers import solver

PATIENCE = 100  # times our own CPU time that the rival is given
COLUMNS = (
    *("jobs", "cpu s", "clock s", "MB", "gap", "proof", "rivals", "cuts", "cuts at most"),
    *(
        "value",
        "known",
        "bound",
        "states",
        "HiGHS cpu s",
        "HiGHS MB",
        "× ours",
        "HiGHS stop",
        "HiGHS gap",
    ),
    *("HiGHS − ours", "within limits"),
)


def different(jobs: int, gap: Fraction, *, seconds: float, megabytes: float) -> Row:
    """Measure stage 1 on jobs that all differ, asked for a gap."""
    found, row = _stage_1(different_jobs(jobs), Limits(gap=gap, time=600.0))
    row["within limits"] = found.gap <= gap and row["cpu s"] <= seconds
    row["at most"] = {"gap": float(gap), "cpu s": seconds, "MB": megabytes}
    return row


def against_highs(jobs: int) -> Row:
    """Measure stage 1 on jobs that all differ, and HiGHS on the whole model until 100 × our time.

    HiGHS is asked for no smaller gap than that of our multipliers, and its programme is built
    before its time starts: the fair, undominated configurations of every job. Each of the two has
    a process, and so a peak memory, of its own.
    """
    row = in_child(partial(_ours, jobs))
    gap, value = row.pop("exact")
    rival = in_child(partial(_highs, jobs, gap, PATIENCE * row["cpu s"]))
    row["HiGHS cpu s"], row["HiGHS MB"] = rival["cpu s"], rival["MB"]
    row["× ours"] = round(rival["cpu s"] / row["cpu s"], 1)
    row["HiGHS stop"], objective, bound = rival["stop"]
    beaten = False
    if objective is not None and bound is not None:
        row["HiGHS gap"] = (bound - objective) / objective
        row["HiGHS − ours"] = objective - float(value)
        # Beyond its feasibility tolerance, a better value would refute the proof.
        beaten = row["HiGHS − ours"] > 1e-6 * float(value)
    slower = row["× ours"] >= PATIENCE
    row["within limits"] = row["proof"] != "none" and slower and not beaten
    return row


def _ours(jobs: int) -> Row:
    found, row = _stage_1(different_jobs(jobs), Limits())
    return {**row, "exact": (found.gap, found.throughput)}


def _highs(jobs: int, gap: Fraction, seconds: float) -> Row:
    program = stage_1_program(different_jobs(jobs))
    with interrupted_after(seconds):
        found, row = timed(lambda: solver("highs")(program, Limits(gap=gap)))
    return {**row, "stop": (found.stop.value, found.objective, found.bound)}


def models(servers: int) -> Row:
    """Measure stage 1 on twelve models × GPU demands {1, 2, 4, 8, 16} that fill the GPUs."""
    weights = {1: 30, 2: 25, 4: 20, 8: 15, 16: 10}
    instance = mix(servers=servers, gpu_demands=weights, seed=0)
    found, row = _stage_1(instance, Limits(time=600.0))
    row["within limits"] = found.gap == 0 and row["cpu s"] <= 0.5
    return row


def bisection(servers: int, *, different: bool) -> Row:
    """Measure stage 2 on servers that the jobs fill to the last core and byte."""
    instance, allocation = full_cluster(servers, different=different)
    placed, row = timed(lambda: place(instance, allocation))
    assert placed.split is not None
    cuts, limit = placed.split.extra_pieces, 3 * (servers - 1)
    row = {"jobs": len(allocation.jobs), **row, "cuts": cuts, "cuts at most": limit}
    row["within limits"] = cuts <= limit and row["cpu s"] <= 20
    return row


def mmkp(name: str, resources: int | None) -> Row:
    """Measure a knapsack of Khan et al., with its first resources only or with all."""
    table = read_mmkp((FOLDER / name).read_text(), resources=resources)
    known = known_optimum(name, resources)
    found, row = timed(lambda: solve(table, limits=Limits(time=1200.0)))
    row["value"] = None if found.value is None else float(found.value)
    row["known"], row["bound"] = float(known), float(found.bound)
    row["proof"] = "none" if found.stop is not Stop.OPTIMAL else "yes"
    row["states"] = found.states
    row["within limits"] = found.stop is Stop.OPTIMAL and found.value == known
    return row


def _stage_1(instance: Instance, limits: Limits) -> tuple[Allocation, Row]:
    found, row = timed(lambda: ideal_allocation(instance, solver="core", limits=limits))
    row = {"jobs": len(found.jobs), **row, "gap": float(found.gap)}
    return found, row | {"proof": found.proof, "rivals": found.rivals}


def tasks() -> dict[str, Callable[[], Row]]:
    """Give every task by name."""
    found: dict[str, Callable[[], Row]] = {
        "stage-1-2048": partial(against_highs, 2048),
        "stage-1-16384": partial(
            different, 16_384, Fraction(1, 10**7), seconds=15, megabytes=3 * 1024
        ),
        "stage-1-65536": partial(
            different, 65_536, Fraction(1, 10**6), seconds=60, megabytes=8 * 1024
        ),
        "stage-1-models": partial(models, 8192),
        "stage-2-8192": partial(bisection, 8192, different=False),
        "stage-2-8192-different": partial(bisection, 8192, different=True),
    }
    if FOLDER.is_dir():
        for i in range(1, 8):
            found[f"mmkp-two-I0{i}"] = partial(mmkp, f"I0{i}", 2)
        for i in range(1, 7):
            found[f"mmkp-full-I0{i}"] = partial(mmkp, f"I0{i}", None)
    return found


def chosen(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Give the tasks that are named, or that are in the groups named; all where none is.

    Raises
    ------
    ValueError
        When a name is neither.
    """
    for name in names:
        if not any(_is_in(task, name) for task in known):
            raise ValueError(f"no task or group {name!r}; there are {', '.join(known)}")
    return [task for task in known if not names or any(_is_in(task, name) for name in names)]


def _is_in(task: str, name: str) -> bool:
    return task == name or (task.startswith(f"{name}-") and name.count("-") < 2)


def measure(task: Callable[[], Row]) -> Row:
    """Run a task in a child process and judge its memory."""
    row = in_child(task)
    most = row.pop("at most", None)
    if most is not None:
        row["within limits"] &= row["MB"] <= most["MB"]
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tasks that are named, all by default; print the table and write the JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.synergy.stages", description=(__doc__ or "").splitlines()[0]
    )
    every = tasks()
    parser.add_argument(
        "tasks",
        nargs="*",
        metavar="task",
        help=f"all by default; groups are stage-1, stage-2, mmkp; tasks {', '.join(every)}",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the rows as JSON")
    options = parser.parse_args(arguments)
    try:
        names = chosen(options.tasks, list(every))
    except ValueError as error:
        parser.error(str(error))
    if options.output is not None and not options.output.parent.is_dir():
        parser.error(f"no folder {options.output.parent} to write {options.output.name} to")
    rows: dict[str, Row] = {}
    for name in names:
        print(name, end=" … ", file=sys.stderr, flush=True)
        rows[name] = measure(every[name])
        print(f"{rows[name]['cpu s']} s", file=sys.stderr)
        if options.output is not None:
            write_json(options.output, {"machine": machine(), "rows": rows})
    print_table("CPU seconds after loading, peak memory of a child process", rows, COLUMNS)
    return 0 if all(row["within limits"] for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
