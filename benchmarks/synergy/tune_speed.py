"""How the time and memory of a mechanism grow with the cluster.

Takes cluster sizes, gives a table with one row a size: median time by the clock and of the
processor, the ratio of the latter to 512 servers, and the peak memory of a child process that did
nothing else. The processor's time is the one to compare on a shared machine: a mechanism runs on
one core. Run it as

    python -m benchmarks.synergy.tune_speed --output tune_speed.json
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import platform
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from synergy_opt.answer import Placement
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

SIZES = (64, 512, 4096, 8192)
JOBS_A_SERVER = Fraction(26_000, 8_192)
DEMANDS = (1, 2, 4, 8, 16)
BASE = 512  # servers that ratios refer to

CPU = (1, 2, 3, 4, 6, 8, 9, 12, 16, 20, 24)
MEMORY = (20, "62.5", 100, 125, 150, 200, 250, 300, 350, 400, 450, 500)

MODELS = {
    # class: name: (CPUs for full speed, dataset in GB, slow-down without cache), for one GPU
    "image": {
        "alexnet": (12, 125, 4),
        "resnet18": (9, 190, 3),
        "shufflenet": (12, 125, 3),
        "mobilenet": (9, 125, 3),
        "resnet50": (4, 90, 2),
    },
    "language": {
        "gnmt": (1, 20, 1),
        "lstm": (1, 20, 1),
        "transformer": (1, 20, 1),
        "transformer-xl": (2, 20, 1),
        "bert": (1, 62, 1),
    },
    "speech": {
        "audio-m5": (6, 190, 4),
        "deepspeech": (3, 60, 2),
    },
}
SPLIT = (20, 70, 10)  # parts of the classes, as in Synergy's §5


def profile(name: str, full_cpu: int, full_memory: int, slow: int) -> Profile:
    """Give a profile of the cache model: W = min(f(cpu), g(memory)), 1000 at full speed."""

    def by_cpu(cpu: int) -> int:
        return min(1000, 1000 * cpu // full_cpu)

    def by_memory(memory: Fraction) -> int:
        missing = max(Fraction(0), 1 - memory / full_memory)
        return int(1000 / (1 + missing * (slow - 1)))

    table = [[min(by_cpu(c), by_memory(Fraction(m))) for m in MEMORY] for c in CPU]
    return Profile(name=name, axes={"cpu": CPU, "memory": MEMORY}, throughput=table)


def mixed_instance(servers: int, *, seed: int = 0, split: Sequence[int] = SPLIT) -> Instance:
    """Give jobs of 12 models with 1, 2, 4, 8 and 16 GPUs that take all GPUs of the cluster.

    Parameters
    ----------
    servers
        Each with 8 GPUs, 24 CPUs and 500 GB.
    seed
        Of the mix.
    split
        Parts of image, language and speech jobs.
    """
    rng = random.Random(seed)
    gpus, count = 8 * servers, int(JOBS_A_SERVER * servers)
    demands = [1] * count
    missing = gpus - count
    while missing:  # double jobs at random until all GPUs are taken
        at = rng.randrange(count)
        more = demands[at]
        if more < DEMANDS[-1] and more <= missing:
            demands[at] += more
            missing -= more
    classes = rng.choices(list(MODELS), split, k=count)
    jobs = [
        Job(
            id=f"j{i}",
            gpus=g,
            profile=rng.choice(list(MODELS[classes[i]])),
        )
        for i, g in enumerate(demands)
    ]
    node = Server(type="8xGPU", count=servers, gpus=8, capacity=(Fraction(24), Fraction(500)))
    return Instance(
        name=f"mixed-{servers}-{seed}",
        cluster=Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[node]),
        profiles=[profile(n, *facts) for models in MODELS.values() for n, facts in models.items()],
        jobs=jobs,
    )


def measure(
    mechanism: str, servers: int, repeats: int, seed: int, split: Sequence[int]
) -> dict[str, Any]:
    """Time one mechanism on one size, in this process."""
    module = importlib.import_module(f"synergy_opt.{mechanism}")
    run = cast("Callable[[Instance], Placement]", getattr(module, mechanism))
    instance = mixed_instance(servers, seed=seed, split=split)
    times = []
    for _ in range(repeats):
        start = time.perf_counter(), time.process_time()
        answer = run(instance)
        times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    seconds, cpu_seconds = map(statistics.median, zip(*times, strict=True))
    return {
        "mechanism": mechanism,
        "servers": servers,
        "jobs": len(instance.jobs),
        "gpus": instance.cluster.gpus,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "throughput": float(answer.throughput),
        "split_jobs": len(answer.split_jobs),
        "left_out": len(answer.left_out),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_child(*arguments: object) -> dict[str, Any]:
    """Call `measure` in a fresh process, so that its peak memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__, prog="tune_speed")
    parser.add_argument("--servers", type=int, nargs="+", default=SIZES)
    parser.add_argument("--mechanism", default="tune", choices=("tune", "greedy", "proportional"))
    parser.add_argument("--repeats", type=int, default=3, help="median of these")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="write the rows as JSON")
    parser.add_argument("--split", type=int, nargs=3, default=SPLIT, metavar="PART")
    options = parser.parse_args(arguments)
    mechanism, repeats, seed, split = (
        options.mechanism,
        options.repeats,
        options.seed,
        options.split,
    )
    rows = [in_child(mechanism, servers, repeats, seed, split) for servers in options.servers]
    base = next((row["cpu_seconds"] for row in rows if row["servers"] == BASE), None)
    print("servers    jobs    GPUs  seconds     CPU   ratio  peak MB  throughput/job  split")
    for row in rows:
        row["ratio"] = row["cpu_seconds"] / base if base else None
        ratio = f"{row['ratio']:7.2f}" if base else "      -"
        print(
            f"{row['servers']:7d} {row['jobs']:7d} {row['gpus']:7d} "
            f"{row['seconds']:8.3f} {row['cpu_seconds']:7.3f} "
            f"{ratio} {row['peak_mb']:8.0f} {row['throughput'] / row['jobs']:15.4f} "
            f"{row['split_jobs']:6d}"
        )
    if options.output:
        about = {"python": sys.version.split()[0], "machine": platform.machine()}
        options.output.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
