"""``python -m benchmarks speed``: time each stage, save JSON, compare with the last release's.

Takes a baseline file and gives exit code 1 where a stage became slower than the stated factor.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.environment import environment, today
from benchmarks.speed.measure import Change, Figure, compare, growth, least, measure
from benchmarks.speed.workloads import workloads
from synergy_opt.errors import InvalidInstance
from synergy_opt.io.text import read_json, write_text

SCHEMA = "synergy-hived/speed/1"
NOISE = 0.05  # calibrations, about 2 ms


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.add_argument("--runs", type=int, default=5, help="least of these")
    parser.add_argument("--only", nargs="+", metavar="STAGE", help="stages to measure")
    parser.add_argument("--output", type=Path, help="save as JSON")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="baseline")
    parser.add_argument("--factor", type=float, default=2.0, help="slower than this: exit code 1")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure, save, compare."""
    chosen = [w for w in workloads() if options.only is None or w.stage in options.only]
    if options.runs < 1:
        raise InvalidInstance(f"must be at least 1, not {options.runs}", "--runs")
    if not chosen:
        stages = sorted({w.stage for w in workloads()})
        raise InvalidInstance(f"must be of {', '.join(stages)}", "--only")
    then = {} if options.compare is None else read_baseline(options.compare)
    now = measure(chosen, runs=options.runs)
    changes = compare(now, then, factor=options.factor, noise=NOISE)
    if any(c.regression for c in changes):  # seen twice, or it was other work on the machine
        names = {c.name for c in changes if c.regression}
        again = measure([w for w in chosen if w.name in names], runs=2 * options.runs)
        now = least(now, again)
        changes = compare(now, then, factor=options.factor, noise=NOISE)
    show(now, changes)
    if options.output is not None:
        document = {
            "schema": SCHEMA,
            "date": today(),
            "environment": environment(),
            "growth": growth(now),
            "figures": [asdict(figure) for figure in now],
        }
        write_text(options.output, json.dumps(document, indent=1) + "\n")
    slower = [c for c in changes if c.regression]
    for change in slower:
        print(f"{change.name}: {change.factor:.2f} times the baseline, above {options.factor:g}")
    return 1 if slower else 0


def read_baseline(path: Path) -> dict[str, float]:
    """Give the ratios of a file by workload.

    Raises
    ------
    InvalidInstance
        When it is no such file.
    """
    document = read_json(path)
    try:
        assert isinstance(document, dict)
        if document["schema"] != SCHEMA:
            raise KeyError("schema")
        return {str(row["name"]): float(row["ratio"]) for row in document["figures"]}
    except (AssertionError, KeyError, TypeError, ValueError):
        raise InvalidInstance(f"is no file of the schema {SCHEMA!r}", f"{path}") from None


def show(now: list[Figure], changes: list[Change]) -> None:
    """Draw the table."""
    factors = {change.name: change for change in changes}
    table = Table("workload", "CPU s", "calibrations", "× baseline")
    for figure in now:
        change = factors.get(figure.name)
        cell = "–" if change is None else f"{change.factor:.2f}{' !' * change.regression}"
        table.add_row(figure.name, f"{figure.seconds:.4f}", f"{figure.ratio:.2f}", cell)
    console = Console()
    console.print(table)
    for stage, times in growth(now).items():
        console.print(f"{stage}: ×{times:.1f} from the smaller to the larger size")
