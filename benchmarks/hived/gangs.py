"""Speed of gang placement: prints CPU time by shape on 279 nodes, and where the limit is broken.

`python -m benchmarks.hived.gangs [--steps N] [--seed S]`. One process, CPU time. `--growth` prints
instead how the time grows: of a placement at low priority with the number of nodes, three quarters
of them in use, and of a preemption with the number of gangs that could be stopped. 11 tenants
reserve 279 nodes of 2 x 2 x 2 GPUs whole (2,232 GPUs, the size of the paper's trace cluster);
gangs of whole powers of two come and go at random.
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence

from hived_cells import (
    Chain,
    Gang,
    GangPool,
    MustWait,
    NeverFits,
    Pool,
    Reservation,
    gang_violations,
    initial_gangs,
    place_gang,
    remove_gang,
)

GROWTH_SECONDS = 0.5  # CPU time of each figure of `--growth`
RUNNING = 50  # low-priority gangs at once there
LIMIT = 500.0  # µs a placement, mean over all shapes
NODES = (60, 50, 40, 30, 25, 20, 18, 14, 10, 8, 4)  # by tenant
SHAPES = {  # (GPUs a pod, pods): weight
    (1, 1): 50,
    (2, 1): 12,
    (4, 1): 12,
    (8, 1): 18,
    (8, 2): 4,
    (8, 4): 3,
    (8, 8): 1,
}


def measure(steps: int, seed: int) -> dict[str, tuple[int, float]]:
    """Return for each shape how many operations and their CPU time in seconds."""
    rng = random.Random(seed)
    tenants = [f"T{number}" for number in range(len(NODES))]
    reservation = Reservation({t: {4: n} for t, n in zip(tenants, NODES, strict=True)})
    pool = Pool(Chain(sum(NODES), (2, 2, 2)), reservation)
    state = initial_gangs([GangPool("trace", pool, node_level=4)])
    spent: dict[str, tuple[int, float]] = {}
    running: list[str] = []
    for step in range(steps):
        name = "remove"
        if running and rng.random() < len(running) / 1000:
            place = rng.randrange(len(running))
            running[place], running[-1] = running[-1], running[place]
            start = time.process_time()
            state = remove_gang(state, running.pop())
            took = time.process_time() - start
        else:
            size, count = rng.choices(list(SHAPES), list(SHAPES.values()))[0]
            priority = rng.choice([-1, 0, 0, 0])
            gang = Gang(f"g{step}", rng.choices(tenants, NODES)[0], ((size, count),), priority)
            name = f"place {count} x {size}" if priority == 0 else "place at low priority"
            start = time.process_time()
            try:
                state, placed = place_gang(state, gang)
            except (MustWait, NeverFits):
                took = time.process_time() - start
                name = "refuse" if priority == 0 else "refuse at low priority"
            else:
                took = time.process_time() - start
                gone = set(placed.victims)
                running = [*(one for one in running if one not in gone), gang.id]
        number, total = spent.get(name, (0, 0.0))
        spent[name] = (number + 1, total + took)
    broken = gang_violations(state)
    if broken:
        raise SystemExit(f"broken: {broken[0]}")
    return spent


def low_priority(nodes: int) -> float:
    """Return the mean CPU time (µs) of placing a low-priority gang and ending it."""
    pool = Pool(Chain(nodes, (2, 2, 2)), Reservation({"A": {4: nodes}}))
    state = initial_gangs([GangPool("growth", pool, node_level=4)])
    for number in range(nodes * 3 // 4):
        state, _ = place_gang(state, Gang(f"g{number}", "A", ((8, 1),)))
    rng = random.Random(0)
    spent, rounds = 0.0, 0
    while spent < GROWTH_SECONDS:
        gang = Gang(f"low{rounds}", "A", ((rng.choice((1, 2, 4, 8)), rng.choice((1, 2))),), -1)
        start = time.process_time()
        state, _ = place_gang(state, gang)
        spent += time.process_time() - start
        rounds += 1
        if rounds > RUNNING:
            state = remove_gang(state, f"low{rounds - RUNNING}")
    return spent / rounds * 1e6


def preemption(candidates: int, pods: int) -> float:
    """Return the mean CPU time (µs) of placing pods of 8 GPUs where 1-GPU gangs must end."""
    nodes = candidates // 8
    pool = Pool(Chain(nodes, (2, 2, 2)), Reservation({"A": {4: nodes}}))
    state = initial_gangs([GangPool("growth", pool, node_level=4)])
    for number in range(candidates):
        state, _ = place_gang(state, Gang(f"g{number}", "A", ((1, 1),)))
    spent, rounds = 0.0, 0
    while spent < GROWTH_SECONDS:
        start = time.process_time()
        _, placed = place_gang(state, Gang("new", "A", ((8, pods),), 1))
        spent += time.process_time() - start
        rounds += 1
        assert len(placed.victims) == 8 * pods
    return spent / rounds * 1e6


def growth() -> None:
    """Print both."""
    print(f"{'nodes':>10} {'µs at low priority':>20}")
    for nodes in (512, 1024, 2048, 4096, 8192):
        print(f"{nodes:10} {low_priority(nodes):20.0f}", flush=True)
    print(f"{'candidates':>10} {'µs, 8 of them end':>20} {'µs, 64 end':>20}")
    for candidates in (512, 1024, 2048, 4096):
        times = [preemption(candidates, pods) for pods in (1, 8)]
        print(f"{candidates:10} {times[0]:20.0f} {times[1]:20.0f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 where the mean placement takes longer than the limit."""
    parser = argparse.ArgumentParser(description="Speed of gang placement on 279 nodes.")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--growth", action="store_true", help="how the time grows with the size")
    options = parser.parse_args(arguments)
    if options.growth:
        growth()
        return 0
    spent = measure(options.steps, options.seed)
    print(f"{'operation':24} {'number':>7} {'µs':>7}")
    for name in sorted(spent):
        number, total = spent[name]
        print(f"{name:24} {number:7} {total / number * 1e6:7.1f}")
    placed = [pair for name, pair in spent.items() if name.startswith("place")]
    mean = sum(total for _, total in placed) / max(1, sum(number for number, _ in placed)) * 1e6
    print(f"mean placement {mean:.1f} µs, limit {LIMIT:.0f}")
    return 0 if mean <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
