"""Measuring and comparing: processor time over that of the calibration, then and now.

Takes workloads and gives figures; takes two sets of figures and gives what became slower.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.speed.workloads import Workload, calibration


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A workload's time.

    Parameters
    ----------
    name, stage, size
        The workload.
    seconds
        Least processor time of its runs.
    ratio
        That over the least processor time of the calibration runs beside them: what can be
        compared between machines.
    """

    name: str
    stage: str
    size: int
    seconds: float
    ratio: float


@dataclass(frozen=True, kw_only=True)
class Change:
    """A workload's ratio now over that of the baseline."""

    name: str
    factor: float
    regression: bool


def measure(workloads: Iterable[Workload], *, runs: int) -> list[Figure]:
    """Time each workload `runs` times, a calibration before each."""
    found = []
    for workload in workloads:
        call = workload.prepare()
        call()  # imports and caches
        beside, own = [], []
        for _ in range(runs):
            beside.append(_timed(calibration))
            own.append(_timed(call))
        found.append(
            Figure(
                name=workload.name,
                stage=workload.stage,
                size=workload.size,
                seconds=min(own),
                ratio=min(own) / min(beside),
            )
        )
    return found


def least(first: Sequence[Figure], again: Sequence[Figure]) -> list[Figure]:
    """Give the lower figure of each workload that was measured twice, the others as they are."""
    second = {figure.name: figure for figure in again}
    return [min(f, second.get(f.name, f), key=lambda g: g.ratio) for f in first]


def growth(figures: Sequence[Figure]) -> dict[str, float]:
    """Give for each stage its time at the largest size over that at the smallest."""
    stages = dict.fromkeys(figure.stage for figure in figures)
    found = {}
    for stage in stages:
        some = sorted((f for f in figures if f.stage == stage), key=lambda f: f.size)
        if len(some) > 1:
            found[stage] = some[-1].ratio / some[0].ratio
    return found


def compare(
    now: Sequence[Figure], then: dict[str, float], *, factor: float, noise: float
) -> list[Change]:
    """Give the change of each workload that both have.

    Parameters
    ----------
    now, then
        Figures, and ratios of the baseline by name.
    factor
        A regression is a ratio above `factor` times the baseline's …
    noise
        … by more than this, in calibrations: a workload of a millisecond is measured badly.
    """
    changes = []
    for figure in now:
        if figure.name in then:
            old = then[figure.name]
            slower = figure.ratio > factor * old and figure.ratio - factor * old > noise
            changes.append(Change(name=figure.name, factor=figure.ratio / old, regression=slower))
    return changes


def _timed(call: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    call()
    return time.process_time() - start
