"""`python -m benchmarks.paper.hived.pictures`: the documentation's pictures from saved results.

Takes the JSON under `results`, gives PNG under `docs/hived/images`; runs no experiment but the
two tenants of the paper's figure.
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hived_cells.simulation import SCHEDULERS, View, read_trace
from hived_cells.simulation.view import Ask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parents[3]
RESULTS = Path(__file__).resolve().parent / "results"
DOCS = ROOT / "docs" / "hived"
COLOURS = {"private": "#8c8c8c", "quota": "#c44e52", "cells": "#4c72b0"}


def main() -> int:
    """Draw all pictures."""
    images = DOCS / "images"
    images.mkdir(exist_ok=True)
    anomaly().savefig(images / "anomaly.png", dpi=120)
    delays(_result("load")["200"], "200 nodes, guaranteed jobs only").savefig(
        images / "delays.png", dpi=120
    )
    fragmentation(_result("fragmentation")).savefig(images / "fragmentation.png", dpi=120)
    return 0


def _result(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["data"]


def anomaly() -> Figure:
    """Return the two nodes of the example at 600 s: under quota, and as cells."""
    trace = read_trace(DOCS / "two-tenants.csv")
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    shared = View([8, 8], {"A": 8, "B": 8})
    for number, job in enumerate(trace.jobs[:-1]):
        ask = Ask(number, job.tenant, job.shape, 0)
        decision = SCHEDULERS["capacity"].decide(shared, ask)
        assert decision is not None
        shared.enter(ask, decision.pieces)
    _nodes(left, [{"B": sum(row.values())} for row in shared.holders])
    left.set_title("quota: a1 (1×8) waits", fontsize=10)
    _nodes(right, [{"B": 6}, {"A": 8}])
    right.set_title("cells: a1 runs", fontsize=10)
    return figure


def _nodes(axes: "Axes", nodes: list[dict[str, int]]) -> None:
    colours = {"A": COLOURS["cells"], "B": "#dd8452"}
    for place, holders in enumerate(nodes):
        gpus = [tenant for tenant, count in holders.items() for _ in range(count)]
        for gpu in range(8):
            tenant = gpus[gpu] if gpu < len(gpus) else ""
            box = Rectangle(
                (gpu, 1 - place), 0.9, 0.8, facecolor=colours.get(tenant, "#f2f2f2"),
                edgecolor="black", linewidth=0.6,
            )  # fmt: skip
            axes.add_patch(box)
            axes.text(gpu + 0.45, 1.4 - place, tenant, ha="center", va="center", color="white")
        axes.text(-0.2, 1.4 - place, f"node {place}", ha="right", va="center", fontsize=9)
    axes.set_xlim(-2, 8.1)
    axes.set_ylim(-0.15, 2)
    axes.axis("off")


def delays(data: dict[str, Any], title: str) -> Figure:
    """Return each tenant's mean delay in the three ways."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    axes = figure.subplots()
    tenants = list(data["tenants"])
    for shift, way in enumerate(COLOURS):
        heights = [data["tenants"][tenant]["delay"][way] for tenant in tenants]
        places = [place + (shift - 1) * 0.27 for place in range(len(tenants))]
        axes.bar(places, heights, width=0.27, color=COLOURS[way], label=way)
    axes.set_xticks(range(len(tenants)), tenants, rotation=30, fontsize=9)
    axes.set_ylabel("mean delay (minutes)")
    axes.set_yscale("symlog", linthresh=10)
    figure.suptitle(title, fontsize=10)
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
    return figure


def fragmentation(data: dict[str, Any]) -> Figure:
    """Return the whole nodes by day with node-level and with designed cells."""
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.subplots()
    for label, colour in (("node-level", "#8c8c8c"), ("designed", "#55a868")):
        days = data["capacity"][label]["whole_by_day"]
        axes.step(range(len(days)), days, where="post", color=colour, label=label)
    axes.set_xlabel("day of the weeks held out")
    axes.set_ylabel("nodes of which nothing is held\n(daily mean)")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    sys.exit(main())
