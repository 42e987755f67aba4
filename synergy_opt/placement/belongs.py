"""Whether an answer is one to this instance: what place and realize need before they go on.

Takes an instance with an allocation or a placement and gives the jobs that it lists, or raises
`InvalidInstance`. This is no certificate: of what follows anew, such as fairness, nothing is
judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from synergy_opt.answer import Allocation, Choice, PlacedJob, Placement, vector_sum
from synergy_opt.checks import all_of, expect
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import approximate, exact_sum
from synergy_opt.fair_share import unit_value
from synergy_opt.model import Instance, Job, Vector


def jobs_of_allocation(instance: Instance, allocation: Allocation) -> list[Job]:
    """Give an allocation's jobs, each with the demand and throughput of its mixture here.

    Raises
    ------
    InvalidInstance
        When the allocation is of another name, lists a job that is not here or is there twice,
        asks for more GPUs than there are, or a choice's mixture makes something else on this
        instance's profiles: then it was made for an instance with other numbers.
    """
    expect(Instance, instance, "instance")
    expect(Allocation, allocation, "allocation")
    choices = all_of(Choice, allocation.jobs, "$.jobs")
    jobs = _listed(instance, "allocation", allocation.instance, [c.id for c in choices])
    known: dict[object, tuple[Vector, Fraction]] = {}
    for i, (job, choice) in enumerate(zip(jobs, choices, strict=True)):
        key = job.profile, job.gpus, job.weight, choice.mixture
        if key not in known:
            known[key] = _made(instance, job, choice, f"$.jobs[{i}].mixture")
        if (choice.demand, choice.throughput) != known[key]:
            demand, throughput = known[key]
            amounts = ", ".join(map(approximate, demand))
            rule = (
                f"job {job.id!r} ({job.gpus} GPUs) takes {amounts} and makes "
                f"{approximate(throughput)} with this mixture: the allocation is for another "
                "instance of this name"
            )
            raise InvalidInstance(rule, f"$.jobs[{i}]")
    return jobs


def jobs_of_placement(instance: Instance, placement: Placement) -> list[Job]:
    """Give a placement's jobs, each with pieces that sum to its GPUs, or without any.

    Raises
    ------
    InvalidInstance
        As `jobs_of_allocation`; also when a piece is on no server of the cluster, or the jobs
        that are on one server alone ask for more GPUs than it has.
    """
    expect(Instance, instance, "instance")
    expect(Placement, placement, "placement")
    entries = all_of(PlacedJob, placement.jobs, "$.jobs")
    jobs = _listed(instance, "placement", placement.instance, [job.id for job in entries])
    group, width = instance.cluster.group_of_server, len(instance.cluster.names)
    free = [instance.cluster.servers[g].gpus for g in group]
    for i, (job, entry) in enumerate(zip(jobs, entries, strict=True)):
        path = f"$.jobs[{i}]"
        if len(entry.demand) != width:
            raise InvalidInstance(
                f"has {len(entry.demand)} amounts, not {width}", f"{path}.demand"
            )
        servers = [piece.server for piece in entry.pieces]
        if not all(0 <= server < len(free) for server in servers):
            rule = f"are on servers {servers} of {len(free)}"
            raise InvalidInstance(rule, f"{path}.pieces")
        gpus = sum((piece.gpus for piece in entry.pieces), Fraction(0))
        if entry.pieces and gpus != job.gpus:
            rule = f"have {approximate(gpus)} GPUs, but job {job.id!r} has {job.gpus}"
            raise InvalidInstance(rule, f"{path}.pieces")
        if len(servers) == 1:
            free[servers[0]] -= job.gpus
            if free[servers[0]] < 0:
                rule = f"server {servers[0]} has not the GPUs for job {job.id!r} and those before"
                raise InvalidInstance(rule, f"{path}.pieces[0]")
    return jobs


def _listed(instance: Instance, what: str, name: str, ids: Iterable[str]) -> list[Job]:
    if name != instance.name:
        raise InvalidInstance(f"the {what} is for {name!r}, not for {instance.name!r}")
    by_id = {job.id: job for job in instance.jobs}
    found: dict[str, Job] = {}
    for i, each in enumerate(ids):
        if each not in by_id:
            raise InvalidInstance(f"the instance has no job {each!r}", f"$.jobs[{i}].id")
        if each in found:
            raise InvalidInstance(f"job {each!r} is there twice", f"$.jobs[{i}].id")
        found[each] = by_id[each]
    gpus = sum(job.gpus for job in found.values())
    if gpus > instance.cluster.gpus:
        raise InvalidInstance(f"ask for {gpus} of {instance.cluster.gpus} GPUs", "$.jobs")
    return list(found.values())


def _made(instance: Instance, job: Job, choice: Choice, path: str) -> tuple[Vector, Fraction]:
    """Give the demand and the throughput of a choice's mixture on this instance's profile."""
    profile, unit = instance.profile_for(job), unit_value(instance, job)
    scale = job.gpus if profile.per == "gpu" else 1
    shape = profile.throughput.shape
    size = profile.throughput.numerators.size
    inside = all(0 <= point < size and part > 0 for point, part in choice.mixture)
    if not inside or sum(part for _, part in choice.mixture) != 1:
        rule = f"must be parts above 0 that sum to 1, of grid points 0 to {size - 1}"
        raise InvalidInstance(rule, path)
    at = [(np.unravel_index(point, shape), part) for point, part in choice.mixture]
    demand = vector_sum(
        [
            tuple(
                part * scale * axis[int(i)]
                for (_, axis), i in zip(profile.axes, index, strict=True)
            )
            for index, part in at
        ],
        len(shape),
    )
    throughput = exact_sum(
        part * unit * profile.throughput[tuple(int(i) for i in index)] for index, part in at
    )
    return demand, throughput
