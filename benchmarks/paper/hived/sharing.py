"""Experiments about waiting: schedulers, load, tenants leaving, job shapes, soft affinity."""

from typing import Any

from benchmarks.paper.hived.setting import Experiment, Row, Setting, compared, ratio
from hived_cells.simulation import SCHEDULERS, soften, with_shapes

__all__ = ["leaving", "load", "schedulers", "shapes", "soft"]

LOADED = 200  # nodes of the experiments under load
CAPACITY = SCHEDULERS["capacity"]


def schedulers(setting: Setting) -> Experiment:
    """Section 5.1: three schedulers with and without cells."""
    rows, data = [], {}
    place = setting.on(LOADED)
    for name in ("capacity", "gandiva", "tiresias", "capacity-tightest"):
        _, alone = compared(place, SCHEDULERS[name], lending=False)
        data[name] = alone
        quota, cells = ratio(alone, "prod-a", "quota"), ratio(alone, "prod-a", "cells")
        worst = alone["tenants"]["prod-a"]["worst_excess"]
        published = "anomaly under quota; none under HiveD"
        if name == "capacity":
            published = "excess up to 1,000 min under quota (96 GPUs); 0 under HiveD"
        if name == "capacity-tightest":
            published = "-"
        rows.append(
            Row(
                f"{name}: prod-a's delay against private, worst excess",
                published,
                f"quota ×{quota:.2f}, {worst['quota']:.0f} min; "
                f"cells ×{cells:.2f}, {worst['cells']:.0f} min",
            )
        )
    return Experiment(
        "Three schedulers, guaranteed jobs only, 200 nodes",
        tuple(rows),
        "The paper measured 96 GPUs with a ten-day part of its trace; ours is simulated. "
        "Gandiva-like and Tiresias-like stand for what decides who waits, no more.",
        data,
    )


def load(setting: Setting) -> Experiment:
    """Section 5.2: the same workload on 279 and on 200 nodes."""
    data: dict[str, Any] = {}
    rows = []
    for nodes, lending in ((279, False), (279, True), (LOADED, False), (LOADED, True)):
        _, found = compared(setting.on(nodes), CAPACITY, lending=lending)
        data[f"{nodes}{' lending' if lending else ''}"] = found
        names = found["tenants"]
        shorter = sum(row["delay"]["cells"] < row["delay"]["quota"] for row in names.values())
        less = sum(row["delay"]["cells"] <= row["delay"]["private"] for row in names.values())
        delay = names["prod-a"]["delay"]
        cut = 100 * (1 - delay["cells"] / delay["quota"]) if delay["quota"] else 0.0
        where = f"{nodes} nodes, {'with' if lending else 'without'} low priority: "
        rows += [
            Row(
                where + "prod-a under quota against private",
                "nearly ×7 on 200 nodes" if nodes == LOADED else "up to 200 min longer",
                f"×{ratio(found, 'prod-a', 'quota'):.2f}, up to "
                f"{names['prod-a']['worst_excess']['quota']:.0f} min longer",
            ),
            Row(
                where + "GPUs in guaranteed use under quota",
                "about 90 %" if nodes == LOADED else "-",
                f"{100 * found['ways']['quota']['guaranteed']:.1f} %",
            ),
            Row(
                where + "tenants whose delay under cells is at most that in private",
                "11 of 11",
                f"{less} of {len(names)}",
            ),
            Row(
                where + "tenants whose delay is shorter under cells than under quota; prod-a's",
                "9 of 11; by up to 94 %" if nodes == LOADED else "-",
                f"{shorter} of {len(names)}; by {cut:.0f} %",
            ),
        ]
    return Experiment(
        "The whole trace, capacity scheduler",
        tuple(rows),
        "How unevenly tenants load what they reserved decides how long they wait at all; the "
        "paper does not publish it, we assume it (see simulation.md). So the multiples differ "
        "from the published ones, which this trace can neither confirm nor deny, and few of our "
        "tenants wait longer under quota; that none waits longer under cells does not hang on "
        "the trace.",
        data,
    )


