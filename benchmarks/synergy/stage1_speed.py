"""Stage 1 against the paper's own formulation: from values in memory to a certified answer.

Takes a cluster size and gives one row a method: median time, ratio to ours, throughput, bound.
The rival is LP(1–5) as an ILP in cvxpy with one variable a job, built and solved by HiGHS, as the
paper has it. Run it as

    python -m benchmarks.synergy.stage1_speed --output stage1_speed.json
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from synergy_opt.certificate import violations
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Instance
from synergy_opt.placement import place
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits
from synergy_opt.solvers.cvxpy_ import solve_paper

SERVERS, SEED = 64, 82  # 269 jobs


def ours(instance: Instance) -> tuple[float, float]:
    """Solve stage 1; its answer carries the exact bound."""
    found = ideal_allocation(instance)
    return float(found.throughput), float(found.bound.value)


def paper(instance: Instance, *, rows: bool) -> tuple[float, float]:
    """Build and solve the paper's formulation; its bound is the solver's word."""
    found = solve_paper(instance, runnable(instance), Limits(), rows=rows)
    assert found.objective is not None
    assert found.bound is not None
    return found.objective, found.bound


def measure(call: Callable[[], tuple[float, float]], runs: int) -> dict[str, float]:
    """Time a call several times after one that does not count."""
    throughput, bound = call()
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return {
        "median_s": statistics.median(times),
        "least_s": min(times),
        "throughput": throughput,
        "bound": bound,
    }


def main() -> None:
    """Print the table and write the JSON file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=SERVERS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    instance = mix(servers=options.servers, seed=options.seed)
    rows = {
        "synergy_opt, exact bound": measure(lambda: ours(instance), options.runs),
        "cvxpy, one variable a job, fixing": measure(
            lambda: paper(instance, rows=False), options.runs
        ),
        "cvxpy, one variable a job, rows (5)": measure(
            lambda: paper(instance, rows=True), options.runs
        ),
    }
    base = rows["synergy_opt, exact bound"]["median_s"]
    title = f"Stage 1, {options.servers} servers, {len(instance.jobs)} jobs (CPU time)"
    table = Table(title=title)
    for column in ("method", "median s", "× ours", "throughput", "bound"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for name, row in rows.items():
        row["ratio"] = row["median_s"] / base
        table.add_row(
            name,
            f"{row['median_s']:.4f}",
            f"{row['ratio']:.1f}",
            f"{row['throughput']:.6f}",
            f"{row['bound']:.6f}",
        )
    Console().print(table)
    placed = place(instance, ideal_allocation(instance))
    assert placed.bound is not None
    broken = violations(
        instance, placed, throughput=placed.throughput, upper_bound=placed.bound.value
    )
    print(f"certificate: {len(broken)} rules broken; proof: {placed.proof}")
    if options.output:
        result = {"machine": platform.platform(), "jobs": len(instance.jobs), "rows": rows}
        options.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
