"""Experiments about the allocator: binding, time per allocation, the long run."""

import resource
import time
from typing import Any

from benchmarks.hived.speed import half_used, one_round
from benchmarks.paper.hived.setting import Experiment, Row, Setting, require_safe
from hived_cells.simulation import SCHEDULERS, simulate
from hived_cells.simulation.ways import WAYS

__all__ = ["binding", "longrun", "speed"]

CAPACITY = SCHEDULERS["capacity"]


def binding(setting: Setting) -> Experiment:
    """Section 5.3: cells bound on demand against cells bound for good."""
    rows, data = [], {}
    for nodes in (279, 200):
        place = setting.on(nodes)
        taken = {}
        alone = simulate(
            place.trace, place.chain, place.reservation, way="private", scheduler=CAPACITY
        )
        for static in (False, True):
            run = simulate(
                place.trace, place.chain, place.reservation,
                way="cells", scheduler=CAPACITY, static=static,
            )  # fmt: skip
            require_safe(place.trace, alone, run)
            taken["static" if static else "dynamic"] = run.preempted
        data[str(nodes)] = taken
        fewer = 100 * (1 - taken["dynamic"] / taken["static"]) if taken["static"] else 0.0
        rows.append(
            Row(
                f"GPUs preempted on {nodes} nodes, dynamic against static binding",
                "55 % fewer",
                f"{fewer:.0f} % fewer ({taken['dynamic']} against {taken['static']})",
            )
        )
    return Experiment(
        "Dynamic and static binding, node-level cells, capacity scheduler",
        tuple(rows),
        "How much of the cluster is idle, and so lent, decides how far the two differ: the two "
        "rows are one trace on more and on fewer nodes, and 55 % lies between them. The paper "
        "gives neither the load at which it measured nor how many of its jobs run at low "
        "priority; both follow from our assumed loads, so the figure itself is not reproduced, "
        "only its sign.",
        data,
    )


def speed(setting: Setting) -> Experiment:  # noqa: ARG001 (needs no trace)
    """Section 5.3: time per allocation on 65,536 GPUs."""
    bench = half_used(65_536)
    figures = one_round(bench, 400)
    return Experiment(
        "CPU time of one allocation, 65,536 GPUs in five levels",
        (Row("mean time", "2.18 ms", f"{figures['allocate'] / 1000:.3f} ms"),),
        "Another machine and another language; `python -m benchmarks.hived.speed` has more sizes.",
        figures,
    )


def longrun(setting: Setting) -> Experiment:
    """Time, memory and sharing safety of the whole trace, each scheduler in each way."""
    rows: list[Row] = []
    data: dict[str, Any] = {}
    for name in ("capacity", "gandiva", "tiresias"):
        runs, figures = {}, {}
        for way in WAYS:
            begun = time.process_time()
            runs[way] = simulate(
                setting.trace, setting.chain, setting.reservation,
                way=way, scheduler=SCHEDULERS[name],
            )  # fmt: skip
            figures[way] = round(time.process_time() - begun, 1)
        require_safe(setting.trace, runs["private"], runs["cells"])
        same = runs["private"].granted == runs["cells"].granted
        data[name] = {"cpu_seconds": figures, "granted_at_the_same_seconds": same}
        rows += [
            Row(
                f"{name}: jobs granted or done later under cells than in private",
                "none (Theorem 1)",
                f"0 of {len(setting.trace.jobs)}; granted at the same seconds: {same}",
            ),
            Row(
                f"{name}: CPU seconds private, quota, cells",
                "-",
                ", ".join(f"{figures[way]}" for way in WAYS),
            ),
        ]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    data["memory_mb"] = round(memory)
    rows.append(Row("largest memory of the process", "-", f"{memory:.0f} MB"))
    return Experiment(
        "The whole trace on 279 nodes with low priority",
        tuple(rows),
        "Nothing: safety holds for any trace.",
        data,
    )
