"""Algorithm 1, allocation: takes a state and a legal request, gives the next state and the cell.

The free list of the lowest level that has a cell is served; the cell is split on the way down.
"""

from typing import NamedTuple

from hived_cells import bitset
from hived_cells.choose import HIVED, Candidates, Choose, Group, Ranking
from hived_cells.draft import Draft, key_of
from hived_cells.errors import HivedError, IllegalRequest, InvalidChoice, InvalidSpec, shown
from hived_cells.hierarchy import Cell
from hived_cells.state import JOB_CHUNK, Job, Key, State, slack_by_level

__all__ = ["allocate", "allocate_pin"]


def allocate(
    state: State, tenant: str, level: int, *, choose: Choose = HIVED
) -> tuple[State, Cell]:
    r"""Bind a physical cell to one of the tenant's reserved cells of a level.

    Guarantee (Theorem 1): if every S_k >= 0, which `initial_state` establishes and every
    operation keeps, then each legal request (a_{t,k} < r_{t,k}) is granted, with at most n - k
    splits. Low-priority jobs on the cell are stopped: they are `victims(state, cell)`. A bad
    cell is bound only where no healthy one can be had without breaking a promise, provided that
    `choose` asks for healthy ones, as the default does; see `flagged`.
    O(levels x factor + jobs stopped), independent of the number of cells.

    Parameters
    ----------
    state
        The present state; it stays as it is.
    tenant
        Who asks.
    level
        Level of the reserved cell, 1 for one GPU.
    choose
        Which free cell to take; see `hived_cells.choose`.

    Returns
    -------
    tuple
        The next state and the cell.

    Raises
    ------
    IllegalRequest
        The tenant is unknown, the level does not exist, or all reserved cells of the level are
        held already.
    InvalidChoice
        `choose` is no function, or returned something that is not a candidate.
    HivedError
        The state is not sound (no operation makes such a state): nothing can serve the request.

    References
    ----------
    HiveD (OSDI 2020), Section 3, Algorithm 1 and Theorem 1.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> state = initial_state(Chain(top_cells=2, factors=(2, 2)), Reservation({"A": {1: 3}}))
    >>> later, cell = allocate(state, "A", 1)
    >>> print(cell, later, sep="\n")
    0/0/0
    <State of 8 GPUs in 3 levels: free 1+1+1, owed 0+0+2, held {'A': {1: 1}}>
    """
    number = require_right(state, tenant, level)
    if not callable(choose):
        raise InvalidChoice(f"choose is {shown(choose)}; a function or a Ranking is needed")
    source, index = _choose_source(state, level, choose)
    draft = Draft(state)
    index = _descend(draft, source, index, level, choose)
    evict(draft, level, index)
    draft.bind(number, level, index)
    return draft.freeze(), state.pool.chain.cell(level, index)


def allocate_pin(state: State, tenant: str, name: str) -> tuple[State, Cell]:
    """Bind a pinned cell of the tenant: nothing is chosen and nothing split.

    Always granted while the pin is not in use. O(levels + jobs stopped).

    Parameters
    ----------
    state
        The pool as it is.
    tenant
        Whose pin it is.
    name
        The pin's name in the reservation.

    Returns
    -------
    (State, Cell)
        The next state, and the pinned cell.

    Raises
    ------
    IllegalRequest
        The tenant has no such pin, or it is in use.

    Examples
    --------
    >>> from hived_cells import Chain, Pin, Reservation, initial_state
    >>> pins = [Pin("lab", "A", Cell(1, (1, 0)))]
    >>> state = initial_state(Chain(2, (2,)), Reservation({}, pins=pins))
    >>> print(allocate_pin(state, "A", "lab")[1])
    1/0
    """
    own = {pin.name: n for n, pin in enumerate(state.reservation.pins) if pin.tenant == tenant}
    if name not in own:
        raise IllegalRequest(
            f"tenant {shown(tenant)} has no pin {shown(name)}; it has {list(own)}"
        )
    number = own[name]
    pin = state.reservation.pins[number]
    if state.pins_in_use >> number & 1:
        raise IllegalRequest(f"tenant {tenant!r}: pin {name!r} is in use already")
    draft = Draft(state)
    level, index = pin.cell.level, state.pool.pin_indices[number]
    evict(draft, level, index)
    draft.pins_in_use |= 1 << number
    size = state.chain.sizes[level]
    draft.used = bitset.write(draft.used, index * size, size, (1 << size) - 1)
    return draft.freeze(), pin.cell


def require_right(state: State, tenant: str, level: int) -> int:
    """Return the tenant's number, or raise `IllegalRequest` where it may not ask for the level.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> require_right(initial_state(Chain(1, ()), Reservation({"A": {1: 1}})), "A", 1)
    0
    """
    number = state.pool.tenant_number(tenant)
    if number < 0:
        known = ", ".join(map(repr, state.reservation.tenants)) or "nobody"
        raise IllegalRequest(f"tenant {shown(tenant)} reserved nothing here; {known} did")
    row = state.pool.reserved[number]
    if type(level) is not int or not 1 <= level < len(row):
        raise IllegalRequest(
            f"tenant {tenant!r} asks for level {shown(level)}; levels are 1..{len(row) - 1}"
        )
    if state.held[number][level] >= row[level]:
        raise IllegalRequest(
            f"tenant {tenant!r} reserved {row[level]} cells of level {level} and holds "
            f"{state.held[number][level]} of them"
        )
    return number


