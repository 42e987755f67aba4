"""Which cells to bind where some have bad GPUs: takes a desk, gives one with room for a gang.

Binding a cell shows only then which of its GPUs are healthy, so another cell may have room where
the usual choice has none. All choices are tried, those that look alike once.
"""

from collections.abc import Iterator
from typing import Protocol, TypeVar

from hived_cells import bitset
from hived_cells.allocate import allocate
from hived_cells.choose import Candidates, Choose
from hived_cells.gangs.plan import Room, plan
from hived_cells.gangs.values import Gang
from hived_cells.hierarchy import Cell
from hived_cells.state import State

__all__ = ["MAX_BINDINGS", "search", "towards"]

MAX_BINDINGS = 300  # tried before the search is given up undecided

Shape = tuple[object, ...]


class _Desk(Protocol):
    """What the search needs of a desk."""

    state: State
    tenant: str
    pin: str | None

    def copy(self) -> "_Desk":
        """Return a desk that can go on by itself."""
        ...

    def room(self) -> Room:
        """Return what there is to place gangs in."""
        ...

    def bind(self, level: int, choose: Choose) -> int:
        """Bind a reserved cell."""
        ...


D = TypeVar("D", bound=_Desk)


def search(desk: D, gang: Gang) -> tuple[D | None, bool]:
    """Return a desk on which the gang fits into cells that are held, or None.

    Any cell may be bound that breaks no promise: one in a free cell of the lowest level that has
    one, or above it by a detour (`Candidates.detour`). Cells with equal patterns of bad GPUs in
    free cells with equal patterns are tried once. The flag says whether None is proved; after
    `MAX_BINDINGS` it is not.
    """
    tried = 0
    exact = True

    def go_on(here: D) -> D | None:
        nonlocal tried, exact
        room = here.room()
        held = plan(room._replace(rights={}), gang)
        if held.filled is not None:
            return here
        hope = plan(room, gang)
        exact = exact and held.exact and hope.exact
        if hope.filled is None or here.pin is not None:
            return None
        for level in sorted(room.rights):
            for cell in _different_cells(here.state, here.tenant, level):
                if tried >= MAX_BINDINGS:
                    exact = False
                    return None
                tried += 1
                later = here.copy()
                later.bind(level, towards(cell))
                if (found := go_on(later)) is not None:  # type: ignore[arg-type]
                    return found
        return None

    return go_on(desk), exact


def towards(cell: Cell) -> Choose:
    """Return the choice that ends at a given cell, by a detour if need be.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> state = initial_state(Chain(2, (2,)), Reservation({"A": {1: 1}}))
    >>> print(allocate(state, "A", 1, choose=towards(Cell(1, (1, 0))))[1])
    1/0
    """

    def choose(candidates: Candidates) -> Cell:
        probe: Candidates | None = candidates
        while probe is not None:
            outer = cell.path[: probe.chain.levels - probe.level + 1]
            found = Cell(probe.level, outer)
            if probe.holds(probe.chain.index(found)):
                return found
            probe = probe.detour()
        return candidates.lowest()

    return choose


def _different_cells(state: State, tenant: str, level: int) -> Iterator[Cell]:
    """Yield the cells that may be bound, one of each pattern of bad GPUs."""
    offers: list[Candidates] = []

    def look(candidates: Candidates) -> Cell:
        if not offers:
            probe: Candidates | None = candidates
            while probe is not None:
                offers.append(probe)
                probe = probe.detour()
        return candidates.lowest()

    allocate(state, tenant, level, choose=look)
    chain = state.chain
    seen: set[Shape] = set()
    for offer in offers:
        for group in sorted(offer.groups, key=lambda group: (group.bad, group.low_priority)):
            members = list(bitset.indices(group.members)) if group.bad else [group.lowest]
            for outer in members:
                around = _shape(state, offer.level, outer)
                cells = chain.sizes[offer.level] // chain.sizes[level] if group.bad else 1
                first = outer * (chain.sizes[offer.level] // chain.sizes[level])
                for inner in range(first, first + cells):
                    key = (offer.level, around, _shape(state, level, inner))
                    if key not in seen:
                        seen.add(key)
                        yield chain.cell(level, inner)


def _shape(state: State, level: int, index: int) -> Shape:
    """Return the pattern of bad GPUs in a cell up to the order of the parts."""
    size = state.chain.sizes[level]
    bad = bitset.window(state.bad, index * size, size)
    if not bad or bad.bit_count() == size:
        return (level, bad.bit_count())
    parts = state.chain.splits[level]
    inside = [_shape(state, level - 1, part) for part in range(index * parts, (index + 1) * parts)]
    return (level, *sorted(inside, key=repr))
