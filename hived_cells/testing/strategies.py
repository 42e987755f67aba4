"""Hypothesis strategies: take bounds, give chains, feasible reservations, gangs and events."""

from typing import Any

from hypothesis import strategies as st

from hived_cells.events import (
    Allocate,
    Bad,
    Event,
    Heal,
    LowPriority,
    Place,
    Release,
    Remove,
    Stop,
)
from hived_cells.gangs.values import Gang
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Pin, Pool, Reservation, first_short_level

__all__ = ["chains", "event_lists", "gangs", "pools", "reservations"]


@st.composite
def chains(draw: st.DrawFn, *, max_gpus: int = 32, max_levels: int = 4) -> Chain:
    """Draw chains of at most `max_gpus` GPUs; factors 1 and 3 turn up as well as 2.

    Parameters
    ----------
    max_gpus
        Of the largest chain.
    max_levels
        Of the highest one.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(chains(max_gpus=8))
    ... def small(chain):
    ...     assert chain.gpus <= 8
    >>> small()
    """
    left = max_gpus
    factors: list[int] = []
    for _ in range(draw(st.integers(0, max_levels - 1))):
        factors.append(draw(st.integers(1, min(4, left))))
        left //= factors[-1]
    return Chain(draw(st.integers(1, min(6, left))), tuple(factors))


@st.composite
def reservations(
    draw: st.DrawFn, chain: Chain, *, tenants: tuple[str, ...] = ("A", "B")
) -> Reservation:
    """Draw feasible reservations on a chain, from none at all to the last GPU.

    Parameters
    ----------
    chain
        What is reserved.
    tenants
        Who may reserve.

    Examples
    --------
    >>> from hived_cells import is_feasible
    >>> from hypothesis import given
    >>> @given(reservations(Chain(2, (2, 2))))
    ... def fits(reservation):
    ...     assert is_feasible(Chain(2, (2, 2)), reservation)
    >>> fits()
    """
    cells: dict[str, dict[int, int]] = {tenant: {} for tenant in tenants}
    for level in draw(st.permutations(range(1, chain.levels + 1))):
        for tenant in tenants:
            room = _room(chain, cells, tenant, level)
            if room:
                cells[tenant][level] = draw(st.integers(0, room) | st.just(room))
    return Reservation(cells)


def _room(chain: Chain, cells: dict[str, dict[int, int]], tenant: str, level: int) -> int:
    """Return how many more cells of a level the tenant could reserve, by bisection."""
    low, high = 0, chain.counts[level]
    while low < high:
        middle = (low + high + 1) // 2
        more = {**cells, tenant: {**cells[tenant], level: middle}}
        if first_short_level(chain, Reservation(more)) is None:
            low = middle
        else:
            high = middle - 1
    return low


@st.composite
def pools(
    draw: st.DrawFn,
    *,
    max_gpus: int = 32,
    tenants: tuple[str, ...] = ("A", "B"),
    pins: int = 0,
) -> Pool:
    """Draw chains with a feasible reservation.

    Parameters
    ----------
    max_gpus
        Of the largest pool.
    tenants
        Who may reserve.
    pins
        Pinned cells at most, named pin0, pin1, …

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(pools(max_gpus=8))
    ... def small(pool):
    ...     assert pool.chain.gpus <= 8
    >>> small()
    """
    chain = draw(chains(max_gpus=max_gpus))
    found = draw(reservations(chain, tenants=tenants))
    cells = {tenant: dict(counts) for tenant, counts in found.cells}
    for number in range(draw(st.integers(0, pins))):
        level = draw(st.integers(1, chain.levels))
        cell = chain.cell(level, draw(st.integers(0, chain.counts[level] - 1)))
        pin = Pin(f"pin{number}", draw(st.sampled_from(tenants)), cell)
        found = _with_pin(chain, cells, found, pin)
    return Pool(chain, found)


def _with_pin(
    chain: Chain, cells: dict[str, dict[int, int]], before: Reservation, pin: Pin
) -> Reservation:
    """Return the reservation with a pin where it fits; where only the cells do not, with fewer."""
    pins = (*before.pins, pin)
    if any(_overlap(pin.cell, other.cell) for other in before.pins):
        return before
    while first_short_level(chain, found := Reservation(cells, pins=pins)) is not None:
        tenant, level = max(
            ((t, k) for t, counts in cells.items() for k, n in counts.items() if n),
            key=lambda pair: pair[1],
        )
        cells[tenant][level] -= 1
    return found


def _overlap(one: Cell, other: Cell) -> bool:
    length = min(len(one.path), len(other.path))
    return one.path[:length] == other.path[:length]


@st.composite
def gangs(
    draw: st.DrawFn,
    name: str,
    *,
    tenants: tuple[str, ...] = ("A", "B"),
    max_pod: int = 4,
    max_level: int = 4,
) -> Gang:
    """Draw gangs of one or two sizes of pods, of any priority, with and without a common cell.

    Parameters
    ----------
    name
        Of the gang.
    tenants
        Drawn from.
    max_pod
        GPUs of the largest pod.
    max_level
        Of the common cell that may be asked for.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(gangs("g1", max_pod=2))
    ... def small(gang):
    ...     assert gang.gpus <= 8
    >>> small()
    """
    sizes = st.tuples(st.integers(1, max_pod), st.integers(1, 2))
    return Gang(
        name,
        draw(st.sampled_from(tenants)),
        tuple(draw(st.lists(sizes, min_size=1, max_size=2))),
        draw(st.sampled_from([0, 0, 0, 1, 2, -1])),
        within=draw(st.none() | st.integers(1, max_level)),
        gather=draw(st.booleans()),
        lazy=draw(st.booleans()),
    )


@st.composite
def event_lists(draw: st.DrawFn, pool: Pool, *, max_size: int = 40) -> list[Event]:
    """Draw lists of events: requests legal or not, releases, low priority, faults, gangs.

    Cells are addressed by their numbers from the top, as in a specification without names.

    Parameters
    ----------
    pool
        What the events are about.
    max_size
        Of the longest list.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(event_lists(Pool(Chain(2, (2,)), Reservation({"A": {1: 3}})), max_size=5))
    ... def short(events):
    ...     assert len(events) <= 5
    >>> short()
    """
    tenants = st.sampled_from(pool.reservation.tenants or ("A",))
    levels = st.integers(1, pool.chain.levels)
    names = st.integers(0, max_size).map(lambda number: f"c{number}")
    jobs = st.integers(0, max_size).map(lambda number: f"p{number}")
    gpus = st.integers(1, pool.chain.gpus)
    cells = levels.flatmap(
        lambda level: st.integers(0, pool.chain.counts[level] - 1).map(
            lambda index: str(pool.chain.cell(level, index))
        )
    )
    gang_ids = st.integers(0, max_size).map(lambda number: f"g{number}")
    pods = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 2)), min_size=1, max_size=2)
    kinds: list[st.SearchStrategy[Any]] = [
        st.builds(Allocate, id=names, tenant=tenants, level=levels),
        st.builds(Release, id=names),
        st.builds(LowPriority, id=jobs, tenant=tenants, gpus=gpus),
        st.builds(Stop, id=jobs),
        st.builds(Bad, cell=cells),
        st.builds(Heal, cell=cells),
        st.builds(
            Place,
            id=gang_ids,
            tenant=tenants,
            pods=pods.map(tuple),
            priority=st.integers(-1, 2),
            lazy=st.booleans(),
        ),
        st.builds(Remove, id=gang_ids),
    ]
    return draw(st.lists(st.one_of(kinds), max_size=max_size))
