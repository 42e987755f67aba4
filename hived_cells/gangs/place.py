"""Gangs come and go: takes a state and a gang, gives the next state and where the gang runs.

All or nothing: a gang that cannot be placed raises, and the old state is still the state.
"""

from hived_cells.errors import IllegalRequest, shown
from hived_cells.gangs.admission import admitted, could_ever, refusal
from hived_cells.gangs.desk import Desk, Seats
from hived_cells.gangs.low import enter, seat_low
from hived_cells.gangs.nodes import Nodes, restored, restricted
from hived_cells.gangs.plan import plan
from hived_cells.gangs.preempt import preempt
from hived_cells.gangs.state import Book, GangState
from hived_cells.gangs.values import Gang, GangPlacement, Outlook, RunningGang
from hived_cells.low_priority import stop
from hived_cells.state import Job

__all__ = ["outlook", "place_gang", "remove_gang"]


def place_gang(
    state: GangState, gang: Gang, *, nodes: Nodes | None = None
) -> tuple[GangState, GangPlacement]:
    """Place a gang, all pods or none, and return the next state.

    A guaranteed gang runs in its tenant's cells: those held, and reserved ones that are bound for
    it. Where it does not fit, gangs of the tenant of lower priority make room, none of which could
    be spared (not always the fewest: `preempt` says which); a gang of another tenant never does,
    unless it runs at low priority on a cell that is bound. A
    placement is found whenever there is one (`exact` on the result says so, see
    `hived_cells.gangs.packing`). Among the placements: no preemption before any, then the lowest
    common ancestor (of the node level or above, in the tenant's cells), then the fullest nodes
    and the fewest new cells, then the lowest common ancestor inside a node. Pools are tried in
    their order. For pods whose sizes divide each other O(pods + capacities x sizes) and an
    `allocate` for each new cell, independent of the number of nodes.

    Parameters
    ----------
    state
        The present state; it stays as it is.
    gang
        The gang.
    nodes
        Pool → the nodes on which it may run; None for all.

    Returns
    -------
    (GangState, GangPlacement)
        The next state, and where the gang is and what that took.

    Raises
    ------
    NeverFits
        It does not fit into what the tenant reserved, even when all of that is idle.
    MustWait
        It does not fit now; it will when enough gangs have ended (or nodes have healed).
    IllegalRequest
        The tenant reserved nothing in such a pool, has no such pin, or the id is in use.

    References
    ----------
    HiveD (OSDI 2020), Section 3.

    Examples
    --------
    >>> from hived_cells import Chain, Pool, Reservation
    >>> from hived_cells.gangs import GangPool, initial_gangs
    >>> pool = Pool(Chain(4, (2, 2, 2)), Reservation({"A": {4: 2}, "B": {4: 2}}))
    >>> state = initial_gangs([GangPool("V100", pool, node_level=4)])
    >>> state, placed = place_gang(state, Gang("g1", "A", ((4, 1), (2, 1))))
    >>> placed.pods, [str(cell) for cell in placed.bound]
    (((0, 1, 2, 3), (4, 5)), ['0'])
    >>> place_gang(state, Gang("g2", "A", ((8, 2),)))
    Traceback (most recent call last):
    hived_cells.errors.MustWait: gang 'g2' of tenant 'A', 2 x 8 GPUs: no room now in pool 'V100'; \
it reserved {4: 2} and holds {4: 1} (level: cells)
    """
    books = admitted(state, gang)
    if nodes is not None:
        limited = [restricted(book, nodes) for book in books]
        later, placed = _place(state, gang, limited)
        book = restored(later.books[placed.pool], state.books[placed.pool].state)
        return GangState({**later.books, placed.pool: book}, later.running), placed
    return _place(state, gang, books)


def _place(state: GangState, gang: Gang, books: list[Book]) -> tuple[GangState, GangPlacement]:
    if gang.is_low_priority:
        return _place_low(state, gang, books)
    exact = True
    for book in books:
        desk = Desk(book, gang.tenant, gang.pinned)
        seats, proved = desk.seat(gang)
        exact = exact and proved
        if seats is not None:
            return _entered(state, desk, gang, seats, exact=exact)
    for book in books:
        found, proved = preempt(state, book, gang)
        exact = exact and proved
        if found is not None:
            return _entered(
                state,
                found.desk,
                gang,
                found.seats,
                exact=exact,
                stopped=found.stopped,
                downgraded=found.downgraded,
            )
    raise refusal(gang, books, exact=exact)


