"""First fit: each job whole on the first server with room for its best-case demand.

Takes jobs one after the other and gives their pieces; what Synergy-GREEDY (OSDI '22, §3.3) and
DRF have in common, who differ in the order of the jobs.
"""

from __future__ import annotations

from synergy_opt.packing.fewest_servers import Search
from synergy_opt.packing.ledger import Ledger, Pieces
from synergy_opt.packing.offers import Offers


class FirstFit:
    """Where the next job of each kind goes; mutable, made for use inside one pure function.

    A job with more GPUs than any server has takes the fewest servers that hold it, the lowest ones
    among equals, with resources proportional to GPUs.

    Parameters
    ----------
    ledger
        Empty, in whose units the demands are whole.

    Attributes
    ----------
    free_gpus : int
        GPUs of the cluster that nobody has.

    Notes
    -----
    O(n + q s) for n jobs of q kinds on s servers: nothing is given back, so the first server with
    room for a kind only moves forward.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._largest = int(ledger.capacity[0].max())
        self._rows: list[list[int]] = ledger.free.T.tolist()
        self._first: dict[Offers, int] = {}
        self._searches: dict[Offers, Search] = {}
        self.free_gpus = int(ledger.capacity[0].sum())

    def place(self, offers: Offers) -> Pieces:
        """Book the next job of this kind and give its pieces; none where it does not fit."""
        pieces = self._pieces(offers)
        for server, gpus in pieces:
            self._ledger.take(server, offers.demand.need, gpus)
            row = self._rows[server]
            for r, units in enumerate(offers.demand.need):
                row[r] -= gpus * units
            self.free_gpus -= gpus
        return pieces

    def _pieces(self, offers: Offers) -> Pieces:
        if offers.gpus > self._largest:
            return self._several(offers)
        for server in range(self._first.get(offers, 0), len(self._rows)):
            for have, want in zip(self._rows[server], offers.size, strict=True):
                if have < want:
                    break
            else:
                self._first[offers] = server
                return ((server, offers.gpus),)
        self._first[offers] = len(self._rows)
        return ()

    def _several(self, offers: Offers) -> Pieces:
        if offers not in self._searches:
            self._searches[offers] = Search(
                self._ledger, offers.demand.need, offers.gpus, first=True
            )
        return self._searches[offers].fewest() or ()
