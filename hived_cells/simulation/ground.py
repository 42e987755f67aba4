"""What stands under a view: takes bins that come into use, gives them GPUs of the cluster.

Private clusters have their own nodes; under quota a bin is a node; under cells a bin is a
reserved cell, bound to a physical one by `hived_cells.allocate` while it is in use.
"""

from typing import Protocol

from hived_cells.allocate import allocate, allocate_pin
from hived_cells.draft import Draft
from hived_cells.faults import heal, is_bad, mark_bad
from hived_cells.hierarchy import Cell, Chain
from hived_cells.low_priority import stop
from hived_cells.release import release
from hived_cells.reservation import Pin, Reservation
from hived_cells.simulation.floor import Floor, Spots
from hived_cells.simulation.view import Pieces
from hived_cells.state import Job, State, initial_state

__all__ = ["Bin", "CellGround", "Ground", "NodeGround", "bins_of", "home_cells"]

Bin = tuple[int, int]  # (desk, bin of its view)


def bins_of(reservation: Reservation) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return each tenant's reserved cells as levels, the smallest cells first.

    Examples
    --------
    >>> bins_of(Reservation({"A": {1: 1, 2: 1}}))
    (('A', (1, 2)),)
    """
    return tuple(
        (tenant, tuple(level for level, number in counts for _ in range(number)))
        for tenant, counts in reservation.cells
    )


def home_cells(chain: Chain, reservation: Reservation) -> tuple[tuple[Cell, ...], ...]:
    """Return a physical cell for each reserved cell, all at the same time, tenant by tenant.

    This is where private clusters stand and what a static binding binds to: all that is
    reserved is allocated once, the largest cells first, and never given back.

    Raises
    ------
    Infeasible
        The reserved cells do not all fit.

    Examples
    --------
    >>> homes = home_cells(Chain(2, (2,)), Reservation({"A": {1: 1, 2: 1}}))
    >>> [list(map(str, row)) for row in homes]
    [['1/0', '0']]
    """
    state = initial_state(chain, reservation)
    rows: list[list[Cell]] = []
    for tenant, levels in bins_of(reservation):
        rows.append([])
        for level in reversed(levels):
            state, cell = allocate(state, tenant, level)
            rows[-1].append(cell)
    return tuple(tuple(reversed(row)) for row in rows)


class Ground(Protocol):
    """What the simulation asks of the hardware under its views."""

    @property
    def floor(self) -> Floor | None:
        """The GPUs as low priority sees them; None where nothing is lent."""
        ...

    def occupy(self, desk: int, job: int, pieces: Pieces) -> tuple[int, list[int]]:
        """Let a job use its pieces; return a bin that is bad (-1: none) and the jobs in its way.

        Where a bin is bad nothing has changed: nobody is in the way, no GPU is held.
        """
        ...

    def vacate(self, desk: int, job: int, pieces: Pieces) -> None:
        """Let a job's pieces go."""
        ...

    def lend(self, job: int, tenant: str, spots: Spots) -> None:
        """Let a job run at low priority."""
        ...

    def take_back(self, job: int) -> None:
        """Let a job at low priority go."""
        ...

    def node_leaves(self, node: int) -> tuple[list[Bin], bool]:
        """Take a node away; return the bins that stood on it and whether they stay down."""
        ...

    def node_returns(self, node: int) -> list[Bin]:
        """Give a node back; return the bins that are up again."""
        ...


class NodeGround:
    """Bins that are physical for good: nodes under quota, private clusters' cells at home.

    Parameters
    ----------
    bins
        Desk → bin → its physical cell.
    chain
        The hardware.
    lending
        Whether idle GPUs are lent (private clusters lend none).
    """

    def __init__(self, bins: tuple[tuple[Cell, ...], ...], chain: Chain, *, lending: bool) -> None:
        self.floor = Floor(chain.top_cells, chain.sizes[-1], chain.factors) if lending else None
        self._bins: dict[int, list[Bin]] = {}
        for desk, row in enumerate(bins):
            for number, cell in enumerate(row):
                self._bins.setdefault(cell.path[0], []).append((desk, number))
        self._taken: dict[int, Spots] = {}  # job → its GPUs

    def occupy(self, desk: int, job: int, pieces: Pieces) -> tuple[int, list[int]]:  # noqa: ARG002
        """Choose GPUs of the nodes, idle ones first."""
        floor = self.floor
        if floor is None:
            return -1, []
        hit: dict[int, None] = {}
        spots = []
        for node, gpus in pieces:
            bits = _least_lent(floor, node, gpus)
            spots.append((node, bits))
            hit.update(dict.fromkeys(floor.hold(node, bits)))
        self._taken[job] = tuple(spots)
        return -1, list(hit)

    def vacate(self, desk: int, job: int, pieces: Pieces) -> None:  # noqa: ARG002
        """Free the job's GPUs."""
        if self.floor is not None:
            for node, bits in self._taken.pop(job):
                self.floor.free(node, bits)

    def lend(self, job: int, tenant: str, spots: Spots) -> None:  # noqa: ARG002
        """Lend GPUs."""
        if self.floor is not None:
            self.floor.lend(job, spots)

    def take_back(self, job: int) -> None:
        """Take lent GPUs back."""
        if self.floor is not None:
            self.floor.take_back(job)

    def node_leaves(self, node: int) -> tuple[list[Bin], bool]:
        """Return the bins of the node: they are gone with it."""
        return self._bins.get(node, []), True

    def node_returns(self, node: int) -> list[Bin]:
        """Return the bins of the node."""
        return self._bins.get(node, [])


