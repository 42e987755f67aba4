"""Figures 10, 11 and 13: workload splits, what is in use, other schedulers.

Takes settings and gives an `Outcome` each.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from benchmarks.paper.synergy.case import MECHANISMS, Case, Figures
from benchmarks.paper.synergy.entry import Line, Outcome, Panel, Row, Settings
from benchmarks.paper.synergy.runs import Interval, ratio, run_all
from benchmarks.paper.synergy.sweeps import Sweep, Swept, distribution, swept
from synergy_opt.generate import mix
from synergy_opt.proportional import proportional
from synergy_opt.simulation.derived import MULTI_GPU

W1, W2 = (20, 70, 10), (50, 0, 50)


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
            (
                f"split (50, 0, 50), {low:g} jobs/h",
                "CPUs in use, part of all",
                low,
                3,
                ("proportional", "tune"),
            ),
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
    load = 5.0
    for split in (W1, (33, 33, 33), W2):
        found = swept(
            Sweep(
                title=f"split {split}",
                loads=(load,),
                mechanisms=("proportional", "greedy", "tune", "tune-simulated"),
                split=split,
                demands="multi",
            ),
            settings,
        )
        data += found.data
        panels.append(
            distribution(
                f"split {split}, {load:g} jobs/h",
                [
                    (m, [found.figures[load, m, seed] for seed in found.seeds])
                    for m in found.sweep.mechanisms
                ],
                lambda _: True,
            )
        )
        greedy = found.gain(load, "proportional", "greedy")
        rows.append(
            Row(
                what=f"{split}, {load:g} jobs/h: JCT of greedy / proportional",
                published="above 1" if split == W2 else "–",
                ours=str(greedy),
                holds=_above(greedy, 1) if split == W2 else None,
            )
        )
        for m in ("tune", "tune-simulated"):
            tune = _inverse(found.gain(load, m))
            rows.append(
                Row(
                    what=f"{split}, {load:g} jobs/h: JCT of {m} / proportional",
                    published="1 (“as well as”)" if split == W2 else "below 1",
                    ours=str(tune),
                    holds=_is_one(tune) if split == W2 else _above(found.gain(load, m), 1),
                )
            )
    rows += _why_not_one(found, settings)
    return Outcome(rows=tuple(rows), panels=tuple(panels), data={"runs": data})


def _why_not_one(found: Swept, settings: Settings) -> list[Row]:
    """Say where a gain at the last split comes from: a full cluster, or GPUs that stand idle."""
    (load,), split = found.sweep.loads, found.sweep.split
    rounds = [
        mix(servers=16, seed=seed, split=split, gpu_demands=MULTI_GPU)
        for seed in range(1, settings.mixes + 1)
    ]
    base = [float(proportional(instance).throughput) for instance in rounds]
    rows = []
    for name in ("tune", "tune-simulated"):
        gain = ratio([float(MECHANISMS[name](i).throughput) for i in rounds], base)
        rows.append(
            Row(
                what=f"{split}, one round of a full cluster: throughput of {name} / proportional",
                published="1",
                ours=str(gain),
                holds=_is_one(gain),
            )
        )
    runs = [found.figures[load, "proportional", seed] for seed in found.seeds]
    used = fmean(f.used(0, settings.last / load)[0] for f in runs)
    rows.append(
        Row(
            what=f"{split}: GPUs in use until the last measured job comes, proportional",
            published="–",
            ours=f"{used:.1%}",
        )
    )
    return rows


def _above(of: Interval, value: float) -> bool | None:
    """Tell whether a ratio is above a value; None where its interval leaves it open."""
    if of.seeds < 2:
        return None
    return True if of.low > value else False if of.high < value else None


def _is_one(of: Interval) -> bool:
    """Tell whether a ratio is 1 within 5 %, the whole interval."""
    return 0.95 <= of.low <= of.high <= 1.05


def _inverse(of: Interval) -> Interval:
    return Interval(value=1 / of.value, low=1 / of.high, high=1 / of.low, seeds=of.seeds)


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
                    holds=_above(gain, 1),
                )
            )
    return Outcome(rows=tuple(rows), data={"runs": data})


def _case(settings: Settings, load: float, mechanism: str) -> Case:
    return Case(
        load=load,
        seed=settings.seeds[0],
        mechanism=mechanism,
        jobs=settings.jobs,
        first=settings.first,
        last=settings.last,
    )
