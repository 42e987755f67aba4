"""Specifications written: takes a chain and a reservation, gives the public YAML."""

from hived_cells.errors import InvalidSpec
from hived_cells.hierarchy import Chain
from hived_cells.reservation import Reservation

__all__ = ["spec_text"]

_NAMES = {4: ("GPU", "SWITCH", "SOCKET", "NODE"), 2: ("GPU", "NODE")}


def spec_text(chain: Chain, reservation: Reservation) -> str:
    """Return the hivedscheduler YAML of one pool whose top level is the node.

    Reading it gives the chain and the reservation again.

    Raises
    ------
    InvalidSpec
        The chain has one level only, which the format cannot say, or there are pins.

    Examples
    --------
    >>> print(spec_text(Chain(2, (8,)), Reservation({"A": {2: 1}})), end="")
    physicalCluster:
      cellTypes:
        NODE: {childCellType: GPU, childCellNumber: 8, isNodeLevel: true}
      physicalCells:
      - {cellType: NODE, cellAddress: node0}
      - {cellType: NODE, cellAddress: node1}
    virtualClusters:
      "A":
        virtualCells:
        - {cellType: NODE, cellNumber: 1}
    """
    if chain.levels == 1 or reservation.pins:
        raise InvalidSpec("specification: one level only, or pins: not written")
    names = _NAMES.get(
        chain.levels, ("GPU", *(f"LEVEL{k}" for k in range(2, chain.levels)), "NODE")
    )
    lines = ["physicalCluster:", "  cellTypes:"]
    for level in range(chain.levels, 1, -1):
        node = ", isNodeLevel: true" if level == chain.levels else ""
        lines.append(
            f"    {names[level - 1]}: {{childCellType: {names[level - 2]}, "
            f"childCellNumber: {chain.splits[level]}{node}}}"
        )
    lines.append("  physicalCells:")
    lines += [
        f"  - {{cellType: NODE, cellAddress: node{number}}}" for number in range(chain.top_cells)
    ]
    lines.append("virtualClusters:" if reservation.cells else "virtualClusters: {}")
    for tenant, counts in reservation.cells:
        quoted = tenant.replace("\\", "\\\\").replace('"', '\\"')
        lines += [f'  "{quoted}":', "    virtualCells:" if counts else "    virtualCells: []"]
        for level, number in reversed(counts):
            path = ".".join(reversed(names[level - 1 :]))
            lines.append(f"    - {{cellType: {path}, cellNumber: {number}}}")
    return "\n".join(lines) + "\n"
