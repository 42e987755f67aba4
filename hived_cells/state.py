"""The state of one pool: takes a chain and a reservation, gives the first frozen state.

Four fields say everything (who holds which cells, pins in use, low-priority jobs, bad GPUs);
the rest is an index derived from them that makes every operation logarithmic.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hived_cells import bitset
from hived_cells.bitset import BitSet
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Pool, Reservation, require_feasible

__all__ = [
    "Job",
    "State",
    "bound_cells",
    "free_cells",
    "free_counts",
    "holder",
    "initial_state",
    "jobs",
    "owed_counts",
]

JOB_CHUNK = 256  # GPUs a chunk of the GPU → job table: √65,536, so an update copies 4 KB

# (GPUs in low-priority use, bad GPUs, highest level that has a healthy cell inside: 0 for none)
Key = tuple[int, int, int]


class Job(NamedTuple):
    """A low-priority job: whose it is and which GPUs (numbered across the pool) it uses.

    Parameters
    ----------
    tenant
        Whose it is.
    gpus
        GPUs numbered across the pool, ascending.

    Examples
    --------
    >>> Job("A", (4, 5)).gpus
    (4, 5)
    """

    tenant: str
    gpus: tuple[int, ...]


JobTable = tuple[tuple[Job | None, ...], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class State:
    """One version of a pool: who holds what, which GPUs are bad, what runs at low priority.

    Two states are equal if and only if pool, held cells, pins in use, low-priority jobs and bad
    GPUs are; how they came about does not matter. States share what did not change. Make one
    with `initial_state` or `recover`; the fields are an implementation detail, read a state
    with `free_counts`, `owed_counts`, `bound_cells`, `jobs`, `slack` and `violations`.

    Examples
    --------
    >>> initial_state(Chain(2, (2,)), Reservation({"A": {1: 3}}))
    <State of 4 GPUs in 2 levels: free 2+0, owed 0+3, held {}>
    """

    pool: Pool
    # What the state is. Lists by level have an unused entry 0, so that the index is the level.
    bound: tuple[tuple[BitSet, ...], ...]  # tenant → level → cells held
    pins_in_use: int  # bit i: pin i is bound
    job_at: JobTable  # GPU → the low-priority job on it
    bad: BitSet  # GPUs
    # What follows from it.
    free: tuple[BitSet, ...]  # level → cells on the free list
    groups: tuple[Mapping[Key, BitSet], ...]  # level → the same cells by `Key`
    free_count: tuple[int, ...]  # f_k
    held: tuple[tuple[int, ...], ...]  # tenant → level → number of cells held
    allocated: tuple[int, ...]  # a_k
    used: BitSet  # GPUs in guaranteed use
    low: BitSet  # GPUs in low-priority use

    @property
    def chain(self) -> Chain:
        """The hardware."""
        return self.pool.chain

    @property
    def reservation(self) -> Reservation:
        """Who reserved what."""
        return self.pool.reservation

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return _content(self) == _content(other)

    def __hash__(self) -> int:
        return hash(_content(self))

    def __repr__(self) -> str:
        held: dict[str, dict[int, int]] = {}
        for tenant, row in zip(self.reservation.tenants, self.held, strict=True):
            if any(row):
                held[tenant] = {level: n for level, n in enumerate(row) if n}
        parts = [
            f"free {'+'.join(map(str, reversed(free_counts(self))))}",
            f"owed {'+'.join(map(str, reversed(owed_counts(self))))}",
            f"held {held}",
        ]
        if low := bitset.count(self.low):
            parts.append(f"{low} GPUs in low-priority use")
        if bad := bitset.count(self.bad):
            parts.append(f"{bad} GPUs bad")
        return (
            f"<State of {self.chain.gpus} GPUs in {self.chain.levels} levels: {', '.join(parts)}>"
        )


def _content(state: State) -> tuple[object, ...]:
    return state.pool, state.bound, state.pins_in_use, state.job_at, state.bad


def initial_state(chain: Chain, reservation: Reservation) -> State:
    """Return the state in which nothing is held: pins carved out, all else free and merged.

    All S_k >= 0 holds for the result, the premise of Theorem 1. O(GPUs / 1024 + pins).

    Parameters
    ----------
    chain
        Levels and split factors.
    reservation
        Cells of each level for each tenant, and pins.

    Raises
    ------
    InvalidSpec
        The reservation does not belong to the chain.
    Infeasible
        The reserved cells do not all fit; names the first short level from the top.

    References
    ----------
    HiveD (OSDI 2020), Section 3, Algorithm 1, initial free lists.

    Examples
    --------
    >>> initial_state(Chain(top_cells=2, factors=(4,)), Reservation({"A": {2: 1, 1: 4}}))
    <State of 8 GPUs in 2 levels: free 2+0, owed 1+4, held {}>
    """
    pool = Pool(chain, reservation)
    require_feasible(pool)
    free = free_sets(pool, [])
    none = tuple(bitset.empty(count) for count in chain.counts)
    chunks, rest = divmod(chain.gpus, JOB_CHUNK)
    table: JobTable = ((None,) * JOB_CHUNK,) * chunks + (((None,) * rest,) if rest else ())
    width = chain.levels + 1
    return State(
        pool=pool,
        bound=(none,) * len(pool.reserved),
        pins_in_use=0,
        job_at=table,
        bad=none[1],
        free=free,
        groups=tuple(
            {(0, 0, level): cells} if cells[0] else {} for level, cells in enumerate(free)
        ),
        free_count=tuple(map(bitset.count, free)),
        held=((0,) * width,) * len(pool.reserved),
        allocated=(0,) * width,
        used=none[1],
        low=none[1],
    )


def free_sets(pool: Pool, held: list[tuple[int, int]]) -> tuple[BitSet, ...]:
    """Return the free list of every level when the given (level, number) cells are held.

    Whatever is neither held nor pinned is free and merged as far as it goes, so the free lists
    are a function of the held cells. O(held x levels + GPUs / 1024).

    Examples
    --------
    >>> pool = Pool(Chain(2, (2,)), Reservation({}))
    >>> [list(bitset.indices(cells)) for cells in free_sets(pool, [(1, 0)])]
    [[], [1], [1]]
    """
    chain = pool.chain
    taken: list[set[int]] = [set() for _ in range(chain.levels + 1)]
    for pin, index in zip(pool.reservation.pins, pool.pin_indices, strict=True):
        taken[pin.cell.level].add(index)
    for level, index in held:
        taken[level].add(index)
    free: list[BitSet] = [bitset.empty(0)]
    broken: set[int] = set()
    for level in range(1, chain.levels):
        gone = taken[level] | broken
        factor = chain.splits[level + 1]
        broken = {index // factor for index in gone}
        offered = {parent * factor + child for parent in broken for child in range(factor)}
        free.append(bitset.from_indices(chain.counts[level], offered - gone))
    tops = bitset.full(chain.top_cells)
    for index in taken[chain.levels] | broken:
        tops = bitset.flip(tops, index)
    return (*free, tops)


def free_counts(state: State) -> tuple[int, ...]:
    """Return (f_1, ..., f_n): cells on the free list of each level.

    Examples
    --------
    >>> free_counts(initial_state(Chain(2, (2,)), Reservation({})))
    (0, 2)
    """
    return state.free_count[1:]


def owed_counts(state: State) -> tuple[int, ...]:
    """Return (r_1 - a_1, ..., r_n - a_n): reserved cells that no tenant holds yet.

    Examples
    --------
    >>> owed_counts(initial_state(Chain(2, (2,)), Reservation({"A": {1: 3}})))
    (3, 0)
    """
    pairs = zip(state.pool.owed_at_start[1:], state.allocated[1:], strict=True)
    return tuple(reserved - held for reserved, held in pairs)


def free_cells(state: State, level: int) -> Iterator[Cell]:
    """Yield the cells on the free list of a level in address order, lazily.

    Parameters
    ----------
    state
        The pool as it is.
    level
        From 1 upward.

    Raises
    ------
    InvalidSpec
        There is no such level.

    Examples
    --------
    >>> [str(c) for c in free_cells(initial_state(Chain(2, (2,)), Reservation({})), 2)]
    ['0', '1']
    """
    state.chain.check_level(level)
    return (state.chain.cell(level, index) for index in bitset.indices(state.free[level]))


def bound_cells(state: State) -> Iterator[tuple[str, Cell]]:
    """Yield (tenant, cell) for every held cell, pins in use included, lazily.

    Examples
    --------
    >>> from hived_cells import allocate
    >>> state, _ = allocate(initial_state(Chain(2, (2,)), Reservation({"A": {1: 3}})), "A", 1)
    >>> list(bound_cells(state))
    [('A', Cell(level=1, path=(0, 0)))]
    """
    for tenant, row in zip(state.reservation.tenants, state.bound, strict=True):
        for level in range(1, state.chain.levels + 1):
            for index in bitset.indices(row[level]):
                yield tenant, state.chain.cell(level, index)
    for number, pin in enumerate(state.reservation.pins):
        if state.pins_in_use >> number & 1:
            yield pin.tenant, pin.cell


def holder(state: State, cell: Cell) -> str | None:
    """Return the tenant that holds exactly this cell, None where nobody does. O(tenants).

    Parameters
    ----------
    state
        The pool as it is.
    cell
        A cell of the pool's chain.

    Raises
    ------
    InvalidSpec
        There is no such cell.

    Examples
    --------
    >>> holder(initial_state(Chain(2, (2,)), Reservation({"A": {1: 3}})), Cell(1, (0, 0)))
    """
    index = state.chain.index(cell)
    for tenant, row in zip(state.reservation.tenants, state.bound, strict=True):
        if bitset.has(row[cell.level], index):
            return tenant
    for number, pin in enumerate(state.reservation.pins):
        if pin.cell == cell and state.pins_in_use >> number & 1:
            return pin.tenant
    return None


def jobs(state: State) -> tuple[Job, ...]:
    """Return the low-priority jobs, ordered by their lowest GPU. O(GPUs).

    Examples
    --------
    >>> jobs(initial_state(Chain(2, (2,)), Reservation({})))
    ()
    """
    found = []
    for gpu in bitset.indices(state.low):
        job = state.job_at[gpu // JOB_CHUNK][gpu % JOB_CHUNK]
        if job is not None and job.gpus[0] == gpu:
            found.append(job)
    return tuple(found)


def slack_by_level(state: State) -> tuple[int, ...]:
    """Return (0, S_1, ..., S_n) from the counts the state keeps, in O(levels).

    Examples
    --------
    >>> slack_by_level(initial_state(Chain(2, (2,)), Reservation({"A": {1: 3}})))
    (0, 1, 2)
    """
    chain = state.pool.chain
    slack = [0] * (chain.levels + 1)
    obtainable = 0
    for level in range(chain.levels, 0, -1):
        owed = state.pool.owed_at_start[level] - state.allocated[level]
        slack[level] = state.free_count[level] + obtainable - owed
        obtainable = chain.splits[level] * slack[level]
    return tuple(slack)