def leaving(setting: Setting) -> Experiment:
    """Section 5.2: the largest tenants leave with their GPUs."""
    place = setting.on(LOADED)
    rows, data = [], {}
    before: dict[str, float] = {}
    for gone, victim, published in (
        ((), "prod-a", "prod-a nearly ×7"),
        (("prod-a",), "res-f", "res-f more than ×1.7"),
        (("prod-a", "res-f"), "res-a", "no anomaly; all wait longer than before"),
    ):
        _, found = compared(place.leaving(gone), CAPACITY, lending=False)
        data["+".join(gone) or "all"] = found
        names = found["tenants"]
        delays = {tenant: row["delay"]["quota"] for tenant, row in names.items()}
        worst = max(names, key=lambda tenant: ratio(found, tenant, "quota"))
        longer = sum(delays[tenant] > before.get(tenant, 0.0) for tenant in delays)
        ours = f"{victim} ×{ratio(found, victim, 'quota'):.2f}"
        ours += f", worst {worst} ×{ratio(found, worst, 'quota'):.2f}"
        if gone:
            ours += f"; {longer} of {len(delays)} wait longer under quota than before"
        rows.append(Row(f"without {', '.join(gone) or 'nobody'}", published, ours))
        before = delays
    return Experiment(
        "The largest tenants leave, 200 nodes at first, guaranteed jobs only",
        tuple(rows),
        "Which tenant is hit next depends on the others' job sizes, published for two of eleven.",
        data,
    )


def shapes(setting: Setting) -> Experiment:
    """Section 5.2: jobs rewritten to 8 GPUs or one; who else runs large jobs decides."""
    place = setting.on(LOADED)
    others = [tenant for tenant in setting.trace.tenants if tenant != "res-f"]
    rows, data = [], {}
    for large in (0, 3, 6, 10):
        sizes = {tenant: 8 if n < large else 1 for n, tenant in enumerate(others)}
        trace = with_shapes(setting.trace, {**sizes, "res-f": 8})
        _, found = compared(
            Setting(place.options, trace, place.chain, place.reservation), CAPACITY, lending=False
        )
        data[str(large)] = found
        rows.append(
            Row(
                f"res-f (8-GPU jobs) with {large} of 10 others on 8-GPU jobs",
                "up to ×132 under quota, never above ×1 under HiveD" if not large else "less",
                f"quota ×{ratio(found, 'res-f', 'quota'):.2f}, "
                f"cells ×{ratio(found, 'res-f', 'cells'):.2f}",
            )
        )
    return Experiment(
        "Job shapes rewritten, demand kept, 200 nodes, guaranteed jobs only",
        tuple(rows),
        "The paper does not say in which order tenants are moved; ours is alphabetical.",
        data,
    )


def soft(setting: Setting) -> Experiment:
    """Section 5.2, Figure 9: half of the multi-GPU jobs accept a relaxed shape."""
    place = setting.on(LOADED)
    rows, data = [], {}
    for percent in (0, 50, 100):
        trace = soften(setting.trace, percent, seed=1)
        _, found = compared(
            Setting(place.options, trace, place.chain, place.reservation), CAPACITY, lending=False
        )
        data[str(percent)] = found
        rows.append(
            Row(
                f"prod-a with {percent} % of the multi-GPU jobs soft",
                "×1.3 under quota" if percent == 50 else "-",
                f"quota ×{ratio(found, 'prod-a', 'quota'):.2f}, "
                f"cells ×{ratio(found, 'prod-a', 'cells'):.2f}",
            )
        )
    return Experiment(
        "Soft affinity, 200 nodes, guaranteed jobs only; relaxed jobs train at full speed",
        tuple(rows),
        "Which jobs are soft is drawn by seed.",
        data,
    )
