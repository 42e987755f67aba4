"""Where a gang could go: takes what is free in a tenant's cells, gives a packing of its pods.

Counts decide, not addresses: units of one node that are alike are one entry. The lowest common
ancestor comes first (one node, then the levels above it one by one, then anywhere), after it the
fullest units and the fewest newly bound cells.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hived_cells import bitset
from hived_cells.bitset import BitSet
from hived_cells.gangs.packing import Bin, Filled, Origin, Packing, merged, pack
from hived_cells.gangs.pick import widest
from hived_cells.gangs.values import Gang
from hived_cells.hierarchy import Chain

__all__ = ["Plan", "Room", "plan"]

Unit = tuple[int, int]  # level and number


class Room(NamedTuple):
    """What a tenant, or a pin of it, has to place gangs in."""

    chain: Chain
    node: int  # level
    free: Mapping[Unit, int]
    buckets: Mapping[tuple[int, int], BitSet]
    above: Mapping[Unit, int]
    rights: Mapping[int, int]  # level → reserved cells that are not held


class Plan(NamedTuple):
    """A packing and where it holds.

    An origin in it is (level,) for units of a cell of that level to be bound, (level, GPUs free)
    for held units, (level, GPUs free, number) for one of them.
    """

    filled: tuple[Filled, ...] | None  # None: there is no room
    area: Unit | None  # the held cell above the node level in which all of it lies
    inside: Unit | None  # a level, and that of a cell to be bound in one of which all of it lies
    exact: bool


def plan(room: Room, gang: Gang) -> Plan:
    """Return the best packing of the gang's pods.

    O(different capacities x sizes), and O(units) more where the tenant has cells of several
    nodes or `within` is below the node level.
    """
    total = gang.gpus
    pods = merged(gang.pods)
    top = max([*room.rights, *(level for level, _ in room.above)], default=0)
    within = gang.within
    if not gang.gather and within is None:
        packed = pack(list(_bins(room)), pods)
        return Plan(packed.filled, None, None, packed.exact)
    exact = True
    if total <= room.chain.sizes[room.node]:
        one = _one_node(room, total, room.node if within is None else within)
        if one is not None:
            return Plan((Filled(one, 1, pods),), None, None, exact=True)
    for level in range(room.node + 1, top + 1):
        if within is not None and level > within:
            break
        if room.chain.sizes[level] < total:
            continue
        found = _one_cell(room, level, pods, total)
        exact = exact and found.exact
        if found.filled is not None:
            return found._replace(exact=exact)
    if within is not None:
        return Plan(None, None, None, exact)
    packed = pack(list(_bins(room)), pods)
    return Plan(packed.filled, None, None, exact and packed.exact)


def _bins(room: Room) -> Iterator[Bin]:
    """Yield the units by what is free in them: held ones first among equals."""
    sizes, node = room.chain.sizes, room.node
    for (level, free), members in room.buckets.items():
        yield Bin((free, 0, level), free, bitset.count(members), (level, free))
    for level, number in room.rights.items():
        lower = min(level, node)
        units = number * (sizes[level] // sizes[lower])
        yield Bin((sizes[lower], 1, level), sizes[lower], units, (level,))


def _one_node(room: Room, total: int, within: int) -> Origin | None:
    """Return the origin of the fullest unit that has so many GPUs in one cell of a level."""
    sizes, node = room.chain.sizes, room.node
    best: tuple[tuple[int, int, int], Origin] | None = None
    for level, number in room.rights.items():
        if number and sizes[min(level, node, within)] >= total:
            key = (sizes[min(level, node)], 1, level)
            if best is None or key < best[0]:
                best = key, (level,)
    for (level, free), members in room.buckets.items():
        key = (free, 0, level)
        if free < total or (best is not None and best[0] < key):
            continue
        if within >= level:
            best = key, (level, free)
            continue
        for number in bitset.indices(members):
            if widest(sizes, level, within, room.free[level, number]) >= total:
                best = key, (level, free, number)
                break
    return None if best is None else best[1]


def _one_cell(room: Room, level: int, pods: tuple[tuple[int, int], ...], total: int) -> Plan:
    """Return the packing into the fullest cell of a level above the nodes that has room."""
    sizes, node = room.chain.sizes, room.node
    units = sizes[level] // sizes[node]
    candidates: list[tuple[tuple[int, int, int], Unit | None, int]] = []
    for outer, index in room.above:
        if outer >= level:
            cells = sizes[outer] // sizes[level]
            for number in range(index * cells, (index + 1) * cells):
                free = sum(
                    [
                        room.free[node, unit].bit_count()
                        for unit in range(number * units, (number + 1) * units)
                    ]
                )
                if free >= total:
                    candidates.append(((free, 0, number), (level, number), 0))
    candidates += [
        ((sizes[level], 1, outer), None, outer)
        for outer, number in room.rights.items()
        if number and outer >= level
    ]
    exact = True
    for _, area, inside in sorted(candidates, key=lambda one: one[0]):
        packed = _packed_inside(room, level, area, inside, pods)
        exact = exact and packed.exact
        if packed.filled is not None:
            return Plan(packed.filled, area, (level, inside) if inside else None, exact)
    return Plan(None, None, None, exact)


def _packed_inside(
    room: Room, level: int, area: Unit | None, inside: int, pods: tuple[tuple[int, int], ...]
) -> Packing:
    sizes, node = room.chain.sizes, room.node
    units = sizes[level] // sizes[node]
    if area is None:
        return pack([Bin((sizes[node],), sizes[node], units, (inside,))], pods)
    counts: dict[int, int] = {}
    for unit in range(area[1] * units, (area[1] + 1) * units):
        free = room.free[node, unit].bit_count()
        counts[free] = counts.get(free, 0) + 1
    bins = [Bin((free,), free, n, (node, free)) for free, n in counts.items() if free]
    return pack(bins, pods)
