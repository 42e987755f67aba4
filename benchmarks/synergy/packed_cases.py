"""The instances on which the packed optimum is measured, section by section.

Takes the number of seeds and gives cases: an instance to be made, a split model, a time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from synergy_opt.answer import Split
from synergy_opt.draw import GPU_DEMANDS
from synergy_opt.exact import ExactArray
from synergy_opt.generate import mix, scattered
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

SPLITS = ((20, 70, 10), (33, 33, 34), (50, 0, 50))  # image, language, speech
LARGE_JOBS = {1: 60, 2: 10, 4: 15, 8: 10, 16: 5}
CPU = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 22, 24)
MEMORY = (10, 20, 30, 40, 50, "62.5", 75, 90, 110, 130, 150, 180, 210, 250)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One run: what makes the instance, how it is solved, the relative gap at which it may end."""

    section: str
    servers: int
    seed: int
    make: Callable[[], Instance]
    split: Split = "never"
    seconds: float = 5.0
    gap: Fraction = Fraction(0)
    workload: str = ""


def mixes(
    section: str, servers: int, seeds: int, seconds: float, **options: object
) -> Iterator[Case]:
    """Give mixes of the twelve models for every workload split and seed."""
    split = options.pop("split_model", "never")
    for weights in SPLITS:
        for seed in range(seeds):
            yield Case(
                section=section,
                servers=servers,
                seed=seed,
                make=lambda w=weights, s=seed: mix(servers=servers, seed=s, split=w, **options),
                split=split,
                seconds=seconds,
                workload=":".join(map(str, weights)),
            )


def different(servers: int, seed: int) -> Instance:
    """Give jobs that have each its own profile on one grid of 18 × 14 points, four decimals."""
    rng, left = Random(f"different {seed}"), 8 * servers
    jobs: list[Job] = []
    profiles: list[Profile] = []
    cores, gigabytes = np.array(CPU, float), np.array([float(m) for m in MEMORY])
    while left:
        gpus = rng.choices(list(GPU_DEMANDS), list(GPU_DEMANDS.values()))[0]
        if gpus > left:
            continue
        rate, most, dataset = rng.uniform(0.2, 1.5), rng.uniform(2, 20), rng.uniform(15, 200)
        slowest = rng.uniform(0.1, 0.9)
        fetched = slowest + (1 - slowest) * np.minimum(1, gigabytes / dataset)
        table = rate * np.minimum(np.minimum(cores, most)[:, None], most * fetched[None, :])
        whole = np.rint(table * 10_000).astype(np.int64)
        axes = {"cpu": CPU, "memory": MEMORY}
        name = f"P{len(jobs) + 1}"
        profiles.append(Profile(name=name, axes=axes, throughput=ExactArray(whole, 10_000)))
        jobs.append(Job(id=f"J{len(jobs) + 1}", gpus=gpus, profile=name))
        left -= gpus
    server = Server(type="8xGPU", count=servers, gpus=8, capacity=(24, 500))
    cluster = Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[server])
    return Instance(
        name=f"different-{servers}-{seed}", cluster=cluster, profiles=profiles, jobs=jobs
    )


def few(count: int) -> Iterator[Case]:
    """Give random instances of one to eight servers: mixes, and jobs on grids of their own."""
    for seed in range(count):
        # Every size with every workload: 8 sizes, then 4 workloads, then again.
        servers, turn = 1 + seed % 8, seed // 8 % 4
        weights, own = SPLITS[turn % 3], turn == 3

        def make(
            n: int = servers, s: int = seed, w: tuple[int, ...] = weights, o: bool = own
        ) -> Instance:
            return scattered(servers=n, seed=s) if o else mix(servers=n, seed=s, split=w)

        workload = "own grids" if own else ":".join(map(str, weights))
        yield Case(
            section="few", servers=servers, seed=seed, make=make, seconds=10, workload=workload
        )


_MIXES: dict[str, tuple[tuple[int, ...], float, dict[str, object]]] = {
    "medium": ((16, 32, 64, 128, 256, 512), 5, {}),
    "medium-60": ((16, 32, 64, 128, 256, 512), 60, {}),
    "large": ((8192,), 30, {}),
    "growth": ((64, 512, 2048, 8192), 30, {}),
    "large-jobs": ((512, 2048, 8192), 10, {"gpu_demands": LARGE_JOBS}),
    "split-allowed": ((512, 2048, 8192), 10, {"split_model": "allowed"}),
}
_DIFFERENT = (
    (64, 15.0, Fraction(1, 10_000)),
    (512, 60.0, Fraction(1, 10_000)),
    (8192, 300.0, Fraction(1, 1000)),
)
SECTIONS = (*_MIXES, "few", "different")


def cases(section: str, seeds: int) -> Iterator[Case]:
    """Give the cases of a section: `seeds` a size and workload, ten times as many for few servers.

    Different jobs: a tenth of the seeds, and 8,192 servers once.
    """
    if section in _MIXES:
        sizes, seconds, options = _MIXES[section]
        for servers in sizes:
            yield from mixes(section, servers, seeds, seconds, **options)
    elif section == "few":
        yield from few(10 * seeds)
    elif section == "different":
        for servers, seconds, gap in _DIFFERENT:
            for seed in range(1 if servers > 1000 else max(1, seeds // 10)):
                yield Case(
                    section=section,
                    servers=servers,
                    seed=seed,
                    make=lambda n=servers, s=seed: different(n, s),
                    seconds=seconds,
                    gap=gap,
                    workload="own profiles",
                )
    else:
        raise ValueError(f"no section {section!r}")
