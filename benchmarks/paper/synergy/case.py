"""One simulation of the evaluation: a case in, its figures out.

A case says everything that a run depends on, so equal cases give equal figures. Traces of one seed
are the same jobs at every load and under every mechanism: what is compared is paired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import fmean

import numpy as np

from synergy_opt.answer import Placement
from synergy_opt.drf import drf
from synergy_opt.greedy import greedy
from synergy_opt.io.philly import read_philly_csv
from synergy_opt.model import Cluster, Instance, Server
from synergy_opt.packed import packed
from synergy_opt.proportional import proportional
from synergy_opt.simulation.derived import (
    MULTI_GPU,
    PHILLY_DEMANDS,
    SINGLE_GPU,
    derived_workload,
    part,
)
from synergy_opt.simulation.engine import Mechanism
from synergy_opt.simulation.policies import POLICIES
from synergy_opt.simulation.simulate import simulate
from synergy_opt.simulation.timing import Timing
from synergy_opt.simulation.workload import Workload
from synergy_opt.solution import Limits
from synergy_opt.tetris import tetris
from synergy_opt.tune import tune, tune_as_simulated

GAP = Fraction(1, 100)
"""Relative gap at which the packed optimum is good enough in a simulation."""


def packed_within_gap(instance: Instance) -> Placement:
    """Give the packed optimum, proven to within `GAP`.

    A decision takes hundredths of a second; the last per mille of the proof can take minutes,
    and a simulation makes thousands of decisions.
    """
    return packed(instance, limits=Limits(gap=GAP))


MECHANISMS: Mapping[str, Mechanism] = {
    "proportional": proportional,
    "greedy": greedy,
    "tune": tune,
    "tune-simulated": tune_as_simulated,
    "packed": packed_within_gap,
    "drf": drf,
    "tetris": tetris,
}
DEMANDS: Mapping[str, Mapping[int, int]] = {
    "single": SINGLE_GPU,
    "multi": MULTI_GPU,
    "philly": PHILLY_DEMANDS,
}
_SHORT = 4.0  # hours: the paper's border between short and long jobs


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One simulation; `load` None is the static trace; `trace` a Philly CSV file to take."""

    load: float | None
    seed: int
    mechanism: str
    jobs: int
    first: int
    last: int
    policy: str = "fifo"
    split: tuple[int, int, int] = (20, 70, 10)
    demands: str = "single"
    cores_a_gpu: int = 3
    servers: int = 16
    sticky: bool = False
    move_cost: int = 0
    trace: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """What a case gives; of the measured jobs, in the order of the trace, times in hours."""

    completion: tuple[float, ...]
    running: tuple[float, ...]
    """Time in which a job made progress; it waited for the rest of its completion time."""
    makespan: float
    moves: float
    slowest: float
    """Lowest throughput over its fair one that any job of the trace had while it had a place."""
    gpus: tuple[tuple[float, float, float, float], ...]
    """Intervals: start and end in hours, parts of all GPUs and of all cores in use."""

    @property
    def mean(self) -> float:
        """Mean job completion time."""
        return fmean(self.completion)

    def used(self, start: float, end: float) -> tuple[float, float]:
        """Give the parts of all GPUs and of all cores in use, on average between two hours."""
        spans = [(min(end, b) - max(start, a), g, c) for a, b, g, c in self.gpus]
        inside = [(span, g, c) for span, g, c in spans if span > 0]
        total = sum(span for span, _, _ in inside)
        return sum(s * g for s, g, _ in inside) / total, sum(s * c for s, _, c in inside) / total

    def percentile(self, q: float, *, keep: Callable[[float], bool] = lambda _: True) -> float:
        """Give a percentile of the completion times that are kept."""
        return float(np.percentile([c for c in self.completion if keep(c)], q))


def is_short(hours: float) -> bool:
    """Tell short jobs from long ones as the paper does, by completion time under 4 hours."""
    return hours < _SHORT


@cache
def run(case: Case) -> Figures:
    """Simulate one case on servers of 8 GPUs and 500 GB."""
    cluster = Cluster(
        resources={"cpu": "cores", "memory": "GB"},
        servers=[
            Server(
                type="8xGPU",
                count=case.servers,
                gpus=8,
                capacity=(Fraction(8 * case.cores_a_gpu), Fraction(500)),
            )
        ],
    )
    done = simulate(
        _workload(case),
        cluster,
        policy=POLICIES[case.policy],
        mechanism=MECHANISMS[case.mechanism],
        timing=Timing(sticky=case.sticky, move_cost=Fraction(case.move_cost)),
        window=(case.first, case.last),
        # The optimum looks at the runnable jobs alone: asked anew only when these change.
        shown="runnable" if case.mechanism == "packed" else None,
    )
    ends = [job.finished for job in done.measured]
    times = [job.completion for job in done.measured]
    assert all(end is not None for end in ends)
    return Figures(
        completion=tuple(float(time or 0) / 3600 for time in times),
        running=tuple(float(job.ran) / 3600 for job in done.measured),
        makespan=float(max(end or Fraction(0) for end in ends)) / 3600,
        moves=fmean(job.moves for job in done.measured),
        slowest=float(min(job.slowest for job in done.jobs if job.slowest is not None)),
        gpus=tuple(
            (
                float(u.start) / 3600,
                float(u.end) / 3600,
                float(u.used[0]) / cluster.gpus,
                float(u.used[1] / cluster.capacity[0]),
            )
            for u in done.usage
        ),
    )


def _workload(case: Case) -> Workload:
    if case.trace is not None:
        found = read_philly_csv(case.trace, split=case.split, seed=case.seed, most_gpus=16)
        start = (
            len(found.workload.jobs) - case.jobs
        ) // 2  # the middle, where the cluster is busy
        return part(found.workload, start, case.jobs)
    return derived_workload(
        jobs=case.jobs,
        seed=case.seed,
        load=None if case.load is None else str(case.load),
        split=case.split,
        gpu_demands=DEMANDS[case.demands],
    )


def described(case: Case) -> dict[str, object]:
    """Give a case as plain values for a file; of a trace's path only its name."""
    return asdict(case) | {"trace": case.trace and Path(case.trace).name}
