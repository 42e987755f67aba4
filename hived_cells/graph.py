"""The cell tree for others: takes a state, gives a `networkx` graph with all attributes."""

from typing import TYPE_CHECKING, Any

from hived_cells import bitset
from hived_cells.hierarchy import Cell
from hived_cells.state import State, bound_cells

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["to_networkx"]


def to_networkx(state: State) -> "nx.DiGraph[Cell]":
    """Return the cell tree as a directed graph, from each cell to its parts.

    Nodes are `Cell` values with attributes `level`, `gpus`, `bad` (number of bad GPUs),
    `low_priority` (GPUs in low-priority use), `status` and, where held or pinned, `tenant` and
    `pin`. Status is *free* (on a free list), *bound* (held), *pinned* (a pin not in use),
    *split* (its parts say), *in free*, *in bound* or *in pinned* (part of such a cell). The top
    cells have no predecessor. O(cells).

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, allocate, initial_state
    >>> state, cell = allocate(initial_state(Chain(1, (2,)), Reservation({"A": {1: 1}})), "A", 1)
    >>> graph = to_networkx(state)
    >>> graph.nodes[cell]["status"], graph.nodes[cell]["tenant"], graph.number_of_edges()
    ('bound', 'A', 2)
    """
    import networkx as nx  # noqa: PLC0415 (heavy: only where it is used)

    graph: nx.DiGraph[Cell] = nx.DiGraph()
    chain = state.chain
    marks = _marks(state)
    for level in range(chain.levels, 0, -1):
        for index in range(chain.counts[level]):
            cell = chain.cell(level, index)
            parent = Cell(level + 1, cell.path[:-1])
            above = graph.nodes[parent]["status"] if level < chain.levels else "split"
            attributes = marks.get(cell)
            if attributes is None:
                free = bitset.has(state.free[level], index)
                inherited = above if above.startswith("in ") else f"in {above}"
                status = "free" if free else "split" if above == "split" else inherited
                attributes = {"status": status}
            size = chain.sizes[level]
            graph.add_node(
                cell,
                level=level,
                gpus=size,
                bad=bitset.window(state.bad, index * size, size).bit_count(),
                low_priority=bitset.window(state.low, index * size, size).bit_count(),
                **attributes,
            )
            if level < chain.levels:
                graph.add_edge(parent, cell)
    return graph


def _marks(state: State) -> dict[Cell, dict[str, Any]]:
    """Return status and tenant of the held and pinned cells."""
    marks: dict[Cell, dict[str, Any]] = {
        pin.cell: {"status": "pinned", "tenant": pin.tenant, "pin": pin.name}
        for pin in state.reservation.pins
    }
    for tenant, cell in bound_cells(state):
        marks[cell] = {**marks.get(cell, {}), "status": "bound", "tenant": tenant}
    return marks
