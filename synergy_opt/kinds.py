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
    found: dict[tuple[object, ...], Configurations] = {}
    members: dict[tuple[object, ...], list[int]] = {}
    for i, job in enumerate(jobs):
        key = _key(job)
        if key not in found:
            found[key] = configurations(instance, job, consolidated=consolidated)
        members.setdefault(key if merge else (*key, i), []).append(i)
    return [
        Kind(
            members=tuple(positions),
            gpus=jobs[positions[0]].gpus,
            configurations=found[_key(jobs[positions[0]])],
        )
        for positions in members.values()
    ]


def _key(job: Job) -> tuple[object, ...]:
    # Two integers in place of the weight: hashing a fraction takes longer than all the rest.
    return job.profile, job.gpus, job.weight.numerator, job.weight.denominator
