"""The packed optimum measured: how often it is proven, how far from the bound, how long.

Takes sections and a number of seeds, prints a table a section and writes every run as JSON. Run it

    python -m benchmarks.synergy.packed --sections medium large growth --seeds 20 --output packed.json

`rivals` sets TUNE, GREEDY, GPU-proportional and packed side by side in one run; `assignment` gives
CP-SAT the compact programme for 60 seconds.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import time
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.synergy.packed_cases import SPLITS, Case, cases
from synergy_opt.answer import Placement
from synergy_opt.certificate import violations
from synergy_opt.generate import mix
from synergy_opt.greedy import greedy
from synergy_opt.packed import packed, packed_program
from synergy_opt.proportional import proportional
from synergy_opt.solution import Limits
from synergy_opt.solvers import solver
from synergy_opt.tune import tune

SECTIONS = (
    "medium",
    "medium-60",
    "large",
    "growth",
    "few",
    "large-jobs",
    "split-allowed",
    "different",
)
Row = dict[str, object]


def run(case: Case, *, check: bool) -> Row:
    """Solve one case; wall-clock and processor seconds from values in memory to the placement."""
    instance = case.make()
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    found = packed(instance, split=case.split, limits=Limits(time=case.seconds))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert found.bound is not None
    return {
        "section": case.section,
        "servers": case.servers,
        "workload": case.workload,
        "seed": case.seed,
        "split": case.split,
        "jobs": len(found.jobs),
        "left_out": len(found.left_out),
        "throughput": float(found.throughput),
        "bound": float(found.bound.value),
        "gap": float((found.bound.value - found.throughput) / found.throughput),
        "proof": found.proof,
        "wall_s": wall,
        "cpu_s": cpu,
        "broken": len(violations(instance, found)) if check else None,
    }


def summary(section: str, rows: list[Row]) -> Table:
    """Draw a table of a section, a row a cluster size."""
    table = Table(title=f"packed: {section}", title_justify="left")
    for name in (
        "servers",
        "runs",
        "gap 0",
        "proven",
        "largest gap",
        "wall s: median",
        "most",
        "cpu s: median",
        "left out",
        "broken",
    ):
        table.add_column(name, justify="right")
    by_size: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_size[row["servers"]].append(row)
    for servers, some in sorted(by_size.items()):
        wall, cpu = (sorted(r[key] for r in some) for key in ("wall_s", "cpu_s"))
        checked = [r["broken"] for r in some if r["broken"] is not None]
        table.add_row(
            str(servers),
            str(len(some)),
            f"{sum(r['gap'] == 0 for r in some) / len(some):.1%}",
            f"{sum(r['proof'] != 'none' for r in some) / len(some):.1%}",
            f"{max(r['gap'] for r in some):.2e}",
            f"{wall[len(wall) // 2]:.2f}",
            f"{wall[-1]:.2f}",
            f"{cpu[len(cpu) // 2]:.2f}",
            str(sum(r["left_out"] for r in some)),
            f"{sum(checked)} in {len(checked)}",
        )
    return table


def timed(call: Callable[[], Placement]) -> tuple[Placement, float]:
    """Give a placement and the processor seconds that it took."""
    gc.collect()
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


def rivals(console: Console, sizes: tuple[int, ...], seeds: int) -> list[Row]:
    """Set the mechanisms side by side: processor seconds and how far from the packed optimum."""
    rows: list[Row] = []
    table = Table(title="mechanisms and the packed optimum", title_justify="left")
    for name in (
        "servers",
        "workload",
        "tune s",
        "packed s",
        "ratio",
        "tune %",
        "greedy %",
        "proportional %",
    ):
        table.add_column(name, justify="right")
    for servers in sizes:
        for weights in SPLITS:
            some: list[Row] = []
            for seed in range(seeds):
                instance = mix(servers=servers, seed=seed, split=weights)
                ours, ours_s = timed(lambda i=instance: packed(i, limits=Limits(time=10)))
                theirs, theirs_s = timed(lambda i=instance: tune(i))
                split = packed(instance, split="allowed", limits=Limits(time=5))
                row: Row = {
                    "section": "rivals",
                    "servers": servers,
                    "workload": ":".join(map(str, weights)),
                    "seed": seed,
                    "packed_s": ours_s,
                    "tune_s": theirs_s,
                    "packed": float(ours.throughput),
                    "bound": float(split.bound.value),
                }
                for name, other in (
                    ("tune", theirs),
                    ("greedy", greedy(instance)),
                    ("proportional", proportional(instance)),
                ):
                    row[name] = float(other.throughput)
                    row[f"{name}_below"] = float(1 - other.throughput / split.bound.value)
                some.append(row)
            rows += some
            mean = {
                key: sum(r[key] for r in some) / len(some)
                for key in (
                    "tune_s",
                    "packed_s",
                    "tune_below",
                    "greedy_below",
                    "proportional_below",
                )
            }
            table.add_row(
                str(servers),
                some[0]["workload"],
                f"{mean['tune_s']:.3f}",
                f"{mean['packed_s']:.3f}",
                f"{mean['packed_s'] / mean['tune_s']:.2f}",
                *(
                    f"{100 * mean[f'{name}_below']:.2f}"
                    for name in ("tune", "greedy", "proportional")
                ),
            )
    console.print(table)
    return rows


def assignment(console: Console, seconds: float) -> list[Row]:
    """Give CP-SAT the compact programme, beside packed on the same instance."""
    rows: list[Row] = []
    table = Table(title="CP-SAT on the compact programme", title_justify="left")
    for name in ("servers", "CP-SAT", "CP-SAT bound", "seconds", "packed", "packed seconds"):
        table.add_column(name, justify="right")
    for servers in (8, 16, 32, 64):
        instance = mix(servers=servers, seed=1, split=(33, 33, 34))
        start = time.perf_counter()
        solution = solver("cpsat")(packed_program(instance), Limits(time=seconds))
        theirs = time.perf_counter() - start
        start = time.perf_counter()
        found = packed(instance, limits=Limits(time=5))
        ours = time.perf_counter() - start
        rows.append(
            {
                "section": "assignment",
                "servers": servers,
                "cpsat": solution.objective,
                "cpsat_bound": solution.bound,
                "cpsat_s": theirs,
                "packed": float(found.throughput),
                "packed_s": ours,
            }
        )
        shown = "none" if solution.objective is None else f"{solution.objective:.4f}"
        table.add_row(
            str(servers),
            shown,
            f"{solution.bound:.4f}",
            f"{theirs:.1f}",
            f"{float(found.throughput):.4f}",
            f"{ours:.2f}",
        )
    console.print(table)
    return rows


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sections", nargs="+", choices=(*SECTIONS, "rivals", "assignment"), default=SECTIONS
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sizes", nargs="+", type=int, default=(16, 64, 512), help="of rivals")
    parser.add_argument("--no-check", action="store_true", help="leave the certificates unchecked")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    console, rows = Console(), []
    for section in options.sections:
        if section == "rivals":
            rows += rivals(console, tuple(options.sizes), options.seeds)
        elif section == "assignment":
            rows += assignment(console, 60.0)
        else:
            found = [
                run(case, check=not options.no_check) for case in cases(section, options.seeds)
            ]
            console.print(summary(section, found))
            rows += found
    if options.output is not None:
        facts = {"python": platform.python_version(), "machine": platform.machine()}
        facts |= {name: version(name) for name in ("highspy", "ortools", "numpy")}
        options.output.write_text(json.dumps({"facts": facts, "runs": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
