"""Low-priority gangs: takes a pool's book and a gang, gives GPUs that nobody holds.

As far from guaranteed use as possible; a pod stays in a node here too.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from hived_cells import bitset
from hived_cells.bitset import BitSet
from hived_cells.draft import Draft
from hived_cells.gangs.desk import Seats, gpus_of
from hived_cells.gangs.packing import Bin, Filled, merged, pack
from hived_cells.gangs.pick import pick, widest
from hived_cells.gangs.state import Book
from hived_cells.gangs.values import Gang
from hived_cells.hierarchy import Chain
from hived_cells.state import Job

__all__ = ["could_run_low", "enter", "seat_low"]

BLOCK = 1024  # GPUs of nodes that are looked at together: what did not change is remembered

Members = tuple[tuple[int, int], ...]  # (node in its block, its idle GPUs), ascending
Kind = tuple[int, int]  # how far from guaranteed use, number of idle GPUs


class Idle:
    """The nodes with idle GPUs, by kind."""

    __slots__ = ("_nodes", "kinds")

    def __init__(self, kinds: dict[Kind, list[tuple[int, Members]]]) -> None:
        self.kinds = kinds  # kind → (first node of a block, its members), ascending
        self._nodes: dict[int, tuple[int, int]] = {}

    def of(self, kind: Kind) -> Iterator[tuple[int, int]]:
        """Yield (node, its idle GPUs) of a kind, lowest node first."""
        for first, members in self.kinds[kind]:
            for place, free in members:
                yield first + place, free

    @property
    def nodes(self) -> dict[int, tuple[int, int]]:
        """Node → (how far, its idle GPUs), lowest node first. O(nodes), once."""
        if not self._nodes:
            found = [(n, (kind[0], free)) for kind in self.kinds for n, free in self.of(kind)]
            self._nodes = dict(sorted(found))
        return self._nodes


def seat_low(book: Book, gang: Gang) -> tuple[Seats | None, bool]:
    """Return idle healthy GPUs for the gang's pods, or None and whether that is proved.

    The lowest common ancestor first, then the farthest from guaranteed use (the level of the
    highest cell around a node that has none), pins last, then the fullest. O(GPUs / 1024 x levels
    x capacities), and O(nodes) where cells above the node level are searched.
    """
    return _seat(book, gang, _idle(book))


def could_run_low(book: Book, gang: Gang) -> bool:
    """Return whether the gang would fit if the whole pool were idle; True where undecided."""
    nothing = bitset.empty(book.state.chain.gpus)
    seats, exact = _seat(book, gang, _by_kind(book, nothing, nothing, nothing))
    return seats is not None or not exact


def enter(book: Book, tenant: str, name: str, gpus: tuple[int, ...]) -> Book:
    """Return the book with a low-priority job on the GPUs, known as a gang's."""
    job = Job(tenant, tuple(sorted(gpus)))
    draft = Draft(book.state)
    draft.enter_job(job)
    return book._replace(state=draft.freeze(), jobs={**book.jobs, job: name})


def _idle(book: Book) -> Idle:
    state = book.state
    triples = zip(state.used[1], state.low[1], state.bad[1], strict=True)
    busy = (0, tuple([used | low | bad for used, low, bad in triples]))
    pinned = bitset.empty(state.chain.gpus)
    for number, pin in enumerate(state.reservation.pins):
        if not state.pins_in_use >> number & 1:
            size = state.chain.sizes[pin.cell.level]
            start = state.pool.pin_indices[number] * size
            pinned = bitset.write(pinned, start, size, (1 << size) - 1)
    return _by_kind(book, state.used, busy, pinned)


