"""Who has to go: takes a gang that finds no room, gives the tenant's gangs that make it.

Only gangs of lower priority of the same tenant in the same pool and pin are asked.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hived_cells import bitset
from hived_cells.gangs.desk import Desk, Seats
from hived_cells.gangs.low import enter
from hived_cells.gangs.state import Book, GangState
from hived_cells.gangs.values import Gang, RunningGang

__all__ = ["Preemption", "preempt"]


class Preemption(NamedTuple):
    """A gang's seats and what they cost."""

    desk: Desk
    seats: Seats
    stopped: tuple[str, ...]
    downgraded: tuple[RunningGang, ...]


def preempt(state: GangState, book: Book, gang: Gang) -> tuple[Preemption | None, bool]:
    """Return the seats that the end of gangs of lower priority makes, or None.

    Exists if and only if the gang fits when all of them end. Of these the fewest of the lowest
    priorities that suffice are taken (so the highest priority among the victims is as low as it
    can be), then each that is not needed is spared, the highest priorities first: the result is
    inclusion-minimal. O(candidates) to list them, O(log candidates) plans for each victim. The
    flag says whether None is proved.
    """
    if gang.priority == 0:
        return None, True
    lower = sorted(
        [
            running
            for running in state.running.values()
            if running.gang.priority < gang.priority
            and running.gang.tenant == gang.tenant
            and running.pool == book.name
            and running.gang.pinned == gang.pinned
            and not running.low_priority
        ],
        key=_order,
    )
    if not lower:
        return None, True
    few, exact = _shortest(book, gang, lower, [])
    if few is None:
        return None, exact
    # The last of the shortest list that suffices is needed, whatever else goes. With it gone for
    # certain the list before it may be shorter still, and its last is needed, and so on: what is
    # left out is what could be spared one by one from the end.
    chosen = [lower[few - 1]]
    while few > 1:
        rest = lower[: few - 1]
        few = len(rest)
        if _fits(_vacated(book, gang, [*chosen, *rest[:-1]]), gang)[0]:
            found, _ = _shortest(book, gang, rest[:-1], chosen)
            few = 0 if found is None else found
        if few:
            chosen.append(lower[few - 1])
    done = _carried_out(book, gang, chosen[::-1])
    return done, done is not None


def _order(running: RunningGang) -> tuple[int, int]:
    """Lowest priority first, then lowest GPU: no two gangs share one, so it orders them."""
    return running.gang.priority, min([pod[0] for pod in running.pods if pod], default=-1)


def _shortest(
    book: Book, gang: Gang, lower: Sequence[RunningGang], gone: Sequence[RunningGang]
) -> tuple[int | None, bool]:
    """Return how many of the first gangs must end beside those gone, None where all are too few.

    Steps of 1, 2, 4, ... and then bisection, each from the desk of the last that were too few.
    """
    desk = _vacated(book, gang, gone)
    if gone and _fits(desk, gang)[0]:
        return 0, True
    few, step, many = 0, 1, len(lower)
    while True:
        upto = min(few + step, many)
        further = _further(desk, lower[few:upto])
        fits, exact = _fits(further, gang)
        if fits:
            break
        if upto == many:
            return None, exact
        desk, few, step = further, upto, 2 * step
    while upto - few > 1:
        middle = (few + upto) // 2
        further = _further(desk, lower[few:middle])
        if _fits(further, gang)[0]:
            upto = middle
        else:
            desk, few = further, middle
    return upto, True


def _further(desk: Desk, gone: Sequence[RunningGang]) -> Desk:
    desk = desk.copy()
    for running in gone:
        for pod in running.pods:
            desk.vacate(pod)
    return desk


def _vacated(book: Book, gang: Gang, gone: Sequence[RunningGang]) -> Desk:
    desk = Desk(book, gang.tenant, gang.pinned)
    for running in gone:
        for pod in running.pods:
            desk.vacate(pod)
    return desk


def _fits(desk: Desk, gang: Gang) -> tuple[bool, bool]:
    """Return whether the gang has room, and for no whether that is proved; the desk stays."""
    seats, exact = desk.copy().seat(gang)
    return seats is not None, exact


def _carried_out(book: Book, gang: Gang, gone: Sequence[RunningGang]) -> Preemption | None:
    """Stop the chosen gangs; those that allow it go on at low priority where they run."""
    vacated = _vacated(book, gang, gone).freeze()
    lazy = [
        running
        for running in gone
        if running.gang.lazy
        and not any(bitset.has(vacated.state.used, gpu) for gpu in running.gpus)
    ]
    # Beside bad GPUs a search with a limit may end otherwise once low-priority jobs have moved
    # the usual choice; then the trial's own way is gone, on which nobody goes on.
    for kept in (lazy, []):
        beside = vacated
        for running in kept:
            beside = enter(beside, gang.tenant, running.gang.id, running.gpus)
        desk = Desk(beside, gang.tenant, gang.pinned)
        seats, _ = desk.seat(gang)
        if seats is not None:
            ended = {beside.jobs.get(job) for job in desk.stopped}
            downgraded = tuple(one for one in kept if one.gang.id not in ended)
            stopped = tuple(one.gang.id for one in gone if one not in downgraded)
            return Preemption(desk, seats, stopped, downgraded)
    return None
