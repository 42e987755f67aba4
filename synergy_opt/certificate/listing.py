"""Which jobs a placement lists: each known, once, the runnable ones all, the others by priority.

Takes an instance and a placement; the runnable set is recomputed here from its definition.
"""

from __future__ import annotations

from collections.abc import Iterator

from synergy_opt.answer import Placement
from synergy_opt.certificate.violation import Violation
from synergy_opt.model import Instance


def listing_violations(instance: Instance, placement: Placement) -> Iterator[Violation]:
    """Report faults of the list of jobs ("instance", "unknown-job", "duplicate-job", …).

    Every runnable job must be listed ("runnable-listed"), with no pieces where it is left out. A
    job that is not runnable may be placed only in the room of jobs that are left out, and not
    before another one of higher priority ("priority"): the walk that passes over the jobs left out
    must take it too. Listing further jobs without pieces, and the order of the list, break no
    rule.
    """
    if placement.instance != instance.name:
        message = f"the placement is for {placement.instance!r}, not for {instance.name!r}"
        yield Violation(rule="instance", where="$.instance", message=message)
    known = {job.id for job in instance.jobs}
    first: dict[str, int] = {}
    for i, job in enumerate(placement.jobs):
        where = f"$.jobs[{i}].id"
        if job.id not in known:
            message = f"the instance has no job {job.id!r}"
            yield Violation(rule="unknown-job", where=where, message=message)
        elif job.id in first:
            message = f"{job.id!r} is listed at $.jobs[{first[job.id]}] already"
            yield Violation(rule="duplicate-job", where=where, message=message)
        first.setdefault(job.id, i)
    yield from _runnable_violations(instance, placement, first)


def _runnable_violations(
    instance: Instance, placement: Placement, listed: dict[str, int]
) -> Iterator[Violation]:
    runnable = _walk(instance, set())
    for job_id, gpus in runnable.items():
        if job_id not in listed:
            message = f"job {job_id!r} ({gpus} GPUs) is runnable, but not listed"
            yield Violation(rule="runnable-listed", where="$.jobs", message=message)
    placed = {job.id for job in placement.jobs if job.pieces}
    instead = _walk(instance, listed.keys() - placed)
    for job in instance.jobs:
        if job.id in placed and job.id not in runnable and job.id not in instead:
            message = (
                f"job {job.id!r} is placed, but its {job.gpus} GPUs are not there once the jobs "
                "of higher priority that are not left out have theirs"
            )
            where = f"$.jobs[{listed[job.id]}].pieces"
            yield Violation(rule="priority", where=where, message=message)


def _walk(instance: Instance, left_out: set[str]) -> dict[str, int]:
    """Walk the priority order and take each job whose GPU demand is still available."""
    free, taken = instance.cluster.gpus, {}
    for job in instance.jobs:
        if job.gpus <= free and job.id not in left_out:
            taken[job.id] = job.gpus
            free -= job.gpus
    return taken
