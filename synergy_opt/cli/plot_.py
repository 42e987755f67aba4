"""``synergy-opt plot``: instance and mechanisms → a picture."""

from __future__ import annotations

import argparse

from synergy_opt.cli import DONE, FAILED, common, exit_code, fail


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    from synergy_opt.cli.mechanisms import HELP_SEVERAL  # noqa: PLC0415

    kinds = parser.add_subparsers(metavar="KIND", required=True)
    sensitivity = kinds.add_parser("sensitivity", help="throughput of a job over its resources")
    common.add_instance(sensitivity)
    sensitivity.add_argument("--job", required=True, metavar="ID")
    sensitivity.set_defaults(run=_sensitivity)
    utilisation = kinds.add_parser("utilisation", help="how full each server is")
    common.add_instance(utilisation)
    utilisation.set_defaults(run=_utilisation)
    gap = kinds.add_parser("gap", help="gap to the proven bound per mechanism")
    common.add_instance(gap, several=True)
    gap.set_defaults(run=_gap)
    runs = kinds.add_parser("runs", help="simulations that simulate --output has kept")
    runs.add_argument("folder", metavar="FOLDER", help="of simulate --output")
    runs.add_argument(
        "--what",
        choices=("jct", "cdf", "usage"),
        default="cdf",
        help="mean JCT over load; distribution of JCT (default); GPUs and resources over time",
    )
    runs.set_defaults(run=_runs)
    for kind in (utilisation, gap):
        kind.add_argument(
            "--mechanism",
            action="append",
            metavar="NAME",
            help=HELP_SEVERAL,
        )
        common.add_limits(kind)
    for kind in (sensitivity, utilisation, gap, runs):
        kind.add_argument(
            "--output", required=True, metavar="F", help="picture, .png, .svg or .pdf"
        )
        common.add_json(kind)


def _sensitivity(options: argparse.Namespace) -> int:
    from synergy_opt import plot  # noqa: PLC0415
    from synergy_opt.errors import InvalidInstance  # noqa: PLC0415

    instance = common.load(options.instance)
    try:
        figure = plot.sensitivity(instance, options.job)
    except InvalidInstance as error:
        raise error.at(f"{options.instance}: ") from None
    plot.save(figure, options.output)
    return _done(options)


def _utilisation(options: argparse.Namespace) -> int:
    from synergy_opt import plot  # noqa: PLC0415
    from synergy_opt.cli.mechanisms import COMPARED, mechanism  # noqa: PLC0415
    from synergy_opt.comparison import judge, own_copy  # noqa: PLC0415

    plot.new_figure(1, 1)  # says at once when matplotlib is missing
    instance, limits = common.load(options.instance), common.limits(options)
    placements = []
    for name in dict.fromkeys(options.mechanism or COMPARED):
        row = judge(instance, name, mechanism(name, limits)(own_copy(instance)))
        if row.broken:
            common.fail_rules(f"{name}: the placement", row.broken)
            return FAILED
        placements.append((name, row.placement))
    plot.save(plot.utilisation(instance, dict(placements)), options.output)
    return _done(options)


def _gap(options: argparse.Namespace) -> int:
    from synergy_opt import plot  # noqa: PLC0415
    from synergy_opt.cli.mechanisms import COMPARED, mechanism  # noqa: PLC0415
    from synergy_opt.comparison import compare  # noqa: PLC0415

    plot.new_figure(1, 1)
    limits = common.limits(options)
    names = dict.fromkeys(options.mechanism or COMPARED)
    mechanisms = {name: mechanism(name, limits) for name in names}
    found = []
    for instance in [common.load(name) for name in options.instances]:
        comparison = compare(instance, mechanisms, limits=limits)
        for failure in comparison.without:
            fail(f"{instance.name}: {failure}")
            return exit_code(failure.error)
        for row in comparison.rows:
            if row.broken:
                common.fail_rules(f"{instance.name}: {row.mechanism}", row.broken)
                return FAILED
        found.append(comparison)
    plot.save(plot.gaps(found), options.output)
    return _done(options)


def _runs(options: argparse.Namespace) -> int:
    from pathlib import Path  # noqa: PLC0415

    from synergy_opt import plot  # noqa: PLC0415
    from synergy_opt.plot import runs  # noqa: PLC0415
    from synergy_opt.sweep.report import read_runs  # noqa: PLC0415

    plot.new_figure(1, 1)
    draw = {"jct": runs.jct, "cdf": runs.distribution, "usage": runs.usage}
    plot.save(draw[options.what](read_runs(Path(options.folder))), options.output)
    return _done(options)


def _done(options: argparse.Namespace) -> int:
    if options.json:
        common.print_json({"output": options.output})
    else:
        print(f"written to {options.output}")
    return DONE
