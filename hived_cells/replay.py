"""Replays events: takes a specification and events, gives one plain outcome an event.

Outcomes stream: nothing is kept but the state and the names of what is held or runs.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from hived_cells.allocate import allocate, allocate_pin
from hived_cells.choose import HIVED, Choose
from hived_cells.cluster import Cluster, initial_cluster
from hived_cells.errors import IllegalRequest, InvalidChoice, InvalidSpec, NeverFits, NoRoom
from hived_cells.events import Allocate, Bad, Event, Heal, LowPriority, Place, Release, Remove
from hived_cells.faults import heal, is_bad, mark_bad
from hived_cells.gangs.check import pool_violations
from hived_cells.invariants import slack, violations
from hived_cells.low_priority import start, stop, victims
from hived_cells.release import release
from hived_cells.replay_gangs import after_eviction, gangs_of, place, remove
from hived_cells.session import Session
from hived_cells.spec.values import Spec, SpecPool
from hived_cells.state import free_counts, owed_counts

__all__ = ["Session", "replay"]

FULL_CHECK_GPUS = 64  # up to this size of a pool every rule is checked after every event


def replay(
    spec: Spec,
    events: Iterable[tuple[int, Event]],
    *,
    choose: Choose = HIVED,
    source: str = "events",
    session: Session | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one outcome, ready for JSON, for each event.

    An outcome has `line`, `op`, `outcome` (done; refused: not the tenant's right, with
    `reason`; wait: no room now; never: a gang that does not fit into what its tenant reserved),
    for what it concerns `pool`, `cell`, `gpus`, `victims`, `flagged`, for a gang `pods`, `cells`,
    `downgraded`, `low_priority` and `exact`, and for each pool concerned `free`, `owed` and
    `slack` as lists from level 1 up. After an event that breaks an invariant `broken` names the
    rules; a sound allocator never gets there. Every S_k is checked each time; all rules of
    `violations` and `gang_violations` are, in pools of at most 64 GPUs. O(levels) memory beyond
    the state and the ids in use.

    Parameters
    ----------
    spec
        The cluster.
    events
        Line number and event, as `read_events` gives them.
    choose
        Which free cell to take.
    source
        Name of the events' file, for messages.
    session
        Where to start and what to carry on; a new one on the empty cluster by default.

    Raises
    ------
    Infeasible
        The specification's reserved cells do not fit.
    InvalidSpec
        An event names an unknown pool, cell or type, or does not say which pool it means.
    InvalidChoice
        `choose` returned something that is not a candidate.

    Examples
    --------
    >>> from hived_cells.spec import parse_spec
    >>> spec = parse_spec('''
    ... physicalCluster:
    ...   cellTypes: {NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}}
    ...   physicalCells: [{cellType: NODE, cellAddress: n1}]
    ... virtualClusters: {A: {virtualCells: [{cellType: NODE.GPU, cellNumber: 1}]}}
    ... ''')
    >>> for outcome in replay(spec, [(1, Allocate(id="c1", tenant="A", level=1))]):
    ...     print(outcome["cell"], outcome["free"], outcome["owed"], outcome["slack"])
    n1/0 [1, 0] [0, 0] [1, 0]
    """
    book = session or Session(initial_cluster({pool.name: pool.pool for pool in spec}))
    for line, event in events:
        outcome: dict[str, Any] = {"line": line, "op": type(event).__struct_config__.tag}
        if not isinstance(event, Bad | Heal):
            outcome["id"] = event.id
        try:
            touched = _apply(spec, book, event, choose, outcome)
        except NeverFits as error:
            outcome |= {"outcome": "never", "reason": str(error)}
            touched = ()
        except IllegalRequest as error:
            outcome |= {"outcome": "refused", "reason": str(error)}
            touched = ()
        except NoRoom as error:
            outcome |= {"outcome": "wait", "reason": str(error)}
            touched = ()
        except (InvalidSpec, InvalidChoice) as error:
            raise type(error)(f"{source}: line {line}: {error}") from None
        pools = touched or ((outcome["pool"],) if "pool" in outcome else tuple(book.cluster))
        outcome |= _counts(book.cluster, pools)
        if broken := [rule for name in pools for rule in _broken(spec, book, name)]:
            outcome["broken"] = broken
        yield outcome


def _apply(
    spec: Spec, book: Session, event: Event, choose: Choose, outcome: dict[str, Any]
) -> tuple[str, ...]:
    """Carry out one event, fill in its outcome and return the pools it touched."""
    if isinstance(event, Allocate):
        return _allocate(spec, book, event, choose, outcome)
    if isinstance(event, LowPriority):
        return _start(spec, book, event, outcome)
    if isinstance(event, Bad | Heal):
        return _health(spec, book, event, outcome)
    if isinstance(event, Place):
        return place(spec, book, event, outcome)
    if isinstance(event, Remove):
        return remove(spec, book, event, outcome)
    outcome["outcome"] = "done"
    if isinstance(event, Release):
        if event.id not in book.cells:
            raise IllegalRequest(f"id {event.id!r} holds no cell")
        name, tenant, cell = book.cells[event.id]
        book.cluster = book.cluster.replace(name, release(book.cluster[name], tenant, cell))
        del book.cells[event.id]
    else:
        if event.id not in book.jobs:
            raise IllegalRequest(f"id {event.id!r} runs no low-priority job")
        name, job = book.jobs.pop(event.id)
        del book.ids[name, job]
        book.cluster = book.cluster.replace(name, stop(book.cluster[name], job))
    outcome["pool"] = name
    return (name,)


