"""``synergy-opt solve``: instance and mechanism → a certified placement."""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING

from synergy_opt.cli import DONE, FAILED, LIMIT, common, fail

if TYPE_CHECKING:
    from rich.table import Table

    from synergy_opt.model import Instance
    from synergy_opt.report import Row
    from synergy_opt.solution import Limits

_SHOWN = 40  # jobs in the table; all of them are in the file


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    from synergy_opt.cli.mechanisms import HELP  # noqa: PLC0415

    common.add_instance(parser)
    parser.add_argument("--mechanism", required=True, metavar="NAME", help=HELP)
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
    from synergy_opt.cli.mechanisms import mechanism  # noqa: PLC0415
    from synergy_opt.io import write_placement  # noqa: PLC0415
    from synergy_opt.report import judge  # noqa: PLC0415

    instance = common.load(options.instance)
    limits = common.limits(options)
    method = mechanism(options.mechanism, limits)
    with common.progress(quiet=options.json) as show:
        show(options.mechanism)
        start = perf_counter()
        placement = method(instance)
        seconds = perf_counter() - start
        show("certificate")
        row = judge(instance, options.mechanism, placement, seconds=seconds, bound=placement.bound)
    if row.broken:
        fail(f"{options.mechanism}: the placement breaks {common.listing(row.broken)}")
        return FAILED
    if options.output is not None:
        write_placement(placement, instance, options.output)
    _show(options, instance, row)
    return _code(row, limits)


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
        document = row_json(row, ("gpus", *instance.cluster.names))
        document["proof"] = row.placement.proof
        document["output"] = options.output
        document["placement"] = placement_to_json(row.placement, instance)
        common.print_json(document)
        return
    console = common.console()
    console.print(_summary(instance, row))
    console.print(_jobs(instance, row))
    hidden = len(row.placement.jobs) - _SHOWN
    if hidden > 0:
        console.print(f"… and {hidden} more jobs")
    if options.output is not None:
        console.print(f"written to {options.output}")


def _summary(instance: Instance, row: Row) -> str:
    placement = row.placement
    lines = [f"{row.mechanism} on {instance.name}: {len(placement.jobs)} jobs run, certified"]
    lines.append(f"throughput  {float(placement.throughput):.6g}")
    if row.bound is not None:
        gap = "∞" if row.gap is None else f"{float(row.gap):.2%}"
        lines.append(f"bound       {float(row.bound.value):.6g} (gap {gap}, {_proof(row)})")
    names = ("GPUs", *instance.cluster.names)
    parts = ", ".join(
        f"{name} {float(part):.0%}" for name, part in zip(names, row.utilisation, strict=True)
    )
    lines.append(f"in use      {parts}")
    lines.append(
        f"jobs        {len(placement.split_jobs)} split, {len(placement.left_out)} left out, "
        f"{len(row.below)} below their fair throughput"
    )
    lines.append(f"time        {row.seconds:.3g} s")
    return "\n".join(lines)


def _proof(row: Row) -> str:
    proofs = {
        "multipliers": "proved by multipliers",
        "core": "proved by multipliers and an exact search",
        "search": "the solver's search ended",
        "none": "not proved",
    }
    return proofs.get(row.placement.proof or "", "a bound")


def _jobs(instance: Instance, row: Row) -> Table:
    from rich.table import Table  # noqa: PLC0415

    drawn = Table("job", "GPUs", *instance.cluster.names, "throughput", "servers")
    for column in drawn.columns[1:-1]:
        column.justify = "right"
    gpus = {job.id: job.gpus for job in instance.jobs}
    for job in row.placement.jobs[:_SHOWN]:
        pieces = ", ".join(
            f"{piece.server}"
            if len(job.pieces) == 1
            else f"{piece.server} ({float(piece.gpus):g})"
            for piece in job.pieces
        )
        amounts = (f"{float(amount):g}" for amount in job.demand)
        throughput = f"{float(job.throughput):.4g}"
        drawn.add_row(job.id, str(gpus[job.id]), *amounts, throughput, pieces or "left out")
    return drawn
