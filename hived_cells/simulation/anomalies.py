"""Sharing anomalies: takes a private and a shared run, gives the jobs that wait longer, and why.

A cluster has a sharing anomaly where a request waits that a private cluster as large as the
tenant's quota would have served (Section 2).
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hived_cells.simulation.run import Run
from hived_cells.simulation.trace import Shape, Trace
from hived_cells.simulation.view import Ask, View

__all__ = ["Anomaly", "Longer", "Near", "Refusal", "Witness", "anomalies", "longer"]


class Near(NamedTuple):
    """One of the bins that came closest to serving a refused job.

    Examples
    --------
    >>> Near(node=3, free=7, holders=(("prod-e", 1),)).free
    7
    """

    node: int
    free: int
    holders: tuple[tuple[str, int], ...]  # (tenant, GPUs it holds there), most first

    def __str__(self) -> str:
        held = ", ".join(f"{tenant} {gpus}" for tenant, gpus in self.holders)
        return f"node {self.node} has {self.free} free" + (f" and {held}" if held else "")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A job that its quota allowed and that found no place: what the cluster looked like.

    Examples
    --------
    >>> print(Refusal(60, "j", "A", Shape(1, 8), 0, 8, 7, (Near(3, 7, (("B", 1),)),)))
    at 60 s: j wants 1×8, A holds 0 of its 8 GPUs, 7 are free; node 3 has 7 free and B 1
    """

    time: int
    job: str
    tenant: str
    shape: Shape
    held: int  # GPUs that the tenant holds
    quota: int
    free: int  # GPUs free in the cluster
    nearest: tuple[Near, ...]  # as many bins that are up as the job wants, most room first

    def __str__(self) -> str:
        near = "; ".join(map(str, self.nearest)) or "no node is up"
        return (
            f"at {self.time} s: {self.job} wants {self.shape.nodes}×{self.shape.gpus}, "
            f"{self.tenant} holds {self.held} of its {self.quota} GPUs, {self.free} are free; "
            f"{near}"
        )


class Witness:
    """Writes down the first refusal of each job after its start in the private cluster.

    Hand it to `simulate` as `refused`.

    Parameters
    ----------
    trace
        The jobs.
    private
        The run in private clusters.

    Examples
    --------
    >>> Witness(Trace([]), Run(started=(), granted=(), ended=(), seconds=0)).refusals
    {}
    """

    def __init__(self, trace: Trace, private: Run) -> None:
        self._jobs = trace.jobs
        self._granted = private.granted
        self.refusals: dict[int, Refusal] = {}  # job → what stood in its way

    def __call__(self, view: View, ask: Ask, now: int) -> None:
        """Write down a refusal."""
        job = ask.job
        if job in self.refusals or not 0 <= self._granted[job] <= now:
            return
        room = view.room[-1]
        up = filter(view.is_up, range(len(room)))
        order = sorted(up, key=lambda number: (-room[number], number))
        self.refusals[job] = Refusal(
            now,
            self._jobs[job].name,
            ask.tenant,
            ask.shape,
            sum(view.used[ask.tenant]),
            view.quota[ask.tenant],
            view.free_gpus,
            tuple(_near(view, number) for number in order[: ask.shape.nodes]),
        )


def _near(view: View, number: int) -> Near:
    holders: dict[str, int] = {}
    for job, gpus in view.holders[number].items():
        tenant = view.running[job].ask.tenant
        holders[tenant] = holders.get(tenant, 0) + gpus
    ranked = sorted(holders.items(), key=lambda item: (-item[1], item[0]))
    return Near(number, view.room[-1][number], tuple(ranked))


