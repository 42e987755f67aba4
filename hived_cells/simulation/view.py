"""What a scheduler sees: takes bins (cells or nodes) and what runs in them, gives where GPUs are.

The same view stands for a private cluster, for the whole cluster under quota and for a tenant's
cells: a scheduler cannot tell which of them it runs in. That is what sharing safety rests on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hived_cells.simulation.trace import Shape

__all__ = ["Ask", "Pieces", "Running", "View"]

Pieces = tuple[tuple[int, int], ...]  # (bin, GPUs in it), bins distinct


class Ask(NamedTuple):
    """A waiting job as its scheduler sees it.

    Parameters
    ----------
    job
        Its place in the order of submission.
    tenant
        Whose it is.
    shape
        What it asks for.
    queue
        0 is served first; schedulers without queues have no other.

    Examples
    --------
    >>> Ask(job=3, tenant="A", shape=Shape(1, 8), queue=0).shape.total
    8
    """

    job: int
    tenant: str
    shape: Shape
    queue: int


@dataclass(slots=True)
class Running:
    """A job that holds GPUs of a view.

    Examples
    --------
    >>> Running(Ask(0, "A", Shape(1, 2), 0), ((5, 2),)).pieces
    ((5, 2),)
    """

    ask: Ask
    pieces: Pieces


class View:
    """Bins, the jobs in them, and each tenant's quota.

    Room is kept per queue: `room[q][b]` are the GPUs of bin b that no job of queue ≤ q holds,
    so the last queue's row is what is free. Bins with as much room are one integer's bits, so
    a search costs O(GPUs of a bin), not O(bins). The simulation changes a view through `enter`,
    `leave`, `sink` and `switch`; schedulers only ask.

    Parameters
    ----------
    sizes
        GPUs of each bin.
    quota
        Tenant → GPUs that its jobs may hold together.
    queues
        Number of queues of the scheduler.

    Examples
    --------
    >>> view = View([2, 8, 8], {"A": 18})
    >>> view.fit(Shape(1, 2)), view.fit(Shape(2, 8)), view.fit(Shape(3, 8))
    (((0, 2),), ((1, 8), (2, 8)), None)
    """

    __slots__ = (
        "_masks",
        "_up",
        "free_gpus",
        "holders",
        "quota",
        "room",
        "running",
        "sizes",
        "used",
    )

    def __init__(self, sizes: Sequence[int], quota: Mapping[str, int], queues: int = 1) -> None:
        self.sizes = tuple(sizes)
        self.quota = dict(quota)
        self.room = [list(sizes) for _ in range(queues)]
        largest = max(sizes, default=0)
        masks = [0] * (largest + 1)
        for number, size in enumerate(sizes):
            masks[size] |= 1 << number
        self._masks = [list(masks) for _ in range(queues)]
        self._up = (1 << len(self.sizes)) - 1
        self.free_gpus = sum(sizes)  # in bins that are up
        self.running: dict[int, Running] = {}
        self.holders: list[dict[int, int]] = [{} for _ in sizes]  # bin → job → GPUs
        self.used = {tenant: [0] * queues for tenant in quota}  # tenant → queue → GPUs

    @property
    def queues(self) -> int:
        """Number of queues."""
        return len(self.room)

    # What schedulers ask.

    def within_quota(self, ask: Ask) -> bool:
        """Return whether the job's tenant may hold as many GPUs more.

        Jobs of later queues do not count: they can be stopped for it.

        Examples
        --------
        >>> View([8], {"A": 4}).within_quota(Ask(0, "A", Shape(1, 8), 0))
        False
        """
        held = sum(self.used[ask.tenant][: ask.queue + 1])
        return held + ask.shape.total <= self.quota[ask.tenant]

    def load(self, tenant: str) -> int:
        """Return what the tenant holds in millionths of its quota.

        Examples
        --------
        >>> View([8], {"A": 4}).load("A")
        0
        """
        return sum(self.used[tenant]) * 1_000_000 // max(1, self.quota[tenant])

    def fit(self, shape: Shape, queue: int | None = None) -> Pieces | None:
        """Return where the shape fits best: in the bins with the least room that is enough.

        Bins with as much room are taken in their order; groups of one job may share a bin. None
        where it does not fit.

        Parameters
        ----------
        shape
            Nodes × GPUs.
        queue
            Look at the room beside jobs of queues up to this one; by default at free GPUs.
        """
        nodes, gpus, _ = shape
        found: list[tuple[int, int]] = []
        masks = self._masks[-1 if queue is None else queue]
        for room in range(gpus, len(masks)):
            mask = masks[room]
            while mask:
                low = mask & -mask
                groups = min(nodes, room // gpus)
                found.append((low.bit_length() - 1, groups * gpus))
                nodes -= groups
                if not nodes:
                    return tuple(found)
                mask ^= low
        return None

    def fit_from(self, shape: Shape, start: int) -> Pieces | None:
        """Return the first bins with enough free GPUs, counted from one bin on and round.

        Examples
        --------
        >>> View([8, 8, 8], {}).fit_from(Shape(2, 8), start=5)
        ((2, 8), (0, 8))
        """
        nodes, gpus, _ = shape
        mask = 0
        for group in self._masks[-1][gpus:]:
            mask |= group
        start %= max(1, len(self.sizes))
        found: list[tuple[int, int]] = []
        for part in (mask >> start << start, mask & ((1 << start) - 1)):
            rest = part
            while rest:
                low = rest & -rest
                number = low.bit_length() - 1
                groups = min(nodes, self.room[-1][number] // gpus)
                found.append((number, groups * gpus))
                nodes -= groups
                if not nodes:
                    return tuple(found)
                rest ^= low
        return None

    def spread(self, total: int) -> Pieces | None:
        """Return any place for so many GPUs: the bins with the most free GPUs, None if too few.

        Examples
        --------
        >>> View([2, 1, 4], {}).spread(5)
        ((2, 4), (0, 1))
        """
        if total > self.free_gpus:
            return None
        found = []
        masks = self._masks[-1]
        for room in range(len(masks) - 1, 0, -1):
            mask = masks[room]
            while mask:
                low = mask & -mask
                part = min(room, total)
                found.append((low.bit_length() - 1, part))
                total -= part
                if not total:
                    return tuple(found)
                mask ^= low
        return None

    # What the simulation does.

    def enter(self, ask: Ask, pieces: Pieces) -> None:
        """Let a job hold its pieces."""
        self.running[ask.job] = Running(ask, pieces)
        for number, gpus in pieces:
            self.holders[number][ask.job] = gpus
            self._shift(number, -gpus, ask.queue)
        self.used[ask.tenant][ask.queue] += ask.shape.total

    def leave(self, job: int) -> Running:
        """Let a job give its pieces back; return what it was."""
        was = self.running.pop(job)
        for number, gpus in was.pieces:
            del self.holders[number][job]
            self._shift(number, gpus, was.ask.queue)
        self.used[was.ask.tenant][was.ask.queue] -= was.ask.shape.total
        return was

    def sink(self, job: int) -> None:
        """Let a running job fall into the next queue."""
        was = self.running[job]
        pieces = was.pieces
        self.leave(job)
        self.enter(was.ask._replace(queue=was.ask.queue + 1), pieces)

    def switch(self, number: int, *, up: bool) -> None:
        """Let a bin go down (nothing fits into it any more) or come up again."""
        bit = 1 << number
        if bool(self._up & bit) == up:
            return
        self._up ^= bit
        free = self.room[-1][number]
        self.free_gpus += free if up else -free
        for row, masks in zip(self.room, self._masks, strict=True):
            masks[row[number]] ^= bit

    def is_up(self, number: int) -> bool:
        """Return whether the bin is up."""
        return self._up >> number & 1 == 1

    def _shift(self, number: int, change: int, queue: int) -> None:
        """Change a bin's room for a job of a queue: for that queue and all later ones."""
        bit = 1 << number & self._up  # a bin that is down is in no mask
        if bit:
            self.free_gpus += change
        for later in range(queue, len(self.room)):
            masks, row = self._masks[later], self.room[later]
            old = row[number]
            masks[old] ^= bit
            masks[old + change] ^= bit
            row[number] = old + change
