"""What a placement amounts to: how full the servers are, and who is below the fair floor.

Takes an instance and a placement and gives exact numbers; whether the placement is possible at
all is for `certificate` to say.
"""

from __future__ import annotations

from fractions import Fraction

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.configurations import consolidation_limits
from synergy_opt.exact import exact_sum
from synergy_opt.fair_share import fair_throughput, unit_value
from synergy_opt.model import Instance, Vector


def used_by_server(instance: Instance, placement: Placement) -> list[Vector]:
    """Give for each server its GPUs in use, then the amount in use of each resource."""
    width = 1 + len(instance.cluster.resources)
    used = [[Fraction(0)] * width for _ in range(instance.cluster.server_count)]
    for job in placement.jobs:
        for piece in job.pieces:
            row = used[piece.server]
            for r, amount in enumerate((piece.gpus, *piece.amounts)):
                row[r] += amount
    return [tuple(row) for row in used]


def server_utilisation(instance: Instance, placement: Placement) -> list[Vector]:
    """Give for each server the parts in use of its GPUs and of each resource, 1 being full."""
    groups = instance.cluster.servers
    kind = instance.cluster.group_of_server
    whole = [(Fraction(group.gpus), *group.capacity) for group in groups]
    return [
        tuple(amount / most for amount, most in zip(row, whole[kind[i]], strict=True))
        for i, row in enumerate(used_by_server(instance, placement))
    ]


def utilisation(instance: Instance, placement: Placement) -> Vector:
    """Give the parts in use of all GPUs and of each resource of the cluster, 1 being full."""
    whole = (Fraction(instance.cluster.gpus), *instance.cluster.capacity)
    columns = zip(*used_by_server(instance, placement), strict=True)
    return tuple(exact_sum(column) / most for column, most in zip(columns, whole, strict=True))


def below_floor(instance: Instance, placement: Placement) -> tuple[str, ...]:
    """Name the listed jobs that make less than their fair throughput; left-out jobs do.

    The floor is W^f on the groups of servers that the job touches, on all groups where it touches
    none (theory: "Fair share").
    """
    by_id = {job.id: job for job in instance.jobs}
    kind = instance.cluster.group_of_server
    floors: dict[object, Fraction] = {}

    def floor(entry: PlacedJob) -> Fraction:
        job = by_id[entry.id]
        groups = frozenset(kind[piece.server] for piece in entry.pieces) or None
        key = (job.profile, job.gpus, job.weight, groups)
        if key not in floors:
            throughput = fair_throughput(instance, job, groups=groups)
            floors[key] = throughput * unit_value(instance, job)
        return floors[key]

    return tuple(entry.id for entry in placement.jobs if entry.throughput < floor(entry))


def above_a_server(instance: Instance, placement: Placement) -> tuple[str, ...]:
    """Name the jobs that hold more than the consolidation rule allows (`configurations`)."""
    by_id = {job.id: job for job in instance.jobs}
    limits: dict[int, list[Vector]] = {}
    found = []
    for entry in placement.jobs:
        gpus = by_id[entry.id].gpus
        if gpus not in limits:
            limits[gpus] = consolidation_limits(instance.cluster, gpus)
        fits = (
            all(amount <= most for amount, most in zip(entry.demand, limit, strict=True))
            for limit in limits[gpus]
        )
        if not any(fits):
            found.append(entry.id)
    return tuple(found)
