"""The commands about many jobs over time: `generate`, `simulate` and `design`.

Takes the parser of `hived-cells`, adds the commands; each gives an exit code as the others do.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hived_cells.errors import InvalidSpec
from hived_cells.output import output

if TYPE_CHECKING:
    from hived_cells.simulation import Trace
    from hived_cells.spec import SpecPool

__all__ = ["add_commands"]

DONE, FAILED, STOPPED = 0, 1, 4
_SCHEDULERS = ("capacity", "capacity-tightest", "gandiva", "tiresias")


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the three commands to a parser.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_commands(parser.add_subparsers())
    >>> parser.parse_args(["simulate", "spec.yaml", "trace.csv"]).scheduler
    'capacity'
    """
    generate = commands.add_parser(
        "generate",
        help="a trace like the paper's production trace, and its cluster",
        epilog="example: hived-cells generate trace.csv cluster.yaml --days 7 --jobs 16561",
    )
    generate.add_argument("trace", metavar="TRACE", type=Path, help="CSV to write")
    generate.add_argument("spec", metavar="SPEC", type=Path, help="hivedscheduler YAML to write")
    generate.add_argument(
        "--seed", type=int, default=0, metavar="N", help="same seed, same bytes (default 0)"
    )
    for name, (text, default) in _OPTIONS.items():
        generate.add_argument(
            f"--{name.replace('_', '-')}",
            type=int,
            metavar="N",
            help=f"{text} (default {default})",
        )
    generate.set_defaults(run=_generate)

    both = argparse.ArgumentParser(add_help=False)
    both.add_argument("spec", metavar="SPEC", type=Path, help="hivedscheduler YAML of one pool")
    both.add_argument("trace", metavar="TRACE", type=Path, help="CSV, plain or gzip")
    both.add_argument(
        "--philly", action="store_true", help="TRACE has the columns of the Philly job list"
    )
    both.add_argument("--json", action="store_true", help="print JSON")

    simulate = commands.add_parser(
        "simulate",
        parents=[both],
        help="private clusters, quota and cells, with one scheduler",
        epilog="example: hived-cells simulate cluster.yaml trace.csv --scheduler tiresias",
    )
    simulate.add_argument(
        "--scheduler",
        choices=_SCHEDULERS,
        default="capacity",
        help="the policy of each tenant, and of all under quota (default capacity)",
    )
    simulate.add_argument(
        "--faults",
        metavar="FILE",
        type=Path,
        help="CSV: time (seconds), node (number), event (leaves, returns) (default no faults)",
    )
    simulate.add_argument(
        "--checkpoint",
        type=int,
        default=1800,
        metavar="S",
        help="seconds of running between two checkpoints (default 1800)",
    )
    simulate.add_argument(
        "--no-low-priority", action="store_true", help="lend no idle GPUs to jobs that wait"
    )
    simulate.set_defaults(run=_simulate)

    design = commands.add_parser(
        "design",
        parents=[both],
        help="which cells to reserve for the tenants' shares in SPEC",
        epilog="example: hived-cells design cluster.yaml trace.csv --output designed.yaml",
    )
    design.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        type=Path,
        help="write the specification here (default: it is not written)",
    )
    design.add_argument(
        "--unmet-weight", type=int, default=8, metavar="N",
        help="misfit GPUs that count as much as one that finds no cell (default 8)",
    )  # fmt: skip
    design.add_argument(
        "--time-limit",
        type=float,
        default=20.0,
        metavar="S",
        help="seconds for each tenant's search (default 20)",
    )
    design.set_defaults(run=_design)


_OPTIONS = {  # of ProductionOptions, with its default: importing it takes longer than --help may
    "nodes": ("nodes of the cluster", 279),
    "jobs": ("number of jobs", 141_950),
    "days": ("days of submissions", 60),
    "load": ("mean demand in percent of the GPUs", 65),
    "spread": ("deviation of a duration's logarithm (percent)", 200),
    "growth": ("exponent with which durations grow with GPUs (percent)", 20),
    "longest": ("longest duration (days)", 7),
    "batch": ("mean number of jobs submitted together", 4),
    "day_swing": ("swing of the rate within a day (percent)", 50),
    "weekend": ("rate at weekends (percent)", 60),
    "moods": ("deviation of a tenant's daily rate's logarithm (percent)", 30),
    "memory": ("its correlation from day to day (percent)", 70),
}


def _generate(options: argparse.Namespace) -> int:
    from hived_cells.hierarchy import Chain
    from hived_cells.reservation import Reservation
    from hived_cells.simulation import ProductionOptions, production_trace
    from hived_cells.simulation.trace_file import trace_text
    from hived_cells.spec.write import spec_text

    trace_path, spec_path = options.trace.resolve(), options.spec.resolve()
    if trace_path == spec_path and (trace_path.is_file() or not trace_path.exists()):
        raise InvalidSpec(f"{options.spec}: the trace and the specification are the same file")
    given = {name: getattr(options, name) for name in _OPTIONS}
    chosen = ProductionOptions(**{name: n for name, n in given.items() if n is not None})
    trace = production_trace(chosen, seed=options.seed)
    chain = Chain(chosen.nodes, (2, 2, 2))
    cells = {tenant: {4: nodes} for tenant, nodes in chosen.quotas.items()}
    with output(options.trace) as trace_file, output(options.spec) as spec_file:
        trace_file.write(trace_text(trace))
        spec_file.write(spec_text(chain, Reservation(cells)))
        for file in (trace_file, spec_file):
            file.flush()  # both are whole before either takes its name
    told = f"{len(trace.jobs)} jobs of {len(trace.tenants)} tenants in {chosen.days} days to "
    told += f"{options.trace}, {chain.top_cells} nodes of {chain.sizes[-1]} GPUs to {options.spec}"
    if sys.stderr is not None:
        print(f"hived-cells: wrote {told}", file=sys.stderr)  # the files may be standard output
    return DONE


