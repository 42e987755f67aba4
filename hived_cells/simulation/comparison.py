"""The same trace in all three ways: takes a cluster and a scheduler, gives a table and verdicts.

Waiting is counted from what the jobs experience: a job's delay is the time from its submission
to its end, less its duration.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hived_cells.hierarchy import Chain
from hived_cells.reservation import Reservation
from hived_cells.simulation.anomalies import Anomaly, Longer, Witness, anomalies, longer
from hived_cells.simulation.policy import Scheduler
from hived_cells.simulation.run import Fault, Run
from hived_cells.simulation.trace import Trace
from hived_cells.simulation.ways import WAYS, Way, reserved_gpus, simulate

__all__ = ["Comparison", "compare", "delays", "report", "summary"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Three runs of one trace with one scheduler, and what follows from them.

    Parameters
    ----------
    trace
        What was run.
    chain
        The shared cluster.
    reservation
        Cells of each level for each tenant.
    scheduler
        The name of the scheduler inside each tenant.
    runs
        One for each way: private, quota, cells.
    anomalies
        Jobs done later under quota.
    longer
        Jobs done later under cells; none without faults.
    """

    trace: Trace
    chain: Chain
    reservation: Reservation
    scheduler: str
    runs: dict[Way, Run]
    anomalies: tuple[Anomaly, ...] = field(repr=False)
    longer: tuple[Longer, ...]


def compare(
    trace: Trace,
    chain: Chain,
    reservation: Reservation,
    *,
    scheduler: Scheduler,
    lending: bool = True,
    faults: Iterable[Fault] = (),
    checkpoint: int = 1800,
    progress: Callable[[Way, int], None] | None = None,
) -> Comparison:
    """Run a trace in private clusters, under quota and under cells.

    Parameters
    ----------
    trace, chain, reservation, scheduler
        As for `simulate`.
    lending
        Whether idle cells are lent to low priority.
    faults
        Nodes that leave and return, in the shared cluster.
    checkpoint
        Seconds between checkpoints of lent jobs.
    progress
        Called with what has been done so far.

    Returns
    -------
    Comparison
        The three runs, and who waited longer.

    Raises
    ------
    InvalidSpec, Infeasible
        As `simulate`.

    Examples
    --------
    >>> from hived_cells.simulation import SCHEDULERS, Shape, TraceJob
    >>> trace = Trace([TraceJob("j", "A", submit=0, duration=60, shape=Shape(1, 8))])
    >>> found = compare(trace, Chain(1, (8,)), Reservation({"A": {2: 1}}),
    ...                 scheduler=SCHEDULERS["capacity"])
    >>> summary(found)["tenants"]["A"]["delay"]
    {'private': 0.0, 'quota': 0.0, 'cells': 0.0}
    """
    events = tuple(faults)
    runs: dict[Way, Run] = {}
    witness: Witness | None = None
    for way in WAYS:
        runs[way] = simulate(
            trace,
            chain,
            reservation,
            way=way,
            scheduler=scheduler,
            lending=lending,
            faults=events,
            checkpoint=checkpoint,
            refused=witness if way == "quota" else None,
            progress=None if progress is None else _telling(progress, way),
        )
        if way == "private":
            witness = Witness(trace, runs[way])
    assert witness is not None
    return Comparison(
        trace,
        chain,
        reservation,
        scheduler.name,
        runs,
        anomalies(trace, runs["private"], runs["quota"], witness),
        longer(trace, runs["private"], runs["cells"]),
    )


def _telling(progress: Callable[[Way, int], None], way: Way) -> Callable[[int], None]:
    return lambda done: progress(way, done)


def delays(trace: Trace, run: Run) -> dict[str, list[int]]:
    """Return each tenant's delays (seconds) in the order of submission, finished jobs only.

    Examples
    --------
    >>> delays(Trace([]), Run(started=(), granted=(), ended=(), seconds=0))
    {}
    """
    found: dict[str, list[int]] = {tenant: [] for tenant in trace.tenants}
    for job, end in zip(trace.jobs, run.ended, strict=True):
        if end >= 0:
            found[job.tenant].append(end - job.submit - job.duration)
    return found