def _choose_source(state: State, wanted: int, choose: Choose) -> tuple[int, int]:
    """Return (level, number) of the free cell that `choose` takes."""
    level = wanted
    while not state.free_count[level]:
        if level == state.pool.chain.levels:  # Theorem 1: not where every S_k >= 0
            raise HivedError(
                f"no free cell for level {wanted}: the state is not sound, see violations(state)"
            )
        level += 1
    offered = _offer(state, wanted, level)
    taken = _taken(offered, choose)
    probe: Candidates | None = offered
    while probe is not None:
        if (index := _candidate_number(probe, taken)) >= 0:
            return probe.level, index
        probe = probe.detour()
    raise _not_offered(taken)


class _Place(NamedTuple):
    """A cell by level and number, as a ranking finds it."""

    level: int
    number: int


def _taken(offered: Candidates, choose: Choose) -> object:
    """Return what the choice takes: a cell, or a place where a ranking made it.

    Neither is trusted: the steps of a ranking may be anybody's.
    """
    if not isinstance(choose, Ranking):
        return choose(offered)
    best: object = choose.narrow(offered)
    if not isinstance(best, Candidates) or not best.groups:
        return best
    return _Place(best.level, min([group.lowest for group in best.groups]))


def _not_offered(taken: object) -> InvalidChoice:
    return InvalidChoice(f"choose returned {shown(taken)}, which is none of the candidates")


def _offer(state: State, wanted: int, level: int) -> Candidates:
    groups = tuple(
        [
            Group(low, bad, healthy, 0, members)
            for (low, bad, healthy), members in state.groups[level].items()
        ]
    )
    higher = None if level == state.pool.chain.levels else _Detours(state, wanted, level)
    return Candidates(state.pool.chain, wanted, level, groups, higher=higher)


class _Detours:
    """The safe higher levels above one, worked out only when a choice asks."""

    __slots__ = ("_level", "_state", "_wanted")

    def __init__(self, state: State, wanted: int, level: int) -> None:
        self._state = state
        self._wanted = wanted
        self._level = level

    def __call__(self) -> Candidates | None:
        state = self._state
        slack = slack_by_level(state)
        levels = state.pool.chain.levels
        above = range(self._level + 1, levels + 1)
        # Without a free cell above, S_n = -owed <= 0 says no at the top level.
        top = next((level for level in above if state.free_count[level]), levels)
        # Splitting from level l lowers S_j for every k < j <= l: each of them needs one to spare.
        if any(slack[level] < 1 for level in range(self._wanted + 1, top + 1)):
            return None
        return _offer(state, self._wanted, top)


def _descend(draft: Draft, level: int, index: int, wanted: int, choose: Choose) -> int:
    """Take a cell off its free list, split it down to the wanted level, return the number."""
    chain = draft.chain
    size = chain.sizes[level]
    low = bitset.window(draft.low, index * size, size)
    bad = bitset.window(draft.bad, index * size, size)
    draft.drop_free(level, index, key_of(chain, level, low, bad))
    while level > wanted:
        factor = chain.splits[level]
        level -= 1
        size = chain.sizes[level]
        area = (1 << size) - 1
        keys = [
            key_of(chain, level, low >> at & area, bad >> at & area)
            for at in range(0, factor * size, size)
        ]
        base = index * factor
        child = _choose_part(draft, keys, choose, wanted=wanted, level=level, base=base)
        for part, key in enumerate(keys):
            if part != child:
                draft.add_free(level, base + part, key)
        index = base + child
        low = low >> (child * size) & area
        bad = bad >> (child * size) & area
    return index


def _choose_part(
    draft: Draft, keys: list[Key], choose: Choose, *, wanted: int, level: int, base: int
) -> int:
    """Return which part of the cell being split the choice goes on with."""
    members: dict[Key, int] = {}
    for part, key in enumerate(keys):
        members[key] = members.get(key, 0) | 1 << part
    if len(members) == 1 and isinstance(choose, Ranking):
        return 0
    capacity = len(keys)
    groups = tuple(
        [
            Group(*key, base, bitset.write(bitset.empty(capacity), 0, capacity, parts))
            for key, parts in members.items()
        ]
    )
    offered = Candidates(draft.chain, wanted, level, groups)
    taken = _taken(offered, choose)
    index = _candidate_number(offered, taken)
    if index < 0:
        raise _not_offered(taken)
    return index - base


def _candidate_number(candidates: Candidates, taken: object) -> int:
    """Return the number of a candidate that `_taken` gave, -1 for anything else."""
    if isinstance(taken, _Place):
        level, index = taken
    elif isinstance(taken, Cell):
        level = taken.level
        try:
            index = candidates.chain.index(taken)
        except InvalidSpec:
            return -1
    else:
        return -1
    return index if level == candidates.level and candidates.holds(index) else -1


def evict(draft: Draft, level: int, index: int) -> None:
    """Stop every low-priority job with a GPU in the cell, wherever its other GPUs are."""
    size = draft.chain.sizes[level]
    for job in jobs_within(draft.job_at, draft.low, index * size, size):
        draft.strike_job(job)


def jobs_within(
    table: tuple[tuple[Job | None, ...], ...], low: bitset.BitSet, start: int, size: int
) -> tuple[Job, ...]:
    """Return the jobs with a GPU among `size` GPUs from `start`, by their first GPU there.

    Examples
    --------
    >>> jobs_within(((None, Job("A", (1,))),), bitset.from_indices(2, [1]), 0, 2)
    (Job(tenant='A', gpus=(1,)),)
    """
    found: dict[Job | None, None] = {}
    marks = bitset.window(low, start, size)
    while marks:
        gpu = start + (marks & -marks).bit_length() - 1
        found[table[gpu // JOB_CHUNK][gpu % JOB_CHUNK]] = None
        marks &= marks - 1
    return tuple(job for job in found if job is not None)
