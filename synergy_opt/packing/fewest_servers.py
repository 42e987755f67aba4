"""Which servers take a job: the fewest, and among those the ones with least left over.

Takes a ledger and a need, gives a `Search` that follows the ledger's changes; this is the packing
step of Synergy (OSDI '22, §4.2): "the server with the least amount of free resources just enough
to fit", and "a minimum set of servers" for a job that fits on no single one.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from synergy_opt.packing.ledger import Ledger, Need, Pieces

_Entry = tuple[int, int, int]  # key, server, stamp


class Search:
    """The fewest servers for jobs of one need and GPU demand, kept up to date with a ledger.

    Servers lie in heaps by the number of GPUs of such a job that they hold. An entry is stale
    when its stamp is not its server's; stale entries are dropped when they come to the top.

    Parameters
    ----------
    ledger
        Followed through `Ledger.changes`.
    need, gpus
        What one GPU takes, and the GPU demand.
    group
        Only servers of this group; default all.
    first
        Among equals prefer the lowest server instead of the one with least room.

    Notes
    -----
    O(s log s) to build, O(log s) amortised a change and a piece, where s is the number of servers.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Server
    >>> node = Server(type="n", count=3, gpus=8, capacity=(24,))
    >>> ledger = Ledger(Cluster(resources={"cpu": "cores"}, servers=[node]))
    >>> ledger.take(1, (1, 3), 5)
    >>> Search(ledger, (1, 3), 3).fewest(), Search(ledger, (1, 3), 18).fewest()
    (((1, 3),), ((0, 8), (1, 2), (2, 8)))
    """

    __slots__ = (
        "_first", "_heaps", "_held", "_ledger", "_most", "_need", "_seen", "_servers", "_stamps",
        "_total", "gpus",
    )  # fmt: skip

    def __init__(
        self, ledger: Ledger, need: Need, gpus: int, *, group: int | None = None,
        first: bool = False,
    ) -> None:  # fmt: skip
        self._ledger, self._need, self.gpus, self._first = ledger, need, gpus, first
        inside = np.arange(len(ledger)) if group is None else _members(ledger, group)
        self._servers = range(int(inside[0]), int(inside[-1]) + 1)  # groups are contiguous
        # A server holds at most `gpus` GPUs of one such job: all that hold it whole are equal.
        held = np.minimum(ledger.hold(need)[inside], gpus)
        keys = np.zeros(len(inside), dtype=np.int64) if first else ledger.rooms()[inside]
        self._held: list[int] = held.tolist()
        self._stamps = [0] * len(inside)
        self._total = sum(self._held)
        self._most = min(gpus, int(ledger.capacity[0].max()))
        self._heaps: list[list[_Entry]] = [[] for _ in range(self._most + 1)]
        for count, key, server in zip(self._held, keys.tolist(), self._servers, strict=True):
            self._heaps[count].append((key, server, 0))
        for heap in self._heaps:
            heapify(heap)
        self._seen = len(ledger.changes)

    def fewest(self) -> Pieces | None:
        """Give a smallest set of servers that holds the job, or None where all together do not.

        Servers that hold most come first, which makes their number smallest; the last one is,
        of those that hold the rest, the one that holds least, then the one with least room.
        """
        self._follow()
        if self._total < self.gpus:
            return None
        missing, chosen, popped = self.gpus, [], []
        while missing:
            count = self._best_count(missing)
            entry = heappop(self._heaps[count])
            popped.append((count, entry))
            chosen.append((entry[1], min(count, missing)))
            missing -= min(count, missing)
        for count, entry in popped:  # the caller may decide not to take them
            heappush(self._heaps[count], entry)
        return tuple(sorted(chosen))

    def _best_count(self, missing: int) -> int:
        """Give the smallest count of a server that holds all that is missing, else the largest."""
        enough = range(missing, self._most + 1)
        too_few = range(min(missing - 1, self._most), 0, -1)
        return next(count for counts in (enough, too_few) for count in counts if self._any(count))

    def _any(self, count: int) -> bool:
        """Drop stale entries from the top of a heap; tell whether any is left."""
        heap, base = self._heaps[count], self._servers.start
        while heap and heap[0][2] != self._stamps[heap[0][1] - base]:
            heappop(heap)
        return bool(heap)

    def _follow(self) -> None:
        """Enter the servers that changed since the last look."""
        changes = self._ledger.changes
        for server in set(changes[self._seen :]):
            if server in self._servers:
                self._update(server)
        self._seen = len(changes)

    def _update(self, server: int) -> None:
        at = server - self._servers.start
        count = min(self.gpus, self._ledger.holds(server, self._need))
        self._total += count - self._held[at]
        self._held[at] = count
        self._stamps[at] += 1
        key = 0 if self._first else self._ledger.room(server)
        heappush(self._heaps[count], (key, server, self._stamps[at]))


def _members(ledger: Ledger, group: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.flatnonzero(ledger.groups == group)
