"""The servers: groups of identical ones, and the resources that they have beside GPUs.

Takes numbers as people write them and gives frozen, checked values with exact numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from synergy_opt.checks import (
    all_of,
    check_name,
    check_resources,
    check_text,
    named,
    not_negative,
    whole_count,
)
from synergy_opt.errors import InvalidInstance

Vector = tuple[Fraction, ...]
"""An amount of each resource, in the order of `Cluster.resources`."""


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
        object.__setattr__(self, "resources", named(resources, ".resources", "resource"))
        object.__setattr__(self, "servers", all_of(Server, servers, ".servers"))
        self._check()

    def _check(self) -> None:
        check_resources(self.names)
        for name, unit in self.resources:
            check_text(unit, f".resources.{name}")
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
