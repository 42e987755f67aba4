"""The packed optimum measured: how often it is proven, how far from the bound, how long.

Takes sections and a number of seeds, prints a table a section and writes every run as JSON. Run
it as

    python -m benchmarks.synergy.packed --sections medium large --seeds 20 --output packed.json

Under each table stands what is asked of the section and whether these runs keep it; the command
ends with code 1 where one does not. What is asked of a time is judged by processor seconds: on a
machine that others use, `--clock 4` lets the clock run four times as long, and of a run that then
takes more processor seconds than its limit counts only what it had reported until then
(`gap_in_limit`). Different jobs end at the gap that is asked of them, so that their time is the
time to that gap.

`rivals` sets TUNE, GREEDY, GPU-proportional and packed side by side in one run; `assignment` gives
CP-SAT the compact programme for 60 seconds.
"""

from __future__ import annotations

import argparse
import gc
import platform
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.synergy.measured import write_json
from benchmarks.synergy.packed_cases import SECTIONS, SPLITS, Case, cases
from benchmarks.synergy.packed_targets import Row, in_time, verdicts
from synergy_opt.answer import Placement
from synergy_opt.certificate import violations
from synergy_opt.generate import mix
from synergy_opt.greedy import greedy
from synergy_opt.packed import Progress, packed, packed_program
from synergy_opt.proportional import proportional
from synergy_opt.solution import Limits
from synergy_opt.solvers import solver
from synergy_opt.tune import tune


def run(case: Case, *, check: bool, clock: float) -> Row:
    """Solve one case; wall-clock and processor seconds from values in memory to the placement."""
    instance = case.make()
    gc.collect()
    known: list[tuple[float, float | None]] = []

    def note(state: Progress) -> None:
        gap = None if state.gap is None else float(state.gap)
        known.append((time.process_time() - cpu, gap))

    wall, cpu = time.perf_counter(), time.process_time()
    limits = Limits(time=case.seconds * clock, gap=case.gap)
    found = packed(instance, split=case.split, limits=limits, progress=note)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert found.bound is not None
    gap = float((found.bound.value - found.throughput) / found.throughput)
    known.append((cpu, gap))
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
        "gap": gap,
        "gap_in_limit": gap_within(known, case.seconds),
        "proof": found.proof,
        "limit_s": case.seconds,
        "wall_s": wall,
        "cpu_s": cpu,
        "broken": len(violations(instance, found)) if check else None,
    }


def gap_within(known: Sequence[tuple[float, float | None]], seconds: float) -> float | None:
    """Give the last gap reported within so many processor seconds, None where there was none."""
    return next((gap for passed, gap in reversed(known) if passed <= seconds), None)


def drawn(title: str, names: str) -> Table:
    """Give an empty table with these columns, separated by commas."""
    table = Table(title=title, title_justify="left")
    for name in names.split(", "):
        table.add_column(name, justify="right")
    return table


