"""Figures 10 and 13: what is in use, other schedulers.

Takes settings and gives an `Outcome` each.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

from benchmarks.paper.synergy.case import Case, Figures, described
from benchmarks.paper.synergy.entry import Line, Outcome, Panel, Row, Settings
from benchmarks.paper.synergy.policies import TUNES
from benchmarks.paper.synergy.runs import above, ratio, run_all
from benchmarks.paper.synergy.splits import W1, W2
from benchmarks.paper.synergy.sweeps import Sweep, swept


def fig10(settings: Settings) -> Outcome:
    """Fig. 10: GPUs in use at 5.5 jobs/h with sensitive jobs only, CPUs in use at low load."""
    mechanisms = ("proportional", "greedy", *TUNES)
    low = 2.5
    cases = [
        _case(settings, load, m, seed)
        for load in (low, 5.5)
        for m in mechanisms
        for seed in settings.seeds
    ]
    found = run_all(cases, settings)
    figures: dict[tuple[float, str], list[Figures]] = defaultdict(list)
    parts: dict[tuple[float, str], list[tuple[float, float]]] = defaultdict(list)
    data = []
    for case in cases:
        load, m, f = case.load or 0, case.mechanism, found[case]
        gpus, cores = f.used(settings.first / load, settings.last / load)
        figures[load, m].append(f)
        parts[load, m].append((gpus, cores))
        data.append(
            {
                **described(case),
                "mean_jct_h": f.mean,
                "gpus_in_use": gpus,
                "cpus_in_use": cores,
                "slowest": f.slowest,
            }
        )
    used = {key: [fmean(column) for column in zip(*of, strict=True)] for key, of in parts.items()}
    published = {"greedy": "severely under-used", "tune-simulated": "full"}
    rows = [
        Row(
            what=f"5.5 jobs/h: GPUs in use, {m}",
            published=published.get(m, "–"),
            ours=f"{used[5.5, m][0]:.1%}",
        )
        for m in mechanisms
    ]
    rows += [
        Row(
            what=f"GREEDY leaves GPUs idle in each trace, {m} does not",
            published="yes",
            ours=f"{used[5.5, 'greedy'][0]:.1%} < {used[5.5, m][0]:.1%}",
            holds=all(
                greedy + 0.05 < tune
                for (greedy, _), (tune, _) in zip(parts[5.5, "greedy"], parts[5.5, m], strict=True)
            ),
        )
        for m in TUNES
    ]
    published = {"proportional": "60 %", "tune-simulated": "up to 90 %"}
    rows += [
        Row(
            what=f"{low:g} jobs/h: CPUs in use, {m}",
            published=published.get(m, "–"),
            ours=f"{used[low, m][1]:.1%}",
        )
        for m in ("proportional", *TUNES)
    ]
    rows += [
        Row(
            what=f"{low:g} jobs/h: JCT of proportional / {m}",
            published="1.5" if m == "tune-simulated" else "–",
            ours=str(ratio(*([f.mean for f in figures[low, of]] for of in ("proportional", m)))),
        )
        for m in TUNES
    ]
    panels = tuple(
        Panel(
            title=title,
            x="time, h",
            y=label,
            kind="steps",
            lines=tuple(_over_time(m, figures[load, m][0], which, settings, load) for m in shown),
        )
        for title, label, load, which, shown in (
            ("split (50, 0, 50), 5.5 jobs/h", "GPUs in use, part of all", 5.5, 2, mechanisms),
            (
                f"split (50, 0, 50), {low:g} jobs/h",
                "CPUs in use, part of all",
                low,
                3,
                ("proportional", *TUNES),
            ),
        )
    )
    return Outcome(rows=tuple(rows), panels=panels, data={"runs": data})


def _over_time(name: str, figures: Figures, which: int, settings: Settings, load: float) -> Line:
    """Give hourly averages up to the last measured job's arrival."""
    end = int(settings.last / load)
    step = max(1, end // 150)
    hours = tuple(float(h) for h in range(0, end, step))
    return Line(label=name, x=hours, y=tuple(figures.used(h, h + step)[which - 2] for h in hours))


def fig13(settings: Settings) -> Outcome:
    """Fig. 13: Synergy against DRF and Tetris, which are given the best-case demands."""
    rows, data = [], []
    load = 4.0
    for name, split in (("W1", W1), ("W2", W2)):
        found = swept(
            Sweep(
                title=f"{name} {split}",
                loads=(load,),
                mechanisms=("proportional", *TUNES, "drf", "tetris"),
                split=split,
                demands="multi",
            ),
            settings,
        )
        data += found.data
        for rival in ("drf", "tetris"):
            for m in TUNES:
                gain = found.gain(load, m, rival)
                rows.append(
                    Row(
                        what=f"{name}, {load:g} jobs/h: JCT of {rival.upper()} / {m}",
                        published="above 1",
                        ours=str(gain),
                        holds=above(gain, 1),
                    )
                )
    return Outcome(rows=tuple(rows), data={"runs": data})


def _case(settings: Settings, load: float, mechanism: str, seed: int) -> Case:
    return Case(
        load=load,
        seed=seed,
        mechanism=mechanism,
        jobs=settings.jobs,
        first=settings.first,
        last=settings.last,
        split=W2,
        demands="multi",
    )
