"""Designed multi-level cells against node-level cells: whole nodes, and what stands in the way."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.paper.hived.setting import Experiment, Row, Setting, require_safe
from hived_cells import Reservation
from hived_cells.design import History, design, history_of
from hived_cells.simulation import SCHEDULERS, Run, Trace, simulate
from hived_cells.simulation.comparison import delays
from hived_cells.simulation.shapes import between
from hived_cells.simulation.ways import reserved_gpus

__all__ = ["fragmentation", "nodes_needed"]

DAY = 86400
DEFAULT = 8
WEIGHTS = (2, DEFAULT, 32)
PICTURED = (("capacity", "node-level"), ("capacity", "designed"))


def fragmentation(setting: Setting) -> Experiment:
    """Section 5.3: designed multi-level cells against node-level cells, on weeks held out."""
    half = setting.options.days // 2 * DAY
    past, future = between(setting.trace, 0, half), between(setting.trace, half, 2 * half)
    known, hindsight = _histories(setting, past), _histories(setting, future)
    wanted = [("designed" if n == DEFAULT else f"unmet weight {n}", known, n) for n in WEIGHTS]
    wanted.append(("in hindsight", hindsight, DEFAULT))
    shares = reserved_gpus(setting.chain, setting.reservation)
    plans = {"node-level": setting.reservation}
    begun, proved = time.process_time(), 0
    for label, histories, weight in wanted:
        found = design(setting.chain, shares, histories, unmet_weight=weight)
        proved += len(shares) - len(found.stopped)
        plans[label] = found.reservation
    count = len(wanted) * len(shares)
    seconds = (time.process_time() - begun) / count
    rows = [
        Row(
            "designs proved to be of least cost; CPU seconds a tenant",
            "-",
            f"{proved} of {count}; {seconds:.2f}",
        )
    ]
    data: dict[str, Any] = {
        "cells": {
            label: {tenant: dict(counts) for tenant, counts in plan.cells}
            for label, plan in plans.items()
        }
    }
    for name in ("capacity", "capacity-tightest"):
        figures = {label: _cells_run(setting, future, plan, name) for label, plan in plans.items()}
        shared = _figures(setting, future, _simulated(setting, future, name, "quota"))
        data[name] = figures
        data[f"{name}, quota"] = shared
        rows += _fragmentation_rows(name, figures)
        rows += _rows_of_what_is_possible(setting, name, figures, shared)
        for label, row in {**figures, "quota": shared}.items():
            if (name, label) not in PICTURED:
                del row["whole_by_day"]
    lent = {
        label: _cells_run(setting, future, plans[label], "capacity", lending=True)
        for label in ("designed", "node-level")
    }
    for row in lent.values():
        del row["whole_by_day"]
    data["capacity, low priority"] = lent
    rows.append(
        Row(
            "capacity with low priority: mean delay of all jobs (minutes)",
            "-",
            f"{lent['designed']['delay']:.1f} against {lent['node-level']['delay']:.1f}",
        )
    )
    return Experiment(
        "Multi-level cells designed on the first half of the trace, run on the second half",
        tuple(rows),
        "The paper chose its multi-level cells by hand for job sizes that are published for two "
        "of eleven tenants, and does not define its measure of fragmentation; ours are the "
        "nodes of which no GPU is held. How much smaller cells can keep whole depends on the "
        "share of small jobs, which is assumed for the other nine; they are paid for with "
        "longer waits (the rows of delays), which the paper does not report.",
        data,
    )


def _histories(setting: Setting, trace: Trace) -> dict[str, History]:
    """Return what tenants wanted in a part of the trace.

    The largest job is what a tenant says it will ask for, so it is taken from the whole trace.
    """
    largest = history_of(setting.trace, setting.chain)
    return {
        tenant: replace(history, largest=largest[tenant].largest)
        for tenant, history in history_of(trace, setting.chain).items()
    }


def _fragmentation_rows(name: str, figures: dict[str, dict[str, Any]]) -> list[Row]:
    plain, best = figures["node-level"], figures["designed"]
    broken = {label: row["nodes_used"] - row["least_nodes"] for label, row in figures.items()}
    less = 100 * (broken["designed"] / broken["node-level"] - 1)
    rows = [
        Row(
            f"{name}: nodes whole, designed against node-level cells",
            "about 30 more of 279",
            f"{best['whole_nodes']:.1f} against {plain['whole_nodes']:.1f} {_gain(best, plain)}",
        ),
        Row(
            f"{name}: nodes in use beyond the fewest that the jobs' GPUs fill",
            "fragmentation 10–20 % lower",
            f"{broken['designed']:.1f} against {broken['node-level']:.1f} ({less:+.0f} %)",
        ),
        Row(
            f"{name}: mean delay of all jobs without low priority (minutes)",
            "-",
            f"{best['delay']:.1f} against {plain['delay']:.1f}",
        ),
    ]
    others = [label for label in figures if label not in ("node-level", "designed")]
    told = [
        f"{label}: {figures[label]['whole_nodes']:.1f} whole {_gain(figures[label], plain)}, "
        f"{figures[label]['delay']:.1f} min"
        for label in others
    ]
    return [*rows, Row(f"{name}: other weights, and the weeks themselves", "-", "; ".join(told))]


def _rows_of_what_is_possible(
    setting: Setting, name: str, figures: dict[str, dict[str, Any]], shared: dict[str, Any]
) -> list[Row]:
    """Return how much any cells could gain over node-level ones, and where the nodes go."""
    plain, best = figures["node-level"], figures["designed"]
    nodes = setting.chain.top_cells
    bound = {"whole_nodes": nodes - plain["least_nodes"]}
    apart = {"whole_nodes": nodes - plain["least_apart"]}
    return [
        Row(
            f"{name}: nodes whole if the jobs that run were packed anew every hour, "
            "tenants together; apart",
            "-",
            f"{bound['whole_nodes']:.1f} {_gain(bound, plain)}; "
            f"{apart['whole_nodes']:.1f} {_gain(apart, plain)}",
        ),
        Row(
            f"{name}: nodes whole with no cells at all, one scheduler for all jobs (quota)",
            "-",
            f"{shared['whole_nodes']:.1f} {_gain(shared, plain)}",
        ),
        Row(
            f"{name}: nodes beyond the fewest, as GPUs idle inside held cells + between them",
            "-",
            "; ".join(
                f"{label}: {row['held_nodes'] - row['least_nodes']:.1f} + "
                f"{max(0.0, row['nodes_used'] - row['held_nodes']):.1f}"
                for label, row in (("designed", best), ("node-level", plain))
            ),
        ),
    ]


def _gain(row: Mapping[str, float], plain: Mapping[str, float]) -> str:
    if not plain["whole_nodes"]:
        return "(from none)"
    return f"({100 * (row['whole_nodes'] / plain['whole_nodes'] - 1):+.0f} %)"


def _cells_run(
    setting: Setting, trace: Trace, cells: Reservation, name: str, *, lending: bool = False
) -> dict[str, Any]:
    place = replace(setting, reservation=cells)
    run = _simulated(place, trace, name, "cells", lending=lending)
    require_safe(trace, _simulated(place, trace, name, "private"), run)
    return _figures(setting, trace, run)


def _simulated(
    setting: Setting, trace: Trace, name: str, way: Any, *, lending: bool = False
) -> Run:
    return simulate(
        trace, setting.chain, setting.reservation,
        way=way, scheduler=SCHEDULERS[name], lending=lending,
    )  # fmt: skip


def _figures(setting: Setting, trace: Trace, run: Run) -> dict[str, Any]:
    late = [delay for row in delays(trace, run).values() for delay in row]
    node = setting.chain.sizes[-1]
    least, apart = nodes_needed(trace, run, node)
    return {
        "whole_nodes": round(run.whole / run.seconds, 2),
        "nodes_used": round(setting.chain.top_cells - run.whole / run.seconds, 2),
        "held_nodes": round(run.held / run.seconds / node, 2),
        "least_nodes": round(least, 2),
        "least_apart": round(apart, 2),
        "delay": round(sum(late) / len(late) / 60, 2),
        "whole_by_day": by_day([sample.whole for sample in run.samples]),
    }


def nodes_needed(trace: Trace, run: Run, node: int) -> tuple[float, float]:
    """Return the fewest nodes for the guaranteed jobs, tenants together and apart, hourly mean.

    Sizes of jobs divide each other and a node, so that so many GPUs fill as few nodes as they
    can: no cells, and no scheduler, need fewer for the jobs that run. A guaranteed run that was
    stopped or ran ahead is not seen here: for runs with low priority the second figure is too
    high, the first is of the samples themselves.
    """
    changes = sorted(
        (time, job.tenant, gpus)
        for job, begin, end in zip(trace.jobs, run.granted, run.ended, strict=True)
        for time, gpus in ((begin, job.shape.total), (max(begin, end), -job.shape.total))
    )
    held = dict.fromkeys(trace.tenants, 0)
    together = apart = place = 0
    for sample in run.samples:
        while place < len(changes) and changes[place][0] <= sample.time:
            _, tenant, gpus = changes[place]
            held[tenant] += gpus
            place += 1
        together += -(-sample.guaranteed // node)
        apart += sum(-(-gpus // node) for gpus in held.values())
    return together / len(run.samples), apart / len(run.samples)


def by_day(hours: Sequence[int]) -> list[float]:
    """Return each day's mean of hourly samples."""
    days = [hours[begin : begin + 24] for begin in range(0, len(hours), 24)]
    return [round(sum(day) / len(day), 1) for day in days]
