"""Figures 1 and 7 to 9: average completion time over load, policy by policy.

Takes settings and gives an `Outcome` each. Loads are ours where the paper prints only a picture.
Published gains are of the authors' simulator, so they stand beside its TUNE.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from benchmarks.paper.synergy.case import is_short
from benchmarks.paper.synergy.entry import Outcome, Row, Settings
from benchmarks.paper.synergy.runs import Interval, ratio
from benchmarks.paper.synergy.sweeps import Sweep, Swept, distribution, swept

MECHANISMS = ("proportional", "tune", "tune-simulated")
TUNES = MECHANISMS[1:]
_SINGLE_LOADS = (5.0, 9.0)
_MULTI_LOADS = (3.0, 5.0)
_BEYOND = 8.0  # a load under which the queue of several GPUs' jobs grows without end


def fig1(settings: Settings) -> Outcome:
    """Fig. 1 (and FTF of §5.3.2): four policies, each with and without Synergy."""
    rows, panels, data = [], [], []
    published = {"fifo": "up to 3.4", "ftf": "2.3"}
    for policy in ("fifo", "srtf", "las", "ftf"):
        found = swept(
            Sweep(
                title=f"{policy.upper()}, single GPU",
                loads=_SINGLE_LOADS,
                mechanisms=MECHANISMS,
                policy=policy,
            ),
            settings,
        )
        rows += _gain_rows(found, published.get(policy, "–"))
        panels.append(found.panel)
        data += found.data
    return Outcome(rows=tuple(rows), panels=tuple(panels), data={"runs": data})


def fig7(settings: Settings) -> Outcome:
    """Fig. 7: LAS, jobs of several GPUs: average over load, distribution at the highest."""
    return _multi("las", _MULTI_LOADS, settings)


def fig8(settings: Settings) -> Outcome:
    """Fig. 8: SRTF, jobs of several GPUs; and a load beyond the queue's bounds."""
    return _multi("srtf", (*_MULTI_LOADS, _BEYOND), settings)


def _multi(policy: str, loads: tuple[float, ...], settings: Settings) -> Outcome:
    found = swept(
        Sweep(
            title=f"{policy.upper()}, multi-GPU",
            loads=loads,
            mechanisms=MECHANISMS,
            policy=policy,
            demands="multi",
        ),
        settings,
    )
    top = _MULTI_LOADS[-1]
    runs = [(m, [found.figures[top, m, seed] for seed in found.seeds]) for m in MECHANISMS]
    tails = {
        m: [f.percentile(95, keep=lambda hours: not is_short(hours)) for f in figures]
        for m, figures in runs
    }
    rows = [
        *_gain_rows(found, "up to 1.6"),
        *(
            Row(
                what=f"{top:g} jobs/h: 95th percentile of long jobs, proportional / {m}",
                published="2" if (policy, m) == ("las", "tune-simulated") else "–",
                ours=str(ratio(tails["proportional"], tails[m])),
            )
            for m in TUNES
        ),
    ]
    panels = (
        found.panel,
        distribution(f"short jobs, {top:g} jobs/h", runs, is_short),
        distribution(f"long jobs, {top:g} jobs/h", runs, lambda hours: not is_short(hours)),
    )
    return Outcome(rows=tuple(rows), panels=panels, data={"runs": found.data})


def fig9(settings: Settings) -> Outcome:
    """Fig. 9: FIFO, single-GPU jobs: 81 hours become 22 at 9 jobs/h."""
    found = swept(
        Sweep(
            title="FIFO, single GPU",
            loads=_SINGLE_LOADS,
            mechanisms=MECHANISMS,
        ),
        settings,
    )
    published = {"proportional": "81 h", "tune-simulated": "22 h"}
    rows = [
        Row(
            what=f"9 jobs/h: average JCT, {name}",
            published=published.get(name, "–"),
            ours=f"{fmean(found.means(9.0, name)):.3g} h",
        )
        for name in found.sweep.mechanisms
    ]
    rows += _gain_rows(found, "3.4 (abstract), 81/22 = 3.7 (text)")
    runs = [
        (m, [found.figures[9.0, m, seed] for seed in found.seeds]) for m in found.sweep.mechanisms
    ]
    cdf = distribution("9 jobs/h", runs, lambda _: True)
    return Outcome(rows=tuple(rows), panels=(found.panel, cdf), data={"runs": found.data})


def _gain_rows(found: Swept, published: str) -> list[Row]:
    """One row a TUNE and load, and whether its gain grows; published is that at the highest.

    Before them, a load each, of what completion times are made.
    """
    title, loads = found.sweep.title, found.sweep.loads
    rows = [
        Row(
            what=f"{title}, {load:g} jobs/h: GPUs in use under proportional while measured jobs "
            "come; mean hours of running + waiting",
            published="–",
            ours=f"{_used(found, load):.0%}; {_hours(found, load)}",
        )
        for load in loads
    ]
    for mechanism in TUNES:
        gains = [found.gain(load, mechanism) for load in loads]
        theirs = mechanism == "tune-simulated"
        rows += [
            Row(
                what=f"{title}, {load:g} jobs/h: JCT of proportional / {mechanism}",
                published=published if theirs and load == loads[-1] else "–",
                ours=str(gain),
            )
            for load, gain in zip(loads, gains, strict=True)
        ]
        rows.append(
            Row(
                what=f"{title}, {mechanism}: the gain grows with the load",
                published="yes",
                ours=", ".join(f"{gain.value:.3g}" for gain in gains),
                holds=rises(gains),
            )
        )
    return rows


def _used(found: Swept, load: float) -> float:
    """Give the mean part of the GPUs in use under proportional, while measured jobs arrive."""
    case = found.cases[0]
    runs = [found.figures[load, "proportional", seed] for seed in found.seeds]
    return fmean(f.used(case.first / load, case.last / load)[0] for f in runs)


def _hours(found: Swept, load: float) -> str:
    """Give mean hours of running and of waiting, mechanism by mechanism."""
    parts = []
    for mechanism in found.sweep.mechanisms:
        figures = [found.figures[load, mechanism, seed] for seed in found.seeds]
        running = fmean(fmean(f.running) for f in figures)
        waiting = fmean(f.mean for f in figures) - running
        parts.append(f"{mechanism} {running:.3g} + {waiting:.3g}")
    return ", ".join(parts)


def rises(gains: Sequence[Interval]) -> bool | None:
    """Tell whether the last gain is above the first; None where their intervals overlap."""
    first, last = gains[0], gains[-1]
    if min(first.seeds, last.seeds) < 2:
        return None
    return True if last.low > first.high else False if last.high < first.low else None
