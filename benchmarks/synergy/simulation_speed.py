"""How long simulations take: processor time of the runs that the paper's figures need.

Takes nothing (or the Philly trace) and gives a row a run: rounds, decisions of the mechanism, the
processor's time and its part in the mechanism. Run it as

    python -m benchmarks.synergy.simulation_speed [--philly philly_jobs.csv.gz]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

from synergy_opt.answer import Placement
from synergy_opt.greedy import greedy
from synergy_opt.io import read_philly_csv
from synergy_opt.model import Cluster, Instance, Server
from synergy_opt.proportional import proportional
from synergy_opt.simulation import POLICIES, Workload, simulate
from synergy_opt.simulation.derived import MULTI_GPU, derived_workload, part
from synergy_opt.tune import tune, tune_as_simulated

MECHANISMS = (proportional, greedy, tune, tune_as_simulated)
LOOK_AT_RUNNABLE = (proportional, tune, tune_as_simulated)


def cluster(servers: int) -> Cluster:
    """Give servers of 8 GPUs, 24 cores and 500 GB."""
    server = Server(type="node", count=servers, gpus=8, capacity=(Fraction(24), Fraction(500)))
    return Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[server])


def timed(
    mechanism: Callable[[Instance], Placement], spent: list[float]
) -> Callable[[Instance], Placement]:
    """Give the mechanism with a record of its processor time."""

    def run(instance: Instance) -> Placement:
        start = time.process_time()
        placement = mechanism(instance)
        spent.append(time.process_time() - start)
        return placement

    return run


def cases(
    philly: Path | None,
) -> Iterator[tuple[str, Workload, Cluster, tuple[int, int] | None, tuple[str, ...]]]:
    """Give name, workload, cluster, window and policies."""
    single = derived_workload(jobs=7500, seed=1, load=9)
    yield "128 GPUs, load 9", single, cluster(16), (4000, 5000), ("fifo",)
    large = derived_workload(jobs=8000, seed=1, load=18, gpu_demands=MULTI_GPU)
    yield "512 GPUs, load 18, 1-8 GPUs", large, cluster(64), None, tuple(POLICIES)
    if philly is not None:
        trace = read_philly_csv(philly, most_gpus=512).workload
        yield "512 GPUs, Philly", part(trace, 0, 8000), cluster(64), None, tuple(POLICIES)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--philly", type=Path)
    parser.add_argument("--mechanism", choices=[each.__name__ for each in MECHANISMS])
    parser.add_argument("--policy", choices=sorted(POLICIES))
    options = parser.parse_args()
    print(f"{'run':28} {'policy':6} {'mechanism':17} rounds decided  CPU s  in mechanism  JCT h")
    for name, workload, place, window, policies in cases(options.philly):
        for policy in policies:
            for mechanism in MECHANISMS:
                if options.mechanism not in (None, mechanism.__name__):
                    continue
                if options.policy not in (None, policy):
                    continue
                spent: list[float] = []
                start = time.process_time()
                run = simulate(
                    workload,
                    place,
                    policy=POLICIES[policy],
                    mechanism=timed(mechanism, spent),
                    window=window,
                    shown="runnable" if mechanism in LOOK_AT_RUNNABLE else "queue",
                )
                seconds = time.process_time() - start
                mean = sum(float(job.completion or 0) for job in run.measured) / len(run.measured)
                print(
                    f"{name:28} {policy:6} {mechanism.__name__:17} {run.rounds:6} "
                    f"{run.decisions:7} {seconds:6.1f} {sum(spent) / seconds:13.0%} "
                    f"{mean / 3600:6.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
