"""``synergy-opt verify``: a placement file against every rule, in exact arithmetic."""

from __future__ import annotations

import argparse

from synergy_opt.cli import DONE, FAILED, common


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    common.add_instance(parser)
    parser.add_argument("placement", metavar="PLACEMENT", help="placement file")
    common.add_json(parser)
    parser.epilog = (
        "Prints each broken rule with its place and numbers; the exit code is 1 if there is any. "
        "Nothing that the file states is believed, and no tolerance is used."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check and show."""
    from synergy_opt.certificate import violations  # noqa: PLC0415
    from synergy_opt.io import read_placement  # noqa: PLC0415

    instance = common.load(options.instance)
    stated = read_placement(options.placement, instance)
    found = violations(
        instance,
        stated.placement,
        throughput=stated.throughput,
        upper_bound=stated.upper_bound,
    )
    if options.json:
        common.print_json(
            {
                "instance": instance.name,
                "placement": options.placement,
                "mechanism": stated.placement.mechanism,
                "valid": not found,
                "violations": [
                    {"rule": each.rule, "where": each.where, "message": each.message}
                    for each in found
                ],
            }
        )
    elif found:
        print(f"{options.placement}: breaks {len(found)} rule{'s' if len(found) > 1 else ''}")
        for each in found:
            print(each)
    else:
        print(f"{options.placement}: keeps every rule ({stated.placement})")
    return FAILED if found else DONE
