"""``synergy-opt solve``: instance and mechanism → a certified placement."""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from synergy_opt.cli import DONE, FAILED, LIMIT, common, fail

if TYPE_CHECKING:
    from rich.table import Table

    from synergy_opt.answer import Bound
    from synergy_opt.comparison import Row
    from synergy_opt.model import Instance
    from synergy_opt.progress import Watcher
    from synergy_opt.solution import Limits

_SHOWN = 10  # jobs in the table; all of them are in the file


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    from synergy_opt.cli.mechanisms import HELP  # noqa: PLC0415

    common.add_instance(parser)
    parser.add_argument("--mechanism", required=True, metavar="NAME", help=HELP)
    parser.add_argument(
        "--fewest-splits",
        action="store_true",
        help="optimal, optimal-rounded: minimise the number of split jobs by an integer programme",
    )
    parser.add_argument(
        "--bound",
        action="store_true",
        help="store the bound of stage 1 with the placement, where one holds for it: for fair "
        "placements of all listed jobs within the consolidation rule, or a weaker one",
    )
    parser.add_argument("--output", metavar="F", help="placement file")
    common.add_limits(parser)
    common.add_json(parser)
    parser.epilog = (
        "The placement is checked exactly before it is shown or written; one that breaks a rule "
        "is neither (exit code 1). A function of yours that raises, or returns something else, "
        "is bad input (exit code 2). Ctrl-C stops a solver, which gives what it has (exit code 4)."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Solve, certify, write, show."""
    from synergy_opt.io import write_placement  # noqa: PLC0415

    instance, limits = common.load(options.instance), common.limits(options)
    row = _solved(options, instance, limits)
    if row.broken:
        common.fail_rules(f"{options.mechanism}: the placement", row.broken)
        return FAILED
    if options.bound:
        row = replace(row, placement=replace(row.placement, bound=row.bound))
    if options.output is not None:
        write_placement(row.placement, instance, options.output)
    _show(options, instance, row)
    return _code(row, limits)


def _solved(options: argparse.Namespace, instance: Instance, limits: Limits) -> Row:
    """Run the mechanism and judge its placement, against a bound where it or the user has one."""
    from synergy_opt.cli.mechanisms import NAMES, mechanism  # noqa: PLC0415
    from synergy_opt.comparison import judge, own_copy  # noqa: PLC0415

    name = options.mechanism
    with common.progress(quiet=options.json) as (show, far):
        show(name)
        method = mechanism(name, limits, fewest_splits=options.fewest_splits, watch=far)
        copy = own_copy(instance)
        start = perf_counter()
        placement = method(copy)
        seconds, bound = perf_counter() - start, placement.bound
        if bound is None and options.bound:
            show("bound")
            bound = _bound(instance, limits, far)
        show("certificate")
        row = judge(instance, name, placement, seconds=seconds, bound=bound)
    if row.broken or row.proof or name not in NAMES or placement.proof == "none":
        return row
    return replace(row, proof=placement.proof)  # of a user's own claim nothing is believed


def _bound(instance: Instance, limits: Limits, watch: Watcher) -> Bound:
    from synergy_opt.ideal import ideal_allocation  # noqa: PLC0415 - a solver

    return ideal_allocation(instance, limits=limits, watch=watch).bound


def _code(row: Row, limits: Limits) -> int:
    """Say whether the method was done, and where a proof was asked for (`optimal`), proved."""
    if row.gap is not None and row.gap <= limits.gap:
        return DONE
    if row.placement.stopped and row.placement.proof in (None, "none"):
        fail(f"{row.mechanism}: stopped at a limit; this is what it had")
        return LIMIT
    if row.mechanism == "optimal" and row.placement.proof == "none":
        fail("optimal: ended without a proof that this is the best")
        return LIMIT
    return DONE


def _show(options: argparse.Namespace, instance: Instance, row: Row) -> None:
    from synergy_opt.io import placement_to_json  # noqa: PLC0415
    from synergy_opt.report import row_json  # noqa: PLC0415

    if options.json:
        document = row_json(row, instance.cluster.names)
        document["output"] = options.output
        document["placement"] = placement_to_json(row.placement, instance)
        common.print_json(document)
        return
    console = common.console()
    console.print(_summary(instance, row))
    console.print(_jobs(instance, row))
    hidden = len(row.placement.jobs) - _SHOWN
    if hidden > 0:
        console.print(f"… and {hidden} more jobs: all are in --output and --json")
    if options.output is not None:
        console.print(f"written to {options.output}")


def _summary(instance: Instance, row: Row) -> str:
    from synergy_opt.exact import approximate, percent  # noqa: PLC0415
    from synergy_opt.report import NONE, VERTEX, condition  # noqa: PLC0415

    placement = row.placement
    lines = [f"{row.mechanism} on {instance.name}: {len(placement.jobs)} jobs run, certified"]
    lines.append(f"throughput  {approximate(placement.throughput)}")
    if row.bound is not None:
        gap, value = common.gap_text(row.gap), approximate(row.bound.value)
        lines.append(f"bound       {value} (gap {gap}, proof: {row.proof or NONE})")
        lines.append(f"            for {condition(row.bound)}")
    if not row.whole_gpus:
        lines.append(f"pieces      {VERTEX}")
    names = ("GPUs", *instance.cluster.names)
    parts = ", ".join(
        f"{name} {percent(part)}" for name, part in zip(names, row.utilisation, strict=True)
    )
    lines.append(f"in use      {parts}")
    lines.append(
        f"jobs        {len(placement.split_jobs)} split, {len(placement.left_out)} left out, "
        f"{len(row.below)} below their fair throughput"
    )
    lines.append(f"time        {row.seconds:.3g} s")
    return "\n".join(lines)


def _jobs(instance: Instance, row: Row) -> Table:
    from rich.table import Table  # noqa: PLC0415

    from synergy_opt.exact import approximate  # noqa: PLC0415

    drawn = Table("job", "GPUs", *instance.cluster.names, "throughput", "servers")
    for column in drawn.columns[1:-1]:
        column.justify = "right"
    gpus = {job.id: job.gpus for job in instance.jobs}
    for job in row.placement.jobs[:_SHOWN]:
        pieces = ", ".join(
            f"{piece.server}"
            if len(job.pieces) == 1
            else f"{piece.server} ({approximate(piece.gpus)})"
            for piece in job.pieces
        )
        amounts = (approximate(amount) for amount in job.demand)
        throughput = approximate(job.throughput, digits=4)
        drawn.add_row(job.id, str(gpus[job.id]), *amounts, throughput, pieces or "left out")
    return drawn
