"""``synergy-opt compare``: mechanisms side by side on each instance, against one bound."""

from __future__ import annotations

import argparse

from synergy_opt.cli import DONE, FAILED, INFEASIBLE, LIMIT, common, fail


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    from synergy_opt.cli.mechanisms import HELP  # noqa: PLC0415

    common.add_instance(parser, several=True)
    parser.add_argument(
        "--mechanism",
        action="append",
        metavar="NAME",
        help=f"may be repeated (default all built-in ones): {HELP}",
    )
    common.add_limits(parser)
    common.add_json(parser)
    parser.epilog = (
        "Every placement is checked exactly; one that breaks a rule is marked, and makes the exit "
        "code 1. The gap is (bound − throughput) / throughput, the bound stage 1's for every "
        "fair placement of all jobs. Where jobs are left out that bound does not hold, and a "
        "weaker one from the same multipliers is used and marked."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare and show."""
    from synergy_opt.cli.mechanisms import NAMES, mechanism  # noqa: PLC0415
    from synergy_opt.report import compare, comparison_json, footnotes, table  # noqa: PLC0415

    limits = common.limits(options)
    instances = [common.load(name) for name in options.instances]
    names = dict.fromkeys(options.mechanism or NAMES)
    mechanisms = {name: mechanism(name, limits) for name in names}
    with common.progress(quiet=options.json) as show:
        found = [
            compare(
                instance,
                mechanisms,
                limits=limits,
                progress=lambda what, on=instance.name: show(f"{on}: {what}"),  # type: ignore[misc]
            )
            for instance in instances
        ]
    if options.json:
        common.print_json({"comparisons": [comparison_json(each) for each in found]})
    else:
        console = common.console()
        for each in found:
            console.print(table(each))
        for note in footnotes(found):
            console.print(note)
    code = DONE
    for each in found:
        if each.ideal.proof == "none" and each.ideal.gap > limits.gap:
            fail(f"{each.instance.name}: stage 1 stopped at a limit; its bound holds all the same")
            code = LIMIT
    if any(each.without for each in found):
        code = INFEASIBLE
    broken = [(each, row) for each in found for row in each.rows if row.broken]
    for each, row in broken:
        fail(f"{each.instance.name}: {row.mechanism} breaks {common.listing(row.broken)}")
    return FAILED if broken else code
