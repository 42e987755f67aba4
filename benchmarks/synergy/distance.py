"""How far TUNE, GREEDY and the GPU-proportional share are from what the servers can hold.

Takes cluster sizes, workload splits and seeds and gives a table, a JSON file and a plot: distances
below the proven bounds of `packed`, means over seeds with bootstrap intervals of 95 %. Run it as

    python -m benchmarks.synergy.distance --output distance.json --plot docs/images/distance.svg

and draw again from the file, without measuring, with ``--from distance.json``.

Which bound. TUNE and the proportional share may divide a job among servers, so the bound that
holds for them is that with ``split="allowed"``; against ``split="never"`` stands what they make of
it beside placements that keep every job on one server. GREEDY may leave jobs out or below their
fair share, which neither bound allows: its distance can be negative.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import bootstrap

from benchmarks.synergy.distance_plot import draw
from benchmarks.synergy.measured import Row, machine, timed, write_json
from synergy_opt.answer import Placement
from synergy_opt.generate import mix
from synergy_opt.greedy import greedy
from synergy_opt.model import Instance
from synergy_opt.packed import packed
from synergy_opt.proportional import proportional
from synergy_opt.solution import Limits
from synergy_opt.tune import tune

SIZES = (4, 16, 64, 256, 1024, 8192)
SPLITS = ((20, 70, 10), (33, 33, 34), (50, 0, 50))
SEEDS = 10
HEURISTICS = {"tune": tune, "greedy": greedy, "proportional": proportional}


def distances(servers: int, split: Sequence[int], seed: int) -> Row:
    """Run all mechanisms on one mix; a distance is 1 − throughput / bound."""
    instance = mix(servers=servers, seed=seed, split=split)
    whole, row = timed(lambda: packed(instance, limits=Limits(time=20)))
    divided = packed(instance, split="allowed", limits=Limits(time=20))
    assert whole.bound is not None
    assert divided.bound is not None
    never, allowed = whole.bound.value, divided.bound.value
    row = {"servers": servers, "workload": ":".join(map(str, split)), "seed": seed}
    row |= {"jobs": len(instance.jobs), "never": float(never), "allowed": float(allowed)}
    row["packed"] = {
        "never": float(1 - whole.throughput / never),
        "allowed": float(1 - whole.throughput / allowed),
    }
    row["packed-split"] = {"allowed": float(1 - divided.throughput / allowed)}
    for name, mechanism in HEURISTICS.items():
        found = mechanism(instance)
        row[name] = {
            "never": float(1 - found.throughput / never),
            "allowed": float(1 - found.throughput / allowed),
            **_kept(instance, found),
        }
    return row


def _kept(instance: Instance, placed: Placement) -> Row:
    """Count what the bounds do not allow: jobs divided, left out, below their fair share.

    A job's throughput is relative to its fair one, so that 1 is the fair share.
    """
    assert instance.objective == "relative"
    below = sum(bool(job.pieces) and job.throughput < 1 for job in placed.jobs)
    return {
        "divided": len(placed.split_jobs),
        "left out": len(placed.left_out),
        "unfair": below,
    }


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Give the mean with its bootstrap interval of 95 % (percentile method, 9,999 resamples)."""
    mean = float(np.mean(values))
    if len(values) < 2 or min(values) == max(values):
        return mean, mean, mean
    found = bootstrap(
        (np.asarray(values),), np.mean, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    return mean, float(found.low), float(found.high)


def summary(rows: Sequence[Row]) -> list[Row]:
    """Give one row a size and workload: means with intervals of each distance."""
    cells: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["workload"], row["servers"]), []).append(row)
    found = []
    for (workload, servers), some in cells.items():
        line: Row = {"workload": workload, "servers": servers, "seeds": len(some)}
        for name in ("packed", *HEURISTICS):
            for bound in ("allowed", "never"):
                line[f"{name} {bound}"] = interval([row[name][bound] for row in some])
        for name in HEURISTICS:
            for fault in ("divided", "left out", "unfair"):
                share = [row[name][fault] / row["jobs"] for row in some]
                line[f"{name} {fault}"] = float(np.mean(share))
        line["packed-split allowed"] = interval([row["packed-split"]["allowed"] for row in some])
        found.append(line)
    return found


def print_summary(lines: Sequence[Row]) -> None:
    """Print the table in Markdown's form, as the documentation has it."""
    console = Console(width=200, highlight=False)
    for bound in ("allowed", "never"):
        table = Table(title=f'below the bound with split="{bound}", % [95 % interval]')
        columns = ("packed", *HEURISTICS)
        for column in ("workload", "servers", "seeds", *columns):
            table.add_column(column, justify="right")
        for line in lines:
            cells = (_percent(line[f"{name} {bound}"]) for name in columns)
            table.add_row(line["workload"], str(line["servers"]), str(line["seeds"]), *cells)
        console.print(table)
    table = Table(title="what the bounds do not allow, % of the jobs")
    faults = [f"{name} {fault}" for name in HEURISTICS for fault in ("divided", "left out")]
    faults.append("greedy unfair")
    for column in ("workload", "servers", *faults):
        table.add_column(column, justify="right")
    for line in lines:
        cells = (f"{100 * line[fault]:.2f}" for fault in faults)
        table.add_row(line["workload"], str(line["servers"]), *cells)
    console.print(table)


def _percent(found: tuple[float, float, float]) -> str:
    mean, low, high = (100 * x for x in found)
    return f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or read what was measured; print, write and draw."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.synergy.distance", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="SERVERS")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of each size and workload")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write all runs as JSON")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="read them there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw, as SVG or PNG")
    options = parser.parse_args(arguments)
    if min(options.sizes) < 1 or options.seeds < 1:
        parser.error("sizes and seeds are at least 1")
    rows: list[Row] = []
    if options.source is not None:
        try:
            rows = json.loads(options.source.read_text())["runs"]
        except (OSError, ValueError, KeyError) as error:
            parser.error(f"{options.source} holds no runs: {error}")
    else:
        for servers in options.sizes:
            for split in SPLITS:
                rows += [distances(servers, split, seed) for seed in range(options.seeds)]
                print(f"{servers} servers, {split} done", file=sys.stderr, flush=True)
                if options.output is not None:
                    write_json(options.output, {"machine": machine(), "runs": rows})
    lines = summary(rows)
    print_summary(lines)
    if options.plot is not None:
        draw(lines, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
