"""Placing jobs one after the other so that each keeps its floor and no server is overfilled.

Takes what each job may be given, its wish or its fair share, and gives where it is and what it
holds: the three steps of Synergy-TUNE (OSDI '22, §4.2), which stage 2's rounding uses as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from synergy_opt.packing.fewest_servers import Search
from synergy_opt.packing.ledger import Ledger, Need, Pieces
from synergy_opt.packing.offers import Groups, Offer, Offers, groups_of
from synergy_opt.packing.rooms import FEW, Rooms


@dataclass(slots=True)
class Held:
    """Where a job is, what it has and what its share is there.

    Parameters
    ----------
    pieces
        Servers with the GPUs there.
    offer
        What it has, either `share` or with a value no less than that of `share`.
    share
        Its fair share on the groups that it touches.
    """

    pieces: Pieces
    offer: Offer
    share: Offer

    def surplus(self, server: int, row: int) -> int:
        """Count the units above the share on one server: what switching gives there."""
        per_gpu = self.offer.need[row] - self.share.need[row]
        return per_gpu * dict(self.pieces)[server]


Giver = Callable[[Mapping[int, int], int, Mapping[int, Held]], int]
"""From what each job would give, what is missing and what all hold: the job to switch."""


def least_surplus(gives: Mapping[int, int], missing: int, _: Mapping[int, Held]) -> int:
    """Choose the least that covers what is missing, else the most; lowest priority of equals."""
    enough = [n for n, units in gives.items() if units >= missing]
    if enough:
        return min(enough, key=lambda n: (gives[n], -n))
    return max(gives, key=lambda n: (gives[n], n))


def hungriest(gives: Mapping[int, int], _: int, held: Mapping[int, Held]) -> int:
    """Choose who is on fewest servers, then holds most a GPU of each resource in order."""

    def size(number: int) -> tuple[int, Need, int]:
        its = held[number]
        return len(its.pieces), tuple(-units for units in its.offer.need), number

    return min(gives, key=size)


class Packing:
    """The jobs placed so far and the books; mutable, made for use inside one pure function.

    Parameters
    ----------
    ledger
        Empty, in whose units everything offered is whole.
    groups
        Number of server groups.
    giver
        Which job of an overdrawn server is switched to its share.

    Attributes
    ----------
    held : dict
        By job number, what it holds and where.

    Notes
    -----
    `tune` has the argument why every job can be placed as long as the GPUs last.
    """

    def __init__(self, ledger: Ledger, groups: int, *, giver: Giver | None = None) -> None:
        self._ledger, self._choose = ledger, giver or least_surplus
        self._on: list[list[int]] = [[] for _ in range(len(ledger))]  # jobs on each server
        self.held: dict[int, Held] = {}
        self._rooms = Rooms(ledger) if len(ledger) <= FEW else None
        self._size: Need | None = None
        self._searches: dict[tuple[Need, int | None], Search] = {}
        # Shares are tried on each group alone and, last, across all of them.
        one = [(frozenset({g}), g) for g in range(groups)]
        every = [(frozenset(range(groups)), None)] if groups > 1 else []
        self._places: list[tuple[Groups, int | None]] = [*one, *every]

    def place(self, number: int, offers: Offers) -> None:
        """Place one job, by the first of the three steps that works."""
        self._resize(offers)
        found = self._by_demand(offers) or self._by_share(offers)
        if found:
            self.enter(number, found)
        else:
            held = self._by_gpus(offers)
            self.enter(number, held)
            self.settle([server for server, _ in held.pieces])

    def place_equal(self, equal: Sequence[tuple[int, Offers]]) -> None:
        """Place jobs of equal GPUs and best-case demand, as `place` would one after the other.

        The server with least room that holds such a job has less room after it has taken one:
        it is the choice for the next one too, until it holds none. So it is filled at once.
        """
        done = 0
        while done < len(equal):
            number, offers = equal[done]
            self._resize(offers)
            need, gpus = offers.demand.need, offers.gpus
            pieces = self._search(need, offers)
            if pieces is None or len(pieces) > 1:
                self.place(number, offers)
                done += 1
                continue
            server = pieces[0][0]
            several = equal[done : done + self._ledger.holds(server, need) // gpus]
            groups = groups_of(self._ledger, pieces)
            for each, its in several:
                self.held[each] = Held(pieces, its.demand, its.share(groups))
                self._on[server].append(each)
            self._ledger.take(server, need, gpus * len(several))
            done += len(several)

    def _resize(self, offers: Offers) -> None:
        if offers.size != self._size:
            # Equal sizes mostly follow each other: searches of earlier ones take memory alone.
            self._size, self._searches = offers.size, {}

    def _search(self, need: Need, offers: Offers, group: int | None = None) -> Pieces | None:
        if self._rooms is not None:
            server = self._rooms.fullest(need, offers.gpus, group)
            if server is not None:
                return ((server, offers.gpus),)
            if offers.gpus == 1:
                return None
        key = (need, group)
        if key not in self._searches:
            self._searches[key] = Search(self._ledger, need, offers.gpus, group=group)
        return self._searches[key].fewest()

    def _by_demand(self, offers: Offers) -> Held | None:
        pieces = self._search(offers.demand.need, offers)
        if pieces is None:
            return None
        share = offers.share(groups_of(self._ledger, pieces))
        # A best-case demand is always fair. The ideal total that `realize` asks for is fair on the
        # smallest share; on richer groups the share may be worth more.
        fair = offers.demand.value >= share.value
        return Held(pieces, offers.demand, share) if fair else None

    def _by_share(self, offers: Offers) -> Held | None:
        """Choose among groups the fewest servers, then least room, then the first group."""
        found = []
        for groups, group in self._places:
            share = offers.share(groups)
            if not offers.demand.exceeds(share):
                continue  # a smaller demand did not fit either
            pieces = self._search(share.need, offers, group)
            if pieces is None:
                continue
            share = offers.share(groups_of(self._ledger, pieces))
            # Across groups, the share of the ones touched may be larger than what was sought.
            if self._ledger.fits(pieces, share.need):
                found.append(Held(pieces, share, share))
        return min(found, key=self._cost, default=None)

    def _cost(self, held: Held) -> tuple[int, int]:
        room = sum(self._ledger.room(server) for server, _ in held.pieces)
        return len(held.pieces), room

    def _by_gpus(self, offers: Offers) -> Held:
        gpus_alone = tuple(int(row == 0) for row in range(len(offers.demand.need)))
        pieces = self._search(gpus_alone, offers)
        assert pieces is not None  # a runnable job's GPUs are free
        share = offers.share(groups_of(self._ledger, pieces))
        inside = offers.demand.value >= share.value and not offers.demand.exceeds(share)
        return Held(pieces, offers.demand if inside else share, share)

    def enter(self, number: int, held: Held) -> None:
        """Book a job; where that overdraws a server, `settle` puts it right."""
        self.held[number] = held
        for server, gpus in held.pieces:
            self._ledger.take(server, held.offer.need, gpus)
            self._on[server].append(number)

    def settle(self, servers: list[int]) -> None:
        """Switch jobs to their shares until nothing is overdrawn on these servers or elsewhere."""
        while servers:
            server = servers[-1]
            missing = self._ledger.overdrawn(server)
            if missing:
                servers += self._switch(self._giver(server, missing[0]))
            else:
                servers.pop()

    def _giver(self, server: int, row: int) -> int:
        """Choose the job on this server that is to give some of a resource."""
        missing = -int(self._ledger.free[row, server])
        surplus = {n: self.held[n].surplus(server, row) for n in self._on[server]}
        gives = {n: units for n, units in surplus.items() if units > 0}
        # A hang would be the alternative, were the guarantee false.
        assert gives, "somebody here holds more than the share, see `tune`"
        return self._choose(gives, missing, self.held)

    def _switch(self, number: int) -> list[int]:
        """Give a job its share on all its servers, and say which they are."""
        held = self.held[number]
        for server, gpus in held.pieces:
            self._ledger.give(server, held.offer.need, gpus)
            self._ledger.take(server, held.share.need, gpus)
        held.offer = held.share
        return [server for server, _ in held.pieces]

    def upgrade(self, number: int, menu: Iterable[Offer]) -> None:
        """Give a job the first of these offers, best first, that its servers have room for.

        What it has counts as room. An offer worth no more is taken only where it asks for no
        more of anything: what the job cannot use becomes free.
        """
        held = self.held[number]
        for server, gpus in held.pieces:
            self._ledger.give(server, held.offer.need, gpus)
        for offer in menu:
            if offer.value < held.offer.value:
                break
            spared = offer.value > held.offer.value or not offer.exceeds(held.offer)
            if spared and self._ledger.fits(held.pieces, offer.need):
                held.offer = offer
                break
        for server, gpus in held.pieces:
            self._ledger.take(server, held.offer.need, gpus)