def _simulate(options: argparse.Namespace) -> int:
    from hived_cells.simulation import SCHEDULERS
    from hived_cells.simulation.comparison import compare, report, summary
    from hived_cells.simulation.faults_file import read_faults

    pool, trace = _inputs(options)
    chain = pool.pool.chain
    faults = read_faults(options.faults, chain.top_cells) if options.faults else ()
    with _progress(f"{len(trace.jobs)} jobs", 3 * len(trace.jobs)) as advance:
        done = {"private": 0, "quota": 0, "cells": 0}

        def told(way: str, jobs: int) -> None:
            done[way] = jobs
            advance(sum(done.values()))

        found = compare(
            trace,
            chain,
            pool.pool.reservation,
            scheduler=SCHEDULERS[options.scheduler],
            lending=not options.no_low_priority,
            faults=faults,
            checkpoint=options.checkpoint,
            progress=told,
        )
    data = summary(found)
    print(json.dumps(data, indent=2) if options.json else report(data))
    if found.longer and not faults:
        late = found.longer[0]
        sys.stdout.flush()
        print(
            f"hived-cells: job {late.job!r} of {late.tenant!r} is {late.what} at {late.shared} s "
            f"under cells, at {late.private} s in its private cluster",
            file=sys.stderr,
        )
        return FAILED
    return DONE


def _design(options: argparse.Namespace) -> int:
    from hived_cells.design import cost_of, design, history_of
    from hived_cells.design.start import whole_nodes
    from hived_cells.reservation import Reservation
    from hived_cells.simulation.ways import reserved_gpus
    from hived_cells.spec.write import spec_text

    pool, trace = _inputs(options)
    chain = pool.pool.chain
    shares = reserved_gpus(chain, pool.pool.reservation)
    histories = history_of(trace, chain)
    with _progress("tenants", len(shares)) as advance:
        done: list[str] = []

        def told(tenant: str) -> None:
            done.append(tenant)
            advance(len(done))

        found = design(
            chain,
            shares,
            histories,
            unmet_weight=options.unmet_weight,
            time_limit=options.time_limit,
            progress=told,
        )
    rows: dict[str, Any] = {}
    for tenant, counts in found.reservation.cells:
        rows[tenant] = {"share": shares[tenant], "cells": {str(k): n for k, n in counts}}
        if tenant in found.costs:
            scenarios = histories[tenant].scenarios
            plain = cost_of(chain, whole_nodes(chain, shares[tenant]), scenarios)
            cost, bound = found.costs[tenant], found.bounds[tenant]
            rows[tenant] |= {
                "unmet": str(cost.unmet),
                "misfit": str(cost.misfit),
                "cost": str(cost.total(found.unmet_weight)),
                "bound": None if bound is None else str(bound),
                "proved": tenant not in found.stopped,
                "cost_of_whole_nodes": str(plain.total(found.unmet_weight)),
            }
    if options.output:
        with output(options.output) as file:
            file.write(spec_text(chain, Reservation(dict(_cells(found.reservation)))))
    if options.json:
        print(json.dumps({"unmet_weight": found.unmet_weight, "tenants": rows}, indent=2))
    else:
        _print_design(rows, chain.levels)
    return STOPPED if found.stopped else DONE


def _cells(reservation: Any) -> Iterator[tuple[str, dict[int, int]]]:
    return ((tenant, dict(counts)) for tenant, counts in reservation.cells)


def _print_design(rows: dict[str, Any], levels: int) -> None:
    from fractions import Fraction

    heads = "".join(f"{f'level {level}':>9}" for level in range(levels, 0, -1))
    print(
        f"{'tenant':12} {'GPUs':>5}{heads}{'unmet':>9}{'misfit':>9}{'cost':>9}{'nodes only':>11}"
    )
    for tenant, row in rows.items():
        cells = "".join(f"{row['cells'].get(str(level), 0):9}" for level in range(levels, 0, -1))
        figures = ""
        if "cost" in row:
            names = ("unmet", "misfit", "cost")
            figures = "".join(f"{float(Fraction(row[name])):9.2f}" for name in names)
            figures += f"{float(Fraction(row['cost_of_whole_nodes'])):11.2f}"
            figures += "" if row["proved"] else "  not proved"
        print(f"{tenant:12} {row['share']:5}{cells}{figures}")


def _inputs(options: argparse.Namespace) -> "tuple[SpecPool, Trace]":
    """Read the specification's only pool and the trace."""
    from hived_cells.simulation import read_philly, read_trace
    from hived_cells.spec import read_spec

    spec = read_spec(options.spec)
    if len(spec.pools) != 1:
        raise InvalidSpec(f"{options.spec}: {len(spec.pools)} pools; one is simulated")
    pool = spec.pools[0]
    if pool.node_level not in (0, pool.pool.chain.levels):
        raise InvalidSpec(f"{options.spec}: nodes are simulated; the top level is above them")
    if options.philly:
        return pool, read_philly(options.trace, node_gpus=pool.pool.chain.sizes[-1])
    return pool, read_trace(options.trace)


def _quiet(done: int) -> None:
    """Show nothing."""


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give a function that shows progress on a terminal; elsewhere it is quiet."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _quiet
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
