"""Stage 1 by its core and stage 2 by bisection, at scale: time, gap, memory, and HiGHS beside it.

Takes names of tasks and gives a table with one row a task and a JSON file. Each task runs in a
child process of its own, so that peak memory is its own; a task that names a rival runs both in
that process. Run it as

    python -m benchmarks.synergy.stages --output stages.json

Times are of the process's CPU, without building the instance ("after loading"); the clock's time
is beside them. The gap is of the multipliers' bound alone; "proof" says what closed the rest.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import resource
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.synergy.different_jobs import different_jobs
from benchmarks.synergy.mmkp import read_mmkp
from synergy_opt.answer import Allocation, Choice
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.knapsack import solve
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.placement import place
from synergy_opt.solution import Limits

Row = dict[str, Any]

PATIENCE = 100  # times our own time that the rival is given
MMKP = Path("../shared/data/mmkp")


def different(jobs: int, gap: Fraction, *, rival: bool) -> Row:
    """Measure stage 1 on jobs that all differ; the rival is HiGHS on the whole model."""
    instance = different_jobs(jobs)
    found, row = _stage_1(instance, Limits(gap=gap, time=600.0))
    if rival:
        limits = Limits(gap=found.gap, time=max(PATIENCE * row["cpu"], 10.0))
        other, rest = _timed(lambda: ideal_allocation(instance, solver="highs", limits=limits))
        row["highs cpu"] = rest["cpu"]
        row["highs short of ours"] = float(found.throughput - other.throughput)
        row["highs proof"] = other.proof
        row["ratio"] = round(rest["cpu"] / row["cpu"], 1)
    return row


def models(servers: int) -> Row:
    """Measure stage 1 on twelve models × GPU demands {1, 2, 4, 8, 16} that fill the GPUs."""
    weights = {1: 30, 2: 25, 4: 20, 8: 15, 16: 10}
    instance = mix(servers=servers, gpu_demands=weights, seed=0)
    _, row = _stage_1(instance, Limits(time=600.0))
    row["gpus"] = instance.cluster.gpus
    return row


def bisection(servers: int, *, different: bool) -> Row:
    """Measure stage 2 on servers that the jobs fill to the last core and byte."""
    instance, allocation = full_cluster(servers, different=different)
    placed, row = _timed(lambda: place(instance, allocation))
    assert placed.split is not None
    cuts = placed.split.extra_pieces
    limit = placed.split.rows_per_server * (servers - 1)
    return {**row, "jobs": len(allocation.jobs), "cuts": cuts, "cuts at most": limit}


def full_cluster(servers: int, *, different: bool) -> tuple[Instance, Allocation]:
    """Give an instance with an allocation that leaves no slack: capacity = what the jobs have."""
    load = mix(servers=servers, seed=0)
    drawn = ideal_allocation(load)
    scale = {job.id: job.gpus for job in load.jobs}
    jobs = []
    for i, job in enumerate(drawn.jobs):
        noise = Fraction(i * 7919 % 10_007, 10_007) if different else Fraction(0)
        demand = tuple(amount + scale[job.id] * noise for amount in job.demand)
        jobs.append(
            Choice(id=job.id, mixture=job.mixture, demand=demand, throughput=job.throughput)
        )
    gpus = sum(scale[job.id] for job in jobs)
    total = [sum((job.demand[r] for job in jobs), Fraction(0)) for r in range(2)]
    short = 8 * servers - gpus  # jobs of one GPU take what is left over
    share = Fraction(3), Fraction(125, 2)
    whole = ((0, Fraction(1)),)
    jobs += [
        Choice(id=f"rest{i}", mixture=whole, demand=share, throughput=Fraction(1))
        for i in range(short)
    ]
    total = [t + short * part for t, part in zip(total, share, strict=True)]
    server = Server(type="full", count=servers, gpus=8, capacity=tuple(t / servers for t in total))
    flat = Profile(name="flat", axes={"cpu": [0], "memory": [0]}, throughput=[[1]])
    instance = Instance(
        name="full",
        cluster=Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[server]),
        profiles=[flat],
        jobs=[Job(id=job.id, gpus=scale.get(job.id, 1), profile="flat") for job in jobs],
    )
    allocation = Allocation(instance="full", jobs=tuple(jobs), bound=drawn.bound, proof="none")
    return instance, allocation


def mmkp(name: str, resources: int | None) -> Row:
    """Measure a knapsack of Khan et al., with its first resources only or with all."""
    table = read_mmkp((MMKP / name).read_text(), resources=resources)
    found, row = _timed(lambda: solve(table, limits=Limits(time=1200.0)))
    row["optimum"] = None if found.value is None else float(found.value)
    row["bound"] = float(found.bound)
    row["stop"] = found.stop.value
    row["states"] = found.states
    return row


def _stage_1(instance: Instance, limits: Limits) -> tuple[Allocation, Row]:
    found, row = _timed(lambda: ideal_allocation(instance, solver="core", limits=limits))
    row |= {"jobs": len(found.jobs), "gap": float(found.gap)}
    row |= {"proof": found.proof, "rivals": found.rivals}
    return found, row


def _timed(work: Callable[[], Any]) -> tuple[Any, Row]:
    clock, cpu = time.perf_counter(), time.process_time()
    result = work()
    row: Row = {
        "cpu": round(time.process_time() - cpu, 3),
        "clock": round(time.perf_counter() - clock, 3),
    }
    return result, row


def tasks() -> dict[str, Callable[[], Row]]:
    """Give every task of the issue by name."""
    found: dict[str, Callable[[], Row]] = {
        "stage-1-2048": partial(different, 2048, Fraction(0), rival=True),
        "stage-1-16384": partial(different, 16_384, Fraction(1, 10**7), rival=False),
        "stage-1-65536": partial(different, 65_536, Fraction(1, 10**6), rival=False),
        "stage-1-models": partial(models, 8192),
        "stage-2-8192": partial(bisection, 8192, different=False),
        "stage-2-8192-different": partial(bisection, 8192, different=True),
    }
    if MMKP.is_dir():
        for i in range(1, 8):
            found[f"mmkp-two-I0{i}"] = partial(mmkp, f"I0{i}", 2)
        for i in range(1, 7):
            found[f"mmkp-I0{i}"] = partial(mmkp, f"I0{i}", None)
    return found


def _child(name: str, queue: multiprocessing.Queue[Row]) -> None:
    row = tasks()[name]()
    row["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    queue.put(row)


def measure(name: str) -> Row:
    """Run a task in a child process."""
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[Row] = context.Queue()
    child = context.Process(target=_child, args=(name, queue))
    child.start()
    row = queue.get()
    child.join()
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the tasks that are named, all by default; print a row each and write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=list(tasks()), metavar="task")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    rows: dict[str, Row] = {}
    for name in options.tasks:
        rows[name] = measure(name)
        shown = "  ".join(f"{key} {value}" for key, value in rows[name].items())
        print(f"{name:24} {shown}", flush=True)
        if options.output:
            machine = {"python": platform.python_version(), "machine": platform.processor()}
            result = {"machine": machine, "rows": rows}
            options.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
