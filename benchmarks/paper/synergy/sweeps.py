"""Average completion time over load, mechanism by mechanism: what most figures of §5 are.

Takes a `Sweep` and settings and gives the runs, the panel and the gain at each load.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.paper.synergy.case import Case, Figures, described
from benchmarks.paper.synergy.entry import Line, Panel, Settings
from benchmarks.paper.synergy.runs import Interval, ratio, run_all


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Loads × mechanisms × seeds under one policy; the rest as in `Case`."""

    title: str
    loads: tuple[float, ...]
    mechanisms: tuple[str, ...]
    policy: str = "fifo"
    split: tuple[int, int, int] = (20, 70, 10)
    demands: str = "single"
    cores_a_gpu: int = 3
    servers: int = 16
    sticky: bool = False
    move_cost: int = 0


@dataclass(frozen=True, kw_only=True)
class Swept:
    """The runs of a sweep."""

    sweep: Sweep
    seeds: tuple[int, ...]
    figures: dict[tuple[float, str, int], Figures]
    cases: tuple[Case, ...]

    def means(self, load: float, mechanism: str) -> list[float]:
        """Mean completion time, in hours, a seed."""
        return [self.figures[load, mechanism, seed].mean for seed in self.seeds]

    def gain(self, load: float, mechanism: str = "tune", over: str = "proportional") -> Interval:
        """Mean completion time of `over` divided by that of `mechanism`."""
        return ratio(self.means(load, over), self.means(load, mechanism))

    @property
    def panel(self) -> Panel:
        """Average completion time over load."""
        return Panel(
            title=self.sweep.title,
            x="load, jobs/h",
            y="average JCT, h",
            lines=tuple(
                Line(
                    label=name,
                    x=self.sweep.loads,
                    y=tuple(fmean(self.means(load, name)) for load in self.sweep.loads),
                )
                for name in self.sweep.mechanisms
            ),
        )

    @property
    def data(self) -> list[dict[str, object]]:
        """Every run in plain values."""
        return [
            {
                **described(case),
                "mean_jct_h": figures.mean,
                "p99_jct_h": figures.percentile(99),
                "moves": figures.moves,
                "slowest": figures.slowest,
            }
            for case, figures in (
                (case, self.figures[_load(case), case.mechanism, case.seed]) for case in self.cases
            )
        ]


def swept(sweep: Sweep, settings: Settings) -> Swept:
    """Run a sweep."""
    cases = [
        Case(
            load=load,
            seed=seed,
            mechanism=mechanism,
            jobs=settings.jobs,
            first=settings.first,
            last=settings.last,
            policy=sweep.policy,
            split=sweep.split,
            demands=sweep.demands,
            cores_a_gpu=sweep.cores_a_gpu,
            servers=sweep.servers,
            sticky=sweep.sticky,
            move_cost=sweep.move_cost,
        )
        for load in sweep.loads
        for mechanism in sweep.mechanisms
        for seed in settings.seeds
    ]
    found = run_all(cases, settings)
    return Swept(
        sweep=sweep,
        seeds=settings.seeds,
        figures={(_load(c), c.mechanism, c.seed): figures for c, figures in found.items()},
        cases=tuple(cases),
    )


def distribution(
    title: str,
    runs: Sequence[tuple[str, Sequence[Figures]]],
    keep: Callable[[float], bool],
) -> Panel:
    """Give the cumulative distribution of completion times, all seeds together."""
    lines = []
    for name, figures in runs:
        hours = sorted(c for f in figures for c in f.completion if keep(c))
        part = tuple((i + 1) / len(hours) for i in range(len(hours)))
        lines.append(Line(label=name, x=tuple(hours), y=part))
    return Panel(title=title, x="JCT, h", y="part of jobs", lines=tuple(lines), kind="steps")


def _load(case: Case) -> float:
    assert case.load is not None
    return case.load
