"""Checks a state: takes a state, gives its slack and every broken rule with a witness.

Everything is recomputed from the held cells alone; nothing that allocates or releases is used.
"""

from collections.abc import Iterator
from typing import NamedTuple

from hived_cells import bitset
from hived_cells.bitset import BitSet
from hived_cells.form import malformed
from hived_cells.state import JOB_CHUNK, Job, State, slack_by_level

__all__ = ["Violation", "slack", "violations"]


class Violation(NamedTuple):
    """A rule that a state breaks.

    Parameters
    ----------
    rule
        Which rule, by its name in `violations`.
    witness
        What breaks it: cells, tenants, levels, counts.
    message
        The same as one sentence.

    Examples
    --------
    >>> print(Violation("slack", (2, -1), "level 2: S = -1"))
    slack: level 2: S = -1
    """

    rule: str
    witness: tuple[object, ...]
    message: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}"


def slack(state: State) -> tuple[int, ...]:
    """Return (S_1, ..., S_n): how many cells of each level can be spared.

    S_k = f_k + F_k - (r_k - a_k) with F_n = 0 and
    F_k = h_{k+1} (f_{k+1} + F_{k+1} - (r_{k+1} - a_{k+1})). All owed cells can still be carved
    out together if and only if every S_k >= 0. Exact integers, O(levels).

    References
    ----------
    HiveD (OSDI 2020), proof of Theorem 1: r_k - a_k <= f_k + F_k.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> slack(initial_state(Chain(top_cells=2, factors=(2,)), Reservation({"A": {1: 3}})))
    (1, 2)
    """
    return slack_by_level(state)[1:]


def violations(state: State) -> tuple[Violation, ...]:
    """Return every rule the state breaks, () for a sound state.

    Any `State` may be given, one with forged fields too. Rules: *form* (each field has the type
    and the size it must have; where one has not, no other rule is asked), *quota* (a tenant
    holds at most what it reserved), *overlap* (no GPU in two held or pinned cells), *slack*
    (every S_k >= 0), *free list* (free is what is neither held nor pinned, merged as far as it
    goes), *conservation* (GPUs free + held + pinned = all), *count* (the counts kept are those
    of the sets), *group* (free cells stand under their own low-priority use and health), *use*
    (the GPUs marked as in guaranteed use are those of held cells) and *low priority* (a job's
    GPUs are its own and not in guaranteed use). O(GPUs x levels + tenants x levels).

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> violations(initial_state(Chain(top_cells=2, factors=(2,)), Reservation({"A": {1: 3}})))
    ()
    """
    if wrong := tuple(malformed(state)):
        return tuple(Violation("form", (name,), f"{name} is not {rule}") for name, rule in wrong)
    rules = (
        _quota,
        _overlap,
        _slack,
        _free_list,
        _conservation,
        _count,
        _group,
        _use,
        _low_priority,
    )
    facts = _facts(state)
    return tuple(found for rule in rules for found in rule(state, facts))


class _Facts(NamedTuple):
    """What all rules start from, worked out once."""

    held: list[tuple[str, int, int]]  # tenant, level and number of held cells, pins left out
    pinned: list[tuple[str, int, int]]
    free: list[set[int]]  # by level: the cells that must be free


def _facts(state: State) -> _Facts:
    levels = range(1, state.chain.levels + 1)
    held = [
        (tenant, level, index)
        for tenant, row in zip(state.reservation.tenants, state.bound, strict=True)
        for level in levels
        for index in bitset.indices(row[level])
    ]
    pins = zip(state.reservation.pins, state.pool.pin_indices, strict=True)
    pinned = [(pin.tenant, pin.cell.level, index) for pin, index in pins]
    return _Facts(held, pinned, _expected_free(state, held + pinned))


def _area(state: State, level: int, index: int) -> slice:
    size = state.chain.sizes[level]
    return slice(index * size, (index + 1) * size)


def _as_bytes(state: State, bits: BitSet) -> bytearray:
    """Return a byte for each GPU, 1 where the set holds it."""
    marks = bytearray(state.chain.gpus)
    for gpu in bitset.indices(bits):
        marks[gpu] = 1
    return marks


def _mark(state: State, marks: bytearray, level: int, index: int) -> None:
    marks[_area(state, level, index)] = b"\1" * state.chain.sizes[level]


def _quota(state: State, _: _Facts) -> Iterator[Violation]:
    for (tenant, counts), row in zip(state.reservation.cells, state.bound, strict=True):
        owned = dict(counts)
        for level in range(1, state.chain.levels + 1):
            held, reserved = bitset.count(row[level]), owned.get(level, 0)
            if held > reserved:
                yield Violation(
                    "quota",
                    (tenant, level, held, reserved),
                    f"tenant {tenant!r} holds {held} cells of level {level}, reserved {reserved}",
                )


def _overlap(state: State, facts: _Facts) -> Iterator[Violation]:
    seen = bytearray(state.chain.gpus)
    for tenant, level, index in facts.pinned + facts.held:
        if any(seen[_area(state, level, index)]):
            cell = state.chain.cell(level, index)
            yield Violation(
                "overlap", (tenant, cell), f"cell {cell} of {tenant!r} overlaps another held cell"
            )
        _mark(state, seen, level, index)


def _slack(state: State, facts: _Facts) -> Iterator[Violation]:
    chain = state.chain
    held = [0] * (chain.levels + 1)
    for _, level, _ in facts.held:
        held[level] += 1
    free = [len(cells) for cells in facts.free]
    spare = 0
    for level in range(chain.levels, 0, -1):
        owed = sum(dict(counts).get(level, 0) for _, counts in state.reservation.cells)
        left = free[level] + spare - (owed - held[level])
        if left < 0:
            yield Violation("slack", (level, left), f"level {level}: S = {left}")
        spare = chain.splits[level] * left


