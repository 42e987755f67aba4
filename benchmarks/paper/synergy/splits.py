"""Figure 11: three workload splits; and where a gain comes from when all jobs are sensitive.

Takes settings and gives an `Outcome`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from benchmarks.paper.synergy.case import MECHANISMS, Case, Figures, described
from benchmarks.paper.synergy.entry import Outcome, Row, Settings
from benchmarks.paper.synergy.policies import MECHANISMS as COMPARED
from benchmarks.paper.synergy.policies import TUNES
from benchmarks.paper.synergy.runs import above, inverse, is_one, ratio, run_all
from benchmarks.paper.synergy.sweeps import Sweep, Swept, distribution, swept
from synergy_opt.generate import mix
from synergy_opt.proportional import proportional
from synergy_opt.simulation.derived import MULTI_GPU

W1, W2 = (20, 70, 10), (50, 0, 50)
_LOAD = 5.0


def fig11(settings: Settings) -> Outcome:
    """Fig. 11: FIFO, jobs of several GPUs, three workload splits."""
    rows, panels, data = [], [], []
    for split in (W1, (33, 33, 33), W2):
        found = swept(
            Sweep(
                title=f"split {split}",
                loads=(_LOAD,),
                mechanisms=("proportional", "greedy", *TUNES),
                split=split,
                demands="multi",
            ),
            settings,
        )
        data += found.data
        panels.append(
            distribution(
                f"split {split}, {_LOAD:g} jobs/h",
                [
                    (m, [found.figures[_LOAD, m, seed] for seed in found.seeds])
                    for m in found.sweep.mechanisms
                ],
                lambda _: True,
            )
        )
        rows += _rows(found)
    still = _still(found, settings)
    data += [
        {**described(case), "mean_jct_h": f.mean, "slowest": f.slowest}
        for case, f in still.items()
    ]
    rows += [
        *_one_round(found, settings),
        *_from_the_start(found, still),
        *_hours(found, settings),
    ]
    return Outcome(rows=tuple(rows), panels=tuple(panels), data={"runs": data})


def _rows(found: Swept) -> list[Row]:
    """Set what the paper says of a split beside what came out."""
    split = found.sweep.split
    greedy = found.gain(_LOAD, "proportional", "greedy")
    rows = [
        Row(
            what=f"{split}, {_LOAD:g} jobs/h: JCT of greedy / proportional",
            published="above 1" if split == W2 else "–",
            ours=str(greedy),
            holds=above(greedy, 1) if split == W2 else None,
        )
    ]
    for m in TUNES:
        gain = found.gain(_LOAD, m)
        rows.append(
            Row(
                what=f"{split}, {_LOAD:g} jobs/h: JCT of {m} / proportional",
                published="1 (“as well as”)" if split == W2 else "below 1",
                ours=str(inverse(gain)),
                holds=is_one(inverse(gain)) if split == W2 else above(gain, 1),
            )
        )
    return rows


def _one_round(found: Swept, settings: Settings) -> list[Row]:
    """Say what TUNE gains in one round of a full cluster."""
    split = found.sweep.split
    rounds = [
        mix(servers=16, seed=seed, split=split, gpu_demands=MULTI_GPU)
        for seed in range(1, settings.mixes + 1)
    ]
    base = [float(proportional(instance).throughput) for instance in rounds]
    rows = []
    for name in TUNES:
        gain = ratio([float(MECHANISMS[name](i).throughput) for i in rounds], base)
        rows.append(
            Row(
                what=f"{split}, one round of a full cluster: throughput of {name} / proportional",
                published="1",
                ours=str(gain),
                holds=is_one(gain),
            )
        )
    return rows


def _still(found: Swept, settings: Settings) -> Mapping[Case, Figures]:
    """Run the same jobs once more, all there from the start: the cluster is full at once."""
    cases = [replace(c, load=None) for c in found.cases if c.mechanism in COMPARED]
    return run_all(cases, settings)


def _from_the_start(found: Swept, still: Mapping[Case, Figures]) -> list[Row]:
    """Say what TUNE gains where nothing can be gained while the cluster fills."""
    by = {m: [f.mean for case, f in still.items() if case.mechanism == m] for m in COMPARED}
    rows = []
    for name in TUNES:
        gain = ratio(by[name], by["proportional"])
        rows.append(
            Row(
                what=f"{found.sweep.split}, all jobs there from the start: JCT of {name} / "
                "proportional",
                published="1",
                ours=str(gain),
                holds=is_one(gain),
            )
        )
    return rows


def _hours(found: Swept, settings: Settings) -> list[Row]:
    """Say how long jobs take, and how full the cluster was by then."""
    split = found.sweep.split
    means = ", ".join(f"{m} {fmean(found.means(_LOAD, m)):.3g} h" for m in COMPARED)
    runs = [found.figures[_LOAD, "proportional", seed] for seed in found.seeds]
    used = fmean(f.used(0, settings.last / _LOAD)[0] for f in runs)
    return [
        Row(what=f"{split}, {_LOAD:g} jobs/h: mean JCT", published="–", ours=means),
        Row(
            what=f"{split}: GPUs in use until the last measured job comes, proportional",
            published="–",
            ours=f"{used:.1%}",
        ),
    ]
