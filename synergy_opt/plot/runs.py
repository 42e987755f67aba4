"""Pictures of simulations: mean JCT over load, distributions of JCT, what was in use when.

Takes documents of runs and gives a matplotlib `Figure`. Needs the extra ``plot``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from synergy_opt.errors import InvalidInstance
from synergy_opt.plot.canvas import clean, colour, new_figure
from synergy_opt.simulation.metrics import cdf
from synergy_opt.sweep.report import HOUR, completion, groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Document = Mapping[str, Any]

_COLOURS = 7  # of `canvas`; then the lines are dashed
_DASHES = ("-", "--", ":", "-.")


def jct(documents: Sequence[Document]) -> Figure:
    """Draw the mean JCT over the load, a line a policy and mechanism, with intervals over seeds.

    Raises
    ------
    InvalidInstance
        When the runs have no load, as those of a trace from a file.
    """
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in groups(documents):
        if row["load"] is None:
            raise InvalidInstance("has no load: draw cdf or usage", row["workload"])
        lines.setdefault(f"{row['policy']}, {row['mechanism']}", []).append(row)
    figure = new_figure(6.4, 4)
    axes = figure.subplots()
    for k, (label, rows) in enumerate(lines.items()):
        rows.sort(key=lambda row: float(row["load"]))
        x, y = [float(row["load"]) for row in rows], [row["mean_h"] for row in rows]
        ends = [row["interval_h"] or (row["mean_h"], row["mean_h"]) for row in rows]
        bars = [[m - low for m, (low, _) in zip(y, ends, strict=True)],
                [high - m for m, (_, high) in zip(y, ends, strict=True)]]  # fmt: skip
        axes.errorbar(x, y, bars, **_style(k), marker="o", markersize=3, capsize=2, label=label)
    axes.set_xlabel("load, jobs/h")
    axes.set_ylabel("mean JCT, h")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)
    clean(axes)
    return figure


def distribution(documents: Sequence[Document]) -> Figure:
    """Draw the part of jobs that are done within a time, a line a policy and mechanism."""
    figure = new_figure(6.4, 4)
    axes = figure.subplots()
    for k, (label, runs) in enumerate(_by_label(documents).items()):
        times = [float(completion(job)) / HOUR for run in runs for job in run["jobs"]]
        values, parts = cdf(np.array(times))
        axes.step(values, parts, where="post", **_style(k), label=label)
    axes.set_xscale("log")
    axes.set_xlabel("JCT, h")
    axes.set_ylabel("part of jobs")
    axes.set_ylim(0, 1.02)
    axes.legend(frameon=False, fontsize=8)
    clean(axes)
    return figure


def usage(documents: Sequence[Document]) -> Figure:
    """Draw what was in use over time: a panel a resource, a line a run."""
    labels = [_label(document) for document in documents]
    several = len(set(labels)) < len(labels)
    names = documents[0]["usage"]["columns"][2:-2]
    figure = new_figure(7.2, 1.2 + 1.5 * len(names))
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for k, (document, label) in enumerate(zip(documents, labels, strict=True)):
        found = document["usage"]
        if found["columns"][2:-2] != names:
            raise InvalidInstance("has other resources than the first run", label)
        rows = np.array(found["rows"])
        seed = document["settings"]["seed"]
        text = f"{label}, seed {seed}" if several and seed is not None else label
        for r, axes in enumerate(panels):
            part = 100 * rows[:, 2 + r] / found["capacity"][r]
            axes.step(rows[:, 0] / HOUR, part, where="post", **_style(k), lw=0.9, label=text)
    for axes, name in zip(panels, names, strict=True):
        axes.set_ylabel(f"{'GPUs' if name == 'gpus' else name}, %")
        axes.set_ylim(0, 105)
        clean(axes)
    panels[-1].set_xlabel("time, h")
    panels[0].legend(frameon=False, fontsize=8, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def _style(number: int) -> dict[str, Any]:
    """Give colour and dashes, different for the first 28 lines."""
    return {"color": colour(number), "linestyle": _DASHES[number // _COLOURS % len(_DASHES)]}


def _by_label(documents: Sequence[Document]) -> dict[str, list[Document]]:
    found: dict[str, list[Document]] = {}
    for document in documents:
        found.setdefault(_label(document), []).append(document)
    return found


def _label(document: Document) -> str:
    settings = document["settings"]
    load = "" if settings["load"] is None else f", load {settings['load']}"
    return f"{settings['policy']}, {settings['mechanism']}{load}"
