"""Equal jobs merged: jobs with the same profile, GPU demand and weight are one kind.

Takes jobs of an instance and gives the kinds with their configurations; the size of stage 1 then
depends on the number of kinds, not of jobs (theory: stage 1, point 4). Exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from synergy_opt.configurations import Configurations, configurations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from synergy_opt.model import Instance, Job


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Jobs that no method can tell apart but by name.

    Parameters
    ----------
    members
        Positions of the jobs in the sequence that was grouped, ascending.
    gpus
        GPU demand of each.
    configurations
        What each may be given, fair or not.
    """

    members: tuple[int, ...]
    gpus: int
    configurations: Configurations

    def __len__(self) -> int:
        return len(self.members)


def kinds(
    instance: Instance, jobs: Sequence[Job], *, merge: bool = True, consolidated: bool = True
) -> list[Kind]:
    """Group jobs into kinds, in order of first appearance.

    Parameters
    ----------
    instance, jobs
        Jobs of the instance.
    merge
        False: a kind a job, as the paper writes its programme.
    consolidated
        See `configurations`.
    """
    members = _equal(jobs) if merge else [[i] for i in range(len(jobs))]
    known: dict[tuple[object, ...], Configurations] = {}
    for some in members:
        job = jobs[some[0]]
        if _key(job) not in known:
            known[_key(job)] = configurations(instance, job, consolidated=consolidated)
    return [
        Kind(
            members=tuple(some),
            gpus=jobs[some[0]].gpus,
            configurations=known[_key(jobs[some[0]])],
        )
        for some in members
    ]


def _equal(jobs: Sequence[Job]) -> list[list[int]]:
    """Give the positions of equal jobs, ascending, in order of first appearance."""
    # Weights mostly are one and the same object: its identity is found faster than its value.
    alike: dict[tuple[str, int, int], list[int]] = {}
    for i, job in enumerate(jobs):
        alike.setdefault((job.profile, job.gpus, id(job.weight)), []).append(i)
    members: dict[tuple[object, ...], list[int]] = {}
    for some in alike.values():
        members.setdefault(_key(jobs[some[0]]), []).extend(some)
    return [sorted(some) for some in members.values()]


def _key(job: Job) -> tuple[object, ...]:
    # Two integers in place of the weight: hashing a fraction takes longer than all the rest.
    return job.profile, job.gpus, job.weight.numerator, job.weight.denominator
