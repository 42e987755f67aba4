"""The problem as values: servers, profiles, jobs, and the instance that they make.

Takes numbers as people write them and gives frozen, checked values with exact numbers; whatever
breaks a rule is refused here with `InvalidInstance`, so that no later step has to look again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Literal, get_args

from synergy_opt.checks import (
    all_of,
    check_name,
    check_one_of,
    check_unique,
    expect,
    not_negative,
    whole_count,
)
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import approximate
from synergy_opt.model.cluster import Cluster
from synergy_opt.model.profile import Profile

Objective = Literal["relative", "absolute"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A training job.

    Parameters
    ----------
    id
        Unique in an instance.
    gpus
        GPU demand, at least 1; fixed for the job's life.
    profile
        Name of the job's `Profile`.
    weight
        Factor of the job's throughput in the objective, above 0.
    """

    id: str
    gpus: int
    profile: str
    weight: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        check_name(self.id, ".id")
        object.__setattr__(self, "gpus", whole_count(self.gpus, ".gpus"))
        check_name(self.profile, ".profile")
        weight = not_negative(self.weight, ".weight")
        if weight == 0:
            raise InvalidInstance("must be above 0", ".weight")
        object.__setattr__(self, "weight", weight)


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A cluster and the jobs that want to run on it, highest priority first.

    Parameters
    ----------
    name
        Placements name it.
    cluster, profiles, jobs
        The order of `jobs` is the policy's priority order.
    objective
        ``"relative"``: a job counts its throughput over its fair throughput, times its weight;
        ``"absolute"``: its throughput in the profile's unit, times its weight.

    Raises
    ------
    InvalidInstance
        Also when a job has no configuration inside its fair share, or a fair throughput of 0:
        such a job cannot be given its floor.
    """

    name: str
    cluster: Cluster
    profiles: tuple[Profile, ...]
    jobs: tuple[Job, ...]
    objective: Objective = "relative"

    def __init__(
        self,
        *,
        name: str,
        cluster: Cluster,
        profiles: Iterable[Profile],
        jobs: Iterable[Job],
        objective: Objective = "relative",
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "cluster", cluster)
        object.__setattr__(self, "profiles", all_of(Profile, profiles, "$.profiles"))
        object.__setattr__(self, "jobs", all_of(Job, jobs, "$.jobs"))
        object.__setattr__(self, "objective", objective)
        self._check()

    def _check(self) -> None:
        check_name(self.name, "$.name")
        all_of(Cluster, [self.cluster], "$.cluster")
        check_one_of(self.objective, get_args(Objective), "$.objective")
        check_unique([profile.name for profile in self.profiles], "$.profiles", "profile")
        for profile in self.profiles:
            if profile.resources != self.cluster.names:
                rule = (
                    f"are {', '.join(profile.resources)}, but the cluster's resources are "
                    f"{', '.join(self.cluster.names)}"
                )
                raise InvalidInstance(rule, f"$.profiles.{profile.name}.axes")
        self._check_jobs(set())

    def _check_jobs(self, fair: set[tuple[str, int]]) -> None:
        seen: set[str] = set()
        for i, job in enumerate(self.jobs):
            if job.id in seen:
                raise InvalidInstance(f"{job.id!r} is the id of an earlier job", f"$.jobs[{i}].id")
            seen.add(job.id)
            if (job.profile, job.gpus) not in fair:
                try:
                    self.check_job(job)
                except InvalidInstance as error:
                    raise error.at(f"$.jobs[{i}]") from None
                fair.add((job.profile, job.gpus))

    def profile_for(self, job: Job) -> Profile:
        """Give a job's profile; raises `InvalidInstance` where there is none of that name."""
        expect(Job, job, "job")
        if job.profile not in self.profile_of:
            raise InvalidInstance(f"there is no profile {job.profile!r}", ".profile")
        return self.profile_of[job.profile]

    def check_job(self, job: Job) -> None:
        """Check that a job can be one of this instance: profile, GPUs, fair share.

        Raises
        ------
        InvalidInstance
            With the path below the job.
        """
        profile = self.profile_for(job)
        if job.gpus > self.cluster.gpus:
            rule = f"is {job.gpus}, but the cluster has {self.cluster.gpus} GPUs"
            raise InvalidInstance(rule, ".gpus")
        share = tuple(job.gpus * amount for amount in self.cluster.share_of_a_gpu)
        fair = profile.best_within(share, job.gpus)
        if fair:
            return
        amounts = ", ".join(
            f"{approximate(amount)} {unit} {name}"
            for (name, unit), amount in zip(self.cluster.resources, share, strict=True)
        )
        what = "has no configuration" if fair is None else "has throughput 0 everywhere"
        raise InvalidInstance(f"job {job.id!r} {what} inside its fair share ({amounts})")

    def __str__(self) -> str:
        cluster = self.cluster
        return (
            f"Instance {self.name!r}: {len(self.jobs)} jobs on {cluster.server_count} servers, "
            f"{cluster.gpus} GPUs, {', '.join(cluster.names)}"
        )

    @cached_property
    def profile_of(self) -> Mapping[str, Profile]:
        """Profiles by name."""
        return MappingProxyType({profile.name: profile for profile in self.profiles})

    @cached_property
    def memo(self) -> dict[object, object]:
        """What functions of the cluster and the profiles alone keep, lest it be worked out anew.

        Shared with what `with_jobs` gives; no part of the value, nor of a copy or a file.
        """
        return {}

    def with_jobs(self, jobs: Iterable[Job]) -> Instance:
        """Give the same instance with other jobs: one check a kind of jobs, however often.

        Raises
        ------
        InvalidInstance
            As the constructor does.
        """
        known = self.memo.setdefault("with_jobs", {(job.profile, job.gpus) for job in self.jobs})
        assert isinstance(known, set)
        other = object.__new__(Instance)
        for name in ("name", "cluster", "profiles", "objective", "profile_of", "memo"):
            object.__setattr__(other, name, getattr(self, name))
        object.__setattr__(other, "jobs", all_of(Job, jobs, "$.jobs"))
        other._check_jobs(known)
        return other

    def __getstate__(self) -> dict[str, object]:
        """Give the fields alone: a read-only view such as `profile_of` cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