def _least_lent(floor: Floor, node: int, gpus: int) -> int:
    """Return GPUs of a node that are not held, those in low-priority use last."""
    lent = 0
    for bits in floor.low[node].values():
        lent |= bits
    free = ((1 << floor.size) - 1) & ~floor.held[node]
    order = sorted(
        (place for place in range(floor.size) if free >> place & 1),
        key=lambda place: (lent >> place & 1, place),
    )
    return sum(1 << place for place in order[:gpus])


class CellGround:
    """Bins that are reserved cells: each is bound while a job runs in it.

    The state is the library's own: a binding that Theorem 1 promises and that fails raises.

    Parameters
    ----------
    chain
        The hardware; its top level is the node.
    reservation
        Whose cells; desk i is its i-th tenant's.
    static
        Bind each cell to its home for good instead of on demand.
    """

    def __init__(self, chain: Chain, reservation: Reservation, *, static: bool) -> None:
        self._tenants = reservation.tenants
        self._levels = tuple(levels for _, levels in bins_of(reservation))
        self._pins: tuple[tuple[str, ...], ...] = ()
        if static:
            homes = home_cells(chain, reservation)
            names = [[f"{desk}.{n}" for n in range(len(row))] for desk, row in enumerate(homes)]
            self._pins = tuple(map(tuple, names))
            pins = [
                Pin(name, tenant, cell)
                for tenant, row, own in zip(self._tenants, homes, names, strict=True)
                for name, cell in zip(own, row, strict=True)
            ]
            reservation = Reservation({tenant: {} for tenant in self._tenants}, pins=pins)
        self.state: State = initial_state(chain, reservation)
        self.floor = Floor(chain.top_cells, chain.sizes[-1], chain.factors)
        self._cells: list[dict[int, Cell]] = [{} for _ in self._tenants]  # desk → bin → cell
        self._users: list[dict[int, int]] = [{} for _ in self._tenants]  # desk → bin → jobs
        self._lent: dict[int, Job] = {}
        self._down: list[Bin] = []

    def occupy(self, desk: int, job: int, pieces: Pieces) -> tuple[int, list[int]]:  # noqa: ARG002
        """Bind the bins that are not bound yet, or none of them where one finds a bad cell."""
        cells, users = self._cells[desk], self._users[desk]
        state, fresh = self.state, {}
        for number, _ in pieces:
            if number in cells or number in fresh:
                continue
            state, fresh[number] = self._bound(state, desk, number)
            if is_bad(state, fresh[number]):
                self._down.append((desk, number))
                return number, []
        self.state = state
        cells.update(fresh)
        hit: dict[int, None] = {}
        for cell in fresh.values():
            hit.update(dict.fromkeys(self.floor.hold(*self._spot(cell))))
        for victim in hit:  # the state has stopped them with the allocation
            self._lent.pop(victim, None)
        for number, _ in pieces:
            users[number] = users.get(number, 0) + 1
        return -1, list(hit)

    def _bound(self, state: State, desk: int, number: int) -> tuple[State, Cell]:
        tenant = self._tenants[desk]
        if self._pins:
            return allocate_pin(state, tenant, self._pins[desk][number])
        return allocate(state, tenant, self._levels[desk][number])

    def _unbind(self, desk: int, number: int) -> None:
        cell = self._cells[desk].pop(number)
        self.state = release(self.state, self._tenants[desk], cell)
        self.floor.free(*self._spot(cell))

    def vacate(self, desk: int, job: int, pieces: Pieces) -> None:  # noqa: ARG002
        """Release the cells of the bins in which nobody is left."""
        users = self._users[desk]
        for number, _ in pieces:
            users[number] -= 1
            if not users[number]:
                del users[number]
                self._unbind(desk, number)

    def lend(self, job: int, tenant: str, spots: Spots) -> None:
        """Enter a job in the state and on the floor."""
        size = self.state.chain.sizes[-1]
        gpus = [node * size + place for node, bits in spots for place in _places(bits)]
        self._lent[job] = Job(tenant, tuple(sorted(gpus)))
        draft = Draft(self.state)
        draft.enter_job(self._lent[job])
        self.state = draft.freeze()
        self.floor.lend(job, spots)

    def take_back(self, job: int) -> None:
        """Strike a job, unless an allocation has stopped it already."""
        was = self._lent.pop(job, None)
        if was is not None:
            self.state = stop(self.state, was)
        self.floor.take_back(job)

    def node_leaves(self, node: int) -> tuple[list[Bin], bool]:
        """Mark the node bad; bins that were bound there may be bound elsewhere."""
        self.state = mark_bad(self.state, Cell(self.state.chain.levels, (node,)))
        hit = [
            (desk, number)
            for desk, cells in enumerate(self._cells)
            for number, cell in cells.items()
            if cell.path[0] == node
        ]
        return hit, False

    def node_returns(self, node: int) -> list[Bin]:
        """Mark the node healthy; bins that found only bad cells may try again."""
        self.state = heal(self.state, Cell(self.state.chain.levels, (node,)))
        down, self._down = self._down, []
        return down

    def _spot(self, cell: Cell) -> tuple[int, int]:
        chain = self.state.chain
        width = chain.sizes[cell.level]
        node, begin = divmod(chain.index(cell) * width, chain.sizes[-1])
        return node, ((1 << width) - 1) << begin


def _places(bits: int) -> list[int]:
    return [place for place in range(bits.bit_length()) if bits >> place & 1]
