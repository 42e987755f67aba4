"""Servers by how much room is left, for clusters so small that looking at each is cheapest.

Takes a ledger and gives the server with least room that holds a job whole: the answer of a
`Search` for one server, from one list for all needs instead of heaps for each.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from synergy_opt.packing.ledger import Ledger, Need

FEW = 128
"""Up to so many servers a walk over them costs less than the heaps of a `Search`."""


class Rooms:
    """Servers with free GPUs in ascending order of room, kept up to date with a ledger.

    Parameters
    ----------
    ledger
        Followed through `Ledger.changes`.

    Notes
    -----
    O(s log s) to build; O(s) a look in the worst case, but the first servers are the fullest, so
    that a walk mostly ends soon.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Server
    >>> node = Server(type="n", count=3, gpus=8, capacity=(24,))
    >>> ledger = Ledger(Cluster(resources={"cpu": "cores"}, servers=[node]))
    >>> ledger.take(1, (1, 3), 5)
    >>> rooms = Rooms(ledger)
    >>> rooms.fullest((1, 3), 3), rooms.fullest((1, 3), 4), rooms.fullest((1, 3), 9)
    (1, 0, None)
    """

    __slots__ = ("_ledger", "_order", "_room", "_rows", "_seen")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._rows: list[list[int]] = ledger.free.T.tolist()
        self._room: list[int] = ledger.rooms().tolist()
        self._order = sorted(
            (room, server) for server, room in enumerate(self._room) if self._rows[server][0] > 0
        )
        self._seen = len(ledger.changes)

    def fullest(self, need: Need, gpus: int, group: int | None = None) -> int | None:
        """Give the server with least room that has `gpus` times this need, the lowest of equals.

        Only servers of one group where it is given; None where no single server has so much.
        """
        self._follow()
        wanted = [gpus * units for units in need]
        for _, server in self._order:
            for have, want in zip(self._rows[server], wanted, strict=True):
                if have < want:
                    break
            else:
                if group is None or self._ledger.groups[server] == group:
                    return server
        return None

    def _follow(self) -> None:
        """Enter the servers that changed since the last look."""
        changes = self._ledger.changes
        if self._seen == len(changes):
            return
        for server in set(changes[self._seen :]):
            if self._rows[server][0] > 0:
                del self._order[bisect_left(self._order, (self._room[server], server))]
            self._rows[server] = self._ledger.free[:, server].tolist()
            self._room[server] = self._ledger.room(server)
            if self._rows[server][0] > 0:
                insort(self._order, (self._room[server], server))
        self._seen = len(changes)
