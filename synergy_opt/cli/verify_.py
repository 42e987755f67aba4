"""``synergy-opt verify``: a placement file against every rule, in exact arithmetic."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from synergy_opt.cli import DONE, FAILED, common

if TYPE_CHECKING:
    from synergy_opt.answer import Placement
    from synergy_opt.certificate import Violation
    from synergy_opt.io import StatedPlacement
    from synergy_opt.model import Instance


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    common.add_instance(parser)
    parser.add_argument("placement", metavar="PLACEMENT", help="placement file")
    common.add_json(parser)
    parser.epilog = (
        "Prints each broken rule with its place and numbers; the exit code is 1 if there is any. "
        "Nothing that the file states is believed, and no tolerance is used. GPUs must be whole, "
        "unless the file states stage 2's split count: then it is the fractional vertex, which is "
        "said. A stated bound is computed anew from its multipliers."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check and show."""
    from synergy_opt.io import read_placement  # noqa: PLC0415

    instance = common.load(options.instance)
    stated = read_placement(options.placement, instance)
    found = stated.violations(instance)
    if options.json:
        common.print_json(_document(options, instance, stated, found))
    elif found:
        print(f"{options.placement}: breaks {common.count_rules(len(found))}")
        for each in found:
            print(each)
    else:
        print(f"{options.placement}: keeps every rule ({stated.placement})")
        for line in _facts(stated.placement):
            print(line)
    return FAILED if found else DONE


def _facts(placement: Placement) -> Iterator[str]:
    """Say what else has been shown: the bound with its gap, and whether servers can hold it."""
    from synergy_opt.exact import approximate  # noqa: PLC0415
    from synergy_opt.report import VERTEX, condition  # noqa: PLC0415

    bound = placement.bound
    if bound is not None:
        gap = common.gap_text(_gap(placement))
        yield f"bound {approximate(bound.value)}, gap {gap}, for {condition(bound)}"
    if not placement.whole_gpus:
        yield VERTEX


def _gap(placement: Placement) -> Fraction | None:
    if placement.bound is None or not placement.throughput:
        return None
    return (placement.bound.value - placement.throughput) / placement.throughput


def _document(
    options: argparse.Namespace,
    instance: Instance,
    stated: StatedPlacement,
    found: tuple[Violation, ...],
) -> dict[str, object]:
    from synergy_opt.exact import decimal_text  # noqa: PLC0415
    from synergy_opt.io import certificate_json  # noqa: PLC0415

    # Of a placement that breaks a rule no figure is given: nothing shows it.
    placement = stated.placement
    bound, gap = (None, None) if found else (placement.bound, _gap(placement))
    return {
        "instance": instance.name,
        "placement": options.placement,
        "mechanism": placement.mechanism,
        "valid": not found,
        "throughput": None if found else decimal_text(placement.throughput),
        "bound": None if bound is None else decimal_text(bound.value),
        "certificate": None if bound is None else certificate_json(bound, instance.cluster.names),
        "gap": None if gap is None else decimal_text(gap),
        "whole_gpus": None if found else placement.whole_gpus,
        "violations": [
            {"rule": each.rule, "where": each.where, "message": each.message} for each in found
        ],
    }
