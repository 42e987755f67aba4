"""``synergy-opt compare``: mechanisms side by side on each instance, against one bound."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from synergy_opt.cli import BAD_INPUT, DONE, FAILED, INFEASIBLE, LIMIT, common, exit_code, fail

if TYPE_CHECKING:
    from synergy_opt.comparison import Comparison


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    from synergy_opt.cli.mechanisms import HELP_SEVERAL  # noqa: PLC0415

    common.add_instance(parser, several=True)
    parser.add_argument(
        "--mechanism",
        action="append",
        metavar="NAME",
        help=HELP_SEVERAL,
    )
    common.add_limits(parser)
    common.add_json(parser)
    parser.epilog = (
        "Every placement is checked exactly; one that breaks a rule is marked, and makes the exit "
        "code 1. The gap is (bound − throughput) / throughput, the bound stage 1's: it holds for "
        "fair placements of all listed jobs in which each job stays within the consolidation rule "
        "(a job that fits on one server has at most one server's worth, a larger one that of the "
        "fewest servers that hold it, or its fair share). "
        "Where jobs are left out or have more, that bound does not hold, and a weaker one is used "
        "and marked. Proof: multipliers, the throughput meets the "
        "bound; core or search, it meets stage 1's optimum, which our exact search or a solver's "
        "has proved. A mechanism that fails has its reason below the table, and the others are "
        "run all the same; the exit code is then that of the failure."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare and show."""
    from synergy_opt.cli.mechanisms import COMPARED, mechanism  # noqa: PLC0415
    from synergy_opt.comparison import compare  # noqa: PLC0415

    limits = common.limits(options)
    instances = [common.load(name) for name in options.instances]
    names = dict.fromkeys(options.mechanism or COMPARED)
    mechanisms = {name: mechanism(name, limits) for name in names}
    with common.progress(quiet=options.json) as (show, _):
        found = [
            compare(
                instance,
                mechanisms,
                limits=limits,
                progress=lambda what, on=instance.name: show(f"{on}: {what}"),  # type: ignore[misc]
            )
            for instance in instances
        ]
    _show(found, as_json=options.json)
    return _code(found, limits.gap)


def _show(found: Sequence[Comparison], *, as_json: bool) -> None:
    from synergy_opt.report import comparison_json, footnotes, table  # noqa: PLC0415

    if as_json:
        common.print_json({"comparisons": [comparison_json(each) for each in found]})
        return
    console = common.console()
    for each in found:
        console.print(table(each))
    for note in footnotes(found):
        console.print(note)


def _code(found: Sequence[Comparison], gap: Fraction) -> int:
    """Complain of whatever went wrong, and give the code of the worst of it."""
    codes = {DONE}
    for each in found:
        name = each.instance.name
        if each.ideal.proof == "none" and each.ideal.gap > gap:
            fail(f"{name}: stage 1 stopped at a limit; its bound holds all the same")
            codes.add(LIMIT)
        for failure in each.without:
            # Its reason is below the table, or in the document.
            fail(f"{name}: {failure.mechanism} gave no placement")
            codes.add(exit_code(failure.error))
        for row in each.rows:
            if row.broken:
                common.fail_rules(f"{name}: {row.mechanism}", row.broken)
                codes.add(FAILED)
    return next(code for code in (FAILED, BAD_INPUT, INFEASIBLE, LIMIT, DONE) if code in codes)
