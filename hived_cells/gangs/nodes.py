"""Requests for certain nodes only: takes a pool's book and nodes, gives a book without the rest.

For one request the other nodes count as bad, so that every rule about bad GPUs serves here too.
"""

from collections.abc import Iterable, Mapping

from hived_cells import bitset
from hived_cells.errors import InvalidSpec, shown
from hived_cells.faults import heal, mark_bad
from hived_cells.gangs.state import Book
from hived_cells.hierarchy import Cell
from hived_cells.state import State

__all__ = ["Nodes", "restored", "restricted"]

Nodes = Mapping[str, Iterable[Cell]]  # pool → node cells


def restricted(book: Book, nodes: Nodes) -> Book:
    """Return the book in which all other nodes are bad. O(nodes of the pool).

    Raises
    ------
    InvalidSpec
        Something is no cell of the pool's node level.
    """
    if not isinstance(nodes, Mapping):
        raise InvalidSpec(f"nodes: {shown(nodes)} is no mapping from pools to nodes")
    chain, level = book.state.chain, book.node_level
    allowed = set()
    for cell in nodes.get(book.name, ()):
        number = chain.index(cell)
        if cell.level != level:
            raise InvalidSpec(f"nodes: {shown(cell)} of pool {book.name!r} is no node")
        allowed.add(number)
    state = book.state
    for number in range(chain.counts[level]):
        if number not in allowed:
            state = mark_bad(state, chain.cell(level, number))
    return book._replace(state=state)


def restored(book: Book, before: State) -> Book:
    """Return the book with the bad GPUs of an earlier state."""
    state, chain = book.state, book.state.chain
    size = chain.sizes[book.node_level]
    for number in range(chain.counts[book.node_level]):
        was = bitset.window(before.bad, number * size, size)
        if was != bitset.window(state.bad, number * size, size):
            state = heal(state, chain.cell(book.node_level, number))
            for gpu in range(number * size, (number + 1) * size):
                if bitset.has(before.bad, gpu):
                    state = mark_bad(state, chain.cell(1, gpu))
    return book._replace(state=state)
