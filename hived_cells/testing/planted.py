"""An example: a plain allocator with five faults to switch on, and the machine that finds them.

`python -m hived_cells.testing.planted` runs the sound one and the five faulty ones.
"""

import sys
from dataclasses import dataclass, replace

from hived_cells.errors import IllegalRequest
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Reservation
from hived_cells.testing.machine import allocator_machine
from hived_cells.testing.verdict import print_faults, said, unshrunk

__all__ = ["FAULTS", "ListAllocator", "finds"]

FAULTS = ("no quota check", "partial merge", "lost child", "wrong F", "any free cell")


@dataclass(frozen=True)
class Lists:
    """A state: free cells and held cells.

    Examples
    --------
    >>> Lists(Chain(1, ()), Reservation({}), frozenset(), frozenset()).held
    frozenset()
    """

    chain: Chain
    reservation: Reservation
    free: frozenset[Cell]
    held: frozenset[tuple[str, Cell]]


@dataclass(frozen=True)
class ListAllocator:
    """Buddy allocation on plain lists, from the largest cell that S allows to take from.

    Parameters
    ----------
    fault
        One of `FAULTS`, or nothing for the sound allocator.

    Examples
    --------
    >>> sound = ListAllocator()
    >>> state = sound.initial(Chain(2, (2,)), Reservation({"A": {1: 2}}))
    >>> state, cell = sound.allocate(state, "A", 1)
    >>> print(cell)
    0/0
    """

    fault: str = ""

    def initial(self, chain: Chain, reservation: Reservation) -> Lists:
        """Return the first state.

        Examples
        --------
        >>> len(ListAllocator().initial(Chain(3, ()), Reservation({})).free)
        3
        """
        return Lists(chain, reservation, frozenset(chain.cells(chain.levels)), frozenset())

    def allocate(self, state: Lists, tenant: str, level: int) -> tuple[Lists, Cell]:
        """Grant a cell.

        Examples
        --------
        >>> lists = ListAllocator()
        >>> state = lists.initial(Chain(1, ()), Reservation({"A": {1: 1}}))
        >>> print(lists.allocate(state, "A", 1)[1])
        0
        """
        owned = dict(dict(state.reservation.cells).get(tenant, ())).get(level, 0)
        held = sum(owner == tenant and cell.level == level for owner, cell in state.held)
        if held >= owned and self.fault != "no quota check":
            raise IllegalRequest(f"{tenant} holds all of level {level}")
        cell = min(
            state.free, key=lambda c: (not self._may_split(state, level, c), -c.level, c.path)
        )
        if not self._may_split(state, level, cell):
            raise IllegalRequest("no free cell")
        free = set(state.free) - {cell}
        while cell.level > level:
            parts = [Cell(cell.level - 1, (*cell.path, i)) for i in self._parts(state, cell)]
            cell = parts[0]
            free |= set(parts[2:] if self.fault == "lost child" else parts[1:])
        grown = state.held | {(tenant, cell)}
        return replace(state, free=frozenset(free), held=grown), cell

    def release(self, state: Lists, tenant: str, cell: Cell) -> Lists:
        """Take a cell back.

        Examples
        --------
        >>> lists = ListAllocator()
        >>> state = lists.initial(Chain(1, ()), Reservation({"A": {1: 1}}))
        >>> lists.release(lists.allocate(state, "A", 1)[0], "A", Cell(1, (0,))) == state
        True
        """
        if (tenant, cell) not in state.held:
            raise IllegalRequest(f"{tenant} does not hold {cell}")
        left = state.held - {(tenant, cell)}
        free = set(state.free)
        merges = 0
        while cell.level < state.chain.levels:
            parent = Cell(cell.level + 1, cell.path[:-1])
            buddies = {Cell(cell.level, (*parent.path, i)) for i in self._parts(state, parent)}
            if not buddies - {cell} <= free or (self.fault == "partial merge" and merges):
                break
            free -= buddies
            cell = parent
            merges += 1
        return replace(state, free=frozenset(free | {cell}), held=left)

    def _parts(self, state: Lists, cell: Cell) -> range:
        return range(state.chain.splits[cell.level])

    def _may_split(self, state: Lists, level: int, cell: Cell) -> bool:
        """Return whether taking a level from the cell keeps every S_j >= 0."""
        if cell.level < level:
            return False
        lowest = min(c.level for c in state.free if c.level >= level)
        if cell.level == lowest or self.fault == "any free cell":
            return True
        slack = (0, *self.slack(state))
        return all(slack[j] >= 1 for j in range(level + 1, cell.level + 1))

    def free(self, state: Lists) -> frozenset[Cell]:
        """Return the cells on the free list.

        Examples
        --------
        >>> ListAllocator().free(ListAllocator().initial(Chain(1, ()), Reservation({})))
        frozenset({Cell(level=1, path=(0,))})
        """
        return state.free

    def slack(self, state: Lists) -> tuple[int, ...]:
        """Return (S_1, ..., S_n).

        Examples
        --------
        >>> ListAllocator().slack(ListAllocator().initial(Chain(3, ()), Reservation({})))
        (3,)
        """
        chain = state.chain
        slack = [0] * (chain.levels + 1)
        obtainable = 0
        for level in range(chain.levels, 0, -1):
            owed = sum(dict(counts).get(level, 0) for _, counts in state.reservation.cells)
            owed -= sum(cell.level == level for _, cell in state.held)
            here = sum(cell.level == level for cell in state.free) + obtainable
            slack[level] = here - owed
            # The fault: what could be split, without what the level above still owes.
            obtainable = chain.splits[level] * (here if self.fault == "wrong F" else here - owed)
        return tuple(slack[1:])


def finds(fault: str, *, examples: int = 200) -> str:
    """Return what the machine says of the allocator with a fault, "" where it finds nothing.

    Examples
    --------
    >>> finds("no quota check").split(":")[0]
    'quota'
    """
    lists = ListAllocator(fault)
    machine = allocator_machine(
        lists.initial,
        lists.allocate,
        lists.release,
        free=lists.free,
        slack=lists.slack,
        refusals=(IllegalRequest,),
    )
    return said(machine, unshrunk(examples)) or ""


def main() -> int:
    """Print a line for each fault; return 0 when all five and only they are found.

    Examples
    --------
    >>> callable(main)
    True
    """
    return print_faults(FAULTS, finds)


if __name__ == "__main__":
    sys.exit(main())
