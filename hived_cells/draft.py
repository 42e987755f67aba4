"""A state under construction: takes a state and small edits, gives the next state.

It lives inside one function call and never leaves this package; lists stand in for the state's
tuples so that a path of splits or merges copies each of them once.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from hived_cells import bitset
from hived_cells.bitset import BitSet
from hived_cells.hierarchy import Chain
from hived_cells.state import JOB_CHUNK, Job, Key, State

T = TypeVar("T")

__all__ = ["Draft", "containing_free_cell", "healthy_level", "key_of"]


class Draft:
    """Mutable copy of a state's index, shared with it until written to."""

    __slots__ = (
        "allocated",
        "bad",
        "bound",
        "chain",
        "free",
        "free_count",
        "groups",
        "held",
        "job_at",
        "low",
        "pins_in_use",
        "state",
        "used",
    )

    def __init__(self, state: State) -> None:
        self.state = state
        self.chain = state.pool.chain
        self.bound = state.bound
        self.pins_in_use = state.pins_in_use
        self.job_at = state.job_at
        self.bad = state.bad
        self.free = list(state.free)
        self.groups = list(state.groups)
        self.free_count = list(state.free_count)
        self.held = state.held
        self.allocated = state.allocated
        self.used = state.used
        self.low = state.low

    def freeze(self) -> State:
        """Return the edited state."""
        return State(
            self.state.pool,
            self.bound,
            self.pins_in_use,
            self.job_at,
            self.bad,
            tuple(self.free),
            tuple(self.groups),
            tuple(self.free_count),
            self.held,
            self.allocated,
            self.used,
            self.low,
        )

    def key(self, level: int, index: int) -> Key:
        """Return the group key of a cell as low-priority use and health stand now."""
        size = self.chain.sizes[level]
        start = index * size
        return key_of(
            self.chain,
            level,
            bitset.window(self.low, start, size),
            bitset.window(self.bad, start, size),
        )

    def add_free(self, level: int, index: int, key: Key) -> None:
        """Put a cell on the free list of its level."""
        self.free[level] = bitset.flip(self.free[level], index)
        self.free_count[level] += 1
        self.groups[level] = with_member(self.groups[level], key, index, self.chain.counts[level])

    def drop_free(self, level: int, index: int, key: Key) -> None:
        """Take a cell off the free list of its level."""
        self.free[level] = bitset.flip(self.free[level], index)
        self.free_count[level] -= 1
        self.groups[level] = without_member(self.groups[level], key, index)

    def regroup(self, level: int, index: int, old: Key) -> None:
        """Move a free cell from the group it was in to the one it belongs to now."""
        new = self.key(level, index)
        if new != old:
            left = without_member(self.groups[level], old, index)
            self.groups[level] = with_member(left, new, index, self.chain.counts[level])

    def bind(self, tenant: int, level: int, index: int) -> None:
        """Enter a cell as held by a tenant (1 for held, in place of the free entry)."""
        self._flip_bound(tenant, level, index, 1)
        size = self.chain.sizes[level]
        self.used = bitset.write(self.used, index * size, size, (1 << size) - 1)

    def unbind(self, tenant: int, level: int, index: int) -> None:
        """Strike a cell from those the tenant holds."""
        self._flip_bound(tenant, level, index, -1)
        size = self.chain.sizes[level]
        self.used = bitset.write(self.used, index * size, size, 0)

    def _flip_bound(self, tenant: int, level: int, index: int, change: int) -> None:
        row = self.bound[tenant]
        row = replaced(row, level, bitset.flip(row[level], index))
        self.bound = replaced(self.bound, tenant, row)
        counts = self.held[tenant]
        counts = replaced(counts, level, counts[level] + change)
        self.held = replaced(self.held, tenant, counts)
        self.allocated = replaced(self.allocated, level, self.allocated[level] + change)

    def enter_job(self, job: Job) -> None:
        """Mark the job's GPUs as in low-priority use by it."""
        self._set_low(job.gpus, present=True)
        self.job_at = with_job(self.job_at, job.gpus, job)

    def strike_job(self, job: Job) -> None:
        """Free the job's GPUs of low-priority use."""
        self._set_low(job.gpus, present=False)
        self.job_at = with_job(self.job_at, job.gpus, None)

    def _set_low(self, gpus: tuple[int, ...], *, present: bool) -> None:
        position = 0
        while position < len(gpus):
            gpu = gpus[position]
            level, index = containing_free_cell(self.chain, self.free, gpu)
            # A GPU on no free list stands alone; those of one free cell are moved together.
            size = self.chain.sizes[level] if level else 1
            start = index * size if level else gpu
            area = 0
            while position < len(gpus) and gpus[position] < start + size:
                area |= 1 << (gpus[position] - start)
                position += 1
            old = self.key(level, index) if level else (0, 0, 0)
            now = bitset.window(self.low, start, size)
            self.low = bitset.write(self.low, start, size, now | area if present else now & ~area)
            if level:
                self.regroup(level, index, old)