def _expected_free(state: State, held: list[tuple[str, int, int]]) -> list[set[int]]:
    """Return by level the cells that must be free, found from the top down."""
    chain = state.chain
    gone = {(level, index) for _, level, index in held}
    taken = bytearray(chain.gpus)
    for level, index in gone:
        _mark(state, taken, level, index)
    free: list[set[int]] = [set() for _ in range(chain.levels + 1)]
    offered = list(range(chain.top_cells))
    for level in range(chain.levels, 0, -1):
        parts = chain.splits[level]
        below: list[int] = []
        for index in offered:
            if not any(taken[_area(state, level, index)]):
                free[level].add(index)
            elif (level, index) not in gone:
                below.extend(range(index * parts, (index + 1) * parts))
        offered = below
    return free


def _free_list(state: State, facts: _Facts) -> Iterator[Violation]:
    for level, expected in enumerate(facts.free):
        recorded = set(bitset.indices(state.free[level]))
        for index in sorted(recorded ^ expected):
            cell = state.chain.cell(level, index)
            word = "is" if index in recorded else "is not"
            yield Violation(
                "free list",
                (cell,),
                f"cell {cell} of level {level} {word} on the free list, wrongly",
            )


def _conservation(state: State, facts: _Facts) -> Iterator[Violation]:
    chain = state.chain
    free = sum(bitset.count(cells) * chain.sizes[level] for level, cells in enumerate(state.free))
    held, pinned = (
        sum(chain.sizes[level] for _, level, _ in cells) for cells in (facts.held, facts.pinned)
    )
    if free + held + pinned != chain.gpus:
        yield Violation(
            "conservation",
            (free, held, pinned, chain.gpus),
            f"{free} GPUs free + {held} held + {pinned} pinned, {chain.gpus} in all",
        )


def _count(state: State, _: _Facts) -> Iterator[Violation]:
    levels = range(1, state.chain.levels + 1)
    for level in levels:
        held = [bitset.count(row[level]) for row in state.bound]
        pairs = [
            ("free", state.free_count[level], bitset.count(state.free[level])),
            ("allocated", state.allocated[level], sum(held)),
            *(
                (f"held by {tenant!r}", state.held[number][level], held[number])
                for number, tenant in enumerate(state.reservation.tenants)
            ),
        ]
        for name, kept, counted in pairs:
            if kept != counted:
                yield Violation(
                    "count",
                    (name, level, kept, counted),
                    f"level {level}: {kept} cells {name} on the books, {counted} counted",
                )


def _group(state: State, _: _Facts) -> Iterator[Violation]:
    low, bad = _as_bytes(state, state.low), _as_bytes(state, state.bad)
    for level in range(1, state.chain.levels + 1):
        listed: list[int] = []
        for key, members in state.groups[level].items():
            for index in bitset.indices(members):
                listed.append(index)
                area = _area(state, level, index)
                inner = _healthy_inside(state, level, bad[area])
                found = (sum(low[area]), sum(bad[area]), inner)
                if key != found:
                    cell = state.chain.cell(level, index)
                    yield Violation(
                        "group", (cell, key, found), f"cell {cell} is under {key}, not {found}"
                    )
        if sorted(listed) != list(bitset.indices(state.free[level])):
            yield Violation("group", (level,), f"level {level}: the groups are not the free list")


def _healthy_inside(state: State, level: int, bad: bytearray) -> int:
    for inner in range(level, 0, -1):
        size = state.chain.sizes[inner]
        if any(bad.find(1, at, at + size) < 0 for at in range(0, len(bad), size)):
            return inner
    return 0


def _use(state: State, facts: _Facts) -> Iterator[Violation]:
    expected = bytearray(state.chain.gpus)
    for _, level, index in facts.held:
        _mark(state, expected, level, index)
    for number, (_, level, index) in enumerate(facts.pinned):
        if state.pins_in_use >> number & 1:
            _mark(state, expected, level, index)
    for gpu, pair in enumerate(zip(expected, _as_bytes(state, state.used), strict=True)):
        if pair[0] != pair[1]:
            yield Violation(
                "use", (gpu,), f"GPU {gpu}: guaranteed use and the held cells disagree"
            )
            return


def _low_priority(state: State, _: _Facts) -> Iterator[Violation]:
    for gpu in bitset.indices(state.low):
        if bitset.has(state.used, gpu):
            yield Violation("low priority", (gpu,), f"GPU {gpu} is in guaranteed use as well")
    stands_at: dict[int, tuple[Job, list[int]]] = {}  # by identity: hashing a job costs its size
    for start, chunk in enumerate(state.job_at):
        for place, job in enumerate(chunk):
            gpu = start * JOB_CHUNK + place
            if (job is not None) != bitset.has(state.low, gpu):
                yield Violation(
                    "low priority", (gpu,), f"GPU {gpu}: its mark and its job disagree"
                )
            if job is not None:
                stands_at.setdefault(id(job), (job, []))[1].append(gpu)
    places: dict[Job, list[int]] = {}
    for job, found in stands_at.values():
        places.setdefault(job, []).extend(found)
    for job, found in places.items():
        if sorted(found) != list(job.gpus):
            gpu = min(set(found) ^ set(job.gpus), default=found[0])
            yield Violation(
                "low priority", (gpu, job), f"GPU {gpu}: {job} stands at others than its own GPUs"
            )
