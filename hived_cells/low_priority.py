"""The second view of the same cells: takes a low-priority request, gives a job on idle GPUs.

Low priority is never a matter of right: what runs here is stopped as soon as an owner of the
cell comes, and `victims` says which jobs those are.
"""

from collections.abc import Iterator

from hived_cells import bitset
from hived_cells.allocate import jobs_within
from hived_cells.draft import Draft
from hived_cells.errors import IllegalRequest, NoRoom, shown
from hived_cells.hierarchy import Cell
from hived_cells.state import JOB_CHUNK, Job, State

__all__ = ["start", "stop", "victims"]


def start(state: State, tenant: str, gpus: int) -> tuple[State, Job]:
    """Run a low-priority job on idle healthy GPUs, as far from guaranteed use as possible.

    A GPU in a free cell of level k has its highest common ancestor with the nearest guaranteed
    cell at level k + 1, so free cells of the highest level are filled first; within a level the
    cell whose idle GPUs fit best, which is beside other low-priority jobs. Pinned cells that are
    not in use come last. O(levels x groups + GPUs taken + free cells with bad GPUs).

    Parameters
    ----------
    state
        The present state; it stays as it is.
    tenant
        Who asks; it need not have reserved anything.
    gpus
        Number of GPUs.

    Returns
    -------
    (State, Job)
        The next state, and the job with its GPUs.

    Raises
    ------
    IllegalRequest
        The tenant has no name, or the number is not a positive integer.
    NoRoom
        Fewer idle healthy GPUs are there than asked for.

    References
    ----------
    HiveD (OSDI 2020), Section 3, "low-priority jobs".

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, allocate, initial_state
    >>> state = initial_state(Chain(top_cells=2, factors=(2, 2)), Reservation({"A": {1: 2}}))
    >>> state, cell = allocate(state, "A", 1)     # GPU 0
    >>> start(state, "B", 1)[1]                   # the other top cell, not a buddy
    Job(tenant='B', gpus=(4,))
    """
    if not isinstance(tenant, str) or not tenant:
        raise IllegalRequest(f"tenant {shown(tenant)}: a non-empty name is needed")
    if type(gpus) is not int or gpus < 1:
        raise IllegalRequest(
            f"tenant {tenant!r} asks for {shown(gpus)} GPUs; at least 1 is needed"
        )
    taken: list[int] = []
    for idle in _idle_by_preference(state, gpus, taken):
        taken.extend(idle[: gpus - len(taken)])
        if len(taken) == gpus:
            break
    else:
        raise NoRoom(
            f"tenant {tenant!r} asks for {shown(gpus)} GPUs at low priority; {len(taken)} idle"
        )
    job = Job(tenant, tuple(sorted(taken)))
    draft = Draft(state)
    draft.enter_job(job)
    return draft.freeze(), job


def stop(state: State, job: Job) -> State:
    """Stop a low-priority job: its GPUs are idle again. O(GPUs of the job x levels).

    Parameters
    ----------
    state
        The pool as it is.
    job
        A running job, as `start` gave it.

    Returns
    -------
    State
        The next state.

    Raises
    ------
    IllegalRequest
        No such job runs.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> state = initial_state(Chain(top_cells=2, factors=(2,)), Reservation({}))
    >>> later, job = start(state, "A", 3)
    >>> stop(later, job) == state
    True
    """
    require_running(state, job)
    draft = Draft(state)
    draft.strike_job(job)
    return draft.freeze()


def require_running(state: State, job: Job) -> None:
    """Raise `IllegalRequest` unless exactly this job runs.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> state, job = start(initial_state(Chain(1, ()), Reservation({})), "A", 1)
    >>> require_running(state, job)
    """
    first = job.gpus[0] if isinstance(job, Job) and job.gpus else -1
    known = type(first) is int and 0 <= first < state.chain.gpus
    if not known or state.job_at[first // JOB_CHUNK][first % JOB_CHUNK] != job:
        raise IllegalRequest(f"no low-priority job {shown(job)} runs")


def victims(state: State, cell: Cell) -> tuple[Job, ...]:
    """Return the low-priority jobs that a guaranteed use of the cell stops.

    Asked of the state before `allocate` with the cell it returned, these are the jobs that the
    state after it no longer has. O(GPUs of the cell).

    Parameters
    ----------
    state
        The pool before the cell was taken.
    cell
        A cell of the pool's chain.

    Raises
    ------
    InvalidSpec
        There is no such cell.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, allocate, initial_state
    >>> state = initial_state(Chain(top_cells=1, factors=(2,)), Reservation({"A": {2: 1}}))
    >>> state, job = start(state, "B", 2)
    >>> later, cell = allocate(state, "A", 2)
    >>> victims(state, cell)
    (Job(tenant='B', gpus=(0, 1)),)
    """
    index = state.chain.index(cell)
    size = state.chain.sizes[cell.level]
    return jobs_within(state.job_at, state.low, index * size, size)


def _idle_by_preference(state: State, wanted: int, taken: list[int]) -> Iterator[list[int]]:
    """Yield the idle healthy GPUs cell by cell, best cell first; `taken` grows between yields."""
    for level in range(state.chain.levels, 0, -1):
        size = state.chain.sizes[level]
        sound = {
            size - low: bitset.indices(members)
            for (low, bad, _), members in state.groups[level].items()
            if not bad and low < size
        }
        while sound:
            need = wanted - len(taken)
            fitting = [idle for idle in sound if idle >= need]
            idle = min(fitting) if fitting else max(sound)
            index = next(sound[idle], -1)
            if index < 0:
                del sound[idle]
            else:
                yield _idle_gpus(state, index * size, size)
        for (_, bad, healthy_level), members in sorted(state.groups[level].items()):
            if bad and healthy_level:
                for index in bitset.indices(members):
                    yield _idle_gpus(state, index * size, size)
    for number, pin in enumerate(state.reservation.pins):
        if not state.pins_in_use >> number & 1:
            size = state.chain.sizes[pin.cell.level]
            yield _idle_gpus(state, state.pool.pin_indices[number] * size, size)


def _idle_gpus(state: State, begin: int, size: int) -> list[int]:
    """Return the GPUs of a cell that are healthy and not in low-priority use."""
    busy = bitset.window(state.low, begin, size) | bitset.window(state.bad, begin, size)
    idle = ((1 << size) - 1) ^ busy
    found = []
    while idle:
        found.append(begin + (idle & -idle).bit_length() - 1)
        idle &= idle - 1
    return found
