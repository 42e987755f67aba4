"""The picture of a job's sensitivity: its throughput over its resources.

Takes an instance and a job and gives a matplotlib `Figure`. Needs the extra ``plot``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from synergy_opt.configurations import consolidation_limits
from synergy_opt.errors import InvalidInstance
from synergy_opt.fair_share import fair_share, fair_throughput
from synergy_opt.model import Instance, Job, Profile, Vector
from synergy_opt.plot.canvas import COLOURS, GREY, clean, labelled, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = "osD^vP*X"


def sensitivity(instance: Instance, job_id: str) -> Figure:
    """Draw a job's throughput over the first resource, a line a level of the second.

    Further resources are held at the job's fair share. The dashed line is the share of the first
    resource; the ring is the fair throughput. What is beyond the consolidation rule is left out:
    for a job that fits on one server, what no server has.

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
    for k, (label, y) in enumerate(_lines(instance, job, scale, share)):
        colour, mark = COLOURS[k % len(COLOURS)], _MARKS[k % len(_MARKS)]
        axes.plot(
            x[: len(y)], y, marker=mark, color=colour, label=label, markersize=5, linewidth=1.6
        )
    fair = float(scale * fair_throughput(instance, job))
    _mark_share(axes, float(share[0]), unit, fair)
    axes.set_xlabel(labelled(name, unit))
    axes.set_ylabel(labelled("throughput", profile.unit))
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    gpus = f"{job.gpus} GPU" + ("s" if job.gpus > 1 else "")
    axes.set_title(f"{job.id}: {job.profile}, {gpus}", loc="left")
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    clean(axes)
    return figure


def _mark_share(axes: Axes, share: float, unit: str, fair: float) -> None:
    """Draw the share of the first resource, and the throughput that the whole share gives."""
    axes.axvline(share, linestyle="--", color=GREY, linewidth=1)
    axes.annotate(
        f"fair share, {share:g} {unit}",
        (share, 0),
        xytext=(4, 5),
        textcoords="offset points",
        color=GREY,
        fontsize=8,
    )
    axes.plot(
        [share],
        [fair],
        "o",
        mfc="none",
        mec="black",
        markersize=11,
        label="fair throughput",
    )


def _job(instance: Instance, job_id: str) -> Job:
    for job in instance.jobs:
        if job.id == job_id:
            return job
    raise InvalidInstance(f"there is no job {job_id!r}", "$.jobs")


def _lines(
    instance: Instance, job: Job, scale: int, share: Sequence[Fraction]
) -> list[tuple[str, list[float]]]:
    """Give label and throughputs for each level of the second resource that the job may have."""
    profile = instance.profile_of[job.profile]
    values = profile.throughput.to_floats() * scale
    limits = consolidation_limits(instance.cluster, job.gpus)
    # Resources from the third on: the largest grid value within the share, else the smallest.
    rest = tuple(
        max(0, axis.count_at_most(amount / scale) - 1)
        for (_, axis), amount in zip(profile.axes[2:], share[2:], strict=True)
    )
    if len(profile.axes) == 1:
        return [("throughput", values[: _reach(profile, scale, limits, ())].tolist())]
    name, unit = instance.cluster.resources[1]
    curves: dict[tuple[float, ...], list[str]] = {}
    for k, level in enumerate(profile.axes[1][1].tolist()):
        reach = _reach(profile, scale, limits, (k, *rest))
        curve = tuple(float(values[(i, k, *rest)]) for i in range(reach))
        curves.setdefault(curve, []).append(f"{float(scale * level):g}")
    # Levels that make no difference share a line: one would hide the other.
    return [
        (f"{'–'.join(dict.fromkeys([at[0], at[-1]]))} {unit} {name}", list(curve))
        for curve, at in curves.items()
        if curve
    ]


def _reach(profile: Profile, scale: int, limits: Sequence[Vector], others: tuple[int, ...]) -> int:
    """Count the first resource's values that a job may have, at these points of the others."""
    amounts = [scale * axis[i] for (_, axis), i in zip(profile.axes[1:], others, strict=True)]
    return max(
        profile.axes[0][1].count_at_most(limit[0] / scale)
        if all(a <= most for a, most in zip(amounts, limit[1:], strict=True))
        else 0
        for limit in limits
    )
