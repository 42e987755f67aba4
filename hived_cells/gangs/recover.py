"""Gangs after a crash or under another specification: takes what survives, gives the state.

Only bindings persist (Section 4): the held cells and each gang's GPUs, by address. A gang whose
cells the new specification no longer grants goes on at low priority on the same GPUs.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hived_cells import bitset
from hived_cells.cluster import Cluster
from hived_cells.errors import InvalidSpec
from hived_cells.gangs.desk import Desk
from hived_cells.gangs.low import enter
from hived_cells.gangs.state import Book, GangState, initial_gangs
from hived_cells.gangs.values import Gang, RunningGang
from hived_cells.low_priority import stop
from hived_cells.reconfigure import NamedBinding, gpu_name, named_bindings, recover_cluster
from hived_cells.release import release
from hived_cells.spec.values import Spec
from hived_cells.state import bound_cells, jobs

__all__ = ["GangBinding", "GangRecovery", "gang_bindings", "recover_gangs"]

Names = tuple[str, ...]
Place = tuple[str, int]  # pool and GPU


class GangBinding(NamedTuple):
    """A running gang by addresses.

    Parameters
    ----------
    gang
        What was asked for.
    pool
        The pool it runs in.
    pods
        A pod's GPUs by address, as in `NamedBinding`, in the order of its pods.
    low_priority
        Whether it runs on GPUs that nobody holds.

    Examples
    --------
    >>> GangBinding(Gang("g1", "A", ((1, 1),)), "NODE", (("node7/0",),), low_priority=False).pool
    'NODE'
    """

    gang: Gang
    pool: str
    pods: tuple[Names, ...]
    low_priority: bool


class GangRecovery(NamedTuple):
    """What `recover_gangs` gives.

    Parameters
    ----------
    state
        The cluster with what could be kept.
    downgraded
        Gangs that now run at low priority.
    stopped
        Gangs that cannot go on: none of their GPUs is there, some are taken, or `within` holds
        no more.

    Examples
    --------
    >>> recover_gangs(Spec(pools=(), tenants=()), [], []).downgraded
    ()
    """

    state: GangState
    downgraded: tuple[str, ...]
    stopped: tuple[str, ...]


def gang_bindings(
    spec: Spec, state: GangState
) -> tuple[tuple[NamedBinding, ...], tuple[GangBinding, ...]]:
    """Return the held cells, plain jobs and bad GPUs, and the gangs, all by address.

    Parameters
    ----------
    spec
        The specification that the state was made from: it has the addresses.
    state
        The cluster as it is.

    Examples
    --------
    >>> empty = Spec(pools=(), tenants=())
    >>> gang_bindings(empty, initial_gangs(empty))
    ((), ())
    """
    names = {one.name: [gpu_name(one, g) for g in range(one.pool.chain.gpus)] for one in spec}
    left = {}
    for book in state.books.values():  # plain jobs are left, gangs speak for themselves
        left[book.name] = book.state
        for job in book.jobs:
            left[book.name] = stop(left[book.name], job)
    return named_bindings(spec, Cluster(left)), tuple(
        GangBinding(
            one.gang,
            one.pool,
            tuple(tuple(names[one.pool][gpu] for gpu in pod) for pod in one.pods),
            one.low_priority,
        )
        for one in state.running.values()
    )


def recover_gangs(
    spec: Spec, held: Iterable[NamedBinding], gangs: Iterable[GangBinding]
) -> GangRecovery:
    """Replay held cells and gangs into a specification, those of the highest priority first.

    A guaranteed gang is kept where all its GPUs that are still there lie in cells that its tenant
    still holds; else it goes on at low priority, and cells that are left without a gang are
    released. GPUs that are not there any more are ignored and the rest of a gang stays accounted.
    A gang that asks for a common cell (`within`) and no longer lies in one is stopped.
    Guarantee: `gang_violations` of the result is empty, and a state's own bindings give an equal
    state. O(GPUs x levels + bindings x levels).

    Parameters
    ----------
    spec
        The specification now.
    held, gangs
        What `gang_bindings` gave.

    Returns
    -------
    GangRecovery
        The state, and the gangs that lost something.

    Raises
    ------
    Infeasible
        The specification's reserved cells do not fit.
    InvalidSpec
        Two bindings, or one twice, claim one GPU; two gangs have one id; a gang has other pods
        than it asks for (fewer GPUs it may have).

    References
    ----------
    HiveD (OSDI 2020), Section 4, "recovery" and "reconfiguration".

    Examples
    --------
    >>> from hived_cells import parse_spec, place_gang
    >>> spec = parse_spec('''
    ... physicalCluster:
    ...   cellTypes: {NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}}
    ...   physicalCells: [{cellType: NODE, cellAddress: n1}]
    ... virtualClusters: {A: {virtualCells: [{cellType: NODE, cellNumber: 1}]}}
    ... ''')
    >>> state, _ = place_gang(initial_gangs(spec), Gang("g1", "A", ((1, 2),)))
    >>> recover_gangs(spec, *gang_bindings(spec, state)).state == state
    True
    """
    known = list(gangs)
    _check(known)
    places = {
        gpu_name(pool, gpu): (pool.name, gpu)
        for pool in spec
        for gpu in range(pool.pool.chain.gpus)
    }
    guaranteed = [one for one in known if not one.low_priority]
    rank = {name: one.gang.priority for one in guaranteed for pod in one.pods for name in pod}
    by_priority = sorted(held, key=lambda one: -max([rank.get(g, -1) for g in one.gpus]))
    done = recover_cluster(spec, by_priority)
    state = initial_gangs(spec)
    for name in done.cluster:
        state = state.with_cells(name, done.cluster[name])
    books = dict(state.books)
    _strike_former_cells(books, rank, places)
    keeping = [one for one in guaranteed if _is_kept(books, one, places)]
    kept = {one.gang.id: _running(one, one.pool, places) for one in keeping}
    _adopt(books, kept)
    _release_idle(books, rank, places)
    running: dict[str, RunningGang] = {}
    downgraded, stopped = [], []
    for one in known:
        now = kept.get(one.gang.id) or _at_low_priority(books, one, places)
        if now is None:
            stopped.append(one.gang.id)
            continue
        running[one.gang.id] = now
        if now.low_priority and not one.low_priority:
            downgraded.append(one.gang.id)
    return GangRecovery(GangState(books, running), tuple(downgraded), tuple(stopped))


def _check(known: Sequence[GangBinding]) -> None:
    """Refuse gangs that no state can have had, whatever the cells are."""
    ids: set[str] = set()
    owner: dict[str, str] = {}
    for one in known:
        name = one.gang.id
        if name in ids:
            raise InvalidSpec(f"bindings: gang {name!r} is given twice")
        ids.add(name)
        asked = [size for size, count in one.gang.pods for _ in range(count)]
        if len(one.pods) != len(asked) or any(map(int.__gt__, map(len, one.pods), asked)):
            raise InvalidSpec(f"bindings: gang {name!r} has not the pods it asked for")
        for gpu in (gpu for pod in one.pods for gpu in pod):
            if gpu in owner:
                raise InvalidSpec(
                    f"bindings: GPU {gpu} is claimed by gangs {owner[gpu]!r} and {name!r}"
                )
            owner[gpu] = name


def _found(one: GangBinding, places: dict[str, Place]) -> list[Place]:
    return [places[name] for pod in one.pods for name in pod if name in places]


def _running(one: GangBinding, pool: str, places: dict[str, Place]) -> RunningGang:
    """Return the gang with those of its GPUs that a pool still has."""
    pods = tuple(
        tuple(sorted(places[n][1] for n in pod if n in places and places[n][0] == pool))
        for pod in one.pods
    )
    return RunningGang(one.gang, pool, pods, one.low_priority)


def _strike_former_cells(
    books: dict[str, Book], rank: dict[str, int], places: dict[str, Place]
) -> None:
    """End the jobs that stand for cells of gangs: the gangs themselves follow."""
    of_gangs = {places[name] for name in rank if name in places}
    for name, book in books.items():
        cells = book.state
        for job in jobs(cells):
            if any((name, gpu) in of_gangs for gpu in job.gpus):
                cells = stop(cells, job)
        books[name] = book._replace(state=cells)


def _owner_of(book: Book, gpu: int) -> tuple[str, str] | None:
    """Return (tenant, pin or "") of the held cell that a GPU lies in."""
    sizes = book.state.chain.sizes
    for tenant, cell in bound_cells(book.state):
        if gpu // sizes[cell.level] == book.state.chain.index(cell):
            pins = [pin.name for pin in book.state.reservation.pins if pin.cell == cell]
            return tenant, pins[0] if pins else ""
    return None


def _is_kept(books: dict[str, Book], one: GangBinding, places: dict[str, Place]) -> bool:
    """Return whether the gang's GPUs lie in cells that its tenant holds in the same pool."""
    found = _found(one, places)
    mine = (one.gang.tenant, one.gang.pinned or "")
    if not found or {pool for pool, _ in found} != {one.pool}:
        return False
    book = books[one.pool]
    if not _lies_within(book, _running(one, one.pool, places)):
        return False
    return all(_owner_of(book, gpu) == mine for gpu in {gpu for _, gpu in found}) and all(
        _one_unit(book, pod) for pod in _running(one, one.pool, places).pods
    )


