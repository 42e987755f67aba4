"""Checks a state of gangs: takes a state, gives every broken rule with a witness.

Everything is recomputed from the held cells and the gangs' GPUs; nothing that places gangs is
used.
"""

from collections.abc import Iterator

from hived_cells import bitset
from hived_cells.gangs.state import Book, GangState
from hived_cells.gangs.values import RunningGang
from hived_cells.invariants import Violation, violations
from hived_cells.state import jobs

__all__ = ["gang_violations"]

Unit = tuple[int, int]  # level and number


def gang_violations(state: GangState) -> tuple[Violation, ...]:
    """Return every rule the state breaks, () for a sound state.

    Rules: those of `violations` for each pool's cells; *shape* (a gang has the pods it asked for;
    after `recover_gangs` some may have fewer GPUs), *overlap* (no GPU in two gangs), *own cells*
    (a guaranteed gang's GPUs lie in cells that its tenant holds, a pinned one's in its pin),
    *node* (a pod lies in one node of one held cell), *within* (all pods in one cell of the level
    asked for), *idle* (no cell that was bound for gangs is without one), *view* (what is kept as
    free is what no gang uses) and *low priority* (gangs at low priority are jobs of the cells).
    Cells and jobs that are there by other means than gangs are left alone. O(GPUs x levels).

    Examples
    --------
    >>> from hived_cells import Chain, Pool, Reservation
    >>> from hived_cells.gangs import Gang, GangPool, initial_gangs, place_gang
    >>> pool = Pool(Chain(4, (2, 2, 2)), Reservation({"A": {4: 2}}))
    >>> state = initial_gangs([GangPool("V100", pool, node_level=4)])
    >>> gang_violations(place_gang(state, Gang("g1", "A", ((8, 2),)))[0])
    ()
    """
    found = [one for name in state.books for one in pool_violations(state, name)]
    strays = [name for name, one in state.running.items() if one.pool not in state.books]
    found += [Violation("shape", (name,), f"gang {name!r} runs in no pool") for name in strays]
    return tuple(found)


Gangs = dict[str, RunningGang]


def pool_violations(state: GangState, pool: str) -> tuple[Violation, ...]:
    """Return every rule that one pool breaks; see `gang_violations`.

    Examples
    --------
    >>> from hived_cells import Chain, Pool, Reservation
    >>> from hived_cells.gangs import GangPool, initial_gangs
    >>> pool = Pool(Chain(4, (8,)), Reservation({"A": {2: 2}}))
    >>> pool_violations(initial_gangs([GangPool("V100", pool, node_level=2)]), "V100")
    ()
    """
    book = state.books[pool]
    here = {name: one for name, one in state.running.items() if one.pool == pool}
    rules = (_shape, _overlap, _places, _idle_and_view, _low_priority)
    return (*violations(book.state), *(one for rule in rules for one in rule(book, here)))


def _shape(_: Book, gangs: Gangs) -> Iterator[Violation]:
    for name, one in gangs.items():
        asked = [size for size, count in one.gang.pods for _ in range(count)]
        found = [len(set(pod)) for pod in one.pods]
        whole = len(found) == len(asked) and all(
            have <= want for have, want in zip(found, asked, strict=True)
        )
        if name != one.gang.id or not whole or not any(found):
            yield Violation("shape", (name,), f"gang {name!r} has not the pods it asked for")


def _overlap(_: Book, gangs: Gangs) -> Iterator[Violation]:
    owner: dict[int, str] = {}
    for name, one in gangs.items():
        for gpu in one.gpus:
            if gpu in owner:
                yield Violation(
                    "overlap", (gpu,), f"GPU {gpu} is of gangs {owner[gpu]!r} and {name!r}"
                )
            owner[gpu] = name


