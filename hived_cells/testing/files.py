"""A run of the state machine as files: takes a pool and steps, gives what `hived-cells` reads."""

import json
from collections.abc import Iterable

from hived_cells.hierarchy import Chain
from hived_cells.reservation import Pool

__all__ = ["events_text", "spec_text"]


def spec_text(pool: Pool) -> str:
    """Return a specification of the pool: cell types L1, L2, …, nodes node0, node1, ….

    The format has at least two levels: a pool of single GPUs gets a node around each of them.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, parse_spec
    >>> pool = Pool(Chain(2, (2,)), Reservation({"A": {1: 3}}))
    >>> print(spec_text(pool), end="")
    physicalCluster:
      cellTypes:
        L2: {childCellType: L1, childCellNumber: 2, isNodeLevel: true}
      physicalCells:
      - {cellType: L2, cellAddress: node0}
      - {cellType: L2, cellAddress: node1}
    virtualClusters:
      A:
        virtualCells:
        - {cellType: L2.L1, cellNumber: 3}
    >>> [each.pool for each in parse_spec(spec_text(pool)).pools] == [pool]
    True
    """
    chain = pool.chain if pool.chain.levels > 1 else Chain(pool.chain.gpus, (1,))
    top = chain.levels
    lines = ["physicalCluster:", "  cellTypes:"]
    for level in range(2, top + 1):
        node = ", isNodeLevel: true" if level == top else ""
        child = f"childCellType: L{level - 1}, childCellNumber: {chain.splits[level]}"
        lines.append(f"    L{level}: {{{child}{node}}}")
    lines.append("  physicalCells:")
    nodes = range(chain.counts[top])
    lines += [f"  - {{cellType: L{top}, cellAddress: node{i}}}" for i in nodes]
    lines.append("virtualClusters:")
    for tenant, counts in pool.reservation.cells:
        lines += [f"  {tenant}:", "    virtualCells:" if counts else "    virtualCells: []"]
        for level, count in counts:
            path = ".".join(f"L{k}" for k in range(top, level - 1, -1))
            lines.append(f"    - {{cellType: {path}, cellNumber: {count}}}")
    if not pool.reservation.cells:
        lines[-1] += " {}"
    return "\n".join(lines) + "\n"


def events_text(steps: Iterable[dict[str, object]]) -> str:
    r"""Return the steps as JSON lines.

    Examples
    --------
    >>> events_text([{"op": "release", "id": "c1"}])
    '{"op": "release", "id": "c1"}\n'
    """
    return "".join(json.dumps(step) + "\n" for step in steps)
