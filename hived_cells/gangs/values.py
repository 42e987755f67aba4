"""What a gang is and where it runs: frozen values, checked when they are made.

A gang (an affinity group) is a set of pods placed all or nothing; a pod is a number of GPUs in
one node.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from hived_cells.errors import InvalidSpec, shown
from hived_cells.hierarchy import MAX_GPUS, MAX_LEVELS, Cell
from hived_cells.state import Job

__all__ = ["LOW_PRIORITY", "MAX_PRIORITY", "Gang", "GangPlacement", "Outlook", "RunningGang"]

LOW_PRIORITY = -1
MAX_PRIORITY = 1000

Pods = tuple[tuple[int, int], ...]  # (GPUs a pod, pods)


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods that start together or not at all.

    Parameters
    ----------
    id
        Its name, unique among the gangs that run.
    tenant
        Whose it is.
    pods
        (GPUs a pod, number of pods) for each size; sizes may differ.
    priority
        0 to 1000 for a guaranteed gang in the tenant's own cells: a higher one may stop a lower
        one of the same tenant. -1 for low priority on GPUs that nobody holds.
    kind
        Kind of GPU, None for any.
    pool
        Pool by name, None for any.
    pinned
        Name of the tenant's pin in which to run; without one no pin is used.
    within
        Level of a cell that must contain all pods; None asks for none.
    gather
        Whether the lowest common ancestor of all pods comes before the fullest nodes; False packs
        pod by pod (inside `within`, where that is given).
    lazy
        Whether a gang of higher priority turns this one into a low-priority gang where it runs,
        where possible, in place of stopping it.

    Raises
    ------
    InvalidSpec
        A field is not of the form above.

    Examples
    --------
    >>> Gang("g1", "A", ((8, 2), (1, 1))).gpus
    17
    """

    id: str
    tenant: str
    pods: Pods
    priority: int = 0
    kind: str | None = field(default=None, kw_only=True)
    pool: str | None = field(default=None, kw_only=True)
    pinned: str | None = field(default=None, kw_only=True)
    within: int | None = field(default=None, kw_only=True)
    gather: bool = field(default=True, kw_only=True)
    lazy: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("id", "tenant"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise InvalidSpec(f"gang: {name} is {shown(value)}; a non-empty string is needed")
        for name in ("kind", "pool", "pinned"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise self._refused(f"{name} is {shown(value)}; a string or None is needed")
        object.__setattr__(self, "pods", self._checked_pods())
        if type(self.priority) is not int or not LOW_PRIORITY <= self.priority <= MAX_PRIORITY:
            raise self._refused(
                f"priority {shown(self.priority)} is not in {LOW_PRIORITY}..{MAX_PRIORITY}"
            )
        if self.within is not None and (
            type(self.within) is not int or not 1 <= self.within <= MAX_LEVELS
        ):
            raise self._refused(
                f"within is {shown(self.within)}; a level from 1 to {MAX_LEVELS} is needed"
            )
        for name in ("gather", "lazy"):
            if type(getattr(self, name)) is not bool:
                raise self._refused(
                    f"{name} is {shown(getattr(self, name))}; True or False is needed"
                )
        if self.pinned is not None and self.priority == LOW_PRIORITY:
            raise self._refused(f"pin {self.pinned!r} and low priority exclude each other")

    def _refused(self, rule: str) -> InvalidSpec:
        return InvalidSpec(f"gang {shown(self.id)}: {rule}")

    def _checked_pods(self) -> Pods:
        if not isinstance(self.pods, Iterable):
            raise self._refused(f"pods are {shown(self.pods)}; (GPUs, pods) pairs are needed")
        pods = tuple(tuple(pair) if isinstance(pair, list) else pair for pair in self.pods)
        for pair in pods:
            if (
                not isinstance(pair, tuple)
                or len(pair) != 2
                or any(type(n) is not int or not 1 <= n <= MAX_GPUS for n in pair)
            ):
                raise self._refused(
                    f"{shown(pair)}: a pair of integers from 1 to {MAX_GPUS} is needed"
                )
        if not pods:
            raise self._refused("it has no pods")
        return pods

    @property
    def gpus(self) -> int:
        """GPUs of all pods together."""
        return sum([size * count for size, count in self.pods])

    @property
    def is_low_priority(self) -> bool:
        """Whether it asks for GPUs that nobody holds rather than for the tenant's own."""
        return self.priority == LOW_PRIORITY


class RunningGang(NamedTuple):
    """A gang and the GPUs that it has.

    Parameters
    ----------
    gang
        What was asked for.
    pool
        The pool it runs in.
    pods
        A pod's GPUs, numbered across the pool, in the order of its pods.
    low_priority
        Whether it runs on GPUs that nobody holds, from the start or since a downgrade.

    Examples
    --------
    >>> RunningGang(Gang("g1", "A", ((2, 1),)), "NODE", ((4, 5),), low_priority=False).gpus
    (4, 5)
    """

    gang: Gang
    pool: str
    pods: tuple[tuple[int, ...], ...]
    low_priority: bool

    @property
    def gpus(self) -> tuple[int, ...]:
        """All its GPUs in ascending order."""
        return tuple(sorted([gpu for pod in self.pods for gpu in pod]))


class GangPlacement(NamedTuple):
    """Where a gang was placed and what that took.

    Parameters
    ----------
    gang
        What was asked for.
    pool
        The pool it runs in.
    pods
        A pod's GPUs, numbered across the pool, in the order of its pods.
    low_priority
        Whether it runs on GPUs that nobody holds.
    bound
        Reserved cells that were bound for it.
    victims
        Gangs stopped.
    downgraded
        Gangs that go on at low priority.
    jobs
        Low-priority jobs stopped that are no gangs.
    exact
        Whether what it took is proved necessary; False: a search hit its limit.

    Examples
    --------
    >>> GangPlacement(Gang("g1", "A", ((1, 1),)), "", ((0,),), low_priority=False).exact
    True
    """

    gang: Gang
    pool: str
    pods: tuple[tuple[int, ...], ...]
    low_priority: bool
    bound: tuple[Cell, ...] = ()
    victims: tuple[str, ...] = ()
    downgraded: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = ()
    exact: bool = True


class Outlook(Enum):
    """Whether a gang can be placed.

    Examples
    --------
    >>> Outlook.WAIT.value
    'wait'
    """

    NOW = "now"  # without stopping a gang of the tenant's own
    PREEMPT = "preempt"  # by stopping gangs of lower priority
    WAIT = "wait"  # not now; it fits into what the tenant reserved
    NEVER = "never"  # not even when all that the tenant reserved is idle and healthy
