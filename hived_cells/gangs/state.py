"""The state of gangs: takes pools, gives the frozen state in which no gang runs.

Beside the cells' own state stands, for each tenant and pin, a view of what is free inside the
cells that it holds; every operation starts from it and looks at no other node.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from hived_cells import bitset
from hived_cells.bitset import BitSet
from hived_cells.cluster import Cluster
from hived_cells.errors import IllegalRequest, Infeasible, InvalidSpec, shown
from hived_cells.gangs.values import RunningGang
from hived_cells.hierarchy import Cell
from hived_cells.reservation import Pool
from hived_cells.spec.values import Spec
from hived_cells.state import JOB_CHUNK, Job, State, initial_state

__all__ = ["GangPool", "GangState", "common_cell", "gang_pools", "initial_gangs"]


@dataclass(frozen=True, slots=True)
class GangPool:
    """One pool and what gangs need to know of it.

    Parameters
    ----------
    name
        Its name.
    pool
        Chain and reservation.
    node_level
        Level of a node: no pod spans two cells of it.
    kind
        Kind of GPU.

    Raises
    ------
    InvalidSpec
        There is no such level, or a name is no string.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation
    >>> GangPool("V100", Pool(Chain(4, (2, 2)), Reservation({})), node_level=3).kind
    ''
    """

    name: str
    pool: Pool
    node_level: int
    kind: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.kind, str):
            raise InvalidSpec(f"pool {shown(self.name)}: name and kind are strings")
        if not isinstance(self.pool, Pool):
            raise InvalidSpec(f"pool {self.name!r}: {shown(self.pool)} is no Pool")
        self.pool.chain.check_level(self.node_level)


class View(NamedTuple):
    """What is free inside the cells that a tenant holds, or inside one of its pins.

    A *unit* is the part of one node that a held cell has: the cell itself at and below the node
    level, each of its nodes above it. It is known by its level and number.
    """

    free: Mapping[tuple[int, int], int]  # unit → the free GPUs in it, one bit each
    buckets: Mapping[tuple[int, int], BitSet]  # (level, GPUs free > 0) → numbers of units
    above: Mapping[tuple[int, int], int]  # held cells above the node level → GPUs in use


EMPTY = View({}, {}, {})


class Book(NamedTuple):
    """One pool of a state of gangs."""

    name: str
    kind: str
    node_level: int
    state: State
    views: Mapping[tuple[str, str], View]  # (tenant, pin or "") → what is free in what it holds
    jobs: Mapping[Job, str]  # low-priority job → the gang that it is


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GangState:
    """One version of a cluster with gangs on it.

    Two states are equal if and only if their cells and their running gangs are. Make one with
    `initial_gangs`, go on with `place_gang` and `remove_gang`.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation
    >>> pool = Pool(Chain(4, (8,)), Reservation({"A": {2: 2}}))
    >>> initial_gangs([GangPool("V100", pool, node_level=2)])
    <GangState of 32 GPUs in 1 pools: 0 gangs run>
    """

    books: Mapping[str, Book]
    running: dict[str, RunningGang]  # never written to

    @property
    def gangs(self) -> Mapping[str, RunningGang]:
        """The gangs that run, by id, in the order in which they were placed."""
        return MappingProxyType(self.running)

    @property
    def cluster(self) -> Cluster:
        """The cells of every pool."""
        return Cluster({name: book.state for name, book in self.books.items()})

    def cells(self, pool: str) -> State:
        """Return the cells of one pool.

        Raises
        ------
        InvalidSpec
            There is no such pool.

        Examples
        --------
        >>> from hived_cells import Chain, Reservation
        >>> pool = Pool(Chain(4, (8,)), Reservation({"A": {2: 2}}))
        >>> initial_gangs([GangPool("V100", pool, node_level=2)]).cells("V100")
        <State of 32 GPUs in 2 levels: free 4+0, owed 2+0, held {}>
        """
        if pool not in self.books:
            raise InvalidSpec(f"pool {shown(pool)} is not one of {list(self.books)}")
        return self.books[pool].state

    def with_cells(self, pool: str, cells: State) -> "GangState":
        """Return the state with other cells in a pool: after a fault, say, or an `allocate`.

        Low-priority gangs whose jobs no longer run are gone. O(gangs + cells that gangs hold).

        Raises
        ------
        InvalidSpec
            There is no such pool, or the cells are not a state of it.
        IllegalRequest
            A cell in which a gang runs is not held in them.

        Examples
        --------
        >>> from hived_cells import Cell, Chain, Reservation, mark_bad
        >>> pool = Pool(Chain(4, (8,)), Reservation({"A": {2: 2}}))
        >>> state = initial_gangs([GangPool("V100", pool, node_level=2)])
        >>> state.with_cells("V100", mark_bad(state.cells("V100"), Cell(2, (0,)))).cells("V100")
        <State of 32 GPUs in 2 levels: free 4+0, owed 2+0, held {}, 8 GPUs bad>
        """
        before = self.cells(pool)
        if not isinstance(cells, State) or cells.pool != before.pool:
            raise InvalidSpec(f"pool {pool!r}: {shown(cells)} is no state of it")
        book = self.books[pool]
        _require_held(book, cells)
        jobs = {job: name for job, name in book.jobs.items() if runs(cells, job)}
        ended = set(book.jobs.values()).difference(jobs.values())
        running = {name: one for name, one in self.running.items() if name not in ended}
        return GangState({**self.books, pool: book._replace(state=cells, jobs=jobs)}, running)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GangState):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[object, ...]:
        books = [(b.name, b.kind, b.node_level, b.state) for b in self.books.values()]
        return tuple(books), frozenset(self.running.items())

    def __repr__(self) -> str:
        gpus = sum(book.state.chain.gpus for book in self.books.values())
        return (
            f"<GangState of {gpus} GPUs in {len(self.books)} pools: {len(self.running)} gangs run>"
        )


def runs(cells: State, job: Job) -> bool:
    """Return whether exactly this low-priority job runs."""
    gpu = job.gpus[0]
    return cells.job_at[gpu // JOB_CHUNK][gpu % JOB_CHUNK] == job


def _require_held(book: Book, cells: State) -> None:
    sizes = cells.chain.sizes
    for (tenant, pin), view in book.views.items():
        for level, number in view.free:
            gpu = number * sizes[level]
            if not bitset.has(cells.used, gpu):
                where = f"pin {pin!r}" if pin else f"GPU {gpu}"
                raise IllegalRequest(
                    f"pool {book.name!r}: gangs of {tenant!r} run at {where}, which is not held"
                )


def gang_pools(spec: Spec) -> tuple[GangPool, ...]:
    """Return the pools of a specification, by name.

    The type of the lowest level is the kind of GPU; where no type is node-level, a top cell
    counts as a node.

    Examples
    --------
    >>> gang_pools(Spec(pools=(), tenants=()))
    ()
    """
    return tuple(
        GangPool(one.name, one.pool, one.node_level or one.pool.chain.levels, one.types[1])
        for one in spec
    )


def initial_gangs(pools: Spec | Iterable[GangPool]) -> GangState:
    """Return the state in which no gang runs and no cell is held.

    Parameters
    ----------
    pools
        The pools, in the order in which a gang that may run in several tries them, or a
        specification, as `gang_pools` reads it.

    Raises
    ------
    Infeasible
        A pool's reserved cells do not fit.
    InvalidSpec
        Two pools have one name, or something is no pool.

    Examples
    --------
    >>> from hived_cells import parse_spec
    >>> initial_gangs(parse_spec('''
    ... physicalCluster:
    ...   cellTypes: {NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}}
    ...   physicalCells: [{cellType: NODE, cellAddress: n1}]
    ... virtualClusters: {A: {virtualCells: [{cellType: NODE.GPU, cellNumber: 1}]}}
    ... '''))
    <GangState of 2 GPUs in 1 pools: 0 gangs run>
    """
    if isinstance(pools, Spec):
        pools = gang_pools(pools)
    if not isinstance(pools, Iterable):
        raise InvalidSpec(f"gangs: {shown(pools)} is neither a Spec nor pools")
    books: dict[str, Book] = {}
    for one in pools:
        if not isinstance(one, GangPool):
            raise InvalidSpec(f"gangs: {shown(one)} is no GangPool")
        if one.name in books:
            raise InvalidSpec(f"gangs: pool {one.name!r} is given twice")
        try:
            state = initial_state(one.pool.chain, one.pool.reservation)
        except Infeasible as error:
            raise Infeasible(
                f"pool {one.name!r}: {error}",
                level=error.level,
                needed=error.needed,
                available=error.available,
            ) from None
        books[one.name] = Book(one.name, one.kind, one.node_level, state, {}, {})
    return GangState(books, {})


def common_cell(state: GangState, name: str) -> Cell | None:
    """Return the lowest cell that contains every GPU of a running gang, None if none does.

    Parameters
    ----------
    state
        The cluster as it is.
    name
        A running gang.

    Raises
    ------
    InvalidSpec
        No such gang runs.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation
    >>> from hived_cells.gangs import Gang, place_gang
    >>> pool = Pool(Chain(4, (2, 4)), Reservation({"A": {2: 2}}))
    >>> state = initial_gangs([GangPool("V100", pool, node_level=2)])
    >>> state, _ = place_gang(state, Gang("g1", "A", ((4, 2),)))
    >>> print(common_cell(state, "g1"))
    0
    """
    if name not in state.running:
        raise InvalidSpec(f"gang {shown(name)} does not run")
    running = state.running[name]
    chain = state.books[running.pool].state.chain
    first, last = running.gpus[0], running.gpus[-1]
    for level in range(1, chain.levels + 1):
        if first // chain.sizes[level] == last // chain.sizes[level]:
            return chain.cell(level, first // chain.sizes[level])
    return None
