"""Pictures: a job's sensitivity, utilisation per server, gap per mechanism.

Takes values and gives a matplotlib `Figure`, which `save` writes. Needs the extra ``plot``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from synergy_opt.answer import Placement
from synergy_opt.comparison import Comparison, Row
from synergy_opt.measures import server_utilisation
from synergy_opt.model import Instance
from synergy_opt.plot.canvas import GREY, clean, colour, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROOMY = 16  # bars up to which a job's name fits into its part
_READABLE = 12  # percent of a server from which a part is high enough for text
_MANY = 24  # servers from which bars are too thin and sorted lines tell more


def utilisation(instance: Instance, placements: Mapping[str, Placement]) -> Figure:
    """Draw how full each server is: a panel a resource, a bar or line a mechanism.

    Up to 24 servers in their order, each bar divided among the jobs; more are sorted from the
    fullest down, each mechanism and panel by itself.
    """
    names = ("GPUs", *instance.cluster.names)
    servers = instance.cluster.server_count
    width = max(6.4, min(12.0, 2 + 0.45 * servers * len(placements)))
    figure = new_figure(width, 1.5 + 1.6 * len(names))
    panels = figure.subplots(len(names), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for r, (axes, name) in enumerate(zip(panels, names, strict=True)):
        draw = _bars if servers <= _MANY else _sorted_lines
        draw(axes, instance, placements, r)
        axes.axhline(100, color=GREY, linewidth=0.8, linestyle=":")
        axes.set_ylabel(f"{name} in use, %")
        axes.set_ylim(0, 108)
        clean(axes)
    if servers > _MANY:
        panels[-1].set_xlabel("servers, fullest first, % of all")
    else:
        panels[-1].set_xlabel("server")
        panels[-1].set_xticks(range(servers))
    from matplotlib.patches import Patch  # noqa: PLC0415

    handles = [Patch(color=colour(k), label=name) for k, name in enumerate(placements)]
    where = {"loc": "outside upper right", "ncols": len(handles)}
    figure.legend(handles=handles, frameon=False, fontsize=8, **where)
    figure.suptitle(instance.name, x=0.01, ha="left", fontsize=11)
    return figure


def _bars(
    axes: Axes, instance: Instance, placements: Mapping[str, Placement], resource: int
) -> None:
    """Stack the jobs' parts of each server, with the jobs' names where there is room."""
    kind = instance.cluster.group_of_server
    whole = [(Fraction(g.gpus), *g.capacity)[resource] for g in instance.cluster.servers]
    width, roomy = 0.8 / len(placements), len(kind) * len(placements) <= _ROOMY
    for k, placement in enumerate(placements.values()):
        shift = (k - (len(placements) - 1) / 2) * width
        top = [0.0] * len(kind)
        for job in placement.jobs:
            for piece in job.pieces:
                i = piece.server
                amount = (piece.gpus, *piece.amounts)[resource]
                height = 100 * float(amount / whole[kind[i]])
                axes.bar(
                    [i + shift],
                    [height],
                    width,
                    bottom=top[i],
                    color=colour(k),
                    edgecolor="white",
                    linewidth=0.7,
                )
                if roomy and height > _READABLE:
                    at = (i + shift, top[i] + height / 2)
                    axes.text(*at, job.id, ha="center", va="center", fontsize=8, color="white")
                top[i] += height


def _sorted_lines(
    axes: Axes, instance: Instance, placements: Mapping[str, Placement], resource: int
) -> None:
    for k, placement in enumerate(placements.values()):
        rows = server_utilisation(instance, placement)
        heights = sorted((100 * float(row[resource]) for row in rows), reverse=True)
        x = [100 * i / (len(heights) - 1) for i in range(len(heights))]
        axes.plot(x, heights, color=colour(k))


def gaps(found: Sequence[Comparison]) -> Figure:
    """Draw the gap to the bound: a group of bars an instance, a bar a mechanism.

    A bar is left out and marked "none" where no bound holds, and marked * where the bound is the
    weaker one for placements that leave jobs out or give a job more than the consolidation rule
    allows.
    """
    rows = [{row.mechanism: row for row in comparison.rows} for comparison in found]
    mechanisms = list(dict.fromkeys(name for row in rows for name in row))
    figure = new_figure(max(5.0, 1.6 + 0.55 * len(found) * len(mechanisms)), 3.6)
    axes = figure.subplots()
    width = 0.8 / max(1, len(mechanisms))
    for k, mechanism in enumerate(mechanisms):
        shift = (k - (len(mechanisms) - 1) / 2) * width
        there = [row.get(mechanism) for row in rows]
        heights = [100 * float((row and row.gap) or 0) for row in there]
        bars = axes.bar(
            [i + shift for i in range(len(found))],
            heights,
            width * 0.92,
            color=colour(k),
            label=mechanism,
        )
        axes.bar_label(bars, [_gap_label(row) for row in there], fontsize=8, padding=2)
    axes.set_xticks(range(len(found)), [comparison.instance.name for comparison in found])
    if any(_weaker(row) for each in rows for row in each.values()):
        axes.set_xlabel("* jobs left out, or not consolidated: against a weaker bound", fontsize=8)
    axes.set_ylabel("gap to the bound, %")
    axes.margins(y=0.15)
    axes.set_ylim(bottom=0)
    if mechanisms:
        axes.legend(
            fontsize=8,
            frameon=False,
            ncols=len(mechanisms),
            loc="lower left",
            bbox_to_anchor=(0, 1),
        )
    clean(axes)
    return figure


def _gap_label(row: Row | None) -> str:
    if row is None or row.gap is None:
        return "none"
    return _percent(100 * float(row.gap)) + ("*" if _weaker(row) else "")


def _weaker(row: Row) -> bool:
    return row.bound is not None and row.bound.skipping


def _percent(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
