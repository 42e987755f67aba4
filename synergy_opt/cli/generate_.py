"""``synergy-opt generate``: a seeded family → an instance file."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING

from synergy_opt.cli import common

if TYPE_CHECKING:
    from synergy_opt.model import Instance

_FAMILIES = """families:
  mix     jobs of twelve synthetic models: image, language and speech, as in the Synergy paper
  random  every job has its own profile on its own grid

The same arguments and seed give the same file, byte for byte."""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _FAMILIES
    parser.add_argument(
        "family", choices=("mix", "random"), metavar="FAMILY", help="mix or random"
    )
    parser.add_argument("--servers", type=common.count, required=True, metavar="N")
    parser.add_argument("--seed", type=common.whole, default=0, metavar="S", help="default 0")
    parser.add_argument(
        "--split",
        type=common.weights,
        metavar="I,L,S",
        help="mix: weights of image, language and speech models (default 20,70,10)",
    )
    parser.add_argument(
        "--gpu-demands",
        type=common.demands,
        metavar="G:W,…",
        help="weights of GPU demands (default 1:70,2:10,4:15,8:5)",
    )
    parser.add_argument(
        "--load",
        type=common.positive,
        default=Fraction(1),
        metavar="X",
        help="GPUs asked for over GPUs there (default 1)",
    )
    for name, text in (("gpus", "GPUs"), ("cpu", "cores"), ("memory", "GB")):
        kind = common.count if name == "gpus" else common.positive
        parser.add_argument(f"--{name}", type=kind, metavar="N", help=f"mix: {text} of a server")
    parser.add_argument(
        "--resources", type=common.count, metavar="K", help="random: 1 to 3 (default 2)"
    )
    parser.add_argument("--name", help="name of the instance")
    parser.add_argument("--output", metavar="F", help="instance file (default standard output)")
    common.add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Generate and write."""
    return common.write(_instance(options), options)


def _instance(options: argparse.Namespace) -> Instance:
    from synergy_opt import generate  # noqa: PLC0415
    from synergy_opt.errors import InvalidInstance  # noqa: PLC0415

    own = {
        "mix": ("split", "gpus", "cpu", "memory"),
        "random": ("resources",),
    }
    for family, names in own.items():
        for name in names:
            if family != options.family and getattr(options, name) is not None:
                raise InvalidInstance(f"belongs to the family {family}", f"--{name}")
    names = (*own[options.family], "gpu_demands")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    make = generate.mix if options.family == "mix" else generate.scattered
    return make(servers=options.servers, seed=options.seed, load=options.load, **given)
