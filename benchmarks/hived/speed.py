"""Speed of the allocator over three sizes: prints a table with growth, writes JSON on request.

`python -m benchmarks.hived.speed [--json FILE]`. One process, CPU time. Nodes of 2 x 2 x 2 GPUs
are the top level (no racks); all GPUs are reserved, half of the reserved cells are in use,
low-priority jobs run on 30 % of all GPUs, and the free cell with the fewest of them is taken.
"""

import argparse
import json
import platform
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hived_cells import (
    Cell,
    Chain,
    NoRoom,
    Reservation,
    State,
    allocate,
    bitset,
    fewest_low_priority,
    heal,
    initial_state,
    mark_bad,
    parse_spec,
    release,
    start,
    violations,
)

SIZES = (512, 4096, 65536)  # GPUs
LIMITS = {"allocate": 60.0, "release": 60.0, "health": 100.0}  # µs, at the largest size
JOB_SHARE = 0.3  # of all GPUs


@dataclass
class Bench:
    """A state in the half-used regime and what is held and owed in it."""

    state: State
    rng: random.Random
    held: list[tuple[str, Cell]] = field(default_factory=list)
    owed: list[tuple[str, int]] = field(default_factory=list)


def half_used(gpus: int, *, seed: int = 0) -> Bench:
    """Return the regime at a size: every level reserved, half in use, jobs on 30 % of the GPUs.

    The jobs have one GPU each and stand on random idle GPUs: the worst spread for the choice.
    """
    nodes = gpus // 8
    counts = {4: nodes // 4, 3: nodes // 4, 2: nodes // 4, 1: nodes // 2}  # 4 GPUs a node each
    chain = Chain(nodes, (2, 2, 2))
    state = initial_state(chain, Reservation({"A": counts, "B": counts}))
    bench = Bench(state, random.Random(seed))
    bench.owed = [(t, k) for t in "AB" for k, count in counts.items() for _ in range(count)]
    bench.rng.shuffle(bench.owed)
    for _ in range(len(bench.owed) // 2):
        tenant, level = bench.owed.pop()
        bench.state, cell = allocate(bench.state, tenant, level, choose=fewest_low_priority)
        bench.held.append((tenant, cell))
    refill(bench)
    return bench


def refill(bench: Bench) -> None:
    """Start one-GPU jobs on random idle GPUs until 30 % of all GPUs have one (not timed)."""
    gpus = bench.state.chain.gpus
    missing = int(JOB_SHARE * gpus) - bitset.count(bench.state.low)
    while missing > 0:
        gpu = bench.rng.randrange(gpus)
        if not bitset.has(bench.state.used, gpu) and not bitset.has(bench.state.low, gpu):
            bench.state = start_at(bench.state, gpu)
            missing -= 1


def start_at(state: State, gpu: int) -> State:
    """Start a one-GPU job on a given GPU, through the package's own bookkeeping."""
    from hived_cells.draft import Draft  # noqa: PLC0415 (placing by hand is no public operation)
    from hived_cells.state import Job  # noqa: PLC0415

    draft = Draft(state)
    draft.enter_job(Job("A", (gpu,)))
    return draft.freeze()


def timed(call: Callable[[], object]) -> tuple[float, object]:
    """Return the CPU microseconds of a call and what it gave."""
    begun = time.process_time_ns()
    given = call()
    return (time.process_time_ns() - begun) / 1000, given


def one_round(bench: Bench, operations: int) -> dict[str, float]:
    """Return mean CPU microseconds of allocate, release and a health event."""
    total = {"allocate": 0.0, "release": 0.0, "health": 0.0}
    for number in range(operations):
        at = bench.rng.randrange(len(bench.owed))
        tenant, level = bench.owed[at]
        bench.owed[at] = bench.owed[-1]
        bench.owed.pop()
        took, (state, cell) = timed(
            lambda: allocate(bench.state, tenant, level, choose=fewest_low_priority)  # noqa: B023
        )
        total["allocate"] += took
        bench.held.append((tenant, cell))
        at = bench.rng.randrange(len(bench.held))
        tenant, cell = bench.held[at]
        bench.held[at] = bench.held[-1]
        bench.held.pop()
        took, bench.state = timed(lambda: release(state, tenant, cell))  # noqa: B023
        total["release"] += took
        bench.owed.append((tenant, cell.level))
        node = Cell(4, (bench.rng.randrange(bench.state.chain.top_cells),))
        event = mark_bad if number % 2 == 0 else heal
        took, _ = timed(lambda: event(bench.state, node))  # noqa: B023
        total["health"] += took
        refill(bench)
    return {name: value / operations for name, value in total.items()}


def kept_state_bytes(bench: Bench, operations: int = 400) -> float:
    """Return the bytes that one more kept state costs, over alternating takes and releases."""
    kept = [bench.state]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(operations // 2):
        tenant, level = bench.owed.pop(0)
        bench.state, cell = allocate(bench.state, tenant, level, choose=fewest_low_priority)
        kept.append(bench.state)
        bench.state = release(bench.state, tenant, cell)
        kept.append(bench.state)
        bench.owed.append((tenant, level))
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / operations


def startup_seconds(gpus: int) -> dict[str, float]:
    """Return CPU seconds of the first state, and of reading it from a file with every node."""
    nodes = gpus // 8
    counts = {4: nodes // 4, 3: nodes // 4, 2: nodes // 4, 1: nodes // 2}
    reservation = Reservation({"A": counts, "B": counts})
    first, _ = timed(lambda: initial_state(Chain(nodes, (2, 2, 2)), reservation))
    lines = "\n".join(f"  - {{cellType: N, cellAddress: n{i}}}" for i in range(nodes))
    text = (
        "physicalCluster:\n  cellTypes:\n"
        "    N: {childCellType: S, childCellNumber: 2, isNodeLevel: true}\n"
        "    S: {childCellType: W, childCellNumber: 2}\n"
        "    W: {childCellType: G, childCellNumber: 2}\n"
        f"  physicalCells:\n{lines}\n"
    )
    read, _ = timed(lambda: parse_spec(text))
    return {"initial_state": first / 1e6, "parse_spec": read / 1e6}


def measure(rounds: int, operations: int) -> list[dict[str, float]]:
    """Return a row a size; sizes take turns so that other load on the machine meets all alike."""
    benches = {gpus: half_used(gpus) for gpus in SIZES}
    sums = {gpus: {"allocate": 0.0, "release": 0.0, "health": 0.0} for gpus in SIZES}
    for _ in range(rounds):
        for gpus, bench in benches.items():
            for name, value in one_round(bench, operations).items():
                sums[gpus][name] += value / rounds
    rows: list[dict[str, float]] = []
    for gpus, bench in benches.items():
        if gpus <= 4096 and violations(bench.state):
            raise AssertionError("the measured state is not sound")
        rows.append({"gpus": gpus, **sums[gpus], "kept": kept_state_bytes(bench)})
        rows[-1].update(startup_seconds(gpus))
    return rows


def full_search(gpus: int) -> float:
    """Return mean CPU microseconds of starting a low-priority job of eight GPUs."""
    bench = half_used(gpus)
    total = 0.0
    for _ in range(50):
        try:
            took, (bench.state, _) = timed(lambda: start(bench.state, "A", 8))
        except NoRoom:
            break
        total += took
    return total / 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 1 where a limit is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--operations", type=int, default=200, help="a round and size")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    rows = measure(options.rounds, options.operations)
    names = ("allocate", "release", "health", "kept", "initial_state", "parse_spec")
    print("GPUs      allocate µs  release µs  health µs  kept state KB  first state s  spec s")
    for row in rows:
        print(
            f"{row['gpus']:8.0f}  {row['allocate']:11.1f}  {row['release']:10.1f}"
            f"  {row['health']:9.1f}  {row['kept'] / 1024:13.1f}"
            f"  {row['initial_state']:13.4f}  {row['parse_spec']:6.2f}"
        )
    growth = {name: rows[-1][name] / rows[0][name] for name in names}
    print("growth    " + ", ".join(f"{name} x{growth[name]:.2f}" for name in names))
    low = full_search(SIZES[-1])
    print(f"starting a low-priority job of 8 GPUs at {SIZES[-1]} GPUs: {low:.0f} µs")
    largest = rows[-1]
    kept = {
        **{f"{name} <= {limit:.0f} µs": largest[name] <= limit for name, limit in LIMITS.items()},
        "allocate <= 1.5 x at 512 GPUs": growth["allocate"] <= 1.5,
        "release <= 1.5 x at 512 GPUs": growth["release"] <= 1.5,
        "a kept state <= 32 KB": largest["kept"] <= 32 * 1024,
        "first state <= 2 s": largest["initial_state"] <= 2,
    }
    for name, holds in kept.items():
        print(f"{'kept' if holds else 'NOT KEPT':9} {name}")
    if options.json:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        options.json.write_text(
            json.dumps({"rows": rows, "growth": growth, "kept": kept, **machine}, indent=1) + "\n"
        )
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