def _in_minutes(seconds: int, count: int = 1) -> float:
    return round(float(Fraction(seconds, 60 * count)), 3)


def _mean(seconds: list[int]) -> float | None:
    """Return the mean in minutes, None of nothing."""
    return _in_minutes(sum(seconds), len(seconds)) if seconds else None


def summary(found: Comparison) -> dict[str, Any]:
    """Return the comparison as plain data, ready for JSON; delays are means in minutes.

    A mean is over the tenant's jobs that were done that way, None where none was: without
    faults all are done.

    Examples
    --------
    >>> from hived_cells.simulation import SCHEDULERS, Shape, TraceJob
    >>> trace = Trace([TraceJob("j", "A", submit=0, duration=60, shape=Shape(1, 8))])
    >>> found = compare(trace, Chain(1, (8,)), Reservation({"A": {2: 1}}),
    ...                 scheduler=SCHEDULERS["capacity"])
    >>> sorted(summary(found))[:3]
    ['anomalies', 'gpus', 'jobs']
    """
    trace, chain = found.trace, found.chain
    by_way = {way: delays(trace, run) for way, run in found.runs.items()}
    gpus = reserved_gpus(chain, found.reservation)
    submitted = Counter(job.tenant for job in trace.jobs)
    tenants = {}
    for tenant in trace.tenants:
        mean = {way: _mean(by_way[way][tenant]) for way in found.runs}
        tenants[tenant] = {
            "gpus": gpus[tenant],
            "jobs": submitted[tenant],
            "delay": mean,
            "excess": {way: _more(mean["private"], mean[way]) for way in ("quota", "cells")},
            "worst_excess": {
                way: _worst(trace, found.runs["private"], found.runs[way], tenant)
                for way in ("quota", "cells")
            },
        }
    causes: dict[str, int] = {}
    blame: dict[str, dict[str, int]] = {}
    for anomaly in found.anomalies:
        causes[anomaly.cause] = causes.get(anomaly.cause, 0) + 1
        if anomaly.cause == "fragmented" and anomaly.refusal is not None:
            row = blame.setdefault(anomaly.tenant, {})
            for near in anomaly.refusal.nearest:
                for tenant, held in near.holders:
                    row[tenant] = row.get(tenant, 0) + held
    return {
        "scheduler": found.scheduler,
        "gpus": chain.gpus,
        "jobs": len(trace.jobs),
        "tenants": tenants,
        "ways": {way: _figures(chain, trace, run) for way, run in found.runs.items()},
        "anomalies": {
            "jobs": len(found.anomalies),
            "causes": dict(sorted(causes.items())),
            "in_the_way": {
                tenant: dict(sorted(row.items(), key=lambda item: (-item[1], item[0])))
                for tenant, row in sorted(blame.items())
            },
            "worst": [_told_anomaly(anomaly) for anomaly in found.anomalies[:5]],
        },
        "longer_under_cells": len(found.longer),
        "safe": not found.longer,
    }


def _more(private: float | None, shared: float | None) -> float | None:
    return None if private is None or shared is None else round(shared - private, 3)


def _worst(trace: Trace, private: Run, shared: Run, tenant: str) -> float:
    """Return the most minutes by which one of the tenant's jobs, done in both, is done later."""
    pairs = zip(trace.jobs, private.ended, shared.ended, strict=True)
    late = (
        after - before
        for job, before, after in pairs
        if job.tenant == tenant and min(before, after) >= 0
    )
    return _in_minutes(max(late, default=0))


def _told_anomaly(anomaly: Anomaly) -> dict[str, Any]:
    return {
        "job": anomaly.job,
        "tenant": anomaly.tenant,
        "minutes": None if anomaly.excess is None else _in_minutes(anomaly.excess),
        "cause": anomaly.cause,
        "why": "" if anomaly.refusal is None else str(anomaly.refusal),
    }


