"""Low priority: takes jobs that wait for their guaranteed start, runs them ahead on idle GPUs."""

import heapq
from collections.abc import Callable, Mapping

from hived_cells.simulation.floor import Floor, Spots
from hived_cells.simulation.trace import Shape

__all__ = ["Lender"]

Line = tuple[str, int, int]  # tenant, nodes, GPUs on each


class Lender:
    """Who waits for idle GPUs, and in which order they are lent.

    Weighted max-min, one job at a time: the next GPUs go to the tenant that would then use the
    least at low priority for what it reserved; its jobs in the order of submission, those that
    do not fit are passed over.

    Parameters
    ----------
    floor
        The GPUs.
    weights
        Tenant → GPUs it reserved.

    References
    ----------
    HiveD (OSDI 2020), Section 3, "low-priority jobs".

    Examples
    --------
    >>> lender = Lender(Floor(1, 4, (4,)), {"A": 4})
    >>> lender.wait(7, "A", Shape(1, 2))
    >>> lender.serve(lambda job, tenant, spots: print(job, tenant, spots))
    7 A ((0, 3),)
    """

    __slots__ = ("_blocked", "_floor", "_gone", "_lines", "_used", "_weights")

    def __init__(self, floor: Floor, weights: Mapping[str, int]) -> None:
        self._floor = floor
        self._weights = weights
        self._used = dict.fromkeys(weights, 0)
        self._lines: dict[Line, list[int]] = {}
        self._gone: set[int] = set()  # in a line, but waiting no more
        self._blocked: set[Line] = set()

    def wait(self, job: int, tenant: str, shape: Shape) -> None:
        """Let a job wait for idle GPUs."""
        if job in self._gone:  # it never left its line
            self._gone.remove(job)
            return
        heapq.heappush(self._lines.setdefault((tenant, shape.nodes, shape.gpus), []), job)

    def forget(self, job: int) -> None:
        """Let a waiting job wait no more."""
        self._gone.add(job)

    def returned(self, tenant: str, gpus: int) -> None:
        """Say that a job of the tenant gave lent GPUs back."""
        self._used[tenant] -= gpus

    def more_idle(self) -> None:
        """Say that GPUs became idle: all may ask again."""
        self._blocked.clear()

    def serve(self, lend: Callable[[int, str, Spots], None]) -> None:
        """Lend what fits; `lend` is called for each job and is to enter it on the floor."""
        heads = [self._rank(line) for line in self._lines if line not in self._blocked]
        heapq.heapify(heads)
        while heads:
            rank = heapq.heappop(heads)
            line = rank[2]
            tenant, nodes, gpus = line
            waiting = self._lines[line]
            while waiting and waiting[0] in self._gone:
                self._gone.remove(heapq.heappop(waiting))
            if not waiting:
                del self._lines[line]
                continue
            now = self._rank(line)
            if now > rank:
                heapq.heappush(heads, now)
                continue
            spots = self._floor.find(nodes, gpus)
            if spots is None:
                self._blocked.add(line)
                continue
            job = heapq.heappop(waiting)
            self._used[tenant] += nodes * gpus
            lend(job, tenant, spots)
            heapq.heappush(heads, self._rank(line))

    def _rank(self, line: Line) -> tuple[int, int, Line]:
        tenant, nodes, gpus = line
        waiting = self._lines[line]
        use = (self._used[tenant] + nodes * gpus) * 1_000_000 // max(1, self._weights[tenant])
        return use, waiting[0] if waiting else -1, line