def _held(book: Book) -> Iterator[tuple[tuple[str, str], Unit]]:
    """Yield ((tenant, pin or ""), cell) of every held cell."""
    state = book.state
    for tenant, row in zip(state.reservation.tenants, state.bound, strict=True):
        for level in range(1, state.chain.levels + 1):
            for index in bitset.indices(row[level]):
                yield (tenant, ""), (level, index)
    for number, pin in enumerate(state.reservation.pins):
        if state.pins_in_use >> number & 1:
            yield (pin.tenant, pin.name), (pin.cell.level, state.pool.pin_indices[number])


def _units(book: Book) -> dict[tuple[str, str], dict[Unit, Unit]]:
    """Return for each tenant and pin the units it holds, each with the held cell around it."""
    sizes = book.state.chain.sizes
    found: dict[tuple[str, str], dict[Unit, Unit]] = {}
    for owner, (level, index) in _held(book):
        lower = min(level, book.node_level)
        parts = sizes[level] // sizes[lower]
        for number in range(index * parts, (index + 1) * parts):
            found.setdefault(owner, {})[lower, number] = (level, index)
    return found


def _places(book: Book, gangs: Gangs) -> Iterator[Violation]:
    chain = book.state.chain
    units = _units(book)
    for name, one in gangs.items():
        gpus = one.gpus
        level = one.gang.within
        if level is not None and level <= chain.levels:
            size = chain.sizes[level]
            if gpus[0] // size != gpus[-1] // size:
                yield Violation(
                    "within", (name,), f"gang {name!r} lies in no single cell of level {level}"
                )
        owner = (one.gang.tenant, one.gang.pinned or "")
        kept = book.views[owner].free if owner in book.views else {}
        own = {unit for unit in units.get(owner, {}) if unit in kept}
        for pod in one.pods:
            if one.low_priority:
                size = chain.sizes[book.node_level]
                together = len({gpu // size for gpu in pod}) <= 1
            else:
                homes = [
                    {(lower, gpu // chain.sizes[lower]) for lower in range(1, book.node_level + 1)}
                    & own
                    for gpu in pod
                ]
                if not all(homes):
                    yield Violation("own cells", (name, pod), f"gang {name!r}: {pod} is not its")
                together = len(set().union(*homes)) <= 1
            if not together:
                yield Violation("node", (name, pod), f"gang {name!r}: pod {pod} spans nodes")


def _idle_and_view(book: Book, gangs: Gangs) -> Iterator[Violation]:
    sizes = book.state.chain.sizes
    used = {gpu for one in gangs.values() if not one.low_priority for gpu in one.gpus}
    units = _units(book)
    for owner, view in book.views.items():
        mine = {unit: cell for unit, cell in units.get(owner, {}).items() if unit in view.free}
        free: dict[Unit, int] = {}
        taken: dict[Unit, int] = {}
        for (level, number), cell in mine.items():
            size = sizes[level]
            mask = sum(1 << bit for bit in range(size) if number * size + bit not in used)
            free[level, number] = mask
            taken[cell] = taken.get(cell, 0) + size - mask.bit_count()
        buckets: dict[tuple[int, int], list[int]] = {}
        for (level, number), mask in sorted(free.items()):
            if mask:
                buckets.setdefault((level, mask.bit_count()), []).append(number)
        listed = {key: list(bitset.indices(members)) for key, members in view.buckets.items()}
        above = {cell: gpus for cell, gpus in taken.items() if cell[0] > book.node_level}
        if (dict(view.free), listed, dict(view.above)) != (free, buckets, above):
            yield Violation("view", (owner,), f"what is free for {owner} is not what is kept")
        for cell, gpus in taken.items():
            if not gpus:
                yield Violation("idle", (owner, cell), f"no gang runs in cell {cell} of {owner}")


def _low_priority(book: Book, gangs: Gangs) -> Iterator[Violation]:
    running = {
        (one.gang.tenant, one.gpus): name for name, one in gangs.items() if one.low_priority
    }
    kept = {tuple(job): name for job, name in book.jobs.items()}
    standing = {tuple(job) for job in jobs(book.state)}
    if running != kept or not standing >= set(running):
        yield Violation("low priority", (book.name,), "low-priority gangs and jobs disagree")