def replaced(items: tuple[T, ...], place: int, item: T) -> tuple[T, ...]:
    """Return the tuple with one item replaced."""
    changed = list(items)
    changed[place] = item
    return tuple(changed)


def with_member(
    groups: Mapping[Key, BitSet], key: Key, index: int, capacity: int
) -> Mapping[Key, BitSet]:
    """Return the groups with one more member in a group."""
    changed = dict(groups)
    members = changed.get(key)
    changed[key] = bitset.flip(bitset.empty(capacity) if members is None else members, index)
    return changed


def without_member(groups: Mapping[Key, BitSet], key: Key, index: int) -> Mapping[Key, BitSet]:
    """Return the groups with one member less; an empty group goes."""
    changed = dict(groups)
    left = bitset.flip(changed[key], index)
    if left[0]:
        changed[key] = left
    else:
        del changed[key]
    return changed


def with_job(
    table: tuple[tuple[Job | None, ...], ...], gpus: Iterable[int], job: Job | None
) -> tuple[tuple[Job | None, ...], ...]:
    """Return the GPU → job table with one entry for all the given GPUs."""
    chunks: dict[int, list[Job | None]] = {}
    for gpu in gpus:
        number, place = divmod(gpu, JOB_CHUNK)
        if number not in chunks:
            chunks[number] = list(table[number])
        chunks[number][place] = job
    whole = list(table)
    for number, chunk in chunks.items():
        whole[number] = tuple(chunk)
    return tuple(whole)


def containing_free_cell(chain: Chain, free: list[BitSet], gpu: int) -> tuple[int, int]:
    """Return (level, number) of the free cell that a GPU lies in, (0, 0) where there is none."""
    for level in range(1, chain.levels + 1):
        index = gpu // chain.sizes[level]
        if bitset.has(free[level], index):
            return level, index
    return 0, 0


def key_of(chain: Chain, level: int, low: int, bad: int) -> Key:
    """Return the group key of a cell from the bits of its GPUs."""
    if not bad:
        return low.bit_count(), 0, level
    return low.bit_count(), bad.bit_count(), healthy_level(chain, level, bad)


def healthy_level(chain: Chain, level: int, bad: int) -> int:
    """Return the highest level that has a cell without bad GPUs inside, 0 where all are bad.

    O(levels x log factor) operations on integers of as many bits as the cell has GPUs.

    Examples
    --------
    >>> healthy_level(Chain(1, (2, 2)), 3, 0b0001), healthy_level(Chain(1, (2, 2)), 3, 0b0101)
    (2, 1)
    """
    best = 0
    area = (1 << chain.sizes[level]) - 1
    marks = bad  # bit i · size: the level's i-th cell inside has a bad GPU
    for inner in range(1, level + 1):
        if inner > 1:
            marks = _any_of_group(marks, chain.splits[inner], chain.sizes[inner - 1])
        first_bits = area // ((1 << chain.sizes[inner]) - 1)
        marks &= first_bits
        if marks != first_bits:
            best = inner
    return best


def _any_of_group(marks: int, group: int, stride: int) -> int:
    """Return, at each group's first bit, the union of `group` bits that are `stride` apart."""
    done = 1
    while done < group:
        step = min(
            done, group - done
        )  # doubling; the last step may overlap, a union does not mind
        marks |= marks >> (step * stride)
        done += step
    return marks
