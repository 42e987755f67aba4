"""One pool's hardware: takes split factors, gives levels, cell addresses and their arithmetic.

Nothing here knows who holds what; levels count from 1 (one GPU) upward.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hived_cells.errors import InvalidSpec, shown

__all__ = ["MAX_GPUS", "MAX_LEVELS", "Cell", "Chain"]

MAX_GPUS = 1 << 24  # a state keeps one bit a GPU in a few sets: 2 MB each at this size
MAX_LEVELS = 64


class Cell(NamedTuple):
    """A physical cell: its level and the child numbers that lead to it from the top.

    Parameters
    ----------
    level
        From 1, one GPU, upward.
    path
        Child numbers from the top level down, each from 0.

    Examples
    --------
    >>> cell = Cell(level=2, path=(5, 0, 1))
    >>> print(cell)
    5/0/1
    """

    level: int
    path: tuple[int, ...]

    def __str__(self) -> str:
        return "/".join(map(str, self.path))


@dataclass(frozen=True, slots=True)
class Chain:
    """The levels of one uniform pool ("hierarchical uniform composability", Section 3).

    A pool has `top_cells` cells of the top level n = len(factors) + 1; a cell of level k + 1
    consists of h_{k+1} cells of level k, `factors` being h_n, ..., h_2 from the top down.

    Parameters
    ----------
    top_cells
        Number of cells of the top level.
    factors
        Split factors from the top down; 1 is allowed.

    Raises
    ------
    InvalidSpec
        A number is not a positive integer, or the pool has more than `MAX_GPUS` GPUs or
        `MAX_LEVELS` levels.

    Examples
    --------
    >>> chain = Chain(top_cells=512, factors=(16, 2, 2, 2))
    >>> chain.levels, chain.gpus
    (5, 65536)
    >>> chain.sizes[1:], chain.counts[1:]
    ((1, 2, 4, 8, 128), (65536, 32768, 16384, 8192, 512))
    """

    top_cells: int
    factors: tuple[int, ...]
    levels: int = field(init=False, repr=False, compare=False)
    # By level, entry 0 unused so that the index is the level:
    sizes: tuple[int, ...] = field(init=False, repr=False, compare=False)  # GPUs a cell
    counts: tuple[int, ...] = field(init=False, repr=False, compare=False)  # cells of the level
    splits: tuple[int, ...] = field(init=False, repr=False, compare=False)  # h_k; 0 at level 1

    def __post_init__(self) -> None:
        put = object.__setattr__  # the one way to fill derived fields of a frozen value
        if not isinstance(self.factors, Iterable):
            raise InvalidSpec(f"chain: factors is {shown(self.factors)}, split factors are needed")
        put(self, "factors", tuple(self.factors))
        _check_positive("top_cells", self.top_cells)
        for position, factor in enumerate(self.factors):
            _check_positive(f"factors[{position}]", factor)
        levels = len(self.factors) + 1
        if levels > MAX_LEVELS:
            raise InvalidSpec(f"chain: {levels} levels, at most {MAX_LEVELS} are allowed")
        sizes, counts = [0, 1], [self.top_cells]
        for factor in reversed(self.factors):
            sizes.append(sizes[-1] * factor)
        for factor in self.factors:
            counts.append(counts[-1] * factor)
        if counts[-1] > MAX_GPUS:
            raise InvalidSpec(f"chain: {shown(counts[-1])} GPUs, at most {MAX_GPUS} are allowed")
        put(self, "levels", levels)
        put(self, "sizes", tuple(sizes))
        put(self, "counts", (0, *reversed(counts)))
        put(self, "splits", (0, 0, *reversed(self.factors)))

    @property
    def gpus(self) -> int:
        """Number of GPUs in the pool."""
        return self.counts[1]

    def cell(self, level: int, index: int) -> Cell:
        """Return the cell of a level with that number, counted across the whole pool.

        Raises
        ------
        InvalidSpec
            There is no such level or no such number.

        Examples
        --------
        >>> Chain(top_cells=2, factors=(2, 3)).cell(1, 7)
        Cell(level=1, path=(1, 0, 1))
        """
        self.check_level(level)
        if not 0 <= index < self.counts[level]:
            raise InvalidSpec(
                f"cell: number {shown(index)} of level {level}; there are {self.counts[level]}"
            )
        path = []
        for factor in self.splits[level + 1 :]:
            index, child = divmod(index, factor)
            path.append(child)
        path.append(index)
        return Cell(level, tuple(reversed(path)))

    def index(self, cell: Cell) -> int:
        """Return the number of a cell within its level, counted across the whole pool.

        Raises
        ------
        InvalidSpec
            The cell is not one of this chain.

        Examples
        --------
        >>> Chain(top_cells=2, factors=(2, 3)).index(Cell(level=1, path=(1, 0, 1)))
        7
        """
        if not isinstance(cell, Cell) or not isinstance(cell.path, tuple):
            raise InvalidSpec(
                f"cell {shown(cell)}: a Cell with a tuple of child numbers is needed"
            )
        level, path = cell
        self.check_level(level)
        if len(path) != self.levels - level + 1:
            raise InvalidSpec(
                f"cell {'/'.join(map(shown, path))}: {len(path)} numbers do not lead "
                f"to level {level}"
            )
        index = 0
        bound = self.top_cells
        for depth, number in enumerate(path):
            if depth:
                bound = self.factors[depth - 1]
            if type(number) is not int or not 0 <= number < bound:
                raise InvalidSpec(
                    f"cell {'/'.join(map(shown, path))}: number {shown(number)} at depth {depth} "
                    f"is not in 0..{bound - 1}"
                )
            index = index * bound + number if depth else number
        return index

    def at(self, path: tuple[int, ...]) -> Cell:
        """Return the cell that a path of child numbers leads to.

        Raises
        ------
        InvalidSpec
            The path leads nowhere.

        Examples
        --------
        >>> Chain(top_cells=2, factors=(2, 3)).at((1, 0))
        Cell(level=2, path=(1, 0))
        """
        if not isinstance(path, tuple) or not 1 <= len(path) <= self.levels:
            raise InvalidSpec(f"cell path {shown(path)}: 1 to {self.levels} numbers are needed")
        cell = Cell(self.levels - len(path) + 1, path)
        self.index(cell)
        return cell

    def parse(self, text: str) -> Cell:
        """Return the cell that an address such as ``"5/0/1"`` names.

        Raises
        ------
        InvalidSpec
            The text is not numbers with slashes between them, or leads nowhere.

        Examples
        --------
        >>> Chain(top_cells=2, factors=(2, 3)).parse("1/0")
        Cell(level=2, path=(1, 0))
        """
        if not isinstance(text, str):
            raise InvalidSpec(f"cell {shown(text)}: an address is a text")
        parts = text.split("/")
        if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
            raise InvalidSpec(f"cell {shown(text)}: not child numbers with '/' between them")
        return self.at(tuple(map(int, parts)))

    def cells(self, level: int) -> Iterator[Cell]:
        """Yield every cell of a level in address order.

        Examples
        --------
        >>> [str(cell) for cell in Chain(top_cells=2, factors=(2,)).cells(1)]
        ['0/0', '0/1', '1/0', '1/1']
        """
        self.check_level(level)
        return (self.cell(level, index) for index in range(self.counts[level]))

    def check_level(self, level: int) -> None:
        """Raise `InvalidSpec` unless the chain has that level.

        Examples
        --------
        >>> Chain(top_cells=2, factors=(2,)).check_level(2)
        """
        if type(level) is not int or not 1 <= level <= self.levels:
            raise InvalidSpec(f"level {shown(level)}: levels are 1..{self.levels}")


def _check_positive(name: str, number: int) -> None:
    if type(number) is not int or number < 1:
        raise InvalidSpec(f"chain: {name} is {shown(number)}, a positive integer is needed")
