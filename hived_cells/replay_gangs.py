"""Gangs in a replay: takes a session and an event about a gang, gives its outcome as data."""

from collections.abc import Iterable
from typing import Any

from hived_cells.errors import IllegalRequest, InvalidSpec
from hived_cells.events import Place, Remove
from hived_cells.gangs import Gang, GangState, RunningGang, initial_gangs, place_gang, remove_gang
from hived_cells.hierarchy import Cell
from hived_cells.session import Session
from hived_cells.spec.values import Spec, SpecPool
from hived_cells.state import Job

__all__ = ["after_eviction", "gangs_of", "place", "remove"]


def place(spec: Spec, book: Session, event: Place, outcome: dict[str, Any]) -> tuple[str, ...]:
    """Place the event's gang, fill in the outcome and return the pool it runs in.

    Raises
    ------
    IllegalRequest
        As for `place_gang`; `NeverFits` among it.
    NoRoom
        The gang must wait.
    InvalidSpec
        The event is no gang, or names an unknown pool, type or node.
    """
    state = gangs_of(spec, book)
    book.require_new(event.id)
    gang = _gang(spec, event)
    nodes = None if event.nodes is None else _nodes(spec, event)
    book.gangs, placed = place_gang(state, gang, nodes=nodes)
    pool = spec.pool(placed.pool)
    book.cluster = book.gangs.cluster
    outcome |= {
        "outcome": "done",
        "pool": pool.name,
        "pods": [[_name(pool, gpu) for gpu in pod] for pod in placed.pods],
        "low_priority": placed.low_priority,
        "cells": [pool.address(cell) for cell in placed.bound],
        "victims": [*placed.victims, *_forget_jobs(book, pool.name, placed.jobs)],
        "downgraded": [*placed.downgraded],
        "exact": placed.exact,
    }
    for name in placed.victims:
        _forget_gang(book, state.running[name])
    for name in (*placed.downgraded, gang.id):
        running = book.gangs.running[name]
        if running.low_priority:
            book.ids[running.pool, Job(running.gang.tenant, running.gpus)] = name
    return (pool.name,)


def remove(spec: Spec, book: Session, event: Remove, outcome: dict[str, Any]) -> tuple[str, ...]:
    """End the event's gang, fill in the outcome and return the pool it ran in.

    Raises
    ------
    IllegalRequest
        No such gang runs.
    """
    state = gangs_of(spec, book)
    if event.id not in state.running:
        raise IllegalRequest(f"id {event.id!r} runs no gang")
    gone = state.running[event.id]
    book.gangs = remove_gang(state, event.id)
    book.cluster = book.gangs.cluster
    _forget_gang(book, gone)
    outcome |= {"outcome": "done", "pool": gone.pool}
    return (gone.pool,)


def gangs_of(spec: Spec, book: Session) -> GangState:
    """Return the gangs on the session's cluster as it is now."""
    state = initial_gangs(spec) if book.gangs is None else book.gangs
    for name in book.cluster:
        if state.cells(name) is not book.cluster[name]:
            state = state.with_cells(name, book.cluster[name])
    return state


def after_eviction(book: Session, ended: Iterable[str]) -> None:
    """Strike the jobs, and the gangs among them, that a cell's allocation stopped."""
    for name in ended:
        book.jobs.pop(name, None)
    if book.gangs is not None:
        for name in book.cluster:
            book.gangs = book.gangs.with_cells(name, book.cluster[name])


def _forget_gang(book: Session, gone: RunningGang) -> None:
    if gone.low_priority:
        book.ids.pop((gone.pool, Job(gone.gang.tenant, gone.gpus)), None)


def _forget_jobs(book: Session, pool: str, jobs: Iterable[Job]) -> list[str]:
    names = [book.ids.pop((pool, job)) for job in jobs]
    for name in names:
        del book.jobs[name]
    return names


def _gang(spec: Spec, event: Place) -> Gang:
    if event.pool is not None:
        spec.pool(event.pool)  # refuse an unknown one
    return Gang(
        event.id,
        event.tenant,
        event.pods,
        event.priority,
        kind=event.kind,
        pool=event.pool,
        pinned=event.pin,
        within=_level(spec, event),
        gather=event.gather,
        lazy=event.lazy,
    )


def _level(spec: Spec, event: Place) -> int | None:
    """Return the level that `within` names; pools that may be meant must agree on it."""
    if not isinstance(event.within, str):
        return event.within
    levels = {
        pool.types.index(event.within)
        for pool in spec
        if event.within in pool.types[1:] and event.pool in (None, pool.name)
    }
    if len(levels) > 1:
        raise InvalidSpec(f"$.within: {event.within!r} is at levels {sorted(levels)}; which pool?")
    if not levels:
        raise InvalidSpec(f"$.within: {event.within!r} is no level of any pool that may be meant")
    return levels.pop()


def _nodes(spec: Spec, event: Place) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for address in event.nodes or ():
        cells = spec.find(address)
        if not cells:
            raise InvalidSpec(f"$.nodes: no cell has the address {address!r}")
        for pool, cell in cells:
            found.setdefault(pool.name, []).append(cell)
    return found


def _name(pool: SpecPool, gpu: int) -> str:
    return pool.address(pool.pool.chain.cell(1, gpu))