def _by_kind(book: Book, used: BitSet, busy: BitSet, pinned: BitSet) -> Idle:
    """Return the nodes that are not all busy, block by block.

    A block is a cell of the highest level of at most `BLOCK` GPUs, or where there is no higher
    level so many of them as `BLOCK` has.
    """
    chain, node = book.state.chain, book.node_level
    sizes = chain.sizes
    top = max(
        [level for level in range(node, chain.levels + 1) if sizes[level] <= BLOCK] or [node]
    )
    width = sizes[top]
    if top == chain.levels:
        width *= max(1, BLOCK // width)
    kinds: dict[Kind, list[tuple[int, Members]]] = {}
    for start in range(0, chain.gpus, width):
        part = min(width, chain.gpus - start)
        found = _block(
            sizes[: top + 1],
            node,
            part,
            (
                bitset.window(used, start, part),
                bitset.window(busy, start, part),
                bitset.window(pinned, start, part),
            ),
        )
        far = _above(chain, top, used, start)
        for kind, members in found:
            known = (far, kind[1]) if kind[0] == top else kind
            kinds.setdefault(known, []).append((start // sizes[node], members))
    return Idle(kinds)


def _above(chain: Chain, level: int, used: BitSet, start: int) -> int:
    """Return the highest level from this one on whose cells around a GPU have no use above it."""
    for upper in range(level + 1, chain.levels + 1):
        size = chain.sizes[upper]
        if bitset.window(used, start // size * size, size):
            return upper - 1
    return chain.levels


@lru_cache(maxsize=1 << 10)
def _block(
    sizes: tuple[int, ...], node: int, width: int, masks: tuple[int, int, int]
) -> tuple[tuple[Kind, Members], ...]:
    """Return the nodes of a block by kind: how far, within the block, and how many GPUs idle.

    The masks are its GPUs that are in guaranteed use, that are not idle, and in unused pins.
    """
    used, busy, pinned = masks
    size = sizes[node]
    area = (1 << size) - 1
    found: dict[Kind, list[tuple[int, int]]] = {}
    for start in range(0, width, size):
        if free := area & ~(busy >> start):
            far = -1
            if not pinned >> start & area:
                far = 0
                for level in range(node, len(sizes)):
                    wide = sizes[level]
                    if used >> (start // wide * wide) & ((1 << wide) - 1):
                        break
                    far = level
            found.setdefault((far, free.bit_count()), []).append((start // size, free))
    return tuple([(kind, tuple(members)) for kind, members in found.items()])


def _seat(book: Book, gang: Gang, idle: Idle) -> tuple[Seats | None, bool]:
    chain, node = book.state.chain, book.node_level
    sizes = chain.sizes
    total, pods = gang.gpus, merged(gang.pods)
    within = node if gang.within is None else min(gang.within, node)
    order = sorted(idle.kinds, key=lambda kind: (-kind[0], kind[1]))
    for kind in order if _gathers(gang) else ():
        if kind[1] >= total:
            for number, free in idle.of(kind):
                if widest(sizes, node, within, free) >= total:
                    filled = (Filled((), 1, pods),)
                    return _filled(book, {(): [(number, free)]}, filled), True
    exact = True
    for nodes in _areas(book, gang, idle):
        inside: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for number in nodes:
            far, free = idle.nodes[number]
            inside.setdefault((-far, free.bit_count()), []).append((number, free))
        packed = pack([Bin(key, key[1], len(them), key) for key, them in inside.items()], pods)
        exact = exact and packed.exact
        if packed.filled is not None:
            return _filled(book, inside, packed.filled), exact
    if gang.within is not None and gang.within <= chain.levels:
        return None, exact
    bins = [
        Bin((-far, gpus), gpus, sum([len(members) for _, members in idle.kinds[far, gpus]]),
            (-far, gpus))
        for far, gpus in order
    ]  # fmt: skip
    packed = pack(bins, pods)
    exact = exact and packed.exact
    if packed.filled is None:
        return None, exact
    return _filled(book, {(-far, gpus): idle.of((far, gpus)) for far, gpus in order},
                   packed.filled), exact  # fmt: skip


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
        for number in idle.nodes:
            cells.setdefault(number // (chain.sizes[level] // chain.sizes[node]), []).append(
                number
            )
        keys = {
            cell: (
                -min(idle.nodes[number][0] for number in them),
                sum(idle.nodes[number][1].bit_count() for number in them),
            )
            for cell, them in cells.items()
        }
        for cell in sorted(cells, key=lambda cell: keys[cell]):
            if keys[cell][1] >= gang.gpus:
                yield cells[cell]


def _filled(
    book: Book,
    nodes: Mapping[tuple[int, ...], Iterable[tuple[int, int]]],
    filled: tuple[Filled, ...],
) -> Seats:
    """Put the pods into the first nodes of each origin; a node is (number, idle GPUs)."""
    sizes, node = book.state.chain.sizes, book.node_level
    seats: Seats = {}
    left_of = {origin: iter(them) for origin, them in nodes.items()}
    for one in filled:
        for number, free in islice(left_of[one.origin], one.number):
            wanted = sum([size * count for size, count in one.contents])
            left = pick(sizes, node, free, wanted)
            for size, count in one.contents:
                for _ in range(count):
                    part = pick(sizes, node, left, size)
                    left ^= part
                    seats.setdefault(size, []).append(gpus_of(number * sizes[node], part))
    return seats
