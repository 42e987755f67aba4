"""Beyond the paper: the optimum on real servers as a mechanism, and what moving costs.

Takes settings and gives an `Outcome`. The paper's optimum cannot be run, having fractions of
GPUs; `packed` can: the most throughput that whole GPUs on real servers allow, round by round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from benchmarks.paper.synergy.entry import Outcome, Row, Settings
from benchmarks.paper.synergy.runs import Interval
from benchmarks.paper.synergy.sweeps import Sweep, Swept, swept

_MECHANISMS = ("proportional", "tune", "packed")
_COST = 60  # seconds to restore a job that moved


_BASE = Sweep(title="FIFO, single GPU", loads=(9.0,), mechanisms=_MECHANISMS)
_MULTI = replace(_BASE, title="FIFO, multi-GPU", demands="multi", loads=(5.0,))


def optimum_over_time(settings: Settings) -> Outcome:
    """Compare completion times under the optimum in throughput with those under TUNE."""
    return _compared(
        (
            _MULTI,
            replace(_MULTI, title="FIFO, multi-GPU, (50, 0, 50)", split=(50, 0, 50)),
            replace(_MULTI, title="SRTF, multi-GPU", policy="srtf"),
            _BASE,
        ),
        settings,
    )


def moves(settings: Settings) -> Outcome:
    """Do the same where a job pays for every move, with servers renamed to avoid moves or not."""
    title = f"FIFO, multi-GPU, {_COST} s a move"
    return _compared(
        (
            replace(_MULTI, title=title, move_cost=_COST),
            replace(_MULTI, title=f"{title}, sticky", move_cost=_COST, sticky=True),
        ),
        settings,
    )


def _compared(sweeps: Sequence[Sweep], settings: Settings) -> Outcome:
    short = (
        replace(settings, jobs=2600, first=1200, last=1700)
        if settings.full
        else replace(settings, jobs=400, first=200, last=300)
    )
    rows: list[Row] = []
    data: list[dict[str, object]] = []
    for sweep in sweeps:
        found = swept(sweep, short)
        (load,) = sweep.loads
        wins = found.gain(load, "packed", "tune")
        rows.append(
            Row(
                what=f"{sweep.title}, {load:g} jobs/h: JCT of TUNE / optimum",
                published="within 10 %" if sweep is _BASE else "–",
                ours=f"{wins}; {_verdict(wins)}",
                holds=wins.value <= 1.1 if sweep is _BASE else None,
            )
        )
        rows.append(
            Row(
                what=f"{sweep.title}: JCT of proportional / TUNE, / optimum; moves a job",
                published="–",
                ours=f"{found.gain(load).value:.3g}, {found.gain(load, 'packed').value:.3g}; "
                + ", ".join(f"{m} {_moves(found, load, m):.1f}" for m in _MECHANISMS),
            )
        )
        data += found.data
    return Outcome(rows=tuple(rows), data={"runs": data})


def _verdict(wins: Interval) -> str:
    if wins.low > 1:
        return "the optimum wins"
    return "the optimum loses" if wins.high < 1 else "no difference shown"


def _moves(found: Swept, load: float, mechanism: str) -> float:
    return fmean(found.figures[load, mechanism, seed].moves for seed in found.seeds)
