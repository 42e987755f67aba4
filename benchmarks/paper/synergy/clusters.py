"""Figures 6 and 12, Table 5: clusters of other sizes and ratios.

Takes settings and gives an `Outcome` each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.paper.synergy.case import Case, Figures, described, is_short
from benchmarks.paper.synergy.entry import Line, Outcome, Panel, Row, Settings
from benchmarks.paper.synergy.policies import MECHANISMS, TUNES, rises
from benchmarks.paper.synergy.runs import above, ratio, run_all
from benchmarks.paper.synergy.sweeps import Sweep, distribution, swept


def fig6(settings: Settings) -> Outcome:
    """Fig. 6: the Philly trace on 512 GPUs; without the file, a derived trace of its demands.

    Under SRTF, all that the paper prints of this trace. With the file a seed draws the models of
    the jobs alone.
    """
    jobs, first, last = 2 * settings.jobs, 2 * settings.first, 2 * settings.last
    if settings.full:
        jobs, first, last = 8000, 5000, 6000
    cases = {
        (m, seed): Case(
            load=24.0,
            seed=seed,
            mechanism=m,
            jobs=jobs,
            first=first,
            last=last,
            policy="srtf",
            demands="philly",
            servers=64,
            trace=settings.trace,
        )
        for m in MECHANISMS
        for seed in settings.seeds
    }
    found = run_all(list(cases.values()), settings)
    by = {m: [found[cases[m, seed]] for seed in settings.seeds] for m in MECHANISMS}
    rows = [row for m in TUNES for row in _philly_rows(by["proportional"], by[m], m)]
    used = fmean(f.used(0, f.gpus[-1][1])[0] for f in by["proportional"])
    rows.append(
        Row(
            what="SRTF: GPUs in use over the whole run, proportional",
            published="–",
            ours=f"{used:.1%}",
        )
    )
    faster = {m: sorted(_speedups(by["proportional"], by[m])) for m in TUNES}
    parts = tuple((i + 1) / len(faster["tune"]) for i in range(len(faster["tune"])))
    panels = (
        distribution("SRTF, short jobs", [(m, by[m]) for m in MECHANISMS], is_short),
        Panel(
            title="speed-up of each measured job, sorted",
            x="part of jobs",
            y="proportional / TUNE",
            lines=tuple(Line(label=m, x=parts, y=tuple(faster[m])) for m in TUNES),
            kind="steps",
        ),
    )
    data = [{**described(c), "mean_jct_h": f.mean, "slowest": f.slowest} for c, f in found.items()]
    derived = "derived trace with Philly's GPU demands, 24 jobs/h"
    source = derived if settings.trace is None else Path(settings.trace).name
    return Outcome(rows=tuple(rows), panels=panels, data={"trace": source, "runs": data})


def _philly_rows(base: Sequence[Figures], ours: Sequence[Figures], m: str) -> list[Row]:
    theirs = m == "tune-simulated"
    gain = ratio([f.mean for f in base], [f.mean for f in ours])
    tails = [[f.percentile(99, keep=is_short) for f in figures] for figures in (base, ours)]
    hours = " h and ".join(f"{fmean(f.mean for f in figures):.3g}" for figures in (base, ours))
    return [
        Row(
            what=f"SRTF: average JCT, proportional and {m}; proportional / {m}",
            published="TUNE lower",
            ours=f"{hours} h; {gain}",
            holds=above(gain, 1),
        ),
        Row(
            what=f"SRTF: average JCT lower by, {m}",
            published="15 % (long and short)" if theirs else "–",
            ours=f"{1 - 1 / gain.value:.1%}",
        ),
        Row(
            what=f"SRTF: 99th percentile of short jobs, proportional / {m}",
            published="2.2 (“tail”)" if theirs else "–",
            ours=str(ratio(*tails)),
        ),
        Row(
            what=f"SRTF: largest speed-up of a job, {m}",
            published="up to 9" if theirs else "–",
            ours=f"{max(_speedups(base, ours)):.3g}",
        ),
    ]


def _speedups(base: Sequence[Figures], ours: Sequence[Figures]) -> list[float]:
    """Give each measured job's completion time over that under TUNE, all seeds together."""
    pairs = zip(base, ours, strict=True)
    return [a / b for x, y in pairs for a, b in zip(x.completion, y.completion, strict=True)]


