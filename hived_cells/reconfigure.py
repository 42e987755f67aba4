"""Recovery by address: takes a specification and bindings by name, gives a cluster.

For a specification that changed: levels, node names and pools may be others than those under
which the bindings were made, so a binding names its GPUs by node and GPU, not by number.
"""

from collections.abc import Iterable
from typing import NamedTuple

from hived_cells import bitset
from hived_cells.bindings import Bindings
from hived_cells.cluster import Cluster
from hived_cells.hierarchy import Cell
from hived_cells.recover import recover
from hived_cells.spec.values import Spec, SpecPool
from hived_cells.state import Job, State, bound_cells, jobs

__all__ = ["NamedBinding", "Reconfiguration", "named_bindings", "recover_cluster"]

LOW_PRIORITY, BAD = "low priority", "bad"


class NamedBinding(NamedTuple):
    """A held cell, a low-priority job or bad GPUs, by address; plain strings throughout.

    Examples
    --------
    >>> NamedBinding("NODE", "A", "GPU", ("node7/0",)).pin
    ''
    """

    pool: str
    tenant: str  # "" for bad GPUs
    kind: str  # the held cell's type, or "low priority" or "bad"
    gpus: tuple[str, ...]  # node address, slash, GPU address; or the full address without nodes
    pin: str = ""  # name of the pin that the cell is


class Reconfiguration(NamedTuple):
    """What `recover_cluster` gives.

    Examples
    --------
    >>> recover_cluster(Spec(pools=(), tenants=()), []).downgraded
    ()
    """

    cluster: Cluster
    downgraded: tuple[NamedBinding, ...]  # held cells that now run at low priority
    ignored: tuple[NamedBinding, ...]  # bindings none of whose GPUs is there any more


def named_bindings(spec: Spec, cluster: Cluster) -> tuple[NamedBinding, ...]:
    """Return everything that `recover_cluster` needs to make an equal cluster.

    Parameters
    ----------
    spec
        The specification that the cluster was made from: it has the addresses.
    cluster
        The cluster as it is.

    Examples
    --------
    >>> named_bindings(Spec(pools=(), tenants=()), Cluster({}))
    ()
    """
    return tuple(binding for pool in spec for binding in _pool_bindings(pool, cluster[pool.name]))


def _pool_bindings(pool: SpecPool, state: State) -> Iterable[NamedBinding]:
    pins = {pin.cell: pin.name for pin in state.reservation.pins}
    for tenant, cell in bound_cells(state):
        size = state.chain.sizes[cell.level]
        start = state.chain.index(cell) * size
        names = tuple(gpu_name(pool, gpu) for gpu in range(start, start + size))
        pin = pins.get(cell, "")
        yield NamedBinding(pool.name, tenant, pool.types[cell.level], names, pin)
    for job in jobs(state):
        names = tuple(gpu_name(pool, gpu) for gpu in job.gpus)
        yield NamedBinding(pool.name, job.tenant, LOW_PRIORITY, names)
    if bad := tuple(gpu_name(pool, gpu) for gpu in bitset.indices(state.bad)):
        yield NamedBinding(pool.name, "", BAD, bad)


def gpu_name(pool: SpecPool, gpu: int) -> str:
    """Return node and GPU without the levels between them, which may change."""
    chain = pool.pool.chain
    if pool.node_level:
        node = gpu // chain.sizes[pool.node_level]
        if pool.is_named(pool.node_level, node):
            return f"{pool.label(pool.node_level, node)}/{pool.label(1, gpu)}"
    return pool.address(chain.cell(1, gpu))


def recover_cluster(spec: Spec, bindings: Iterable[NamedBinding]) -> Reconfiguration:
    """Replay named bindings into a specification, most important first.

    A held cell is kept where its pool still has its cell type, all of its GPUs that are still
    there lie in one cell of that type, the tenant's reservation covers it and every S_k stays
    at least 0; a pinned one where the pin is still the tenant's. Else it is downgraded to
    low-priority jobs on the same GPUs. GPUs that are not there any more are ignored.
    O(GPUs x levels + bindings x levels).

    Parameters
    ----------
    spec
        The specification as it is now.
    bindings
        What `named_bindings` gave under an earlier one.

    Returns
    -------
    Reconfiguration
        The cluster, and what was downgraded or is gone.

    Raises
    ------
    Infeasible
        The specification's reserved cells do not fit.
    InvalidSpec
        Two bindings claim one GPU.

    References
    ----------
    HiveD (OSDI 2020), Section 4, "reconfiguration".

    Examples
    --------
    >>> done = recover_cluster(Spec(pools=(), tenants=()), [NamedBinding("N", "A", "G", ("n/0",))])
    >>> done.ignored
    (NamedBinding(pool='N', tenant='A', kind='G', gpus=('n/0',), pin=''),)
    """
    places = {
        gpu_name(pool, gpu): (pool.name, gpu)
        for pool in spec
        for gpu in range(pool.pool.chain.gpus)
    }
    plan = {pool.name: _Plan() for pool in spec}
    downgraded, ignored = [], []
    for binding in bindings:
        found = [places[name] for name in binding.gpus if name in places]
        if not found:
            ignored.append(binding)
        elif not _keep(spec, binding, found, plan):
            downgraded.append(binding)
    states = {}
    for pool in spec:
        wanted = plan[pool.name]
        held = [(tenant, cell) for tenant, cell, _ in wanted.held]
        done = recover(pool.pool, Bindings(held, jobs=wanted.jobs, bad=wanted.bad))
        states[pool.name] = done.state
        names = {(tenant, cell): binding for tenant, cell, binding in wanted.held}
        downgraded += [names[pair] for pair in done.downgraded]
    return Reconfiguration(Cluster(states), tuple(downgraded), tuple(ignored))


class _Plan:
    """What to replay into one pool."""

    __slots__ = ("bad", "held", "jobs")

    def __init__(self) -> None:
        self.held: list[tuple[str, Cell, NamedBinding]] = []
        self.jobs: list[Job] = []
        self.bad: list[Cell] = []


def _keep(
    spec: Spec, binding: NamedBinding, found: list[tuple[str, int]], plan: dict[str, _Plan]
) -> bool:
    """Enter what is left of a binding; return whether it is still what it was."""
    if binding.kind == BAD:
        for name, gpu in found:
            plan[name].bad.append(spec.pool(name).pool.chain.cell(1, gpu))
        return True
    cell = None if binding.kind == LOW_PRIORITY else _same_cell(spec, binding, found)
    if cell is not None:
        plan[binding.pool].held.append((binding.tenant, cell, binding))
        return True
    for name in dict.fromkeys(name for name, _ in found):
        gpus = tuple(sorted(gpu for pool, gpu in found if pool == name))
        plan[name].jobs.append(Job(binding.tenant, gpus))
    return binding.kind == LOW_PRIORITY


def _same_cell(spec: Spec, binding: NamedBinding, found: list[tuple[str, int]]) -> Cell | None:
    """Return the cell of the binding's pool and type that has all its GPUs, None without one."""
    if {name for name, _ in found} != {binding.pool}:
        return None
    pool = spec.pool(binding.pool)
    gpus = [gpu for _, gpu in found]
    if binding.pin:
        for pin in pool.pool.reservation.pins:
            if pin.name == binding.pin and pin.tenant == binding.tenant:
                return pin.cell
        return None
    if binding.kind not in pool.types:
        return None
    level = pool.types.index(binding.kind)
    indices = {gpu // pool.pool.chain.sizes[level] for gpu in gpus}
    return pool.pool.chain.cell(level, indices.pop()) if len(indices) == 1 else None
