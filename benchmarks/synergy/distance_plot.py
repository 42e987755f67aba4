"""The plot of distances: a panel a workload, servers along, per cent below the bound up.

Takes the summary of `distance` and writes an SVG or PNG file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from benchmarks.synergy.measured import Row

# Colours of Okabe and Ito (2008), which readers of all kinds of sight can tell apart.
STYLES = {
    "proportional": ("GPU-proportional", "#999999", "s"),
    "tune": ("TUNE", "#0072B2", "o"),
    "greedy": ("GREEDY (leaves jobs out)", "#D55E00", "^"),
    "packed": ("packed, jobs whole", "#009E73", "D"),
}


def draw(lines: Sequence[Row], path: Path) -> None:
    """Draw the distances to the bound with divided jobs; bands are the intervals."""
    workloads = list(dict.fromkeys(line["workload"] for line in lines))
    settings = {"svg.hashsalt": "distance", "font.size": 9, "axes.titlesize": 10}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(9.0, 3.7), layout="constrained")
        axes = figure.subplots(1, len(workloads), sharey=True, squeeze=False)[0]
        for ax, workload in zip(axes, workloads, strict=True):
            _panel(ax, workload, [line for line in lines if line["workload"] == workload])
        axes[0].set_ylabel("throughput below the bound\nwith divided jobs")
        # Room for the means; a band of few jobs may reach beyond.
        means = [line[f"{name} allowed"][0] for line in lines for name in STYLES]
        axes[0].set_ylim(min(0.0, *means) - 0.04, max(means) + 0.05)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        kind = path.suffix.lstrip(".") or "svg"
        aside = path.with_name(f".{path.name}.part")
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(aside, format=kind, dpi=200, metadata=metadata)
    aside.replace(path)


def _panel(ax: Axes, workload: str, lines: Sequence[Row]) -> None:
    lines = sorted(lines, key=lambda line: line["servers"])
    servers = [line["servers"] for line in lines]
    for name, (label, colour, marker) in STYLES.items():
        mean, low, high = zip(*(line[f"{name} allowed"] for line in lines), strict=True)
        ax.fill_between(servers, low, high, color=colour, alpha=0.2, linewidth=0)
        style = "--" if name == "greedy" else "-"  # the bound is not for what leaves jobs out
        ax.plot(servers, mean, style, color=colour, marker=marker, markersize=4, label=label)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(servers))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticklabels([f"{n:,}" for n in servers])
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("servers of 8 GPUs")
    image, language, speech = workload.split(":")
    ax.set_title(f"image {image} : language {language} : speech {speech}")
    ax.grid(axis="y", linewidth=0.4, alpha=0.6)
    ax.spines[["top", "right"]].set_visible(False)
