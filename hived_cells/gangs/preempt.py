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
    return _carried_out(book, gang, chosen), True


def _vacated(book: Book, gang: Gang, gone: Sequence[RunningGang]) -> Desk:
    desk = Desk(book, gang.tenant, gang.pinned)
    for running in gone:
        for pod in running.pods:
            desk.vacate(pod)
    return desk


def _trial(book: Book, gang: Gang, gone: Sequence[RunningGang]) -> tuple[bool, bool]:
    seats, exact = _vacated(book, gang, gone).seat(gang)
    return seats is not None, exact


def _carried_out(book: Book, gang: Gang, gone: Sequence[RunningGang]) -> Preemption:
    """Stop the chosen gangs; those that allow it go on at low priority where they run."""
    vacated = _vacated(book, gang, gone).freeze()
    lazy = [
        running
        for running in gone
        if running.gang.lazy
        and not any(bitset.has(vacated.state.used, gpu) for gpu in running.gpus)
    ]
    for running in lazy:
        vacated = enter(vacated, gang.tenant, running.gang.id, running.gpus)
    desk = Desk(vacated, gang.tenant, gang.pinned)
    seats, _ = desk.seat(gang)
    if seats is None:  # low-priority jobs decide nothing, so the trial's answer stands
        raise AssertionError(f"gang {gang.id!r}: a trial placed it")
    again = {vacated.jobs.get(job) for job in desk.stopped}
    kept = tuple(running for running in lazy if running.gang.id not in again)
    names = {running.gang.id for running in kept}
    stopped = tuple(running.gang.id for running in gone if running.gang.id not in names)
    return Preemption(desk, seats, stopped, kept)
