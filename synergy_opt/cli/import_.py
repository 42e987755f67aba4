"""``synergy-opt import``: a public trace or CSV files → an instance file."""

from __future__ import annotations

import argparse

from synergy_opt.cli import common
from synergy_opt.errors import InvalidInstance

_OPENB = """Taken are the nodes with the GPU model, and the pods that ask for whole GPUs (num_gpu
at least 1, gpu_milli 1000) and whose gpu_spec is empty or names the model, in order of
creation_time, whatever their phase. They may ask for more GPUs than there are: the
methods choose the runnable ones.

A pod says what it requests, not how fast it runs. The profile is an assumption:
  request  full speed 1 with the requested cores and memory, slower in proportion
           below (the least of both parts), nothing gained beyond
  models   the request is ignored; each job is one of twelve synthetic models,
           drawn by --seed and --split"""

_CSV = """columns:
  PROFILES  profile,unit,per,<resource…>,throughput  a row a grid point
  JOBS      id,gpus,profile[,weight]                 highest priority first
  SERVERS   type,count,gpus,<resource…>              a row a group of equal servers"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    plain = argparse.RawDescriptionHelpFormatter
    openb = kinds.add_parser(
        "openb", help="the openb node and pod lists", description=_OPENB, formatter_class=plain
    )
    openb.add_argument("nodes", metavar="NODES.csv")
    openb.add_argument("pods", metavar="PODS.csv")
    openb.add_argument("--model", required=True, metavar="M", help="GPU model, such as G2")
    openb.add_argument("--profile", choices=("request", "models"), default="request")
    openb.add_argument(
        "--steps",
        type=common.count,
        default=4,
        metavar="N",
        help="request: grid values at 1/N … N/N of the request, and the fair share (default 4)",
    )
    openb.add_argument("--limit", type=common.count, metavar="N", help="take the first N pods")
    openb.add_argument(
        "--seed", type=common.whole, default=0, metavar="S", help="models: default 0"
    )
    openb.add_argument(
        "--split",
        type=common.weights,
        default=(20, 70, 10),
        metavar="I,L,S",
        help="models: weights of image, language and speech models (default 20,70,10)",
    )
    openb.set_defaults(run=_openb)
    table = kinds.add_parser(
        "csv", help="three CSV files", description=_CSV, formatter_class=plain
    )
    for name in ("profiles", "jobs", "servers"):
        table.add_argument(name, metavar=f"{name.upper()}.csv")
    table.add_argument(
        "--unit",
        action="append",
        default=[],
        metavar="R=U",
        help="unit of a resource, such as network=Gbit/s; may be repeated",
    )
    table.set_defaults(run=_csv)
    for kind in (openb, table):
        kind.add_argument("--name", help="name of the instance")
        kind.add_argument("--output", metavar="F", help="instance file (default standard output)")
        common.add_json(kind)


def _openb(options: argparse.Namespace) -> int:
    from synergy_opt.io import import_openb  # noqa: PLC0415

    instance = import_openb(
        options.nodes,
        options.pods,
        model=options.model,
        profile=options.profile,
        steps=options.steps,
        limit=options.limit,
        split=options.split,
        seed=options.seed,
    )
    return common.write(instance, options)


def _csv(options: argparse.Namespace) -> int:
    from synergy_opt.io import import_csv  # noqa: PLC0415

    units = {}
    for text in options.unit:
        name, equals, unit = text.partition("=")
        if not equals or not name:
            raise InvalidInstance(f"must be RESOURCE=UNIT, not {text!r}", "--unit")
        units[name] = unit
    instance = import_csv(options.profiles, options.jobs, options.servers, units=units)
    return common.write(instance, options)
