"""After a crash or a changed reservation: takes a pool and bindings, gives the state they make.

Only bindings persist (Section 4): they are plain data, replayed in their order of priority, and
one that would break a promise is turned into a low-priority job on the same GPUs.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from hived_cells import bitset
from hived_cells.bindings import Bindings
from hived_cells.draft import Draft, containing_free_cell
from hived_cells.errors import InvalidSpec, shown
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Pool
from hived_cells.state import Job, State, bound_cells, initial_state, jobs

__all__ = ["HasPool", "HasPools", "Recovery", "bindings_of", "recover"]


class Recovery(NamedTuple):
    """What `recover` gives.

    Parameters
    ----------
    state
        The pool with what could be kept.
    downgraded
        (tenant, cell) of bindings that now run at low priority.
    ignored
        (tenant, cell) of bindings to hardware that is no longer there.

    Examples
    --------
    >>> from hived_cells import Reservation
    >>> pool = initial_state(Chain(2, ()), Reservation({"A": {1: 1}})).pool
    >>> recover(pool, Bindings([("A", Cell(1, (7,)))])).ignored
    (('A', Cell(level=1, path=(7,))),)
    """

    state: State
    downgraded: tuple[tuple[str, Cell], ...]
    ignored: tuple[tuple[str, Cell], ...]


def bindings_of(state: State) -> Bindings:
    """Return everything that `recover` needs to make an equal state.

    Examples
    --------
    >>> from hived_cells import Reservation, allocate
    >>> state, _ = allocate(initial_state(Chain(2, (2,)), Reservation({"A": {1: 3}})), "A", 1)
    >>> recover(state.pool, bindings_of(state)).state == state
    True
    """
    bad = tuple(state.chain.cell(1, gpu) for gpu in bitset.indices(state.bad))
    return Bindings(bound_cells(state), jobs=jobs(state), bad=bad)


class HasPool(Protocol):
    """A pool with more around it: `SpecPool`, `State`."""

    @property
    def pool(self) -> Pool:
        """The pool."""


class HasPools(Protocol):
    """A specification: `Spec`."""

    @property
    def pools(self) -> Sequence[HasPool]:
        """Its pools."""


def recover(spec: Pool | HasPool | HasPools, bindings: Bindings | Mapping[str, Any]) -> Recovery:
    """Replay bindings into a pool in their order.

    Guarantee: every S_k >= 0 afterwards, and a state's own bindings give an equal state. A
    binding is kept if the tenant's reservation covers it and no S_k becomes negative; else it is
    downgraded to a low-priority job on the same GPUs. Hardware that the pool no longer has is
    ignored; the rest of a low-priority job stays accounted.
    O(bindings x levels x factor + GPUs bound, bad or in jobs).

    Parameters
    ----------
    spec
        The present chain and reservation: a `Pool`, such as `state.pool` of any state on them, or
        what has one: a `SpecPool`, or a `Spec` of one pool. For several see `recover_cluster`.
    bindings
        What was bound, most important first, as `Bindings` or as their `to_data()`.

    Returns
    -------
    Recovery
        The state, and the bindings that were not kept.

    Raises
    ------
    Infeasible
        The reservation itself does not fit.
    InvalidSpec
        `spec` has no pool or several, two bindings claim one GPU, a tenant has no name, or a
        job's GPUs are not ascending integers of at least 0.

    References
    ----------
    HiveD (OSDI 2020), Section 4, "recovery" and "reconfiguration".

    Examples
    --------
    >>> from hived_cells import Reservation
    >>> pool = initial_state(Chain(2, (2,)), Reservation({"A": {1: 1}})).pool
    >>> done = recover(pool, Bindings([("A", Cell(1, (0, 0))), ("A", Cell(1, (1, 0)))]))
    >>> done.downgraded, done.state
    ((('A', Cell(level=1, path=(1, 0))),), <State of 4 GPUs in 2 levels: free 1+1, owed 0+0, \
held {'A': {1: 1}}, 1 GPUs in low-priority use>)
    """
    pool = _one_pool(spec)
    if not isinstance(bindings, Bindings):
        bindings = Bindings.from_data(pool.chain, bindings)
    draft = Draft(initial_state(pool.chain, pool.reservation))
    for cell in bindings.bad:
        if (index := _present(pool.chain, cell)) >= 0:
            _mark(draft, cell.level, index)
    downgraded, ignored = [], []
    claimed = bitset.empty(pool.chain.gpus)
    for tenant, cell in bindings.held:
        _check_tenant(tenant)
        index = _present(pool.chain, cell)
        if index < 0:
            ignored.append((tenant, cell))
            continue
        size = pool.chain.sizes[cell.level]
        claimed = _claim(pool.chain, claimed, range(index * size, (index + 1) * size), cell)
        if not _bind_pin(draft, tenant, cell) and not _bind(draft, tenant, cell.level, index):
            downgraded.append((tenant, cell))
            draft.enter_job(Job(tenant, tuple(range(index * size, (index + 1) * size))))
    for job in bindings.jobs:
        _check_job(job)
        left = Job(job.tenant, tuple(gpu for gpu in job.gpus if gpu < pool.chain.gpus))
        claimed = _claim(pool.chain, claimed, left.gpus, job)
        if left.gpus:
            draft.enter_job(left)
    return Recovery(draft.freeze(), tuple(downgraded), tuple(ignored))


def _one_pool(spec: object) -> Pool:
    pools = getattr(spec, "pools", None)
    if isinstance(pools, Sequence):
        if len(pools) != 1:
            raise InvalidSpec(
                f"recover: the specification has {len(pools)} pools; recover_cluster takes several"
            )
        spec = pools[0]
    pool = spec if isinstance(spec, Pool) else getattr(spec, "pool", None)
    if not isinstance(pool, Pool):
        raise InvalidSpec(f"recover: {shown(spec)} is no pool and has none")
    return pool


def _present(chain: Chain, cell: Cell) -> int:
    """Return the number of a cell, -1 where the chain has no such cell."""
    try:
        return chain.index(cell)
    except InvalidSpec:
        return -1


def _check_tenant(tenant: str) -> None:
    if not isinstance(tenant, str) or not tenant:
        raise InvalidSpec(f"bindings: tenant {shown(tenant)} is not a name")


def _check_job(job: Job) -> None:
    _check_tenant(job.tenant)
    whole = all(type(gpu) is int and gpu >= 0 for gpu in job.gpus)
    if not whole or list(job.gpus) != sorted(set(job.gpus)):
        raise InvalidSpec(f"bindings: the GPUs of {shown(job)} are not ascending integers from 0")


def _claim(
    chain: Chain, claimed: bitset.BitSet, gpus: Iterable[int], claimant: Cell | Job
) -> bitset.BitSet:
    for gpu in gpus:
        if bitset.has(claimed, gpu):
            raise InvalidSpec(
                f"bindings: GPU {chain.cell(1, gpu)} is claimed twice, "
                f"the second time by {claimant}"
            )
        claimed = bitset.flip(claimed, gpu)
    return claimed


def _mark(draft: Draft, level: int, index: int) -> None:
    """Mark a cell's GPUs bad; everything is still free or pinned, so top cells hold the index."""
    size = draft.chain.sizes[level]
    for gpu in range(index * size, (index + 1) * size):
        if bitset.has(draft.bad, gpu):
            continue
        home, number = containing_free_cell(draft.chain, draft.free, gpu)
        key = draft.key(home, number) if home else (0, 0, 0)
        draft.bad = bitset.flip(draft.bad, gpu)
        if home:
            draft.regroup(home, number, key)


