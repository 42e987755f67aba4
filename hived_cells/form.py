"""The form of a state's fields: takes a state, gives what is not made as it must be.

Says nothing about what the fields mean; once nothing is found here, every other rule can be
asked of the state without an error.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hived_cells import bitset
from hived_cells.hierarchy import Chain
from hived_cells.reservation import Pool, Reservation
from hived_cells.state import JOB_CHUNK, Job, State

__all__ = ["malformed"]


def malformed(state: State) -> Iterator[tuple[str, str]]:
    """Yield (field, what it must be) for every field of the wrong type or size. O(GPUs).

    Where the pool itself is no pool, nothing else can be said.

    Examples
    --------
    >>> from hived_cells import initial_state
    >>> list(malformed(initial_state(Chain(2, (2,)), Reservation({"A": {1: 3}}))))
    []
    """
    pool: Any = state.pool
    if not (
        isinstance(pool, Pool)
        and isinstance(pool.chain, Chain)
        and isinstance(pool.reservation, Reservation)
    ):
        yield "pool", "a pool"
        return
    chain, tenants = pool.chain, len(pool.reservation.tenants)
    gpus, width = chain.gpus, chain.levels + 1

    def is_set(item: Any, capacity: int = gpus) -> bool:
        return _is_set(item, capacity)

    def is_row(items: Any) -> bool:
        return _all_of(items, width) and all(map(_is_set, items, chain.counts))

    def is_count_row(items: Any) -> bool:
        return _all_of(items, width) and all(type(item) is int for item in items)

    def is_groups(items: Any) -> bool:
        return _all_of(items, width) and all(map(_is_groups, items, chain.counts))

    def is_rows(items: Any, is_one: Callable[[Any], bool]) -> bool:
        return _all_of(items, tenants) and all(map(is_one, items))

    sets, counts = "a set for each level", "an integer for each level"
    rules: Iterable[tuple[str, bool, str]] = (
        ("bound", is_rows(state.bound, is_row), f"{sets} of each tenant"),
        ("pins_in_use", _is_mask(state.pins_in_use, len(pool.pin_indices)), "a bit for each pin"),
        ("job_at", _is_job_table(state.job_at, gpus), "a job or None for each GPU"),
        ("bad", is_set(state.bad), "a set of GPUs"),
        ("free", is_row(state.free), sets),
        ("groups", is_groups(state.groups), "sets by key for each level"),
        ("free_count", is_count_row(state.free_count), counts),
        ("held", is_rows(state.held, is_count_row), f"{counts} of each tenant"),
        ("allocated", is_count_row(state.allocated), counts),
        ("used", is_set(state.used), "a set of GPUs"),
        ("low", is_set(state.low), "a set of GPUs"),
    )
    yield from ((name, needed) for name, fine, needed in rules if not fine)


def _all_of(items: Any, length: int) -> bool:
    return isinstance(items, tuple) and len(items) == length


def _is_mask(number: Any, width: int) -> bool:
    return type(number) is int and number >= 0 and number >> width == 0


def _is_set(item: Any, capacity: int) -> bool:
    """Return whether an item is a bit set with members below the capacity only."""
    if not _all_of(item, 2):
        return False
    summary, words = item
    number = -(-capacity // bitset.BITS)
    if not _all_of(words, number) or not all(_is_mask(word, bitset.BITS) for word in words):
        return False
    marks = sum(1 << place for place, word in enumerate(words) if word)
    last = capacity - (number - 1) * bitset.BITS
    return type(summary) is int and summary == marks and (not words or not words[-1] >> last)


def _is_groups(item: Any, capacity: int) -> bool:
    return isinstance(item, Mapping) and all(
        _all_of(key, 3) and _is_set(members, capacity) for key, members in item.items()
    )


def _is_job_table(table: Any, gpus: int) -> bool:
    if not isinstance(table, tuple) or not all(isinstance(chunk, tuple) for chunk in table):
        return False
    whole, rest = divmod(gpus, JOB_CHUNK)
    if [len(chunk) for chunk in table] != [JOB_CHUNK] * whole + [rest] * (rest > 0):
        return False
    found = {id(job): job for chunk in table for job in chunk if job is not None}
    return all(
        isinstance(job, Job)
        and isinstance(job.tenant, str)
        and isinstance(job.gpus, tuple)
        and all(type(gpu) is int for gpu in job.gpus)
        for job in found.values()
    )