def summary(section: str, rows: list[Row]) -> Table:
    """Draw a table of a section, a row a cluster size."""
    names = "servers, runs, gap 0, proven, most gap, wall s, most, cpu s, most, left out, broken"
    table = drawn(f"packed: {section} (medians, and the most)", names)
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
            f"{sum(r['proof'] != 'none' and in_time(r) for r in some) / len(some):.1%}",
            f"{max(r['gap'] for r in some):.2e}",
            *(f"{t[k]:.2f}" for t in (wall, cpu) for k in (len(t) // 2, -1)),
            str(sum(r["left_out"] for r in some)),
            f"{sum(checked)} in {len(checked)}",
        )
    return table


def judged(console: Console, found: list[Row]) -> list[Row]:
    """Print and give the verdicts on a section's rows."""
    some = verdicts(str(found[0]["section"]), found) if found else []
    for row in some:
        kept = "kept" if row["kept"] else "NOT kept"
        console.print(f"  {row['target']}: {row['measured']} in {row['runs']} runs, {kept}")
    return some


def timed(call: Callable[[], Placement]) -> tuple[Placement, float]:
    """Give a placement and the processor seconds that it took."""
    gc.collect()
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


OTHERS = {"tune": tune, "greedy": greedy, "proportional": proportional}


def beside(servers: int, weights: tuple[int, ...], seed: int) -> Row:
    """Run all mechanisms on one mix; the bound is that for jobs that may be divided."""
    instance = mix(servers=servers, seed=seed, split=weights)
    ours, seconds = timed(lambda: packed(instance, limits=Limits(time=10)))
    bound = packed(instance, split="allowed", limits=Limits(time=5)).bound
    assert bound is not None
    row: Row = {"section": "rivals", "servers": servers, "seed": seed, "packed_s": seconds}
    row |= {"workload": ":".join(map(str, weights)), "bound": float(bound.value)}
    row["packed_below"] = float(1 - ours.throughput / bound.value)
    for name, mechanism in OTHERS.items():
        found, row[f"{name}_s"] = timed(lambda m=mechanism: m(instance))
        row[f"{name}_below"] = float(1 - found.throughput / bound.value)
    return row


def rivals(console: Console, sizes: tuple[int, ...], seeds: int) -> list[Row]:
    """Set the mechanisms side by side: processor seconds, and how far below the split bound."""
    rows: list[Row] = []
    names = "servers, workload, packed s, tune s, ratio, packed, tune, greedy, proportional"
    table = drawn("means over seeds; the last four: below the bound with divided jobs", names)
    for servers in sizes:
        for weights in SPLITS:
            some = [beside(servers, weights, seed) for seed in range(seeds)]
            rows += some
            keys = [f"{name}_below" for name in ("packed", *OTHERS)]
            mean = {k: sum(r[k] for r in some) / len(some) for k in ("packed_s", "tune_s", *keys)}
            table.add_row(
                str(servers),
                some[0]["workload"],
                f"{mean['packed_s']:.3f}",
                f"{mean['tune_s']:.3f}",
                f"{mean['packed_s'] / mean['tune_s']:.2f}",
                *(f"{mean[key]:.2%}" for key in keys),
            )
    console.print(table)
    return rows


def assignment(console: Console, seconds: float) -> list[Row]:
    """Give CP-SAT the compact programme, beside packed on the same instance."""
    rows: list[Row] = []
    names = "servers, CP-SAT, its bound, wall s, packed, its bound, wall s"
    table = drawn("CP-SAT on the compact programme", names)
    for servers in (8, 16, 32, 64):
        instance = mix(servers=servers, seed=1, split=(33, 33, 34))
        start = time.perf_counter()
        solution = solver("cpsat")(packed_program(instance), Limits(time=seconds))
        middle = time.perf_counter()
        found = packed(instance, limits=Limits(time=5))
        end = time.perf_counter()
        assert found.bound is not None
        row: Row = {
            "section": "assignment",
            "servers": servers,
            "cpsat": solution.objective,
            "cpsat_bound": solution.bound,
            "cpsat_s": middle - start,
            "packed": float(found.throughput),
            "packed_bound": float(found.bound.value),
            "packed_s": end - middle,
        }
        rows.append(row)
        numbers = [row[key] for key in list(row)[2:]]
        table.add_row(str(servers), *("none" if n is None else f"{n:.4f}" for n in numbers))
    console.print(table)
    return rows


def main() -> int:
    """Run the command; 1 where a target is not kept."""
    every = (*SECTIONS, "rivals", "assignment")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sections", nargs="+", choices=every, default=every)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sizes", nargs="+", type=int, default=(16, 64, 512), help="of rivals")
    parser.add_argument("--no-check", action="store_true", help="leave the certificates unchecked")
    parser.add_argument("--clock", type=float, default=1.0, help="wall-clock limit over limit")
    parser.add_argument("--servers", nargs="+", type=int, help="only these sizes")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error(f"--seeds: must be at least 1, not {options.seeds}")
    console, rows, kept = Console(width=110), [], []
    for section in options.sections:
        if section == "rivals":
            found = rivals(console, tuple(options.sizes), options.seeds)
        elif section == "assignment":
            found = assignment(console, 60.0)
        else:
            check = not options.no_check
            some = [
                case
                for case in cases(section, options.seeds)
                if options.servers is None or case.servers in options.servers
            ]
            found = [run(case, check=check, clock=options.clock) for case in some]
            console.print(summary(section, found))
        rows += found
        kept += judged(console, found)
    if options.output is not None:
        facts = {"python": platform.python_version(), "machine": platform.machine()}
        facts |= {name: version(name) for name in ("highspy", "ortools", "numpy")}
        write_json(options.output, {"facts": facts, "targets": kept, "runs": rows})
    return 0 if all(row["kept"] for row in kept) else 1


if __name__ == "__main__":
    sys.exit(main())