def _bind_pin(draft: Draft, tenant: str, cell: Cell) -> bool:
    """Bind the cell if it is a pin of the tenant that is not in use."""
    pool = draft.state.pool
    for number, pin in enumerate(pool.reservation.pins):
        if pin.tenant == tenant and pin.cell == cell:
            size = pool.chain.sizes[cell.level]
            start = pool.pin_indices[number] * size
            draft.pins_in_use |= 1 << number
            draft.used = bitset.write(draft.used, start, size, (1 << size) - 1)
            return True
    return False


def _bind(draft: Draft, tenant: str, level: int, index: int) -> bool:
    """Bind that very cell if the tenant may have it and every S_k stays at least 0."""
    chain = draft.chain
    number = draft.state.pool.tenant_number(tenant)
    if number < 0 or draft.held[number][level] >= draft.state.pool.reserved[number][level]:
        return False
    home, outer = containing_free_cell(chain, draft.free, index * chain.sizes[level])
    if home < level or not _spare(draft, level, home):
        return False
    draft.drop_free(home, outer, draft.key(home, outer))
    while home > level:
        home -= 1
        factor = chain.splits[home + 1]
        inner = index // (chain.sizes[home] // chain.sizes[level])
        for part in range(outer * factor, (outer + 1) * factor):
            if part != inner:
                draft.add_free(home, part, draft.key(home, part))
        outer = inner
    draft.bind(number, level, index)
    return True


def _spare(draft: Draft, level: int, home: int) -> bool:
    """Return whether S_j >= 1 for all level < j <= home, as splitting from `home` lowers them."""
    chain, pool = draft.chain, draft.state.pool
    obtainable = 0
    for j in range(chain.levels, level, -1):
        owed = pool.owed_at_start[j] - draft.allocated[j]
        slack = draft.free_count[j] + obtainable - owed
        if j <= home and slack < 1:
            return False
        obtainable = chain.splits[j] * slack
    return True
