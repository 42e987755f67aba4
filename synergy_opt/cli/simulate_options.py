"""The options of ``synergy-opt simulate``, group by group.

Takes the command's parser and adds arguments to it; `simulate_` makes values of them.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

from synergy_opt.cli import common


def add_workload(parser: argparse.ArgumentParser) -> None:
    """Add what runs."""
    group = parser.add_argument_group("workload", "the paper's derived trace, or one from a file")
    group.add_argument(
        "--trace",
        metavar="F",
        help="CSV file id,submitted,duration,gpus,profile, times in seconds",
    )
    group.add_argument(
        "--philly", metavar="F", help="CSV file timestamp,duration,num_gpus of the Philly trace"
    )
    group.add_argument(
        "--load",
        action="append",
        type=common.positive,
        metavar="X",
        help="jobs an hour; may be repeated (default: all jobs arrive at once)",
    )
    group.add_argument("--jobs", type=common.count, metavar="N", help="(default 1000)")
    group.add_argument(
        "--split", type=common.weights, metavar="I,L,S", help="image, language, speech (20,70,10)"
    )
    group.add_argument(
        "--gpu-demands", type=common.demands, metavar="G:W,…", help="weights (default 1)"
    )
    group.add_argument(
        "--seeds", type=common.count, metavar="N", help="seeds 0 to N-1 of the trace (default 1)"
    )
    group.add_argument(
        "--window",
        type=window,
        metavar="A:B",
        help="measure jobs A to B-1 of the trace alone, and end with them (default all)",
    )


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add where it runs."""
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "--instance",
        metavar="INSTANCE",
        help="take cluster and profiles from an instance file, or a shipped one",
    )
    sizes = {"servers": "(default 16)", "gpus": "of a server (8)"}
    for name, text in sizes.items():
        group.add_argument(f"--{name}", type=common.count, metavar="N", help=text)
    amounts = {"cpu": "cores of a server (24)", "memory": "GB of a server (500)"}
    for name, text in amounts.items():
        group.add_argument(f"--{name}", type=common.positive, metavar="N", help=text)


def add_timing(parser: argparse.ArgumentParser) -> None:
    """Add how time passes."""
    group = parser.add_argument_group("time")
    group.add_argument(
        "--round", type=common.positive, metavar="S", help="seconds of a round (default 300)"
    )
    group.add_argument("--fluid", action="store_true", help="no rounds: decide at every event")
    group.add_argument(
        "--sticky", action="store_true", help="rename identical servers so that most jobs stay"
    )
    zero = Fraction(0)
    group.add_argument(
        "--move-cost", type=seconds, default=zero, metavar="S", help="s lost by a restored job"
    )
    group.add_argument(
        "--profiling-time", type=seconds, default=zero, metavar="S", help="s before the queue"
    )
    group.add_argument(
        "--floor-iterations",
        action="store_true",
        help="as the Synergy authors' simulator: whole iterations a round, jobs end with a round",
    )


def add_sweep(parser: argparse.ArgumentParser) -> None:
    """Add where results go and who computes them."""
    group = parser.add_argument_group("runs")
    group.add_argument(
        "--output",
        metavar="FOLDER",
        help="keep each run as a file when it is done, and do none twice; runs.csv and jobs.csv",
    )
    group.add_argument(
        "--workers", type=common.count, default=1, metavar="N", help="processes (default 1)"
    )
    group.add_argument(
        "--backend", choices=("loky", "dask", "ray"), default="loky", help="(default loky)"
    )
    group.add_argument("--address", metavar="A", help="scheduler of dask or ray")


def window(text: str) -> tuple[int, int]:
    """Read ``4000:5000``."""
    first, colon, last = text.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError(f"must be A:B, not {text}")
    return common.whole(first), common.count(last)


def seconds(text: str) -> Fraction:
    """Read a number of seconds, 0 or more."""
    value = common.number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must not be negative, not {text}")
    return value
