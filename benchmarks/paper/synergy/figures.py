"""Entries that simulate a cluster over time: Figures 1 and 6 to 13, Table 5.

Takes settings and gives an `Outcome` each. Loads are ours where the paper prints only a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from benchmarks.paper.synergy.entry import Line, Outcome, Panel, Row, Settings
from benchmarks.paper.synergy.runs import (
    Case,
    Figures,
    Interval,
    described,
    is_short,
    ratio,
    run_all,
)
from benchmarks.paper.synergy.sweeps import Sweep, Swept, distribution, swept

W1, W2 = (20, 70, 10), (50, 0, 50)
BOTH = ("proportional", "tune")


def _single_loads(settings: Settings) -> tuple[float, ...]:
    return (5.0, 6.0, 7.0, 8.0, 9.0) if settings.full else (5.0, 9.0)


def _multi_loads(settings: Settings) -> tuple[float, ...]:
    return (2.0, 3.0, 4.0, 5.0) if settings.full else (3.0, 5.0)


def _rises(gains: Sequence[Interval]) -> bool | None:
    """Tell whether the last gain is above the first; None where their intervals overlap."""
    first, last = gains[0], gains[-1]
    return True if last.low > first.high else False if last.high < first.low else None


def _gain_rows(found: Swept, published: str, mechanism: str = "tune") -> list[Row]:
    """One row a load; the published gain stands at the highest."""
    loads = found.sweep.loads
    return [
        Row(
            what=f"{found.sweep.title}, {load:g} jobs/h: JCT of proportional / {mechanism}",
            published=published if load == loads[-1] else "–",
            ours=str(found.gain(load, mechanism)),
        )
        for load in loads
    ]


def fig1(settings: Settings) -> Outcome:
    """Fig. 1 (and FTF of §5.3.2): four policies, each with and without Synergy."""
    rows, panels, data = [], [], []
    published = {"fifo": "up to 3.4", "ftf": "2.3"}
    for policy in ("fifo", "srtf", "las", "ftf"):
        found = swept(
            Sweep(
                title=f"{policy.upper()}, single GPU",
                loads=_single_loads(settings),
                mechanisms=BOTH,
                policy=policy,
            ),
            settings,
        )
        gains = [found.gain(load) for load in found.sweep.loads]
        rows += _gain_rows(found, published.get(policy, "–"))
        rows.append(
            Row(
                what=f"{policy.upper()}: the gain grows with the load",
                published="yes",
                ours=", ".join(f"{g.value:.3g}" for g in gains),
                holds=_rises(gains),
            )
        )
        panels.append(found.panel)
        data += found.data
    return Outcome(rows=tuple(rows), panels=tuple(panels), data={"runs": data})


def _multi(policy: str, settings: Settings) -> Outcome:
    found = swept(
        Sweep(
            title=f"{policy.upper()}, multi-GPU",
            loads=_multi_loads(settings),
            mechanisms=BOTH,
            policy=policy,
            demands="multi",
        ),
        settings,
    )
    gains = [found.gain(load) for load in found.sweep.loads]
    top = found.sweep.loads[-1]
    runs = [(m, [found.figures[top, m, seed] for seed in found.seeds]) for m in BOTH]
    tails = {
        m: [f.percentile(95, keep=lambda hours: not is_short(hours)) for f in figures]
        for m, figures in runs
    }
    tail = ratio(tails["proportional"], tails["tune"])
    rows = [
        *_gain_rows(found, "up to 1.6"),
        Row(
            what="the gain grows with the load",
            published="yes",
            ours=", ".join(f"{gain.value:.3g}" for gain in gains),
            holds=_rises(gains),
        ),
        Row(
            what=f"{top:g} jobs/h: 95th percentile of long jobs, proportional / TUNE",
            published="2" if policy == "las" else "–",
            ours=str(tail),
        ),
    ]
    panels = (
        found.panel,
        distribution(f"short jobs, {top:g} jobs/h", runs, is_short),
        distribution(f"long jobs, {top:g} jobs/h", runs, lambda hours: not is_short(hours)),
    )
    return Outcome(rows=tuple(rows), panels=panels, data={"runs": found.data})


def fig7(settings: Settings) -> Outcome:
    """Fig. 7: LAS, jobs of several GPUs: average over load, distribution at the highest."""
    return _multi("las", settings)


def fig8(settings: Settings) -> Outcome:
    """Fig. 8: SRTF, jobs of several GPUs."""
    return _multi("srtf", settings)


def fig9(settings: Settings) -> Outcome:
    """Fig. 9: FIFO, single-GPU jobs: 81 hours become 22 at 9 jobs/h."""
    found = swept(
        Sweep(
            title="FIFO, single GPU",
            loads=_single_loads(settings),
            mechanisms=("proportional", "greedy", "tune", "tune-simulated"),
        ),
        settings,
    )
    published = {"proportional": "81 h", "tune-simulated": "22 h (their simulator's TUNE)"}
    rows = [
        Row(
            what=f"9 jobs/h: average JCT, {name}",
            published=published.get(name, "–"),
            ours=f"{fmean(found.means(9.0, name)):.3g} h",
        )
        for name in found.sweep.mechanisms
    ]
    gains = [found.gain(load) for load in found.sweep.loads]
    rows += _gain_rows(found, "3.4 (abstract), 81/22 = 3.7 (text)")
    rows.append(
        Row(
            what="the gain grows with the load",
            published="yes",
            ours=", ".join(f"{gain.value:.3g}" for gain in gains),
            holds=_rises(gains),
        )
    )
    runs = [
        (m, [found.figures[9.0, m, seed] for seed in found.seeds]) for m in found.sweep.mechanisms
    ]
    cdf = distribution("9 jobs/h", runs, lambda _: True)
    return Outcome(rows=tuple(rows), panels=(found.panel, cdf), data={"runs": found.data})


def fig10(settings: Settings) -> Outcome:
    """Fig. 10: GPUs in use at 5.5 jobs/h with sensitive jobs only, CPUs in use at low load."""
    mechanisms = ("proportional", "greedy", "tune")
    low = 2.5
    cases = {
        (load, m): replace(_case(settings, load, m), split=W2, demands="multi")
        for load in (low, 5.5)
        for m in mechanisms
    }
    found = run_all(list(cases.values()), settings)
    figures = {key: found[case] for key, case in cases.items()}
    used = {
        (load, m): f.used(settings.first / load, settings.last / load)
        for (load, m), f in figures.items()
    }
    rows = [
        Row(
            what=f"5.5 jobs/h: GPUs in use, {m}",
            published="severely under-used" if m == "greedy" else "full" if m == "tune" else "–",
            ours=f"{used[5.5, m][0]:.1%}",
        )
        for m in mechanisms
    ]
    rows.append(
        Row(
            what="GREEDY leaves GPUs idle, TUNE does not",
            published="yes",
            ours=f"{used[5.5, 'greedy'][0]:.1%} < {used[5.5, 'tune'][0]:.1%}",
            holds=used[5.5, "greedy"][0] < used[5.5, "tune"][0] - 0.05,
        )
    )
    for m, published in (("proportional", "60 %"), ("tune", "up to 90 %")):
        rows.append(
            Row(
                what=f"{low:g} jobs/h: CPUs in use, {m}",
                published=published,
                ours=f"{used[low, m][1]:.1%}",
            )
        )
    gain = ratio([figures[low, "proportional"].mean], [figures[low, "tune"].mean])
    rows.append(
        Row(
            what=f"{low:g} jobs/h: JCT of proportional / TUNE",
            published="1.5",
            ours=str(gain),
        )
    )
    panels = tuple(
        Panel(
            title=title,
            x="time, h",
            y=label,
            kind="steps",
            lines=tuple(_over_time(m, figures[load, m], which, settings, load) for m in shown),
        )
        for title, label, load, which, shown in (
            ("split (50, 0, 50), 5.5 jobs/h", "GPUs in use, part of all", 5.5, 2, mechanisms),
            (f"split (50, 0, 50), {low:g} jobs/h", "CPUs in use, part of all", low, 3, BOTH),
        )
    )
    data = {f"{load:g} {m}": used[load, m] for load, m in used}
    return Outcome(rows=tuple(rows), panels=panels, data={"used (GPUs, CPUs)": data})


def _over_time(name: str, figures: Figures, which: int, settings: Settings, load: float) -> Line:
    """Give hourly averages up to the last measured job's arrival."""
    end = int(settings.last / load)
    step = max(1, end // 150)
    hours = tuple(float(h) for h in range(0, end, step))
    return Line(label=name, x=hours, y=tuple(figures.used(h, h + step)[which - 2] for h in hours))


def fig11(settings: Settings) -> Outcome:
    """Fig. 11: FIFO, jobs of several GPUs, three workload splits."""
    rows, panels, data = [], [], []
    for split in (W1, (33, 33, 33), W2):
        loads = (3.0, 4.0, 5.0) if settings.full else (5.0,)
        found = swept(
            Sweep(
                title=f"split {split}",
                loads=loads,
                mechanisms=("proportional", "greedy", "tune"),
                split=split,
                demands="multi",
            ),
            settings,
        )
        if len(loads) > 1:
            panels.append(found.panel)
        data += found.data
        for load in loads:
            greedy = found.gain(load, "proportional", "greedy")
            tune = found.gain(load, "tune", "proportional")
            last = split == W2 and load == loads[-1]
            rows += [
                Row(
                    what=f"{split}, {load:g} jobs/h: JCT of GREEDY / proportional",
                    published="above 1" if split == W2 else "–",
                    ours=str(greedy),
                    holds=greedy.low > 1 if last else None,
                ),
                Row(
                    what=f"{split}, {load:g} jobs/h: JCT of TUNE / proportional",
                    published="1 (“as well as”)" if split == W2 else "below 1",
                    ours=str(_inverse(tune)),
                    holds=tune.value > 1 if split != W2 else abs(tune.value - 1) < 0.1,
                ),
            ]
    return Outcome(rows=tuple(rows), panels=tuple(panels), data={"runs": data})


def _inverse(of: Interval) -> Interval:
    return Interval(value=1 / of.value, low=1 / of.high, high=1 / of.low, seeds=of.seeds)


def fig12(settings: Settings) -> Outcome:
    """Fig. 12 and its table: CPU:GPU from 3 to 6, FIFO, single-GPU jobs."""
    loads = (9.0,)
    published = {3: "3.4", 6: "1.8"}
    rows, data, gains, theirs = [], [], [], []
    for cores in (3, 4, 5, 6):
        found = swept(
            Sweep(
                title=f"CPU:GPU {cores}",
                loads=loads,
                mechanisms=(*BOTH, "tune-simulated"),
                cores_a_gpu=cores,
            ),
            settings,
        )
        gains.append(found.gain(9.0))
        theirs.append(found.gain(9.0, "tune-simulated"))
        rows.append(
            Row(
                what=f"CPU:GPU {cores}, 9 jobs/h: JCT of proportional / TUNE",
                published=published.get(cores, "–"),
                ours=f"{gains[-1]}; with their simulator's TUNE {theirs[-1]}",
            )
        )
        data += found.data
    rows.append(
        Row(
            what="the gain shrinks from ratio 3 to 6",
            published="3.4 to 1.8",
            ours=", ".join(f"{g.value:.3g}" for g in gains),
            holds=_rises(gains[::-1]),
        )
    )
    panel = Panel(
        title="FIFO, single GPU, 9 jobs/h",
        x="cores a GPU",
        y="JCT of proportional / TUNE",
        lines=(
            Line(label="here, TUNE", x=(3.0, 4.0, 5.0, 6.0), y=tuple(g.value for g in gains)),
            Line(
                label="here, their simulator's TUNE",
                x=(3.0, 4.0, 5.0, 6.0),
                y=tuple(g.value for g in theirs),
            ),
            Line(label="published", x=(3.0, 6.0), y=(3.4, 1.8)),
        ),
    )
    return Outcome(rows=tuple(rows), panels=(panel,), data={"runs": data})


def fig13(settings: Settings) -> Outcome:
    """Fig. 13: Synergy against DRF and Tetris, which are given the best-case demands."""
    rows, data = [], []
    load = 4.0
    for name, split in (("W1", W1), ("W2", W2)):
        found = swept(
            Sweep(
                title=f"{name} {split}",
                loads=(load,),
                mechanisms=("proportional", "tune", "drf", "tetris"),
                split=split,
                demands="multi",
            ),
            settings,
        )
        data += found.data
        for rival in ("drf", "tetris"):
            gain = found.gain(load, "tune", rival)
            rows.append(
                Row(
                    what=f"{name}, {load:g} jobs/h: JCT of {rival.upper()} / TUNE",
                    published="above 1",
                    ours=str(gain),
                    holds=gain.value > 1,
                )
            )
    return Outcome(rows=tuple(rows), data={"runs": data})


def fig6(settings: Settings) -> Outcome:
    """Fig. 6: the Philly trace on 512 GPUs; without the file, a derived trace of its demands."""
    policies = ("fifo", "srtf", "las", "ftf") if settings.full else ("fifo", "srtf")
    seed = settings.seeds[0]
    jobs, first, last = (8000, 5000, 6000) if settings.full else (2600, 1600, 2000)
    cases = {
        (policy, m): Case(
            load=24.0,
            seed=seed,
            mechanism=m,
            jobs=jobs,
            first=first,
            last=last,
            policy=policy,
            demands="philly",
            servers=64,
            trace=settings.trace,
        )
        for policy in policies
        for m in BOTH
    }
    found = run_all(list(cases.values()), settings)
    figures = {key: found[case] for key, case in cases.items()}
    rows = []
    for policy in policies:
        mean, less = (figures[policy, m].mean for m in BOTH)
        rows.append(
            Row(
                what=f"{policy.upper()}: average JCT, proportional and TUNE",
                published="TUNE lower",
                ours=f"{mean:.3g} h and {less:.3g} h",
                holds=less < mean,
            )
        )
    base, ours = (figures["srtf", m] for m in BOTH)
    speedups = [a / b for a, b in zip(base.completion, ours.completion, strict=True)]
    tails = [f.percentile(99, keep=is_short) for f in (base, ours)]
    rows += [
        Row(
            what="SRTF: 99th percentile of short jobs, proportional / TUNE",
            published="2.2 (“tail”)",
            ours=f"{tails[0] / tails[1]:.3g}",
        ),
        Row(
            what="SRTF: average JCT lower by",
            published="15 % (long and short)",
            ours=f"{1 - ours.mean / base.mean:.1%}",
        ),
        Row(
            what="SRTF: largest speed-up of a job",
            published="up to 9",
            ours=f"{max(speedups):.3g}",
        ),
    ]
    order = tuple(float(i) for i in range(len(speedups)))
    panels = (
        distribution("SRTF", [(m, [figures["srtf", m]]) for m in BOTH], lambda _: True),
        Panel(
            title="speed-up of each measured job, sorted",
            x="job",
            y="proportional / TUNE",
            lines=(Line(label="SRTF", x=order, y=tuple(sorted(speedups))),),
            kind="steps",
        ),
    )
    data = [{**described(c), "mean_jct_h": f.mean} for c, f in found.items()]
    derived = "derived trace with Philly's GPU demands, 24 jobs/h"
    source = derived if settings.trace is None else Path(settings.trace).name
    return Outcome(rows=tuple(rows), panels=panels, data={"trace": source, "runs": data})


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
        for m in BOTH
        for seed in settings.seeds
    ]
    dynamic = [
        replace(
            _case(settings, 1.1, m),
            seed=seed,
            policy="srtf",
            split=(30, 60, 10),
            demands="multi",
            servers=4,
            jobs=6 * settings.static_jobs,
            first=3 * settings.static_jobs,
            last=5 * settings.static_jobs,
        )
        for m in BOTH
        for seed in settings.seeds
    ]
    found = run_all([*static, *dynamic], settings)
    n = len(settings.seeds)

    def of(cases: Sequence[Case], value: Callable[[Figures], float]) -> Interval:
        figures = [value(found[case]) for case in cases]
        return ratio(figures[:n], figures[n:])

    rows = (
        Row(
            what="static, FIFO (60, 30, 10): makespan, proportional / TUNE",
            published="1.4",
            ours=str(of(static, lambda f: f.makespan)),
        ),
        Row(
            what="dynamic, SRTF (30, 60, 10): average JCT, proportional / TUNE",
            published="1.5",
            ours=str(of(dynamic, lambda f: f.mean)),
        ),
        Row(
            what="dynamic: 99th percentile JCT, proportional / TUNE",
            published="2",
            ours=str(of(dynamic, lambda f: f.percentile(99))),
        ),
    )
    data = [
        {**described(c), "mean_jct_h": f.mean, "makespan_h": f.makespan} for c, f in found.items()
    ]
    return Outcome(rows=rows, data={"runs": data})


def _case(settings: Settings, load: float, mechanism: str) -> Case:
    return Case(
        load=load,
        seed=settings.seeds[0],
        mechanism=mechanism,
        jobs=settings.jobs,
        first=settings.first,
        last=settings.last,
    )
