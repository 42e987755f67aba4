"""What is submitted to a cluster: takes jobs with times and shapes, gives a checked trace.

Times are whole seconds from the trace's start; a shape is nodes × GPUs on each of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from hived_cells.errors import InvalidSpec, shown

__all__ = ["MAX_SECONDS", "Shape", "Trace", "TraceJob", "shape_of"]

MAX_SECONDS = 10**10  # some 300 years: a longer time is a unit mistaken for another


class Shape(NamedTuple):
    """What a job asks for: `nodes` groups of `gpus` GPUs, each group within one node or cell.

    Groups may share a node that has room for several.

    Parameters
    ----------
    nodes
        Number of groups.
    gpus
        GPUs of each group.
    soft
        Whether the job also runs in any other shape of as many GPUs.

    Examples
    --------
    >>> Shape(2, 8).total
    16
    """

    nodes: int
    gpus: int
    soft: bool = False

    @property
    def total(self) -> int:
        """GPUs of the job."""
        return self.nodes * self.gpus


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One job of a trace.

    Parameters
    ----------
    name
        Unique in its trace.
    tenant
        Who submits it.
    submit
        When (seconds from the start of the trace).
    duration
        How long it trains once it runs (seconds).
    shape
        What it runs on.

    Raises
    ------
    InvalidSpec
        A name is empty, a number is not a whole one or out of range.

    Examples
    --------
    >>> TraceJob("j1", "A", submit=0, duration=60, shape=Shape(1, 8)).shape.total
    8
    """

    name: str
    tenant: str
    submit: int
    duration: int
    shape: Shape

    def __post_init__(self) -> None:
        for what, text in (("name", self.name), ("tenant", self.tenant)):
            if not isinstance(text, str) or not text:
                raise InvalidSpec(f"job {shown(self.name)}: its {what} is {shown(text)}")
        shape = self.shape
        if not isinstance(shape, Shape) or type(shape.soft) is not bool:
            raise InvalidSpec(f"job {self.name!r}: {shown(shape)} is no Shape")
        _check(self.name, "submit", self.submit, 0)
        _check(self.name, "duration", self.duration, 1)
        _check(self.name, "nodes", shape.nodes, 1)
        _check(self.name, "GPUs a node", shape.gpus, 1)


def _check(name: str, what: str, number: int, least: int) -> None:
    if type(number) is not int or not least <= number <= MAX_SECONDS:
        raise InvalidSpec(
            f"job {name!r}: {what} is {shown(number)}; a whole number from {least} "
            f"to {MAX_SECONDS} is needed"
        )


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs in the order of their submission (jobs of one second keep the order given).

    Parameters
    ----------
    jobs
        In any order.

    Raises
    ------
    InvalidSpec
        Something is no job, or two jobs have one name.

    Examples
    --------
    >>> late = TraceJob("late", "A", submit=9, duration=1, shape=Shape(1, 1))
    >>> early = TraceJob("early", "B", submit=0, duration=5, shape=Shape(1, 2))
    >>> trace = Trace([late, early])
    >>> [job.name for job in trace.jobs], trace.tenants, trace.end
    (['early', 'late'], ('A', 'B'), 9)
    """

    jobs: tuple[TraceJob, ...]
    tenants: tuple[str, ...] = field(init=False, compare=False)  # alphabetical

    def __init__(self, jobs: Iterable[TraceJob]) -> None:
        if not isinstance(jobs, Iterable):
            raise InvalidSpec(f"trace: {shown(jobs)} is no list of jobs")
        given = list(jobs)
        names = set()
        for job in given:
            if not isinstance(job, TraceJob):
                raise InvalidSpec(f"trace: {shown(job)} is no TraceJob")
            if job.name in names:
                raise InvalidSpec(f"trace: two jobs are named {job.name!r}")
            names.add(job.name)
        object.__setattr__(self, "jobs", tuple(sorted(given, key=lambda job: job.submit)))
        object.__setattr__(self, "tenants", tuple(sorted({job.tenant for job in given})))

    @property
    def end(self) -> int:
        """When the last job is submitted (seconds), 0 for an empty trace."""
        return self.jobs[-1].submit if self.jobs else 0

    def gpu_seconds(self) -> dict[str, int]:
        """Return each tenant's demand: the sum of GPUs × duration.

        Examples
        --------
        >>> Trace([TraceJob("j", "A", 0, 10, Shape(1, 2))]).gpu_seconds()
        {'A': 20}
        """
        total = dict.fromkeys(self.tenants, 0)
        for job in self.jobs:
            total[job.tenant] += job.shape.total * job.duration
        return total


def shape_of(gpus: int, node_gpus: int, *, soft: bool = False) -> Shape:
    """Return the shape of a job of which only the number of GPUs is known.

    Up to one node's GPUs it wants them on one node; beyond, whole nodes as many as it takes.

    Raises
    ------
    InvalidSpec
        The number is not positive, or beyond one node and no multiple of a node's GPUs.

    Examples
    --------
    >>> shape_of(4, 8), shape_of(16, 8)
    (Shape(nodes=1, gpus=4, soft=False), Shape(nodes=2, gpus=8, soft=False))
    """
    if gpus < 1:
        raise InvalidSpec(f"a job of {gpus} GPUs")
    if gpus <= node_gpus:
        return Shape(1, gpus, soft)
    if gpus % node_gpus:
        raise InvalidSpec(
            f"a job of {gpus} GPUs is more than one node of {node_gpus} and no multiple of it: "
            "give its GPUs a node"
        )
    return Shape(gpus // node_gpus, node_gpus, soft)
