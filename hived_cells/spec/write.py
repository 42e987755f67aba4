"""Specifications written: takes a chain and a reservation, gives the public YAML."""

from collections.abc import Iterator

from hived_cells.errors import InvalidSpec
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Reservation

__all__ = ["spec_text"]


def spec_text(chain: Chain, reservation: Reservation, *, node_level: int | None = None) -> str:
    """Return the hivedscheduler YAML of one pool.

    Reading it gives the chain, the level of a node and the reservation again, but for tenants
    that reserve nothing.

    Parameters
    ----------
    chain, reservation
        The pool.
    node_level
        Level of a node; by default the top level.

    Raises
    ------
    InvalidSpec
        A GPU is a node, which the format cannot say.

    Examples
    --------
    >>> from hived_cells import Pin
    >>> pins = [Pin("lab", "B", Cell(2, (1,)))]
    >>> print(spec_text(Chain(2, (8,)), Reservation({"A": {2: 1}}, pins=pins)), end="")
    physicalCluster:
      cellTypes:
        NODE: {childCellType: GPU, childCellNumber: 8, isNodeLevel: true}
      physicalCells:
      - {cellType: NODE, cellAddress: node0}
      - {cellType: NODE, cellAddress: node1, pinnedCellId: "lab"}
    virtualClusters:
      "A":
        virtualCells:
        - {cellType: NODE, cellNumber: 1}
      "B":
        virtualCells: []
        pinnedCells:
        - {pinnedCellId: "lab"}
    """
    node = chain.levels if node_level is None else node_level
    chain.check_level(node)
    if node == 1:
        raise InvalidSpec("specification: a node of level 1 is a GPU, which is not written")
    names = _names(chain, node)
    lines = ["physicalCluster:", "  cellTypes:"]
    for level in range(chain.levels, 1, -1):
        mark = ", isNodeLevel: true" if level == node else ""
        lines.append(
            f"    {names[level]}: {{childCellType: {names[level - 1]}, "
            f"childCellNumber: {chain.splits[level]}{mark}}}"
        )
    lines.append("  physicalCells:")
    pins = {pin.cell: pin.name for pin in reservation.pins}
    for number in range(chain.top_cells):
        fields = [f"cellType: {names[chain.levels]}", *_fields(chain, (number,), node, pins)]
        lines.append(f"  - {{{', '.join(fields)}}}")
    lines.append("virtualClusters:" if reservation.cells else "virtualClusters: {}")
    for tenant, counts in reservation.cells:
        lines += [f"  {_quoted(tenant)}:", f"    virtualCells:{'' if counts else ' []'}"]
        for level, number in reversed(counts):
            place = ".".join(reversed(names[level:]))
            lines.append(f"    - {{cellType: {place}, cellNumber: {number}}}")
        own = [_quoted(pin.name) for pin in reservation.pins if pin.tenant == tenant]
        lines += ["    pinnedCells:"] if own else []
        lines += [f"    - {{pinnedCellId: {name}}}" for name in own]
    return "\n".join(lines) + "\n"


def _names(chain: Chain, node: int) -> tuple[str, ...]:
    """Return the types' names by level, entry 0 unused."""
    if node == chain.levels == 4:
        return "", "GPU", "SWITCH", "SOCKET", "NODE"
    levels = range(2, chain.levels + 1)
    return "", "GPU", *("NODE" if level == node else f"LEVEL{level}" for level in levels)


def _fields(
    chain: Chain, path: tuple[int, ...], node: int, pins: dict[Cell, str]
) -> Iterator[str]:
    """Yield what there is to say of a physical cell; its parts only where a pin is among them."""
    level = chain.levels - len(path) + 1
    if level == node:
        yield f"cellAddress: node{chain.index(Cell(level, path))}"
    if (name := pins.get(Cell(level, path))) is not None:
        yield f"pinnedCellId: {_quoted(name)}"
    if any(pin.path[: len(path)] == path != pin.path for pin in pins):
        parts = range(chain.splits[level])
        inner = (", ".join(_fields(chain, (*path, part), node, pins)) for part in parts)
        yield f"cellChildren: [{', '.join(f'{{{fields}}}' for fields in inner)}]"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