def _allocate(
    spec: Spec, book: Session, event: Allocate, choose: Choose, outcome: dict[str, Any]
) -> tuple[str, ...]:
    pool = _pool_of(spec, event)
    outcome["pool"] = pool.name
    book.require_new(event.id)
    before = book.cluster[pool.name]
    if event.pin is not None:
        after, cell = allocate_pin(before, event.tenant, event.pin)
    else:
        level = _level_of(pool, event.level)
        after, cell = allocate(before, event.tenant, level, choose=choose)
    ended = [book.ids.pop((pool.name, job)) for job in victims(before, cell)]
    book.cluster = book.cluster.replace(pool.name, after)
    after_eviction(book, ended)
    book.cells[event.id] = (pool.name, event.tenant, cell)
    outcome |= {
        "outcome": "done",
        "cell": pool.address(cell),
        "victims": ended,
        "flagged": is_bad(after, cell),
    }
    return (pool.name,)


def _start(
    spec: Spec, book: Session, event: LowPriority, outcome: dict[str, Any]
) -> tuple[str, ...]:
    names = [pool.name for pool in spec]
    if event.pool is None and len(names) != 1:
        raise InvalidSpec(f"$.pool: which pool is meant? There are {names}")
    pool = spec.pool(names[0] if event.pool is None else event.pool)
    outcome["pool"] = pool.name
    book.require_new(event.id)
    state, job = start(book.cluster[pool.name], event.tenant, event.gpus)
    book.cluster = book.cluster.replace(pool.name, state)
    book.jobs[event.id] = (pool.name, job)
    book.ids[pool.name, job] = event.id
    gpus = [pool.address(pool.pool.chain.cell(1, gpu)) for gpu in job.gpus]
    outcome |= {"outcome": "done", "gpus": gpus}
    return (pool.name,)


def _health(
    spec: Spec, book: Session, event: Bad | Heal, outcome: dict[str, Any]
) -> tuple[str, ...]:
    if event.pool is not None:
        spec.pool(event.pool)  # refuse an unknown one
    found = spec.find(event.cell, pools=None if event.pool is None else [event.pool])
    if not found:
        raise InvalidSpec(f"$.cell: no cell has the address {event.cell!r}")
    change = mark_bad if isinstance(event, Bad) else heal
    for pool, cell in found:
        state = change(book.cluster[pool.name], cell)
        book.cluster = book.cluster.replace(pool.name, state)
    outcome |= {"outcome": "done", "cell": event.cell}
    return tuple(dict.fromkeys(pool.name for pool, _ in found))


def _pool_of(spec: Spec, event: Allocate) -> SpecPool:
    """Return the pool an allocation means: the named one, or the only one it can mean."""
    if event.pool is not None:
        return spec.pool(event.pool)
    if len(spec.pools) == 1:
        return spec.pools[0]
    owned = [pool for pool in spec if _may_mean(pool, event)]
    if len(owned) > 1:
        names = [pool.name for pool in owned]
        raise InvalidSpec(f"$.pool: which pool is meant? {event.tenant!r} may mean {names}")
    if owned:
        return owned[0]
    wanted = f"pin {event.pin!r}" if event.pin is not None else f"level {event.level!r}"
    if isinstance(event.level, str) and all(event.level not in pool.types[1:] for pool in spec):
        raise InvalidSpec(f"$.level: {event.level!r} is no level of any pool")
    raise IllegalRequest(f"tenant {event.tenant!r} reserved nothing in a pool with {wanted}")


def _may_mean(pool: SpecPool, event: Allocate) -> bool:
    if event.pin is not None:
        return any(pin.name == event.pin for pin in pool.pool.reservation.pins)
    if isinstance(event.level, str) and event.level not in pool.types[1:]:
        return False
    return event.tenant in pool.pool.reservation.tenants


def _level_of(pool: SpecPool, level: int | str | None) -> int:
    if isinstance(level, str):
        if level not in pool.types[1:]:
            raise InvalidSpec(f"$.level: {level!r} is no level of pool {pool.name!r}")
        return pool.types.index(level)
    return level or 0


def _counts(cluster: Cluster, pools: tuple[str, ...]) -> dict[str, Any]:
    """Return free, owed and slack of one pool as they are, of several by pool name."""
    by_pool = {
        name: {
            "free": list(free_counts(cluster[name])),
            "owed": list(owed_counts(cluster[name])),
            "slack": list(slack(cluster[name])),
        }
        for name in pools
    }
    return by_pool[pools[0]] if len(pools) == 1 else {"pools": by_pool}


def _broken(spec: Spec, book: Session, name: str) -> list[str]:
    state = book.cluster[name]
    if state.chain.gpus > FULL_CHECK_GPUS:
        return [f"slack: level {k}: S = {s}" for k, s in enumerate(slack(state), 1) if s < 0]
    found = violations(state)
    if not found and book.gangs is not None:
        found = pool_violations(gangs_of(spec, book), name)
    return [str(rule) for rule in found]
