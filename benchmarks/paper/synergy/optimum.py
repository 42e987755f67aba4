"""Entry of §5.6: one round divided by TUNE and by the optimum, cluster by cluster.

Takes settings and gives an `Outcome`.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from benchmarks.paper.synergy.case import GAP, packed_within_gap
from benchmarks.paper.synergy.entry import Line, Outcome, Panel, Row, Settings
from benchmarks.paper.synergy.restricted import all_or_share, server_by_server
from benchmarks.paper.synergy.runs import ratio
from synergy_opt.answer import Placement
from synergy_opt.fair_share import job_throughput
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Instance
from synergy_opt.simulation.derived import MULTI_GPU, SINGLE_GPU
from synergy_opt.tune import tune, tune_as_simulated

_TUNES = {"tune": tune, "tune-simulated": tune_as_simulated}
_SERVED = ("all", "between", "share")
_PUBLISHED = 128  # GPUs
_MECHANISMS = {**_TUNES, "packed": packed_within_gap}


@dataclass(frozen=True, kw_only=True)
class _Round:
    """One mix of jobs: throughput and processor seconds by mechanism, bounds, what is proven.

    `bound` is the paper's (stage 1, one server of all there is), `proven` that of the optimum on
    real servers, and `proof` what shows it the best (``"none"``: within `GAP` of `proven`);
    `by_model` gives each job's throughput, by mechanism and model; `served` counts
    the jobs that gain from more than their share, by mechanism and by what they have; `cores`
    gives the part of all cores in use, by mechanism. `restricted` gives, by TUNE, the throughput
    of the optimum under one restriction after the other (`_restricted`), where that was asked for.
    """

    throughput: Mapping[str, float]
    seconds: Mapping[str, float]
    bound: float
    proven: float
    proof: str
    by_model: Mapping[str, Mapping[str, Sequence[float]]]
    served: Mapping[str, Mapping[str, int]]
    cores: Mapping[str, float]
    restricted: Mapping[str, Sequence[float]]


def optimum(settings: Settings) -> Outcome:
    """§5.6: TUNE's throughput and time against the optimum, one round, cluster by cluster."""
    rows: list[Row] = []
    data: list[dict[str, object]] = []
    lines: list[Line] = []
    seeds = range(1, settings.mixes + 1)
    for kind, demands in (("single-GPU", SINGLE_GPU), ("multi-GPU", MULTI_GPU)):
        ms: dict[str, list[float]] = {"tune": [], "packed": []}
        for gpus in settings.gpus:
            rounds = [
                _round(mix(servers=gpus // 8, seed=seed, gpu_demands=demands), gpus == _PUBLISHED)
                for seed in seeds
            ]
            rows += _rows(f"{gpus} GPUs, {kind}", rounds, is_published=gpus == _PUBLISHED)
            for name, times in ms.items():
                times.append(1000 * median(r.seconds[name] for r in rounds))
            data += [
                {
                    "gpus": gpus,
                    "jobs": kind,
                    "seed": seed,
                    **r.throughput,
                    "bound": r.bound,
                    "proven": r.proven,
                    "proof": r.proof,
                    "seconds": dict(r.seconds),
                }
                for seed, r in zip(seeds, rounds, strict=True)
            ]
        lines += [Line(label=f"{n}, {kind}", x=settings.gpus, y=tuple(y)) for n, y in ms.items()]
    panel = Panel(
        title=f"one round, mix (20, 70, 10), optimum to {float(GAP):.0%}",
        x="GPUs",
        y="processor time, ms",
        lines=tuple(lines),
    )
    return Outcome(
        rows=tuple(rows), panels=(panel,), data={"gap": float(GAP), "split": "never", "runs": data}
    )


def _rows(where: str, rounds: Sequence[_Round], *, is_published: bool) -> list[Row]:
    rows = []
    for name in _TUNES:
        ours = [r.throughput[name] for r in rounds]
        best = ratio([r.throughput["packed"] for r in rounds], ours)
        least = min(r.throughput[name] / r.throughput["packed"] for r in rounds)
        surely = min(r.throughput[name] / r.proven for r in rounds)
        rows.append(
            Row(
                what=f"{where}: throughput of the optimum on real servers / {name}; at its worst",
                published="TUNE within 10 %" if is_published else "–",
                ours=f"{best}; {least:.1%} of the optimum (surely {surely:.1%})",
                holds=surely >= 0.9 or (None if least >= 0.9 else False) if is_published else None,
            )
        )
        if is_published:
            rows.append(
                Row(
                    what=f"{where}: models slower by over 10 % under {name} than in the optimum",
                    published="–",
                    ours=_slower(rounds, name),
                )
            )
            rows.append(
                Row(
                    what=f"{where}: part of the optimum, all mixes: {name}; on its servers, the "
                    "best of all or share; on its servers, the best amounts; on any servers, the "
                    "best of all or share",
                    published="–",
                    ours="; ".join(f"{part:.1%}" for part in _parts(rounds, name)),
                )
            )
    if is_published:
        rows.append(
            Row(
                what=f"{where}: cores in use",
                published="–",
                ours=", ".join(
                    f"{name} {fmean(r.cores[name] for r in rounds):.1%}" for name in _MECHANISMS
                ),
            )
        )
        rows.append(
            Row(
                what=f"{where}: jobs that gain from more than their share, of all mixes: with all "
                "that they can use, between, with their share",
                published="–",
                ours="; ".join(
                    f"{name} "
                    + ", ".join(str(sum(r.served[name][k] for r in rounds)) for k in _SERVED)
                    for name in _MECHANISMS
                ),
            )
        )
    bound = ratio([r.bound for r in rounds], [r.throughput["tune"] for r in rounds])
    closed = sum(r.proof != "none" for r in rounds)
    rows.append(
        Row(
            what=f"{where}: mixes whose optimum is proven; largest gap to its bound",
            published="–",
            ours=f"{closed} of {len(rounds)}; "
            f"{max(r.proven / r.throughput['packed'] - 1 for r in rounds):.2%}",
        )
    )
    longer = median(r.seconds["packed"] / r.seconds["tune"] for r in rounds)
    rows.append(
        Row(
            what=f"{where}: the paper's upper bound (stage 1) / tune; time of the optimum / tune",
            published="–; 200 times" if is_published else "–",
            ours=f"{bound}; {longer:.3g} times",
        )
    )
    return rows


def _parts(rounds: Sequence[_Round], name: str) -> list[float]:
    """Give the throughput of a TUNE and of the restricted optima over that of the optimum."""
    best = fmean(r.throughput["packed"] for r in rounds)
    found = [(r.throughput[name], *r.restricted[name]) for r in rounds]
    return [fmean(column) / best for column in zip(*found, strict=True)]


def _slower(rounds: Sequence[_Round], name: str) -> str:
    """Name the models, the slowest first, with their mean throughput over the optimum's."""
    mean: dict[str, float] = {}
    for model in sorted({m for r in rounds for m in r.by_model[name]}):
        ours, best = (
            fmean(t for r in rounds for t in r.by_model[by].get(model, ()))
            for by in (name, "packed")
        )
        mean[model] = ours / best
    worst = sorted((m for m in mean if mean[m] < 0.9), key=lambda m: mean[m])
    return ", ".join(f"{model} {mean[model]:.0%}" for model in worst) or "none"


def _round(instance: Instance, explained: bool) -> _Round:
    seconds, placed = {}, {}
    for name, mechanism in _MECHANISMS.items():
        start = time.process_time()
        placed[name] = mechanism(instance)
        seconds[name] = time.process_time() - start
    models = {job.id: job.profile for job in instance.jobs}
    by_model: dict[str, dict[str, list[float]]] = {}
    for name, placement in placed.items():
        found = by_model[name] = defaultdict(list)
        for job in placement.jobs:
            found[models[job.id]].append(float(job.throughput))
    bound, proven = ideal_allocation(instance).bound, placed["packed"].bound
    # One model of splitting for all: a job that fits on a server is on one. Else the bounds would
    # not be TUNE's.
    assert bound.consolidated
    assert proven is not None
    assert not any(_splits(instance, placement) for placement in placed.values())
    return _Round(
        throughput={name: float(placement.throughput) for name, placement in placed.items()},
        seconds=seconds,
        bound=float(bound.value),
        proven=float(proven.value),
        proof=placed["packed"].proof or "none",
        by_model=by_model,
        served={name: _served(instance, placement) for name, placement in placed.items()},
        cores={name: _cores(instance, placement) for name, placement in placed.items()},
        restricted={name: _restricted(instance, placed[name]) for name in _TUNES}
        if explained
        else {},
    )


def _restricted(instance: Instance, tuned: Placement) -> tuple[float, float, float]:
    """Give the optimum on TUNE's servers with all or share and with any amounts, then elsewhere.

    The last is with all or share on any servers. Each within `GAP`.
    """
    there = list(server_by_server(instance, tuned))
    return (
        sum(_best(all_or_share(server)) for server in there),
        sum(_best(server) for server in there),
        _best(all_or_share(instance)),
    )


def _best(instance: Instance) -> float:
    return float(packed_within_gap(instance).throughput)


def _cores(instance: Instance, placement: Placement) -> float:
    return float(sum(job.demand[0] for job in placement.jobs) / instance.cluster.capacity[0])


def _splits(instance: Instance, placement: Placement) -> bool:
    """Tell whether a job is divided that would fit on one server."""
    largest = max(server.gpus for server in instance.cluster.servers)
    small = {job.id for job in instance.jobs if job.gpus <= largest}
    return any(job in small for job in placement.split_jobs)


def _served(instance: Instance, placement: Placement) -> Counter[str]:
    """Count the jobs that a whole server would speed up, by what they have of it."""
    jobs = {job.id: job for job in instance.jobs}
    whole = instance.cluster.servers[0].capacity
    found: Counter[str] = Counter()
    for entry in placement.jobs:
        most = job_throughput(instance, jobs[entry.id], whole)
        has = job_throughput(instance, jobs[entry.id], entry.demand)
        if most > 1:  # the objective is relative: 1 is what the share gives
            found["all" if has == most else "share" if has == 1 else "between"] += 1
    return found
