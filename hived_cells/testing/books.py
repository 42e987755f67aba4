"""The machine's own books: take who holds which cell, give what must then be true.

Independent of the allocator: everything is worked out from the GPUs of each cell.
"""

from collections.abc import Iterable

from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Reservation

__all__ = ["Books"]


class Books:
    """Who holds which cell, and the checks.

    Examples
    --------
    >>> books = Books(Chain(2, (2,)), Reservation({"A": {1: 3}}))
    >>> books.bind("A", 1, Cell(1, (0, 1)))
    >>> sorted(map(str, books.free_cells()))
    ['0/0', '1']
    """

    def __init__(self, chain: Chain, reservation: Reservation) -> None:
        self.chain = chain
        self.owned = {
            (tenant, level): count
            for tenant, counts in reservation.cells
            for level, count in counts
        }
        self.tenants = reservation.tenants
        self.held: dict[Cell, str] = {}  # pins apart
        self.pins = {pin.cell: pin.tenant for pin in reservation.pins}
        # From the top down: each cell with its GPUs as the bits of an integer.
        self._cells = [
            (cell, self._gpus(cell))
            for level in range(chain.levels, 0, -1)
            for cell in chain.cells(level)
        ]

    def rights(self) -> list[tuple[str, int]]:
        """Return (tenant, level) of every legal request.

        Examples
        --------
        >>> Books(Chain(2, ()), Reservation({"A": {1: 1}})).rights()
        [('A', 1)]
        """
        return [
            (tenant, level)
            for (tenant, level), count in self.owned.items()
            if self._holds(tenant, level) < count
        ]

    def wrongs(self) -> list[tuple[str, int]]:
        """Return (tenant, level) of every illegal request.

        Examples
        --------
        >>> Books(Chain(2, ()), Reservation({"A": {1: 1}})).wrongs()
        []
        """
        levels = range(1, self.chain.levels + 1)
        every = [(tenant, level) for tenant in self.tenants for level in levels]
        return [pair for pair in every if self._holds(*pair) >= self.owned.get(pair, 0)]

    def _holds(self, tenant: str, level: int) -> int:
        return sum(cell.level == level and owner == tenant for cell, owner in self.held.items())

    def bind(self, tenant: str, level: int, cell: Cell) -> None:
        """Enter a granted cell; raise `AssertionError` where it could not be granted.

        Examples
        --------
        >>> Books(Chain(1, ()), Reservation({"A": {1: 1}})).bind("A", 1, Cell(1, (0,)))
        """
        if cell.level != level:
            raise AssertionError(f"conservation: level {level} was asked for, {cell} was given")
        gpus = self._gpus(cell)
        for other in (*self.held, *self.pins):
            if gpus & self._gpus(other):
                what = "held" if other in self.held else "pinned"
                raise AssertionError(f"conservation: {cell} overlaps {other}, which is {what}")
        self.held[cell] = tenant

    def unbind(self, cell: Cell) -> None:
        """Strike a cell that was given back.

        Examples
        --------
        >>> books = Books(Chain(1, ()), Reservation({"A": {1: 1}}))
        >>> books.bind("A", 1, Cell(1, (0,)))
        >>> books.unbind(Cell(1, (0,)))
        """
        del self.held[cell]

    def _gpus(self, cell: Cell) -> int:
        """Return the cell's GPUs as the bits of an integer."""
        size = self.chain.sizes[cell.level]
        return ((1 << size) - 1) << (self.chain.index(cell) * size)

    def _held_gpus(self) -> int:
        """Return the GPUs of held cells and of pins, which are nobody else's when idle, too."""
        held = 0
        for cell in (*self.held, *self.pins):
            held |= self._gpus(cell)
        return held

    def free_cells(self) -> set[Cell]:
        """Return the free cells, merged as far as they go.

        Examples
        --------
        >>> Books(Chain(1, (2,)), Reservation({})).free_cells()
        {Cell(level=2, path=(0,))}
        """
        covered = self._held_gpus()
        found: set[Cell] = set()
        for cell, gpus in self._cells:
            if not gpus & covered:
                found.add(cell)
                covered |= gpus
        return found

    def check_slack(self, listed: Iterable[Cell] | None) -> tuple[int, ...]:
        """Return (S_1, ..., S_n) for the free cells as listed or derived, all at least 0.

        Raises
        ------
        AssertionError
            One is negative.

        Examples
        --------
        >>> Books(Chain(1, ()), Reservation({"A": {1: 1}})).check_slack(None)
        (0,)
        """
        free = [0] * (self.chain.levels + 1)
        for cell in self.free_cells() if listed is None else set(listed):
            free[cell.level] += 1
        found: list[int] = []
        obtainable = 0
        for level in range(self.chain.levels, 0, -1):
            owed = sum(count for (_, k), count in self.owned.items() if k == level)
            owed -= sum(cell.level == level for cell in self.held)
            slack = free[level] + obtainable - owed
            if slack < 0:
                raise AssertionError(f"invariant: S = {slack} at level {level}")
            found.append(slack)
            obtainable = self.chain.splits[level] * slack
        return tuple(reversed(found))

    def check_free(self, listed: Iterable[Cell]) -> None:
        """Raise `AssertionError` unless the free cells are listed once each and merged.

        Examples
        --------
        >>> Books(Chain(1, (2,)), Reservation({})).check_free([Cell(2, (0,))])
        """
        cells = [Cell(*cell) for cell in listed]
        expected = self.free_cells()
        if len(set(cells)) != len(cells):
            raise AssertionError("conservation: a free cell is listed twice")
        covered = self._held_gpus()
        for cell in cells:
            if covered & self._gpus(cell):
                raise AssertionError(f"conservation: GPUs of {cell} are free twice, or held too")
            covered |= self._gpus(cell)
        if lost := self.chain.gpus - covered.bit_count():
            raise AssertionError(f"conservation: {lost} GPUs are neither held nor free")
        if set(cells) != expected:
            wrong = sorted(set(cells) - expected)
            raise AssertionError(f"merge: {list(map(str, wrong))} have free buddies")
