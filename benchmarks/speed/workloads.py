"""The small set of workloads: each stage apart, at a small and a larger size.

Takes nothing and gives workloads: a name, a size, and a function that prepares what is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

Call = Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One stage at one size; `prepare` is not timed, what it gives is."""

    stage: str
    size: int
    prepare: Callable[[], Call]

    @property
    def name(self) -> str:
        """Give the name in files."""
        return f"{self.stage}-{self.size}"


def calibration() -> int:
    """Do a fixed mix of what the package does: Python objects, fractions, NumPy, integers."""
    total, table = Fraction(0), {}
    for k in range(1, 12_000):
        table[k % 97, k] = k
        if k % 12 == 0:
            total += Fraction(k, 720_720)
    rows = np.arange(60_000, dtype=np.int64).reshape(300, 200)
    for _ in range(20):
        rows = np.sort(rows * 31 % 10_007, axis=1)
    big = 1
    for k in range(1, 1_500):
        big *= k
    return len(table) + total.denominator + int(rows[0, 0]) + big % 97


def workloads() -> Iterator[Workload]:
    """Give every workload."""
    for servers in (64, 512):
        yield Workload(stage="stage-1", size=servers, prepare=partial(_stage_1, servers))
        yield Workload(stage="stage-2", size=servers, prepare=partial(_stage_2, servers))
        yield Workload(stage="tune", size=servers, prepare=partial(_tune, servers))
        yield Workload(stage="certificate", size=servers, prepare=partial(_certificate, servers))
    for servers in (16, 64):
        yield Workload(stage="packed", size=servers, prepare=partial(_packed, servers))
    for gpus in (512, 4096):
        yield Workload(stage="cells", size=gpus, prepare=partial(_cells, gpus))


def _stage_1(servers: int) -> Call:
    from synergy_opt import ideal_allocation, mix  # noqa: PLC0415

    return partial(ideal_allocation, mix(servers=servers, seed=1))


def _stage_2(servers: int) -> Call:
    from synergy_opt import ideal_allocation, mix, place  # noqa: PLC0415

    instance = mix(servers=servers, seed=1)
    return partial(place, instance, ideal_allocation(instance))


def _tune(servers: int) -> Call:
    from synergy_opt import mix, tune  # noqa: PLC0415

    return partial(tune, mix(servers=servers, seed=1))


def _certificate(servers: int) -> Call:
    from synergy_opt import mix, tune, violations  # noqa: PLC0415

    instance = mix(servers=servers, seed=1)
    return partial(violations, instance, tune(instance))


def _packed(servers: int) -> Call:
    from synergy_opt import mix, packed  # noqa: PLC0415

    return partial(packed, mix(servers=servers, seed=1, split=(50, 0, 50)))


def _cells(gpus: int) -> Call:
    from benchmarks.hived.speed import half_used, one_round  # noqa: PLC0415

    bench = half_used(gpus)
    return partial(one_round, bench, 100)