Cause = Literal["fragmented", "behind", "late"]


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A job that is done later in the shared cluster than it would be in the private one.

    Later is also never (-1), where it is done in the private one; that only faults can bring.

    `fragmented`: it found no place though its quota allowed it, see the refusal. `behind`: it
    stood in line behind a job of its tenant and shape that found none. `late`: its tenant's
    quota was in use by jobs that were themselves late.

    Parameters
    ----------
    job
        Its name in the trace.
    tenant
        Whose it is.
    private
        When it is done in the private cluster (seconds).
    shared
        When in the shared one (seconds).
    cause
        ``"fragmented"``, ``"behind"`` or ``"late"``, as above.
    refusal
        Its own, or that of the job ahead of it.
    """

    job: str
    tenant: str
    private: int
    shared: int
    cause: Cause
    refusal: Refusal | None = field(default=None, repr=False)

    @property
    def excess(self) -> int | None:
        """Seconds that it is done later; None where it is never done."""
        return None if self.shared < 0 else self.shared - self.private


def anomalies(trace: Trace, private: Run, shared: Run, witness: Witness) -> tuple[Anomaly, ...]:
    """Return every job that is done later in the shared cluster, with the cause, worst first.

    Parameters
    ----------
    trace
        The jobs of both runs.
    private, shared
        The runs.
    witness
        What was written down during the shared run.

    References
    ----------
    HiveD (OSDI 2020), Section 2.
    """
    found = []
    last: dict[tuple[str, Shape], int] = {}  # the job of a line that was refused last
    by_time = sorted(witness.refusals.items(), key=lambda item: (item[1].time, item[0]))
    place = 0
    order = sorted(range(len(trace.jobs)), key=lambda n: (shared.granted[n], n))
    for number in order:
        while place < len(by_time) and by_time[place][1].time <= shared.granted[number]:
            ahead, refusal = by_time[place]
            last[refusal.tenant, refusal.shape] = ahead
            place += 1
        job = trace.jobs[number]
        if not _later(private.ended[number], shared.ended[number]):
            continue
        cause: Cause = "fragmented"
        why = witness.refusals.get(number)
        if why is None:
            first = last.get((job.tenant, job.shape))
            # It stood behind that one if it came before that one was granted.
            if first is not None and shared.granted[first] > job.submit:
                why = witness.refusals[first]
            cause = "late" if why is None else "behind"
        found.append(
            Anomaly(job.name, job.tenant, private.ended[number], shared.ended[number], cause, why)
        )
    return tuple(sorted(found, key=_worst_first))


def _worst_first(anomaly: Anomaly) -> tuple[bool, int, str]:
    excess = anomaly.excess
    return excess is not None, -(excess or 0), anomaly.job


def _later(private: int, shared: int) -> bool:
    """Tell whether a second is later than another; -1, for never, is later than all."""
    return private >= 0 and (shared < 0 or shared > private)


class Longer(NamedTuple):
    """A job that is done or granted later than in the private cluster: a broken promise.

    Examples
    --------
    >>> Longer("j", "A", "ended", private=10, shared=11).shared
    11
    """

    job: str
    tenant: str
    what: str
    private: int
    shared: int


def longer(trace: Trace, private: Run, shared: Run) -> tuple[Longer, ...]:
    """Return every job whose guaranteed run is granted later, or that is done later; none: safe.

    The test of sharing safety, exact and for each job.

    Parameters
    ----------
    trace
        What both runs ran.
    private, shared
        The run in private clusters, and the one to be judged.

    Examples
    --------
    >>> from hived_cells.simulation.trace import TraceJob
    >>> trace = Trace([TraceJob("j", "A", 0, 9, Shape(1, 1))])
    >>> runs = [Run(started=[t], granted=[t], ended=[t + 9], seconds=0) for t in (0, 1)]
    >>> len(longer(trace, *runs))
    2
    """
    found = []
    pairs: tuple[tuple[str, Sequence[int] | array[int], Sequence[int] | array[int]], ...] = (
        ("granted", private.granted, shared.granted),
        ("ended", private.ended, shared.ended),
    )
    for number, job in enumerate(trace.jobs):
        for what, before, after in pairs:
            if _later(before[number], after[number]):
                found.append(Longer(job.name, job.tenant, what, before[number], after[number]))
    return tuple(found)