def fig12(settings: Settings) -> Outcome:
    """Fig. 12 and its table: CPU:GPU 3 and 6, FIFO, single-GPU jobs."""
    load, published = 9.0, {3: "3.4", 6: "1.8"}
    ratios = (3, 6)  # those that the paper gives figures of
    found = {
        cores: swept(
            Sweep(
                title=f"CPU:GPU {cores}",
                loads=(load,),
                mechanisms=MECHANISMS if cores == ratios[0] else TUNES,
                cores_a_gpu=cores,
            ),
            settings,
        )
        for cores in ratios
    }
    # A job's work is its duration at its share, so the baseline is the same at every ratio.
    base = found[ratios[0]].means(load, "proportional")
    rows, lines = [], []
    for mechanism in TUNES:
        gains = [ratio(base, found[cores].means(load, mechanism)) for cores in ratios]
        theirs = mechanism == "tune-simulated"
        rows += [
            Row(
                what=f"CPU:GPU {cores}, {load:g} jobs/h: JCT of proportional / {mechanism}",
                published=published.get(cores, "–") if theirs else "–",
                ours=str(gain),
            )
            for cores, gain in zip(ratios, gains, strict=True)
        ]
        rows.append(
            Row(
                what=f"{mechanism}: the gain shrinks from ratio 3 to 6",
                published="3.4 to 1.8",
                ours=", ".join(f"{gain.value:.3g}" for gain in gains),
                holds=rises(gains[::-1]),
            )
        )
        lines.append(
            Line(
                label=f"here, {mechanism}",
                x=tuple(map(float, ratios)),
                y=tuple(gain.value for gain in gains),
            )
        )
    lines.append(Line(label="published", x=(3.0, 6.0), y=(3.4, 1.8)))
    panel = Panel(
        title=f"FIFO, single GPU, {load:g} jobs/h",
        x="cores a GPU",
        y="JCT of proportional / TUNE",
        lines=tuple(lines),
    )
    data = [run for swept_ in found.values() for run in swept_.data]
    return Outcome(rows=tuple(rows), panels=(panel,), data={"runs": data})


def table5(settings: Settings) -> Outcome:
    """Table 5: 32 GPUs, a static trace under FIFO, a dynamic one under SRTF; simulated only."""
    static = [
        Case(
            load=None,
            seed=seed,
            mechanism=m,
            jobs=settings.static_jobs,
            first=0,
            last=settings.static_jobs,
            split=(60, 30, 10),
            demands="multi",
            servers=4,
        )
        for m in MECHANISMS
        for seed in settings.seeds
    ]
    dynamic = [
        Case(
            load=1.1,
            seed=seed,
            mechanism=m,
            policy="srtf",
            split=(30, 60, 10),
            demands="multi",
            servers=4,
            jobs=6 * settings.static_jobs,
            first=3 * settings.static_jobs,
            last=5 * settings.static_jobs,
        )
        for m in MECHANISMS
        for seed in settings.seeds
    ]
    found = run_all([*static, *dynamic], settings)
    rows = []
    for what, published, cases, value in (
        ("static, FIFO (60, 30, 10): makespan", "1.4", static, _makespan),
        ("dynamic, SRTF (30, 60, 10): average JCT", "1.5", dynamic, _mean),
        ("dynamic: 99th percentile JCT", "2", dynamic, _p99),
    ):
        by = {m: [value(found[c]) for c in cases if c.mechanism == m] for m in MECHANISMS}
        rows += [
            Row(
                what=f"{what}, proportional / {m}",
                published=published if m == "tune-simulated" else "–",
                ours=str(ratio(by["proportional"], by[m])),
            )
            for m in TUNES
        ]
    data = [
        {
            **described(c),
            "mean_jct_h": f.mean,
            "makespan_h": f.makespan,
            "slowest": f.slowest,
        }
        for c, f in found.items()
    ]
    return Outcome(rows=tuple(rows), data={"runs": data})


def _makespan(figures: Figures) -> float:
    return figures.makespan


def _mean(figures: Figures) -> float:
    return figures.mean


def _p99(figures: Figures) -> float:
    return figures.percentile(99)
