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
    check_resources,
    check_unique,
    grid_axis,
    not_negative,
    not_negative_table,
    whole_count,
)
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import ExactArray, approximate

Vector = tuple[Fraction, ...]
"""An amount of each resource, in the order of `Cluster.resources`."""

Per = Literal["gpu", "job"]
Objective = Literal["relative", "absolute"]


@dataclass(frozen=True, kw_only=True)
class Server:
    """A group of `count` identical servers.

    Parameters
    ----------
    type
        Name of the hardware.
    count
        Number of servers of this group, at least 1.
    gpus
        GPUs of one server, at least 1.
    capacity
        Amount of each resource of one server, in the order of `Cluster.resources`, each above 0.
    """

    type: str
    count: int
    gpus: int
    capacity: Vector

    def __post_init__(self) -> None:
        check_name(self.type, ".type")
        object.__setattr__(self, "count", whole_count(self.count, ".count"))
        object.__setattr__(self, "gpus", whole_count(self.gpus, ".gpus"))
        amounts = all_of(object, self.capacity, ".capacity")
        capacity = tuple(not_negative(value, ".capacity") for value in amounts)
        object.__setattr__(self, "capacity", capacity)

    @property
    def per_gpu(self) -> Vector:
        """Resources of a server divided by its GPUs: what one GPU's share is."""
        return tuple(amount / self.gpus for amount in self.capacity)


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Groups of identical servers and the names of their resources.

    Parameters
    ----------
    resources
        Name of each resource with its unit, ``{"cpu": "cores", "memory": "GB"}``; stored as pairs.
    servers
        The groups. Servers count from 0 through the groups in this order.

    Examples
    --------
    >>> cluster = Cluster(
    ...     resources={"cpu": "cores", "memory": "GB"},
    ...     servers=[Server(type="8xGPU", count=2, gpus=8, capacity=(24, 500))],
    ... )
    >>> cluster.gpus, cluster.capacity, cluster.share_of_a_gpu
    (16, (Fraction(48, 1), Fraction(1000, 1)), (Fraction(3, 1), Fraction(125, 2)))
    """

    resources: tuple[tuple[str, str], ...]
    servers: tuple[Server, ...]

    def __init__(
        self,
        *,
        resources: Mapping[str, str] | Iterable[tuple[str, str]],
        servers: Iterable[Server],
    ) -> None:
        pairs = resources.items() if isinstance(resources, Mapping) else resources
        listed = tuple((name, unit) for name, unit in all_of(tuple, tuple(pairs), ".resources"))
        object.__setattr__(self, "resources", listed)
        object.__setattr__(self, "servers", all_of(Server, servers, ".servers"))
        self._check()

    def _check(self) -> None:
        check_resources(self.names)
        for name, unit in self.resources:
            if not isinstance(unit, str):
                raise InvalidInstance(f"must be a string, not {unit!r:.40}", f".resources.{name}")
        if not self.servers:
            raise InvalidInstance("has no servers", ".servers")
        for i, group in enumerate(self.servers):
            if len(group.capacity) != len(self.resources):
                rule = f"has {len(group.capacity)} amounts for {len(self.resources)} resources"
                raise InvalidInstance(rule, f".servers[{i}]")
            for name, amount in zip(self.names, group.capacity, strict=True):
                if amount <= 0:
                    rule = f"capacity must be above 0, not {amount}"
                    raise InvalidInstance(rule, f".servers[{i}].{name}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the resources, in order."""
        return tuple(name for name, _ in self.resources)

    @cached_property
    def gpus(self) -> int:
        """GPUs of the whole cluster."""
        return sum(group.count * group.gpus for group in self.servers)

    @cached_property
    def server_count(self) -> int:
        """Number of servers of all groups."""
        return sum(group.count for group in self.servers)

    @cached_property
    def capacity(self) -> Vector:
        """Amount of each resource in the whole cluster."""
        columns = zip(*(group.capacity for group in self.servers), strict=True)
        counts = [group.count for group in self.servers]
        return tuple(
            sum((n * amount for n, amount in zip(counts, column, strict=True)), Fraction(0))
            for column in columns
        )

    @cached_property
    def share_of_a_gpu(self) -> Vector:
        """Fair share of one GPU; with several groups the smallest in each resource."""
        shares = (group.per_gpu for group in self.servers)
        return tuple(min(column) for column in zip(*shares, strict=True))

    @cached_property
    def group_of_server(self) -> tuple[int, ...]:
        """For each server the index of its group."""
        return tuple(g for g, group in enumerate(self.servers) for _ in range(group.count))


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Throughput of a model on a grid over the resources.

    Parameters
    ----------
    name
        Unique in an instance.
    axes
        For each resource its grid values, strictly increasing, at least 0:
        ``{"cpu": [1, 2, 3], "memory": [20.83, 62.5]}``; stored as pairs.
    throughput
        Nested lists in the order of `axes`, or an `ExactArray`; at least 0, in `unit`.
    per
        ``"gpu"``: axes and throughput are for one GPU, and a job of g GPUs takes g times both;
        ``"job"``: they are the job's totals.
    unit
        Of the throughput, for people: ``"samples/s"``.
    """

    name: str
    axes: tuple[tuple[str, ExactArray], ...]
    throughput: ExactArray
    per: Per = "gpu"
    unit: str = ""

    def __init__(
        self,
        *,
        name: str,
        axes: Mapping[str, object] | Iterable[tuple[str, object]],
        throughput: object,
        per: Per = "gpu",
        unit: str = "",
    ) -> None:
        pairs = tuple(axes.items() if isinstance(axes, Mapping) else all_of(tuple, axes, ".axes"))
        object.__setattr__(self, "name", name)
        object.__setattr__(
            self, "axes", tuple((key, grid_axis(key, values)) for key, values in pairs)
        )
        object.__setattr__(self, "throughput", not_negative_table(throughput, ".throughput"))
        object.__setattr__(self, "per", per)
        object.__setattr__(self, "unit", unit)
        self._check()

    def _check(self) -> None:
        check_name(self.name, "")
        if not isinstance(self.unit, str):
            raise InvalidInstance(f"must be a string, not {self.unit!r}", ".unit")
        if self.per not in get_args(Per):
            raise InvalidInstance(f"must be 'gpu' or 'job', not {self.per!r}", ".per")
        if not self.axes:
            raise InvalidInstance("has no axis", ".axes")
        check_unique([key for key, _ in self.axes], ".axes", "axis")
        expected = tuple(len(values) for _, values in self.axes)
        if self.throughput.shape != expected:
            shape = " × ".join(map(str, self.throughput.shape)) or "a single number"
            rule = f"is {shape}, but the axes are {' × '.join(map(str, expected))}"
            raise InvalidInstance(rule, ".throughput")

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources, in the order of the axes."""
        return tuple(key for key, _ in self.axes)

    def best_within(self, amounts: Vector, gpus: int) -> Fraction | None:
        """Give the highest throughput of a job of `gpus` GPUs within `amounts` of each resource.

        None where no grid point lies within. In the profile's own units, not times `gpus`.
        """
        scale = gpus if self.per == "gpu" else 1
        counts = [
            values.count_at_most(amount / scale)
            for (_, values), amount in zip(self.axes, amounts, strict=True)
        ]
        if 0 in counts:
            return None
        inside = self.throughput.numerators[tuple(slice(n) for n in counts)]
        return Fraction(int(inside.max()), self.throughput.denominator)


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
        if self.objective not in get_args(Objective):
            rule = f"must be 'relative' or 'absolute', not {self.objective!r}"
            raise InvalidInstance(rule, "$.objective")
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
                self._check_demand(job, f"$.jobs[{i}]")
                fair.add((job.profile, job.gpus))

    def _check_demand(self, job: Job, path: str) -> None:
        if job.profile not in self.profile_of:
            raise InvalidInstance(f"there is no profile {job.profile!r}", f"{path}.profile")
        if job.gpus > self.cluster.gpus:
            rule = f"is {job.gpus}, but the cluster has {self.cluster.gpus} GPUs"
            raise InvalidInstance(rule, f"{path}.gpus")
        share = tuple(job.gpus * amount for amount in self.cluster.share_of_a_gpu)
        fair = self.profile_of[job.profile].best_within(share, job.gpus)
        if fair:
            return
        amounts = ", ".join(
            f"{approximate(amount)} {unit} {name}"
            for (name, unit), amount in zip(self.cluster.resources, share, strict=True)
        )
        what = "has no configuration" if fair is None else "has throughput 0 everywhere"
        raise InvalidInstance(f"job {job.id!r} {what} inside its fair share ({amounts})", path)

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
