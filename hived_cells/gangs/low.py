"""Low-priority gangs: takes a pool's book and a gang, gives GPUs that nobody holds.

As far from guaranteed use as possible; a pod stays in a node here too.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from hived_cells import bitset
from hived_cells.draft import Draft
from hived_cells.gangs.desk import Seats, gpus_of
from hived_cells.gangs.packing import Bin, Filled, merged, pack
from hived_cells.gangs.pick import pick, widest
from hived_cells.gangs.state import Book
from hived_cells.gangs.values import Gang
from hived_cells.state import Job

__all__ = ["could_run_low", "enter", "seat_low"]

Idle = dict[int, tuple[int, int]]  # node → (how far from guaranteed use, its idle GPUs)


def seat_low(book: Book, gang: Gang) -> tuple[Seats | None, bool]:
    """Return idle healthy GPUs for the gang's pods, or None and whether that is proved.

    The lowest common ancestor first, then the farthest from guaranteed use (the level of the
    highest cell around a node that has none), pins last, then the fullest. O(nodes x levels).
    """
    return _seat(book, gang, _idle(book))


def could_run_low(book: Book, gang: Gang) -> bool:
    """Return whether the gang would fit if the whole pool were idle; True where undecided."""
    chain = book.state.chain
    area = (1 << chain.sizes[book.node_level]) - 1
    idle = dict.fromkeys(range(chain.counts[book.node_level]), (0, area))
    seats, exact = _seat(book, gang, idle)
    return seats is not None or not exact


def enter(book: Book, tenant: str, name: str, gpus: tuple[int, ...]) -> Book:
    """Return the book with a low-priority job on the GPUs, known as a gang's."""
    job = Job(tenant, tuple(sorted(gpus)))
    draft = Draft(book.state)
    draft.enter_job(job)
    return book._replace(state=draft.freeze(), jobs={**book.jobs, job: name})


def _idle(book: Book) -> Idle:
    state, level = book.state, book.node_level
    chain = state.chain
    size = chain.sizes[level]
    area = (1 << size) - 1
    triples = zip(state.used[1], state.low[1], state.bad[1], strict=True)
    busy = (0, tuple([used | low | bad for used, low, bad in triples]))
    pinned = {
        node
        for number, pin in enumerate(state.reservation.pins)
        if not state.pins_in_use >> number & 1
        for node in _nodes_of(book, pin.cell.level, state.pool.pin_indices[number])
    }
    found: Idle = {}
    for node in range(chain.counts[level]):
        if free := area ^ bitset.window(busy, node * size, size):
            found[node] = (-1 if node in pinned else _distance(book, node)), free
    return found


def _nodes_of(book: Book, level: int, index: int) -> range:
    sizes, node = book.state.chain.sizes, book.node_level
    first = index * sizes[level] // sizes[node]
    return range(first, first + -(-sizes[level] // sizes[node]))


def _distance(book: Book, node: int) -> int:
    """Return the level of the highest cell around a node without guaranteed use, 0 for none."""
    chain = book.state.chain
    far = 0
    for level in range(book.node_level, chain.levels + 1):
        size = chain.sizes[level]
        start = node * chain.sizes[book.node_level] // size * size
        if bitset.window(book.state.used, start, size):
            break
        far = level
    return far


def _seat(book: Book, gang: Gang, idle: Idle) -> tuple[Seats | None, bool]:
    chain, node = book.state.chain, book.node_level
    sizes = chain.sizes
    total, pods = gang.gpus, merged(gang.pods)
    within = node if gang.within is None else min(gang.within, node)
    best: tuple[tuple[int, int, int], int] | None = None
    for number, (far, free) in idle.items() if _gathers(gang) else ():
        key = (-far, free.bit_count(), number)
        if key[1] < total or (best is not None and best[0] < key):
            continue
        if widest(sizes, node, within, free) >= total:
            best = key, number
    if best is not None:
        return _filled(book, idle, {(): [best[1]]}, (Filled((), 1, pods),)), True
    exact = True
    for nodes in _areas(book, gang, idle):
        bins: dict[tuple[int, ...], list[int]] = {}
        for number in nodes:
            far, free = idle[number]
            bins.setdefault((-far, free.bit_count()), []).append(number)
        packed = pack([Bin(key, key[1], len(them), key) for key, them in bins.items()], pods)
        exact = exact and packed.exact
        if packed.filled is not None:
            return _filled(book, idle, bins, packed.filled), exact
    return None, exact


def _gathers(gang: Gang) -> bool:
    return gang.gather or gang.within is not None


def _areas(book: Book, gang: Gang, idle: Idle) -> Iterator[list[int]]:
    """Yield the nodes of each cell in which the gang may lie, lowest level first."""
    chain, node = book.state.chain, book.node_level
    top = chain.levels if gang.within is None else gang.within
    for level in range(node + 1, min(top, chain.levels) + 1) if _gathers(gang) else ():
        if chain.sizes[level] < gang.gpus:
            continue
        cells: dict[int, list[int]] = {}
        for number in idle:
            cells.setdefault(number // (chain.sizes[level] // chain.sizes[node]), []).append(
                number
            )
        keys = {
            cell: (
                -min(idle[number][0] for number in them),
                sum(idle[number][1].bit_count() for number in them),
            )
            for cell, them in cells.items()
        }
        for cell in sorted(cells, key=lambda cell: keys[cell]):
            if keys[cell][1] >= gang.gpus:
                yield cells[cell]
    if gang.within is None or gang.within > chain.levels:
        yield list(idle)


def _filled(
    book: Book,
    idle: Idle,
    nodes: Mapping[tuple[int, ...], list[int]],
    filled: tuple[Filled, ...],
) -> Seats:
    sizes, node = book.state.chain.sizes, book.node_level
    seats: Seats = {}
    left_of = {origin: iter(numbers) for origin, numbers in nodes.items()}
    for one in filled:
        for number in islice(left_of[one.origin], one.number):
            wanted = sum([size * count for size, count in one.contents])
            left = pick(sizes, node, idle[number][1], wanted)
            for size, count in one.contents:
                for _ in range(count):
                    part = pick(sizes, node, left, size)
                    left ^= part
                    seats.setdefault(size, []).append(gpus_of(number * sizes[node], part))
    return seats
