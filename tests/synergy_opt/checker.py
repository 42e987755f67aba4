"""An exact check of a placement straight from the definitions, with nothing but fractions.

It reads the instance's plain fields and the placement's, and shares no code with the mechanisms,
the ledger, the fair share, the configurations or the certificate.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product


def faults(instance, placement, *, may_skip=False):
    """List every rule that the placement breaks, as sentences that start with the rule's name."""
    found = []
    by_id = {job.id: job for job in instance.jobs}
    listed = [placed.id for placed in placement.jobs]
    runs = runnable_ids(instance)
    if may_skip:  # in the room of jobs that are left out, jobs behind the runnable ones may run
        behind = {job.id for job in instance.jobs} - set(runs)
        listed = [name for name in listed if name not in behind]
    if listed != runs:
        found.append("runnable: the jobs listed are not the runnable ones in priority order")
    used = defaultdict(lambda: [Fraction(0)] * (1 + len(instance.cluster.resources)))
    for placed in placement.jobs:
        if may_skip and not placed.pieces:
            if placed.throughput != 0:
                found.append(f"throughput: {placed.id} is left out, but has {placed.throughput}")
            continue
        found += _job_faults(instance, by_id[placed.id], placed)
        for piece in placed.pieces:
            amounts = (piece.gpus, *piece.amounts)
            used[piece.server] = [u + a for u, a in zip(used[piece.server], amounts, strict=True)]
    kind_of_server = servers(instance)
    for server, amounts in used.items():
        group = kind_of_server[server]
        for what, (have, most) in enumerate(
            zip(amounts, (group.gpus, *group.capacity), strict=True)
        ):
            if have > most:
                found.append(f"capacity: server {server} gives {have} of {most} in row {what}")
    return found


def _job_faults(instance, job, placed):
    where = [piece.server for piece in placed.pieces]
    if not where:
        yield f"placed: {job.id} has no place"
        return
    if where != sorted(set(where)):
        yield f"pieces: {job.id} has servers {where}, not ascending once each"
    if any(piece.gpus.denominator != 1 or piece.gpus < 1 for piece in placed.pieces):
        yield f"whole: {job.id} has a piece without a whole number of GPUs"
    if sum(piece.gpus for piece in placed.pieces) != job.gpus:
        yield f"gpus: {job.id} does not have its {job.gpus} GPUs"
    for piece in placed.pieces:
        share = tuple(amount * piece.gpus / job.gpus for amount in placed.demand)
        if piece.amounts != share:
            yield f"proportional: {job.id} has {piece.amounts} on {piece.server}, not {share}"
    best = throughput_within(instance, job, placed.demand)
    fair = throughput_within(instance, job, share_on(instance, job, where))
    if best is None or best < fair:
        yield f"floor: {job.id} makes {best} of its demand, its share gives {fair}"
    if best is not None and placed.throughput != best * unit(instance, job):
        yield f"throughput: {job.id} is said to have {placed.throughput}"


def runnable_ids(instance):
    """Jobs in priority order, each taken while its GPUs are still available."""
    left, ids = sum(g.count * g.gpus for g in instance.cluster.servers), []
    for job in instance.jobs:
        if job.gpus <= left:
            left -= job.gpus
            ids.append(job.id)
    return ids


def servers(instance):
    """Give the group of each server, counted through the groups."""
    return [group for group in instance.cluster.servers for _ in range(group.count)]


def share_on(instance, job, where):
    """F_r = g · min R_r/G over the groups of these servers."""
    all_servers = servers(instance)
    groups = [all_servers[server] for server in where]
    return tuple(
        job.gpus * min(group.capacity[r] / group.gpus for group in groups)
        for r in range(len(instance.cluster.resources))
    )


def throughput_within(instance, job, amounts):
    """Max { W_k : d_k ≤ amounts }, by looking at every grid point; None where there is none."""
    profile = next(p for p in instance.profiles if p.name == job.profile)
    scale = job.gpus if profile.per == "gpu" else 1
    axes = [values.tolist() for _, values in profile.axes]
    points = product(*(range(len(axis)) for axis in axes))
    inside = [
        profile.throughput[point]
        for point in points
        if all(scale * axis[i] <= a for axis, i, a in zip(axes, point, amounts, strict=True))
    ]
    return max(inside, default=None)


def unit(instance, job):
    """Give what one unit of the profile's throughput counts for this job."""
    if instance.objective == "relative":
        everywhere = range(len(servers(instance)))
        return job.weight / throughput_within(instance, job, share_on(instance, job, everywhere))
    profile = next(p for p in instance.profiles if p.name == job.profile)
    return job.weight * (job.gpus if profile.per == "gpu" else 1)