def remove_gang(state: GangState, name: str) -> GangState:
    """End a gang: its GPUs are free, and cells none of whose GPUs is in use are released.

    Parameters
    ----------
    state
        The cluster as it is.
    name
        A running gang.

    Returns
    -------
    GangState
        The next state.

    Raises
    ------
    IllegalRequest
        No such gang runs.

    Examples
    --------
    >>> from hived_cells import Chain, Pool, Reservation
    >>> from hived_cells.gangs import GangPool, initial_gangs
    >>> pool = Pool(Chain(4, (2, 2, 2)), Reservation({"A": {4: 2}}))
    >>> state = initial_gangs([GangPool("V100", pool, node_level=4)])
    >>> remove_gang(place_gang(state, Gang("g1", "A", ((8, 2),)))[0], "g1") == state
    True
    """
    if not isinstance(name, str) or name not in state.running:
        raise IllegalRequest(f"gang {shown(name)} does not run")
    gone = state.running[name]
    book = state.books[gone.pool]
    if gone.low_priority:
        job = Job(gone.gang.tenant, gone.gpus)
        jobs = {known: owner for known, owner in book.jobs.items() if known != job}
        book = book._replace(state=stop(book.state, job), jobs=jobs)
    else:
        desk = Desk(book, gone.gang.tenant, gone.gang.pinned)
        for pod in gone.pods:
            desk.vacate(pod)
        book = desk.freeze()
    running = dict(state.running)
    del running[name]
    return GangState({**state.books, gone.pool: book}, running)


def outlook(state: GangState, gang: Gang) -> Outlook:
    """Return whether a gang can be placed now, by preemption, later or never.

    `place_gang` succeeds on NOW and PREEMPT, raises `MustWait` on WAIT and `NeverFits` on NEVER.

    Parameters
    ----------
    state
        The cluster as it is.
    gang
        As for `place_gang`; it need not run.

    Raises
    ------
    IllegalRequest
        As for `place_gang`.

    Examples
    --------
    >>> from hived_cells import Chain, Pool, Reservation
    >>> from hived_cells.gangs import GangPool, initial_gangs
    >>> pool = Pool(Chain(4, (2, 2, 2)), Reservation({"A": {4: 2}, "B": {1: 8}}))
    >>> state = initial_gangs([GangPool("V100", pool, node_level=4)])
    >>> state, _ = place_gang(state, Gang("g1", "A", ((4, 1),)))
    >>> for gang in [
    ...     Gang("g2", "A", ((8, 1),)),
    ...     Gang("g2", "A", ((8, 2),), priority=1),
    ...     Gang("g2", "A", ((8, 2),)),
    ...     Gang("g2", "B", ((2, 1),)),  # eight single GPUs promise no pair
    ... ]:
    ...     print(outlook(state, gang))
    Outlook.NOW
    Outlook.PREEMPT
    Outlook.WAIT
    Outlook.NEVER
    """
    books = admitted(state, gang)
    if gang.is_low_priority:
        if any(seat_low(book, gang)[0] is not None for book in books):
            return Outlook.NOW
        return Outlook.WAIT if any(could_ever(b, gang) for b in books) else Outlook.NEVER
    for book in books:
        desk = Desk(book, gang.tenant, gang.pinned)
        if book.state.bad[0]:  # whether a cell that is bound is healthy shows only then
            if desk.seat(gang)[0] is not None:
                return Outlook.NOW
        elif plan(desk.room(), gang).filled is not None:
            return Outlook.NOW
    if any(preempt(state, book, gang)[0] is not None for book in books):
        return Outlook.PREEMPT
    return Outlook.WAIT if any(could_ever(book, gang) for book in books) else Outlook.NEVER


def _place_low(state: GangState, gang: Gang, books: list[Book]) -> tuple[GangState, GangPlacement]:
    exact = True
    for book in books:
        seats, proved = seat_low(book, gang)
        exact = exact and proved
        if seats is not None:
            pods = _in_order(gang, seats)
            now = RunningGang(gang, book.name, pods, low_priority=True)
            after = enter(book, gang.tenant, gang.id, now.gpus)
            running = {**state.running, gang.id: now}
            placed = GangPlacement(gang, book.name, pods, low_priority=True, exact=exact)
            return GangState({**state.books, book.name: after}, running), placed
    raise refusal(gang, books, exact=exact)


def _entered(
    state: GangState,
    desk: Desk,
    gang: Gang,
    seats: Seats,
    *,
    exact: bool,
    stopped: tuple[str, ...] = (),
    downgraded: tuple[RunningGang, ...] = (),
) -> tuple[GangState, GangPlacement]:
    """Return the state in which the gang sits where the desk put it."""
    pods = _in_order(gang, seats)
    running = dict(state.running)
    for one in downgraded:
        running[one.gang.id] = one._replace(low_priority=True)
    ended = list(stopped)
    if desk.stopped:
        names = {desk.book.jobs[job] for job in desk.stopped if job in desk.book.jobs}
        ended += sorted(names.difference(stopped))
    for name in ended:
        del running[name]
    name = desk.book.name
    running[gang.id] = RunningGang(gang, name, pods, low_priority=False)
    placed = GangPlacement(
        gang,
        name,
        pods,
        low_priority=False,
        bound=tuple(desk.bound),
        victims=tuple(ended),
        downgraded=tuple([one.gang.id for one in downgraded]),
        jobs=tuple([job for job in desk.stopped if job not in desk.book.jobs]),
        exact=exact,
    )
    return GangState({**state.books, name: desk.freeze()}, running), placed


def _in_order(gang: Gang, seats: Seats) -> tuple[tuple[int, ...], ...]:
    """Return the pods' GPUs in the order in which the gang lists its pods."""
    left = {size: iter(sorted(pods)) for size, pods in seats.items()}
    return tuple([next(left[size]) for size, count in gang.pods for _ in range(count)])
