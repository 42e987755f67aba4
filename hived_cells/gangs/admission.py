"""Admission: takes a state and a gang, gives the pools it may run in, or why it runs in none.

A gang that asks for what is not its tenant's right is told so before any search.
"""

from collections.abc import Iterator

from hived_cells.errors import IllegalRequest, InvalidSpec, MustWait, NeverFits, shown
from hived_cells.gangs.low import could_run_low
from hived_cells.gangs.plan import Room, plan
from hived_cells.gangs.state import Book, GangState
from hived_cells.gangs.values import Gang
from hived_cells.release import holdings

__all__ = ["admitted", "could_ever", "refusal"]


def admitted(state: GangState, gang: Gang) -> list[Book]:
    """Return the pools that the gang may run in, in their order.

    Parameters
    ----------
    state
        The cluster as it is.
    gang
        The gang, which must not run yet.

    Raises
    ------
    IllegalRequest
        There is no such pool, the tenant reserved nothing there or has no such pin, or the id is
        in use.
    InvalidSpec
        It is no `Gang`.

    Examples
    --------
    >>> from hived_cells import Chain, Pool, Reservation
    >>> from hived_cells.gangs import GangPool, initial_gangs
    >>> pool = Pool(Chain(4, (8,)), Reservation({"A": {2: 2}}))
    >>> state = initial_gangs([GangPool("V100", pool, node_level=2)])
    >>> [book.name for book in admitted(state, Gang("g1", "A", ((8, 1),)))]
    ['V100']
    """
    if not isinstance(gang, Gang):
        raise InvalidSpec(f"{shown(gang)} is no Gang")
    if gang.id in state.running:
        raise IllegalRequest(f"gang {gang.id!r}: the id is in use already")
    return list(_pools(state, gang))


def _pools(state: GangState, gang: Gang) -> Iterator[Book]:
    """Yield the pools; raise where there is none."""
    named = [
        book
        for book in state.books.values()
        if gang.pool in (None, book.name) and gang.kind in (None, book.kind)
    ]
    asked = [
        f"{what} {value!r}"
        for what, value in (("pool", gang.pool), ("kind", gang.kind))
        if value is not None
    ]
    if not named:
        raise IllegalRequest(f"gang {gang.id!r}: there is no {' with '.join(asked) or 'pool'}")
    if gang.is_low_priority:
        yield from named
        return
    owned = [book for book in named if book.state.pool.tenant_number(gang.tenant) >= 0]
    if not owned:
        where = f" in {' of '.join(asked)}" if asked else ""
        raise IllegalRequest(f"tenant {shown(gang.tenant)} reserved nothing{where}")
    if gang.pinned is None:
        yield from owned
        return
    pinned = [
        book
        for book in owned
        for pin in book.state.reservation.pins
        if pin.name == gang.pinned and pin.tenant == gang.tenant
    ]
    if not pinned:
        has = [
            pin.name
            for book in owned
            for pin in book.state.reservation.pins
            if pin.tenant == gang.tenant
        ]
        raise IllegalRequest(f"tenant {gang.tenant!r} has no pin {gang.pinned!r}; it has {has}")
    yield from pinned


def could_ever(book: Book, gang: Gang) -> bool:
    """Return whether the gang fits into all that it may use once idle; True where undecided.

    A guaranteed one into what its tenant reserved, one of low priority into the pool.

    Examples
    --------
    >>> from hived_cells import Chain, Pool, Reservation
    >>> from hived_cells.gangs import GangPool, initial_gangs
    >>> pool = Pool(Chain(4, (8,)), Reservation({"A": {2: 2}}))
    >>> (book,) = initial_gangs([GangPool("V100", pool, node_level=2)]).books.values()
    >>> [could_ever(book, Gang("g1", "A", ((8, 3),), priority)) for priority in (0, -1)]
    [False, True]
    """
    if gang.is_low_priority:
        return could_run_low(book, gang)
    pool = book.state.pool
    if gang.pinned is None:
        row = pool.reserved[pool.tenant_number(gang.tenant)]
        rights = {level: number for level, number in enumerate(row) if number}
    else:
        rights = {pin.cell.level: 1 for pin in pool.reservation.pins if pin.name == gang.pinned}
    found = plan(Room(pool.chain, book.node_level, {}, {}, {}, rights), gang)
    return found.filled is not None or not found.exact


def refusal(gang: Gang, books: list[Book], *, exact: bool) -> MustWait | NeverFits:
    """Return why a gang runs in none of its pools now: it must wait, or never fits.

    `exact` goes into `MustWait`: whether no search for a place hit its limit.

    Examples
    --------
    >>> from hived_cells import Chain, Pool, Reservation
    >>> from hived_cells.gangs import GangPool, initial_gangs
    >>> pool = Pool(Chain(4, (8,)), Reservation({"A": {2: 2}}))
    >>> books = list(initial_gangs([GangPool("V100", pool, node_level=2)]).books.values())
    >>> refusal(Gang("g1", "A", ((8, 3),)), books, exact=True).__class__.__name__
    'NeverFits'
    """
    names = ", ".join(repr(book.name) for book in books)
    waits = any(could_ever(book, gang) for book in books)
    if gang.is_low_priority:
        if waits:
            return MustWait(f"{_asked(gang)}: too few idle GPUs now in pool {names}", exact=exact)
        return NeverFits(f"{_asked(gang)}: it does not fit into pool {names}")
    owned = "; ".join(
        f"in pool {book.name!r} {holdings(book.state, gang.tenant)}"
        if len(books) > 1
        else holdings(book.state, gang.tenant)
        for book in books
    )
    pin = "" if gang.pinned is None else f", pin {gang.pinned!r}"
    if waits:
        return MustWait(f"{_asked(gang)}: no room now in pool {names}{pin}; {owned}", exact=exact)
    return NeverFits(f"{_asked(gang)}: never fits in pool {names}{pin}; {owned}")


def _asked(gang: Gang) -> str:
    pods = " + ".join(f"{count} x {size}" for size, count in gang.pods)
    near = "" if gang.within is None else f" within a cell of level {gang.within}"
    return f"gang {gang.id!r} of tenant {gang.tenant!r}, {pods} GPUs{near}"
