"""Small pools of gangs, random gangs, and a brute-force placement that shares no code."""

from itertools import combinations

from hypothesis import strategies as st

from hived_cells import (
    Chain,
    Gang,
    GangPool,
    GangState,
    Pool,
    Reservation,
    initial_gangs,
    is_feasible,
)
from hived_cells.testing import gangs, pools, reservations


def one_pool(chain: Chain, node_level: int, name: str = "P", pins=(), **cells) -> GangState:
    """Return the first state of one pool with a reservation given by tenant names."""
    return initial_gangs([GangPool(name, Pool(chain, Reservation(cells, pins=pins)), node_level)])


TALL = [
    Chain(1, (2, 2, 2)),
    Chain(2, (2, 2)),
    Chain(1, (3, 2, 2)),
    Chain(1, (2, 1, 3)),
    Chain(1, (2, 4)),
    Chain(1, (2, 2, 3)),
]


@st.composite
def tall_pools(draw) -> Pool:
    """Draw pools of several levels in which A mostly owns the top."""
    chain = draw(st.sampled_from(TALL))
    if draw(st.booleans()):
        return Pool(chain, Reservation({"A": {chain.levels: chain.top_cells}, "B": {}}))
    return Pool(chain, draw(reservations(chain)))


@st.composite
def gang_states(draw, max_gpus: int = 12, pools_at_most: int = 1) -> GangState:
    """Draw first states of small pools, any level as the node level."""
    found = []
    for number in range(draw(st.integers(1, pools_at_most))):
        pool = draw(pools(max_gpus=max_gpus) | tall_pools())
        level = draw(st.integers(1, pool.chain.levels))
        found.append(GangPool(f"P{number}", pool, level, kind=f"K{number % 2}"))
    return initial_gangs(found)


@st.composite
def gang_walks(draw, state: GangState, max_steps: int = 16) -> list:
    """Draw gangs to place and ids to remove."""
    steps = []
    top = max(book.state.chain.levels for book in state.books.values())
    for number in range(draw(st.integers(1, max_steps))):
        if draw(st.integers(0, 4)) == 0:
            steps.append(f"g{draw(st.integers(0, max_steps))}")
            continue
        steps.append(draw(gangs(f"g{number}", tenants=("A", "A", "A", "B"), max_level=top)))
    return steps


@st.composite
def racks(draw) -> GangState:
    """Draw few large cells, of which the tenant owns one or two and not all."""
    chain = draw(st.sampled_from([Chain(2, (2, 3)), Chain(3, (2, 2)), Chain(2, (2, 2, 2))]))
    owned = {chain.levels: 1, chain.levels - 1: draw(st.integers(0, 2))}
    other = {chain.levels - 1: draw(st.integers(0, 1))}
    if not is_feasible(chain, Reservation({"A": owned, "B": other})):
        other = {}
    pool = Pool(chain, Reservation({"A": owned, "B": other}))
    return initial_gangs([GangPool("P", pool, draw(st.integers(2, chain.levels)))])


def free_units(state: GangState, tenant: str, gone=(), everything: bool = False) -> list:
    """Return the units a tenant can use: (GPUs by path to the cell, free GPUs) one each.

    Worked out from who holds what and which gangs run; a reserved cell that is not held is a
    fresh one. A unit is (cell's name, node number inside the cell, list of free places).
    """
    (book,) = state.books.values()
    chain, node = book.state.chain, book.node_level
    used = {
        gpu
        for name, one in state.gangs.items()
        if name not in gone and not one.low_priority
        for gpu in one.gpus
    }
    counts = dict(dict(book.state.reservation.cells).get(tenant, ()))
    found = []
    for level, number in counts.items():
        size = chain.sizes[level]
        width = chain.sizes[min(level, node)]
        held = []
        if not everything:
            gpus = {
                gpu
                for name, one in state.gangs.items()
                if one.gang.tenant == tenant and not one.low_priority and name not in gone
                for gpu in one.gpus
            }
            held = [
                index
                for owner, cell in bound(book.state)
                for index in [chain.index(cell)]
                if owner == tenant
                and cell.level == level
                and any(index * size <= gpu < (index + 1) * size for gpu in gpus)
            ]
        for index in held:
            for start in range(index * size, (index + 1) * size, width):
                free = [
                    gpu - index * size for gpu in range(start, start + width) if gpu not in used
                ]
                found.append((("held", level, index), level, free))
        for fresh in range(number - len(held)):
            found += [
                (("fresh", level, fresh), level, list(range(start, start + width)))
                for start in range(0, size, width)
            ]
    return found


def bound(state):
    from hived_cells import bound_cells

    return list(bound_cells(state))


def brute_force(state: GangState, gang: Gang, gone=(), everything: bool = False) -> int | None:
    """Return the lowest level of a common cell over all placements, 99 for none, None if unplaced.

    Tries every pod in every unit by counting; the common cell is judged on the tenant's own
    cells: two different cells have none in common. Levels below the node are told apart too.
    """
    (book,) = state.books.values()
    chain = book.state.chain
    units = free_units(state, gang.tenant, gone, everything)
    sizes = [size for size, count in gang.pods for _ in range(count)]
    best: int | None = None
    for level in range(1, chain.levels + 1):
        groups: dict = {}
        for cell, own, free in units:
            for gpu in free:
                part = gpu // chain.sizes[level] if level <= own else 0
                groups.setdefault((cell, part), []).append((units.index((cell, own, free)), gpu))
        for members in groups.values():
            room: dict[int, int] = {}
            for unit, _ in members:
                room[unit] = room.get(unit, 0) + 1
            if packs(list(room.values()), sizes):
                best = level
                break
        if best is not None:
            break
    if best is None and packs([len(free) for _, _, free in units], sizes):
        best = 99
    if best is not None and gang.within is not None and best > gang.within:
        return None
    return best


def packs(room: list[int], sizes: list[int]) -> bool:
    """Return whether the sizes fit into the rooms, by trying everything."""
    if not sizes:
        return True
    first, *rest = sizes
    for place in range(len(room)):
        if room[place] >= first:
            room[place] -= first
            done = packs(room, rest)
            room[place] += first
            if done:
                return True
    return False


def subsets(items):
    """Yield every subset, small ones first."""
    for size in range(len(items) + 1):
        yield from combinations(items, size)
