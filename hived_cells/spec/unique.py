"""Refuses addresses that stand for two things: takes a pool or all of them, gives nothing.

Addresses are compared after the missing ones are inferred, so one that is written and one that
is inferred can collide too.
"""

from collections.abc import Sequence

from hived_cells.errors import InvalidSpec
from hived_cells.hierarchy import Cell
from hived_cells.spec.values import SpecPool

__all__ = ["require_unique"]


def require_unique(pools: Sequence[SpecPool], source: str) -> None:
    """Raise `InvalidSpec` unless every address and every GPU stands once.

    Siblings have different addresses, the GPUs of a node too, and a node that is listed in two
    pools (two kinds of GPU in one machine) has different GPUs in each.

    Examples
    --------
    >>> require_unique([], "f")
    """
    owners: dict[tuple[str, str], str] = {}  # (node, GPU) → pool
    shared = _shared_nodes(pools)
    _refuse_alike(pools, source)
    for pool in pools:
        _check_siblings(pool, source)
        named = _nodes_with_names_below(pool)
        for level, index, node in pool.own:
            if level == pool.node_level and (node in shared or index in named):
                _check_node(pool, node, index, owners, source)


def _refuse_alike(pools: Sequence[SpecPool], source: str) -> None:
    """Refuse a node in two pools with nothing named inside: both have a GPU 0.

    Found before any GPU is listed, of which there may be millions.
    """
    seen: dict[str, str] = {}
    for pool in pools:
        named = _nodes_with_names_below(pool)
        for level, index, node in pool.own:
            if level == pool.node_level and index not in named:
                if node in seen and seen[node] != pool.name:
                    raise _twice(source, "0", node, (seen[node], pool.name))
                seen[node] = pool.name


def _twice(source: str, gpu: str, node: str, pools: tuple[str, str]) -> InvalidSpec:
    return InvalidSpec(
        f"{source}: GPU {gpu!r} of node {node!r} stands twice, in pool {pools[0]!r} "
        f"and in pool {pools[1]!r}"
    )


def _check_node(
    pool: SpecPool, node: str, index: int, owners: dict[tuple[str, str], str], source: str
) -> None:
    """Enter a node's GPUs among those known; refuse one that is there already."""
    size = pool.pool.chain.sizes[pool.node_level]
    for number in range(index * size, (index + 1) * size):
        gpu = pool.label(1, number)
        if (node, gpu) in owners:
            raise _twice(source, gpu, node, (owners[node, gpu], pool.name))
        owners[node, gpu] = pool.name


def _shared_nodes(pools: Sequence[SpecPool]) -> set[str]:
    seen: dict[str, str] = {}
    shared = set()
    for pool in pools:
        for level, _, node in pool.own:
            if level == pool.node_level and seen.setdefault(node, pool.name) != pool.name:
                shared.add(node)
    return shared


def _nodes_with_names_below(pool: SpecPool) -> set[int]:
    """Return the nodes inside which a cell has an address of its own."""
    sizes = pool.pool.chain.sizes
    return {
        index * sizes[level] // sizes[pool.node_level]
        for level, index, _ in pool.own
        if level < pool.node_level
    }


def _check_siblings(pool: SpecPool, source: str) -> None:
    chain = pool.pool.chain
    families: set[tuple[int, int]] = set()
    for level, index, _ in pool.own:
        families.add((level, index // chain.splits[level + 1] if level < chain.levels else 0))
    for level, parent in families:
        factor = chain.splits[level + 1] if level < chain.levels else chain.top_cells
        seen: dict[str, Cell] = {}
        for index in range(parent * factor, (parent + 1) * factor):
            label = pool.label(level, index)
            if label in seen:
                raise InvalidSpec(
                    f"{source}: pool {pool.name!r}: address {label!r} stands for cells "
                    f"{seen[label]} and {chain.cell(level, index)} of level {level}"
                )
            seen[label] = chain.cell(level, index)
