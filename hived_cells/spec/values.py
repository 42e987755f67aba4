"""What a specification says: frozen pools with their type names and addresses.

Takes what the readers found; gives addresses for cells and cells for addresses.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hived_cells.errors import InvalidSpec
from hived_cells.hierarchy import Cell
from hived_cells.reservation import Pool

__all__ = ["Spec", "SpecPool"]


@dataclass(frozen=True, slots=True)
class SpecPool:
    """One pool: the physical cells of one top-level type.

    Addresses follow the public format. A cell without one of its own has its number among the
    cells of its level within its node (below the node level) or within its top cell (above it);
    a top cell has its place in `physicalCells`.

    Parameters
    ----------
    name
        The top-level cell type.
    pool
        Chain and reservation.
    types
        Type name by level, entry 0 unused.
    node_level
        Level of the node-level type, 0 where there is none.
    places
        Place of each top cell in `physicalCells`.
    own
        (level, number, address) of the cells that have one of their own, sorted.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation
    >>> pool = Pool(Chain(1, (2, 4)), Reservation({}))
    >>> rack = SpecPool("R", pool, ("", "G", "N", "R"), 2, (0,), ((2, 1, "node7"),))
    >>> rack.address(Cell(1, (0, 1, 3))), rack.address(Cell(1, (0, 0, 3)))
    ('node7/3', '0/0/3')
    """

    name: str
    pool: Pool
    types: tuple[str, ...]
    node_level: int
    places: tuple[int, ...]
    own: tuple[tuple[int, int, str], ...]
    _labels: Mapping[tuple[int, int], str] = field(init=False, repr=False, compare=False)
    _starts: Mapping[str, tuple[tuple[int, int], ...]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        labels = {(level, index): label for level, index, label in self.own}
        object.__setattr__(self, "_labels", labels)
        starts: dict[str, tuple[tuple[int, int], ...]] = {}
        top = self.pool.chain.levels
        roots = [(top, index) for index in range(self.pool.chain.top_cells)]
        roots += [key for key in labels if key[0] == self.node_level != top]
        for level, index in roots:
            label = self.label(level, index)
            starts[label] = (*starts.get(label, ()), (level, index))
        object.__setattr__(self, "_starts", starts)

    def label(self, level: int, index: int) -> str:
        """Return the last part of a cell's address.

        Examples
        --------
        >>> from hived_cells import Chain, Reservation
        >>> pool = Pool(Chain(2, ()), Reservation({}))
        >>> SpecPool("G", pool, ("", "G"), 0, (0, 4), ()).label(1, 1)
        '4'
        """
        if (given := self._labels.get((level, index))) is not None:
            return given
        chain = self.pool.chain
        if level == chain.levels:
            return str(self.places[index])
        frame = self.node_level if level < self.node_level else chain.levels
        return str(index % (chain.sizes[frame] // chain.sizes[level]))

    def is_named(self, level: int, index: int) -> bool:
        """Return whether a cell has an address of its own.

        Examples
        --------
        >>> from hived_cells import Chain, Reservation
        >>> pool = Pool(Chain(2, ()), Reservation({}))
        >>> SpecPool("G", pool, ("", "G"), 0, (0, 1), ((1, 1, "g7"),)).is_named(1, 1)
        True
        """
        return (level, index) in self._labels

    def address(self, cell: Cell) -> str:
        """Return a cell's address: from its node where that has a name, else from the top.

        Raises
        ------
        InvalidSpec
            There is no such cell.

        Examples
        --------
        >>> from hived_cells import Chain, Reservation
        >>> pool = Pool(Chain(2, (3,)), Reservation({}))
        >>> SpecPool("N", pool, ("", "G", "N"), 2, (0, 1), ()).address(Cell(1, (1, 2)))
        '1/2'
        """
        chain = self.pool.chain
        level, index = cell.level, chain.index(cell)
        parts = [self.label(level, index)]
        while level < chain.levels:
            if level == self.node_level and (level, index) in self._labels:
                break
            level += 1
            index //= chain.splits[level]
            parts.append(self.label(level, index))
        return "/".join(reversed(parts))

    def find(self, address: str) -> tuple[Cell, ...]:
        """Return the cells with an address: from the top, or from a node that has a name.

        Examples
        --------
        >>> from hived_cells import Chain, Reservation
        >>> pool = Pool(Chain(1, (2, 4)), Reservation({}))
        >>> rack = SpecPool("R", pool, ("", "G", "N", "R"), 2, (0,), ((2, 1, "node7"),))
        >>> rack.find("node7/3") == rack.find("0/node7/3"), rack.find("node7/4")
        (True, ())
        """
        first, *rest = address.split("/")
        found = []
        for level, index in self._starts.get(first, ()):
            place = (level, index)
            for part in rest:
                place = self._child(*place, part)
                if not place[0]:
                    break
            if place[0]:
                found.append(self.pool.chain.cell(*place))
        return tuple(found)

    def _child(self, level: int, index: int, label: str) -> tuple[int, int]:
        factor = self.pool.chain.splits[level]
        for child in range(index * factor, (index + 1) * factor):
            if self.label(level - 1, child) == label:
                return level - 1, child
        return 0, 0


@dataclass(frozen=True, slots=True)
class Spec:
    """A whole specification.

    Parameters
    ----------
    pools
        The pools, by name.
    tenants
        All virtual clusters' names, sorted, those without cells included.

    Examples
    --------
    >>> Spec(pools=(), tenants=()).find("node7")
    ()
    """

    pools: tuple[SpecPool, ...]
    tenants: tuple[str, ...]

    def __iter__(self) -> Iterator[SpecPool]:
        return iter(self.pools)

    def pool(self, name: str) -> SpecPool:
        """Return the pool of that name.

        Raises
        ------
        InvalidSpec
            There is none.

        Examples
        --------
        >>> Spec(pools=(), tenants=()).pool("V100")
        Traceback (most recent call last):
        hived_cells.errors.InvalidSpec: pool 'V100' is not one of []
        """
        for pool in self.pools:
            if pool.name == name:
                return pool
        raise InvalidSpec(f"pool {name!r} is not one of {[pool.name for pool in self.pools]}")

    def find(
        self, address: str, *, pools: Iterable[str] | None = None
    ) -> tuple[tuple[SpecPool, Cell], ...]:
        """Return every cell with an address; one machine may have cells in several pools.

        Examples
        --------
        >>> Spec(pools=(), tenants=()).find("node7", pools=["V100"])
        ()
        """
        wanted = None if pools is None else set(pools)
        return tuple(
            (pool, cell)
            for pool in self.pools
            if wanted is None or pool.name in wanted
            for cell in pool.find(address)
        )