def _lies_within(book: Book, now: RunningGang) -> bool:
    """Return whether the gang lies in one cell of the level that it asks for, if it does."""
    level, chain = now.gang.within, book.state.chain
    if level is None or level > chain.levels:
        return True
    return len({gpu // chain.sizes[level] for gpu in now.gpus}) <= 1


def _one_unit(book: Book, pod: tuple[int, ...]) -> bool:
    """Return whether a pod lies in one node of one held cell."""
    sizes = book.state.chain.sizes
    units = set()
    for gpu in pod:
        for _, cell in bound_cells(book.state):
            if gpu // sizes[cell.level] == book.state.chain.index(cell):
                lower = min(cell.level, book.node_level)
                units.add((lower, gpu // sizes[lower]))
    return len(units) <= 1


def _adopt(books: dict[str, Book], kept: dict[str, RunningGang]) -> None:
    """Take the cells of the kept gangs into their tenants' views."""
    for one in kept.values():
        book = books[one.pool]
        desk = Desk(book, one.gang.tenant, one.gang.pinned)
        sizes = desk.chain.sizes
        for pod in one.pods:
            for tenant, cell in bound_cells(book.state):
                index = desk.chain.index(cell)
                inside = pod and pod[0] // sizes[cell.level] == index
                lower = min(cell.level, book.node_level)
                first = index * (sizes[cell.level] // sizes[lower])
                if inside and tenant == one.gang.tenant and (lower, first) not in desk.free:
                    desk.adopt(cell.level, index)
            if pod:
                desk.occupy(pod)
        books[one.pool] = desk.freeze()


def _release_idle(books: dict[str, Book], rank: dict[str, int], places: dict[str, Place]) -> None:
    """Release the cells of gangs that are not kept."""
    of_gangs = {places[name] for name in rank if name in places}
    for name, book in books.items():
        cells, sizes = book.state, book.state.chain.sizes
        adopted = {
            number * sizes[level] for view in book.views.values() for level, number in view.free
        }
        for tenant, cell in list(bound_cells(cells)):
            start = cells.chain.index(cell) * sizes[cell.level]
            gpus = range(start, start + sizes[cell.level])
            if start not in adopted and any((name, gpu) in of_gangs for gpu in gpus):
                cells = release(cells, tenant, cell)
        books[name] = book._replace(state=cells)


def _at_low_priority(
    books: dict[str, Book], one: GangBinding, places: dict[str, Place]
) -> RunningGang | None:
    """Enter the gang as a low-priority job in the pool that has most of its GPUs."""
    found = [pool for pool, _ in _found(one, places)]
    if not found:
        return None
    pool = max(dict.fromkeys(found), key=found.count)
    now = _running(one, pool, places)._replace(low_priority=True)
    book = books[pool]
    taken = (book.state.used, book.state.low)
    if any(bitset.has(bits, gpu) for bits in taken for gpu in now.gpus):
        return None
    if not _lies_within(book, now):
        return None
    books[pool] = enter(book, one.gang.tenant, one.gang.id, now.gpus)
    return now
