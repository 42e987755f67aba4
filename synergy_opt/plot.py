"""Pictures: a job's sensitivity, utilisation per server, gap per mechanism.

Takes values and gives a matplotlib `Figure`, which `save` writes; no window is opened and no
global state of matplotlib is touched. Needs the extra ``plot``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from synergy_opt.answer import Placement
from synergy_opt.errors import InvalidInstance
from synergy_opt.fair_share import fair_share, fair_throughput
from synergy_opt.io.text import write_bytes
from synergy_opt.measures import server_utilisation
from synergy_opt.model import Instance, Job, Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which most colour-blind readers tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")
_MARKS = "osD^vP*X"
_GREY = "#888888"
_FORMATS = (".png", ".svg", ".pdf")
_ROOMY = 16  # bars up to which a job's name fits into its part
_READABLE = 12  # percent of a server from which a part is high enough for text
_MANY = 24  # servers from which bars are too thin and sorted lines tell more
MISSING = "pictures need matplotlib: install the extra `plot` (pip install 'synergy-hived[plot]')"


def new_figure(width: float, height: float) -> Figure:
    """Give an empty figure of that many inches.

    Raises
    ------
    InvalidInstance
        When matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - 0.3 s to import, and an extra
    except ImportError:
        raise InvalidInstance(MISSING) from None
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of `path`; whole or not at all.

    Raises
    ------
    InvalidInstance
        When the ending is another one, or the file cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        rule = f"a picture's file ends in {', '.join(_FORMATS)}, not in {ending or 'nothing'}"
        raise InvalidInstance(rule, f"{path}")
    stream = BytesIO()
    # Without dates and with a fixed salt the same picture gives the same bytes.
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    from matplotlib import rc_context  # noqa: PLC0415

    with rc_context({"svg.hashsalt": "synergy_opt"}):
        figure.savefig(stream, format=ending[1:], dpi=150, metadata=metadata[ending])
    write_bytes(path, stream.getvalue())


def sensitivity(instance: Instance, job_id: str) -> Figure:
    """Draw a job's throughput over the first resource, a line a level of the second.

    Further resources are held at the job's fair share. The dashed line is the share of the first
    resource; the ring is the fair throughput.

    Raises
    ------
    InvalidInstance
        When the instance has no such job.
    """
    job = _job(instance, job_id)
    profile = instance.profile_of[job.profile]
    share = fair_share(instance.cluster, job.gpus)
    scale = job.gpus if profile.per == "gpu" else 1
    figure = new_figure(7.2, 4.0)
    axes = figure.subplots()
    name, unit = instance.cluster.resources[0]
    x = [float(scale * value) for value in profile.axes[0][1].tolist()]
    for k, (label, y) in enumerate(_lines(instance, profile, scale, share)):
        colour, mark = COLOURS[k % len(COLOURS)], _MARKS[k % len(_MARKS)]
        axes.plot(x, y, marker=mark, color=colour, label=label, markersize=5, linewidth=1.6)
    axes.axvline(float(share[0]), linestyle="--", color=_GREY, linewidth=1)
    axes.annotate(
        f"fair share, {float(share[0]):g} {unit}",
        (float(share[0]), 0),
        xytext=(4, 5),
        textcoords="offset points",
        color=_GREY,
        fontsize=8,
    )
    fair = float(scale * fair_throughput(instance, job))
    axes.plot(
        [float(share[0])],
        [fair],
        "o",
        mfc="none",
        mec="black",
        markersize=11,
        label="fair throughput",
    )
    axes.set_xlabel(_labelled(name, unit))
    axes.set_ylabel(_labelled("throughput", profile.unit))
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    gpus = f"{job.gpus} GPU" + ("s" if job.gpus > 1 else "")
    axes.set_title(f"{job.id}: {job.profile}, {gpus}", loc="left")
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    _clean(axes)
    return figure


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
        axes.axhline(100, color=_GREY, linewidth=0.8, linestyle=":")
        axes.set_ylabel(f"{name} in use, %")
        axes.set_ylim(0, 108)
        _clean(axes)
    if servers > _MANY:
        panels[-1].set_xlabel("servers, fullest first, % of all")
    else:
        panels[-1].set_xlabel("server")
        panels[-1].set_xticks(range(servers))
    from matplotlib.patches import Patch  # noqa: PLC0415

    handles = [Patch(color=_colour(k), label=name) for k, name in enumerate(placements)]
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
                    color=_colour(k),
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
        axes.plot(x, heights, color=_colour(k))


def gaps(found: Mapping[str, Mapping[str, Fraction | None]]) -> Figure:
    """Draw the gap to the bound: a group of bars an instance, a bar a mechanism.

    Parameters
    ----------
    found
        Instance → mechanism → (bound − throughput) / throughput, None where no bound holds: such
        a bar is left out and marked.
    """
    mechanisms = list(dict.fromkeys(name for row in found.values() for name in row))
    figure = new_figure(max(5.0, 1.6 + 0.55 * len(found) * len(mechanisms)), 3.6)
    axes = figure.subplots()
    width = 0.8 / max(1, len(mechanisms))
    for k, mechanism in enumerate(mechanisms):
        shift = (k - (len(mechanisms) - 1) / 2) * width
        values = [row.get(mechanism) for row in found.values()]
        heights = [0.0 if value is None else 100 * float(value) for value in values]
        bars = axes.bar(
            [i + shift for i in range(len(found))],
            heights,
            width * 0.92,
            color=_colour(k),
            label=mechanism,
        )
        texts = ["none" if v is None else _percent(100 * float(v)) for v in values]
        axes.bar_label(bars, texts, fontsize=8, padding=2)
    axes.set_xticks(range(len(found)), list(found))
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
    _clean(axes)
    return figure


def _job(instance: Instance, job_id: str) -> Job:
    for job in instance.jobs:
        if job.id == job_id:
            return job
    raise InvalidInstance(f"there is no job {job_id!r}", "$.jobs")


def _lines(
    instance: Instance, profile: Profile, scale: int, share: Sequence[Fraction]
) -> list[tuple[str, list[float]]]:
    """Give label and throughputs for each level of the second resource."""
    values = profile.throughput.to_floats() * scale
    # Resources from the third on: the largest grid value within the share, else the smallest.
    rest = tuple(
        max(0, axis.count_at_most(amount / scale) - 1)
        for (_, axis), amount in zip(profile.axes[2:], share[2:], strict=True)
    )
    if len(profile.axes) == 1:
        return [("throughput", values.tolist())]
    name, unit = instance.cluster.resources[1]
    curves: dict[tuple[float, ...], list[str]] = {}
    for k, level in enumerate(profile.axes[1][1].tolist()):
        curve = tuple(float(values[(i, k, *rest)]) for i in range(len(values)))
        curves.setdefault(curve, []).append(f"{float(scale * level):g}")
    # Levels that make no difference share a line: one would hide the other.
    return [
        (f"{'–'.join(dict.fromkeys([at[0], at[-1]]))} {unit} {name}", list(curve))
        for curve, at in curves.items()
    ]


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _percent(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _labelled(name: str, unit: str) -> str:
    return f"{name}, {unit}" if unit else name


def _clean(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
