"""Profile a real input pipeline on this machine and set the estimate beside measurements.

Worker processes crop, flip, jitter and normalise images with NumPy, under a quota of cores. The
GPU's rate and the storage's bandwidth are paced: there is no GPU, and the operating system's page
cache would hide the disk. Run it as

    python docs/how-to/profile_a_pipeline.py --cores 2 --picture pipeline.png
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from queue import Queue
from threading import Thread

import numpy as np
import numpy.typing as npt

from synergy_opt.plot.canvas import clean, colour, new_figure, save
from synergy_opt.profiling import OptimisticProfile, optimistic_profile
from synergy_opt.profiling.cache_model import Cache

Array = npt.NDArray[np.generic]
SIDE = 224  # pixels of a stored image; the pipeline crops 192
STEPS = 10  # of the quota
MEMORY = tuple(Fraction(i, 40) for i in range(5))  # GB of cache, 0 to 0.1; the process apart
CACHE = Cache(item=Fraction(SIDE * SIDE * 3, 10**6), dataset=Fraction(1, 10), process=Fraction(0))


def transform(image: Array, rng: np.random.Generator) -> Array:
    """Augment as image models do: crop, flip, colour jitter, normalise."""
    x, y = rng.integers(SIDE - 192, size=2)
    part = image[x : x + 192, y : y + 192].astype(np.float32)
    if rng.random() < 0.5:
        part = part[:, ::-1]
    jitter = np.eye(3, dtype=np.float32) + rng.normal(0, 0.05, (3, 3)).astype(np.float32)
    part = np.clip(part @ jitter, 0, 255)
    return np.asarray((part - part.mean((0, 1))) / (part.std((0, 1)) + 1e-6))


def work(
    seed: int, seconds: float, quota: float, rates: tuple[float, float], answer: Queue[float]
) -> None:
    """Prepare items that long, within a quota of cores and the items/s of GPU and storage."""
    gpu, fetch = rates
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (8, SIDE, SIDE, 3), dtype=np.uint8)
    for image in images:
        transform(image, rng)  # warm up
    ready: Queue[Array] = Queue(maxsize=8)
    start, used = time.perf_counter(), time.process_time()

    def read() -> None:
        """Fetch ahead: storage works while the cores do."""
        for n in range(10**9):
            if fetch < float("inf"):
                time.sleep(max(0.0, start + n / fetch - time.perf_counter()))
            ready.put(images[n % len(images)])

    Thread(target=read, daemon=True).start()
    done = 0
    while time.perf_counter() - start < seconds:
        transform(ready.get(), rng)
        done += 1
        busy = (
            time.process_time() - used
        ) / quota  # as a quota of the kernel holds a process back
        time.sleep(max(0.0, start + max(busy, done / gpu) - time.perf_counter()))
    answer.put(done / (time.perf_counter() - start))


@dataclass(frozen=True)
class Pipeline:
    """What does not change between runs: GPU and storage in items/s and MB/s."""

    workers: int
    gpu: float
    storage: float
    seconds: float

    def measure(self, cores: Fraction, memory: Fraction) -> float:
        """Give the most items/s of five runs: other programs only slow the pipeline down."""
        rate = CACHE.fetch_rate(memory, Fraction(str(self.storage)))
        fetch = float("inf") if rate is None else float(rate)
        context, rates, n = get_context(), [], self.workers
        for run in range(5):
            answer = context.Queue()
            each = (self.seconds, float(cores) / n, (self.gpu / n, fetch / n), answer)
            started = [context.Process(target=work, args=(run * n + i, *each)) for i in range(n)]
            for process in started:
                process.start()
            rates.append(sum(answer.get(timeout=60 + 10 * self.seconds) for _ in started))
            for process in started:
                process.join()
        return float(max(rates))


def cost() -> float:
    """Give the seconds of processor time that one item takes."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    times = []
    for _ in range(30):
        start = time.process_time()
        transform(image, rng)
        times.append(time.process_time() - start)
    return statistics.median(times)


def profiled(pipeline: Pipeline, cores: Sequence[Fraction]) -> OptimisticProfile:
    """Profile optimistically: measure over cores with all data cached, estimate the rest."""
    return optimistic_profile(
        lambda c: pipeline.measure(c, MEMORY[-1]),
        name="pipeline",
        cpu=cores,
        memory=MEMORY,
        cache=CACHE,
        storage=pipeline.storage,
    )


def compared(
    pipeline: Pipeline, found: OptimisticProfile, cores: Sequence[Fraction]
) -> list[tuple[Fraction, Fraction, float, float]]:
    """Measure every core count with all data cached, and every memory size with all cores."""
    last = len(cores) - 1, len(MEMORY) - 1
    points = {*((i, last[1]) for i in range(STEPS)), *((last[0], k) for k in range(len(MEMORY)))}
    table = found.profile.throughput
    return [
        (cores[i], MEMORY[k], pipeline.measure(cores[i], MEMORY[k]), float(table[i, k]))
        for i, k in sorted(points)
    ]


def picture(path: str, rows: Sequence[tuple[Fraction, Fraction, float, float]]) -> None:
    """Draw measured against estimated, over cores and over memory."""
    figure = new_figure(9.0, 3.6)
    panels = figure.subplots(1, 2, sharey=True)
    top = max(row[0] for row in rows)
    sides = (
        ("cores", 0, [row for row in rows if row[1] == MEMORY[-1]]),
        ("cache, MB", 1, [row for row in rows if row[0] == top]),
    )
    for axes, (name, which, chosen) in zip(panels, sides, strict=True):
        x = [float(row[which]) * (1000 if which else 1) for row in chosen]
        axes.plot(x, [row[3] for row in chosen], color=colour(0), label="estimated")
        axes.plot(x, [row[2] for row in chosen], "o", color=colour(1), label="measured")
        axes.set_xlabel(name)
        axes.set_ylim(0, 1.1 * max(max(row[2:]) for row in rows))
        clean(axes)
    panels[0].set_ylabel("throughput, items/s")
    panels[0].legend(frameon=False, loc="lower right")
    save(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Profile, measure what was estimated, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=float, default=float(os.cpu_count() or 1), metavar="N")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S", help="of a run")
    parser.add_argument("--picture", metavar="F", help="PNG, SVG or PDF")
    options = parser.parse_args(arguments)
    cores = [Fraction(f"{options.cores * (i + 1) / STEPS:.4g}") for i in range(STEPS)]
    # The GPU is saturated by 6 of the 10 steps; storage alone feeds half of what it takes.
    gpu = round(0.6 * options.cores / cost(), 1)
    storage = round(gpu / 2 * float(CACHE.item), 2)
    pipeline = Pipeline(max(1, round(options.cores)), gpu, storage, options.seconds)
    found = profiled(pipeline, cores)
    print(f"{platform.platform()}, {os.cpu_count()} cores; {pipeline}")
    print(found)
    rows = compared(pipeline, found, cores)
    for c, memory, measured, estimate in rows:
        print(
            f"{float(c):5.2f} cores {1000 * float(memory):4.0f} MB: measured {measured:7.1f}, "
            f"estimated {estimate:7.1f} items/s, {estimate / measured - 1:+.1%}"
        )
    errors = sorted(abs(row[3] / row[2] - 1) for row in rows)
    print(f"median error {statistics.median(errors):.1%}, largest {errors[-1]:.1%}")
    if options.picture:
        picture(options.picture, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
