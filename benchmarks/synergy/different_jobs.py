"""Instances in which every job is different: its own profile on a grid of 24 × 10 points.

Takes a number of jobs and a seed and gives an `Instance` whose servers the jobs fill: 1, 2, 4 or 8
GPUs a job, throughputs relative to the fair share with four decimals, rising in both resources.
"""

from __future__ import annotations

import numpy as np

from synergy_opt.exact import ExactArray
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

_CPU = ExactArray.of([k / 2 for k in range(1, 25)])  # cores a GPU; the fair share is 3
_MEMORY = ExactArray.of([12.5 * k for k in (1, 2, 3, 4, 5, 6, 8, 12, 20, 40)])  # GB; 62.5
_FAIR = (5, 4)  # where the fair share is on the grid
_DEMANDS, _SHARES = (1, 2, 4, 8), (0.5, 0.2, 0.2, 0.1)


def different_jobs(jobs: int, *, seed: int = 0) -> Instance:
    """Give `jobs` jobs on the fewest servers of 8 GPUs, 24 cores and 500 GB that hold them.

    The throughput is c / (c + a) · m / (m + b), with a and b drawn for each job, over its value at
    the fair share.
    """
    rng = np.random.default_rng(seed)
    gpus = rng.choice(_DEMANDS, size=jobs, p=_SHARES)
    half = rng.lognormal(mean=(0.5, 3.5), sigma=1.0, size=(jobs, 2))
    cpu, memory = _CPU.to_floats(), _MEMORY.to_floats()
    profiles = []
    for j in range(jobs):
        table = np.outer(cpu / (cpu + half[j, 0]), memory / (memory + half[j, 1]))
        whole = np.rint(table / table[_FAIR] * 10**4).astype(np.int64)
        profiles.append(
            Profile(
                name=f"p{j}",
                axes={"cpu": _CPU, "memory": _MEMORY},
                throughput=ExactArray(whole, 10**4),
            )
        )
    server = Server(type="8xGPU", count=-(-int(gpus.sum()) // 8), gpus=8, capacity=(24, 500))
    return Instance(
        name=f"different-{jobs}-{seed}",
        cluster=Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[server]),
        profiles=profiles,
        jobs=[Job(id=f"j{j}", gpus=int(g), profile=f"p{j}") for j, g in enumerate(gpus)],
    )
