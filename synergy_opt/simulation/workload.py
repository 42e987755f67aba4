"""What a simulation runs: a trace of jobs and the profiles that they name.

Takes the lines of a trace and gives a frozen, checked `Workload`; a line that breaks a rule is
refused here with `InvalidInstance`, so that no later step has to look again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from types import MappingProxyType

from synergy_opt.checks import all_of, check_name, not_negative, whole_count
from synergy_opt.errors import InvalidInstance
from synergy_opt.model import Profile


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One line of a trace.

    Parameters
    ----------
    id
        Unique in a workload.
    submitted
        When the job arrives, in seconds, at least 0.
    duration
        Seconds that it would run alone at its GPU-proportional throughput, above 0.
    gpus
        GPU demand, at least 1.
    profile
        Name of its `Profile`.

    Raises
    ------
    InvalidInstance
        When a value breaks its rule.

    Examples
    --------
    >>> TraceJob("a", "0.5", 3600, 1, "resnet18").submitted
    Fraction(1, 2)
    """

    id: str
    submitted: Fraction
    duration: Fraction
    gpus: int
    profile: str

    def __post_init__(self) -> None:
        check_name(self.id, ".id")
        object.__setattr__(self, "submitted", not_negative(self.submitted, ".submitted"))
        duration = not_negative(self.duration, ".duration")
        if duration == 0:
            raise InvalidInstance("must be above 0", ".duration")
        object.__setattr__(self, "duration", duration)
        object.__setattr__(self, "gpus", whole_count(self.gpus, ".gpus"))
        check_name(self.profile, ".profile")


@dataclass(frozen=True, slots=True)
class Workload:
    """A trace, in order of submission, and the profiles of its jobs.

    Parameters
    ----------
    name
        Results name it.
    profiles
        By their names.
    jobs
        Jobs that arrive at the same time keep the order in which they are listed.

    Raises
    ------
    InvalidInstance
        When jobs are not in order of submission, two have one id, or a profile is missing.

    Examples
    --------
    >>> profile = Profile(name="m", axes={"cpu": [3]}, throughput=[1])
    >>> workload = Workload("w", {"m": profile}, (TraceJob("a", 0, 60, 1, "m"),))
    >>> print(workload)
    Workload 'w': 1 jobs, 1 profiles
    >>> workload.jobs[0].duration
    Fraction(60, 1)
    """

    name: str
    profiles: Mapping[str, Profile]
    jobs: tuple[TraceJob, ...]

    def __str__(self) -> str:
        return f"Workload {self.name!r}: {len(self.jobs)} jobs, {len(self.profiles)} profiles"

    def __post_init__(self) -> None:
        check_name(self.name, "$.name")
        given: object = self.profiles
        if not isinstance(given, Mapping):
            rule = f"must be a mapping from names, not {type(given).__name__}"
            raise InvalidInstance(rule, "$.profiles")
        profiles = dict(given)
        for key, profile in profiles.items():
            if not isinstance(profile, Profile) or profile.name != key:
                raise InvalidInstance(f"{key!r:.40} does not name its profile", "$.profiles")
        object.__setattr__(self, "profiles", MappingProxyType(profiles))
        object.__setattr__(self, "jobs", all_of(TraceJob, self.jobs, "$.jobs"))
        self._check_jobs()

    def _check_jobs(self) -> None:
        seen: set[str] = set()
        last = Fraction(0)
        for i, job in enumerate(self.jobs):
            if job.id in seen:
                raise InvalidInstance(f"{job.id!r} is the id of an earlier job", f"$.jobs[{i}].id")
            seen.add(job.id)
            if job.submitted < last:
                rule = f"is {job.submitted} s, before the job listed before it ({last} s)"
                raise InvalidInstance(rule, f"$.jobs[{i}].submitted")
            last = job.submitted
            if job.profile not in self.profiles:
                raise InvalidInstance(
                    f"there is no profile {job.profile!r}", f"$.jobs[{i}].profile"
                )

    def __getstate__(self) -> tuple[object, ...]:
        """Give plain values: a read-only view cannot be pickled."""
        return self.name, dict(self.profiles), self.jobs

    def __setstate__(self, state: tuple[object, ...]) -> None:
        """Take them back, without checking anew."""
        name, profiles, jobs = state
        assert isinstance(profiles, dict)
        values = (name, MappingProxyType(profiles), jobs)
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)
