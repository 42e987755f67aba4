"""Beyond the paper: the optimum on real servers as a mechanism, and what moving costs.

Takes settings and gives an `Outcome`. The paper's optimum cannot be run, having fractions of
GPUs; `packed` can: the most throughput that whole GPUs on real servers allow, round by round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from benchmarks.paper.synergy.case import GAP
from benchmarks.paper.synergy.entry import Outcome, Row, Settings
from benchmarks.paper.synergy.runs import Interval
from benchmarks.paper.synergy.sweeps import Sweep, Swept, swept

_MECHANISMS = ("proportional", "tune", "tune-simulated", "packed")
_COST = 60  # seconds to restore a job that moved
_SMALLER = 8  # an eighth of the paper's cluster, load and trace: the same queue a GPU


_BASE = Sweep(title="FIFO, single GPU", loads=(9.0,), mechanisms=_MECHANISMS)
_MULTI = replace(_BASE, title="FIFO, multi-GPU", demands="multi", loads=(5.0,))
_SRTF = replace(_BASE, title="SRTF, single GPU", policy="srtf")
_PUBLISHED = (_BASE, _SRTF, _MULTI)  # "within 10 % in all cases", §5.3.2, of this split
_SENSITIVE = replace(_MULTI, title="FIFO, multi-GPU, split (50, 0, 50)", split=(50, 0, 50))


def optimum_over_time(settings: Settings) -> Outcome:
    """Compare completion times under the optimum in throughput with those under TUNE."""
    return _compared((_BASE, _SRTF, _MULTI, _SENSITIVE), settings)


def moves(settings: Settings) -> Outcome:
    """Do the same where a job pays for every move, with servers renamed to avoid moves or not."""
    title = f"FIFO, single GPU, {_COST} s a move"
    return _compared(
        (
            replace(_BASE, title=title, move_cost=_COST),
            replace(_BASE, title=f"{title}, sticky", move_cost=_COST, sticky=True),
        ),
        settings,
    )


def _compared(sweeps: Sequence[Sweep], settings: Settings) -> Outcome:
    rows: list[Row] = []
    data: list[dict[str, object]] = []
    for wanted in sweeps:
        sweep = wanted if settings.full else _smaller(wanted)
        found = swept(sweep, settings if settings.full else _shorter(settings))
        (load,) = sweep.loads
        title = f"{sweep.title}, {8 * sweep.servers} GPUs, {load:g} jobs/h"
        for rival in ("tune", "tune-simulated"):
            wins = found.gain(load, "packed", rival)
            published = wanted in _PUBLISHED and rival == "tune-simulated"
            rows.append(
                Row(
                    what=f"{title}: JCT of {rival} / optimum (gap {float(GAP):.0%})",
                    published="within 10 %" if published else "–",
                    ours=f"{wins}; {_verdict(wins)}",
                    holds=within_tenth(wins) if published else None,
                )
            )
        rows += [
            Row(
                what=f"{sweep.title}: JCT of proportional / {mechanism}; moves a job",
                published="–",
                ours=f"{found.gain(load, mechanism)}; {_moves(found, load, mechanism):.1f}",
            )
            for mechanism in _MECHANISMS[1:]
        ]
        data += found.data
    return Outcome(rows=tuple(rows), data={"gap of the optimum": float(GAP), "runs": data})


def _smaller(sweep: Sweep) -> Sweep:
    return replace(
        sweep,
        servers=sweep.servers // _SMALLER,
        loads=tuple(load / _SMALLER for load in sweep.loads),
    )


def _shorter(settings: Settings) -> Settings:
    """Give a trace for an eighth of the cluster; of shorter settings than ours, as they are."""
    jobs, first, last = 420, 300, 400
    if settings.jobs < jobs:
        return settings
    return replace(settings, jobs=jobs, first=first, last=last)


def within_tenth(wins: Interval) -> bool | None:
    """Tell whether TUNE is within 10 % of the optimum; None where the interval leaves it open."""
    return True if wins.high <= 1.1 else False if wins.low > 1.1 else None


def _verdict(wins: Interval) -> str:
    if wins.seeds < 2:
        return "one seed shows nothing"
    if wins.low > 1:
        return "the optimum wins"
    return "the optimum loses" if wins.high < 1 else "no difference shown"


def _moves(found: Swept, load: float, mechanism: str) -> float:
    return fmean(found.figures[load, mechanism, seed].moves for seed in found.seeds)
