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
    inclusion-minimal. O(log candidates + victims) plans. The flag says whether None is proved.
    """
    if gang.priority == 0:
        return None, True
    lower = sorted(
        (
            running
            for running in state.running.values()
            if running.gang.tenant == gang.tenant
            and running.pool == book.name
            and running.gang.pinned == gang.pinned
            and not running.low_priority
            and running.gang.priority < gang.priority
        ),
        key=lambda running: (running.gang.priority, running.gpus),
    )
    if not lower:
        return None, True
    fits, exact = _trial(book, gang, lower)
    if not fits:
        return None, exact
    few, many = 1, len(lower)
    while few < many:
        middle = (few + many) // 2
        if _trial(book, gang, lower[:middle])[0]:
            many = middle
        else:
            few = middle + 1
    chosen = lower[:many]
    for running in reversed(chosen[:-1]):
        rest = [one for one in chosen if one is not running]
        if _trial(book, gang, rest)[0]:
            chosen = rest
    done = _carried_out(book, gang, chosen)
    return done, done is not None


def _vacated(book: Book, gang: Gang, gone: Sequence[RunningGang]) -> Desk:
    desk = Desk(book, gang.tenant, gang.pinned)
    for running in gone:
        for pod in running.pods:
            desk.vacate(pod)
    return desk


def _trial(book: Book, gang: Gang, gone: Sequence[RunningGang]) -> tuple[bool, bool]:
    seats, exact = _vacated(book, gang, gone).seat(gang)
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