def _figures(chain: Chain, trace: Trace, run: Run) -> dict[str, Any]:
    """Return utilisation (shares of all GPUs), whole nodes and what low priority cost."""
    time = max(1, run.seconds)
    capacity = time * chain.gpus
    done = [end - job.submit for job, end in zip(trace.jobs, run.ended, strict=True) if end >= 0]
    return {
        "guaranteed": round(run.guaranteed / capacity, 4),
        "low_priority": round(run.lent / capacity, 4),
        "held": round(run.held / capacity, 4),
        "whole_nodes": round(run.whole / time, 2),
        "completion_minutes": _mean(done),
        "unfinished": len(trace.jobs) - len(done),
        "preempted_gpus": run.preempted,
        "preemptions": run.preemptions,
        "lost_gpu_hours": round(run.lost / 3600, 1),
        "moved_gpus": run.moved,
        "moved_gpus_of_others": run.moved_others,
        "stopped_by_scheduler": run.stopped,
        "killed_by_faults": run.killed,
    }


def report(data: dict[str, Any]) -> str:
    """Return a summary as text.

    Examples
    --------
    >>> from hived_cells.simulation.trace import Trace
    >>> nothing = Run(started=(), granted=(), ended=(), seconds=0)
    >>> from hived_cells import Chain, Reservation
    >>> runs = dict.fromkeys(WAYS, nothing)
    >>> empty = Comparison(Trace([]), Chain(1, (8,)), Reservation({}), "capacity", runs, (), ())
    >>> print(report(summary(empty)).splitlines()[0])
    capacity scheduler, 0 jobs on 8 GPUs; mean delay in minutes
    """
    lines = [
        f"{data['scheduler']} scheduler, {data['jobs']} jobs on {data['gpus']} GPUs; "
        "mean delay in minutes",
        f"{'tenant':12} {'GPUs':>5} {'jobs':>7} {'private':>9} {'quota':>9} {'cells':>9} "
        f"{'quota worst':>12}",
    ]
    for tenant, row in data["tenants"].items():
        delay = row["delay"]
        means = " ".join(f"{_told(delay[way]):>9}" for way in WAYS)
        lines.append(
            f"{tenant:12} {row['gpus']:5} {row['jobs']:7} {means} "
            f"{row['worst_excess']['quota']:12.1f}"
        )
    for way, row in data["ways"].items():
        parts = [f"{way}: {100 * row['guaranteed']:.1f} % of the GPUs in guaranteed use"]
        if way != "private":
            parts += [
                f"{100 * row['low_priority']:.1f} % at low priority",
                f"{row['whole_nodes']:.1f} nodes whole",
                f"{row['preempted_gpus']} GPUs preempted",
            ]
        if row["unfinished"]:
            parts.append(f"{row['unfinished']} jobs never done, not in the means")
        lines.append(", ".join(parts))
    found = data["anomalies"]
    causes = ", ".join(f"{number} {cause}" for cause, number in found["causes"].items())
    number = found["jobs"]
    lines.append(
        f"under quota {number} job{' is' if number == 1 else 's are'} done later than in private"
        + (f": {causes}" if causes else "")
    )
    lines += [
        f"  {_excess(row['minutes'])}: {row['job']} ({row['cause']}) {row['why']}"
        for row in found["worst"]
    ]
    verdict = "no job is" if data["safe"] else f"{data['longer_under_cells']} times a job is"
    never = data["ways"]["private"]["unfinished"]
    lines.append(
        f"under cells {verdict} granted or done later than in its private cluster"
        + (f", where {never} job{' is' if never == 1 else 's are'} never done" if never else "")
    )
    return "\n".join(lines)


def _told(mean: float | None) -> str:
    return "-" if mean is None else f"{mean:.1f}"


def _excess(minutes: float | None) -> str:
    return "never done" if minutes is None else f"{minutes:.0f} min"
