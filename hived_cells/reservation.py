"""Who reserved what: takes tenants' cells per level and pinned cells, gives feasibility.

A reservation says nothing about which physical cells a tenant holds; pins are the exception.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from hived_cells.errors import Infeasible, InvalidSpec, shown
from hived_cells.hierarchy import Cell, Chain

__all__ = ["Pin", "Pool", "Reservation", "Shortage", "first_short_level", "is_feasible"]

Counts = tuple[tuple[int, int], ...]


class Pin(NamedTuple):
    """A physical cell that is reserved by its address, not by its level.

    Parameters
    ----------
    name
        Unique in the pool.
    tenant
        Whose it is.
    cell
        Which cell, by its address.

    Examples
    --------
    >>> Pin(name="lab", tenant="A", cell=Cell(1, (0, 1))).tenant
    'A'
    """

    name: str
    tenant: str
    cell: Cell


class Shortage(NamedTuple):
    """The first level from the top at which the reserved cells do not fit.

    Parameters
    ----------
    level
        Where it is short.
    needed
        Cells of that level that are reserved.
    available
        Cells of that level left by what is reserved above it.

    Examples
    --------
    >>> Shortage(level=3, needed=2, available=1).level
    3
    """

    level: int
    needed: int
    available: int


@dataclass(frozen=True, slots=True, repr=False)
class Reservation:
    """Each tenant's virtual private cluster in one pool (Section 3).

    Parameters
    ----------
    cells
        Tenant → level → number of cells. Zero counts are dropped, the order does not matter.
    pins
        Pinned cells, on top of the counts; they are carved out first.

    Raises
    ------
    InvalidSpec
        A count is negative or not an integer, a name is empty or not a string, or two pins
        have one name.

    Examples
    --------
    >>> Reservation({"B": {5: 2}, "A": {3: 8, 1: 4}})
    Reservation({'A': {1: 4, 3: 8}, 'B': {5: 2}})
    """

    cells: tuple[tuple[str, Counts], ...]
    pins: tuple[Pin, ...]

    def __init__(
        self, cells: Mapping[str, Mapping[int, int]], *, pins: Iterable[Pin] = ()
    ) -> None:
        if not isinstance(cells, Mapping):
            raise InvalidSpec(f"reservation: {shown(cells)} is no mapping from tenants to counts")
        owned: dict[str, Counts] = {
            _checked_name(tenant): _checked_counts(tenant, counts)
            for tenant, counts in cells.items()
        }
        by_name: dict[str, Pin] = {}
        if not isinstance(pins, Iterable):
            raise InvalidSpec(f"reservation: pins is {shown(pins)}, a list of Pins is needed")
        for pin in pins:
            if not isinstance(pin, Pin) or not isinstance(pin.cell, Cell):
                raise InvalidSpec(
                    f"pin {shown(pin)}: a Pin with a name, a tenant and a Cell is needed"
                )
            _checked_name(pin.tenant)
            if _checked_name(pin.name) in by_name:
                raise InvalidSpec(f"pin {pin.name!r} is given twice")
            by_name[pin.name] = pin
            owned.setdefault(pin.tenant, ())
        object.__setattr__(self, "cells", tuple(sorted(owned.items())))
        object.__setattr__(self, "pins", tuple(by_name[name] for name in sorted(by_name)))

    def __repr__(self) -> str:
        pins = f", pins={list(self.pins)!r}" if self.pins else ""
        return f"Reservation({ {t: dict(counts) for t, counts in self.cells}!r}{pins})"

    @property
    def tenants(self) -> tuple[str, ...]:
        """The tenants' names in alphabetical order."""
        return tuple(tenant for tenant, _ in self.cells)


@dataclass(frozen=True, slots=True)
class Pool:
    """A chain and the reservation on it: everything about a state that never changes.

    Parameters
    ----------
    chain
        The hardware.
    reservation
        Who reserved what on it.

    Raises
    ------
    InvalidSpec
        A reserved level does not exist, or a pin's cell does not exist or overlaps another's.

    Examples
    --------
    >>> pool = Pool(Chain(top_cells=2, factors=(2,)), Reservation({"A": {1: 3}}))
    >>> pool.reserved, pool.owed_at_start
    (((0, 3, 0),), (0, 3, 0))
    """

    chain: Chain
    reservation: Reservation
    # By tenant in alphabetical order, then by level with entry 0 unused:
    reserved: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    owed_at_start: tuple[int, ...] = field(init=False, repr=False, compare=False)  # r_k
    pin_indices: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.chain, Chain):
            raise InvalidSpec(f"pool: {shown(self.chain)} is no Chain")
        if not isinstance(self.reservation, Reservation):
            raise InvalidSpec(f"pool: {shown(self.reservation)} is no Reservation")
        put = object.__setattr__
        width = self.chain.levels + 1
        rows = []
        for tenant, counts in self.reservation.cells:
            row = [0] * width
            for level, number in counts:
                if not 1 <= level < width:
                    raise InvalidSpec(
                        f"tenant {tenant!r} reserves cells of level {shown(level)}; "
                        f"levels are 1..{width - 1}"
                    )
                row[level] = number
            rows.append(tuple(row))
        put(self, "reserved", tuple(rows))
        put(self, "owed_at_start", tuple(map(sum, zip(*rows, strict=True))) or (0,) * width)
        put(self, "pin_indices", _checked_pins(self.chain, self.reservation.pins))

    def tenant_number(self, tenant: str) -> int:
        """Return the tenant's place in the alphabetical order, -1 for one that is not here.

        Examples
        --------
        >>> Pool(Chain(1, ()), Reservation({"A": {}})).tenant_number("B")
        -1
        """
        for number, (name, _) in enumerate(self.reservation.cells):
            if name == tenant:
                return number
        return -1


def first_short_level(chain: Chain, reservation: Reservation) -> Shortage | None:
    """Return the first level from the top with negative slack, None where all fits.

    Pinned cells are carved out first; then S_k = f_k + F_k - r_k with f the cells left free by
    the pins, F_n = 0 and F_k = h_{k+1} (f_{k+1} + F_{k+1} - r_{k+1}). The reserved cells all
    fit at the same time if and only if every S_k >= 0. O(levels x pins).

    Parameters
    ----------
    chain
        Levels and split factors.
    reservation
        Cells of each level for each tenant, and pins.

    Raises
    ------
    InvalidSpec
        The reservation does not belong to the chain (see `Pool`).

    References
    ----------
    HiveD (OSDI 2020), Section 3, "feasible initial assignment".

    Examples
    --------
    >>> first_short_level(Chain(top_cells=1, factors=(2, 3)), Reservation({"A": {3: 2}}))
    Shortage(level=3, needed=2, available=1)
    """
    pool = Pool(chain, reservation)
    free = free_counts_beside_pins(pool)
    pinned = [0] * (chain.levels + 1)
    for pin in reservation.pins:
        pinned[pin.cell.level] += 1
    obtainable = 0  # F_k
    for level in range(chain.levels, 0, -1):
        left = free[level] + obtainable - pool.owed_at_start[level]
        if left < 0:
            needed = pool.owed_at_start[level] + pinned[level]
            return Shortage(level, needed, needed + left)
        obtainable = chain.splits[level] * left
    return None


def is_feasible(chain: Chain, reservation: Reservation) -> bool:
    """Return whether all reserved cells fit in the pool at the same time (all S_k >= 0).

    Parameters
    ----------
    chain
        Levels and split factors.
    reservation
        Cells of each level for each tenant, and pins.

    Raises
    ------
    InvalidSpec
        The reservation does not belong to the chain.

    Examples
    --------
    >>> is_feasible(Chain(top_cells=4, factors=(2,)), Reservation({"A": {1: 2}, "B": {2: 3}}))
    True
    """
    return first_short_level(chain, reservation) is None


def require_feasible(pool: Pool) -> None:
    """Raise `Infeasible`, naming the first short level, unless the reservation fits.

    Examples
    --------
    >>> require_feasible(Pool(Chain(1, ()), Reservation({"A": {1: 1}})))
    """
    short = first_short_level(pool.chain, pool.reservation)
    if short is not None:
        pins = sum(pin.cell.level == short.level for pin in pool.reservation.pins)
        note = f", {pins} of them pinned" if pins else ""
        message = f"level {short.level} is short: {shown(short.needed)} cells needed{note}, "
        raise Infeasible(
            f"{message}{short.available} available",
            level=short.level,
            needed=short.needed,
            available=short.available,
        )


def free_counts_beside_pins(pool: Pool) -> tuple[int, ...]:
    """Return f_k (entry 0 unused) once the pins are carved out, in O(levels x pins).

    Examples
    --------
    >>> pins = [Pin("lab", "A", Cell(1, (0, 1)))]
    >>> free_counts_beside_pins(Pool(Chain(3, (2,)), Reservation({}, pins=pins)))
    (0, 1, 2)
    """
    chain = pool.chain
    pinned: list[set[int]] = [set() for _ in range(chain.levels + 1)]
    for pin, index in zip(pool.reservation.pins, pool.pin_indices, strict=True):
        pinned[pin.cell.level].add(index)
    free = [0] * (chain.levels + 1)
    broken: set[int] = set()  # cells of the level below the present one that must be split
    for level in range(1, chain.levels + 1):
        touched = broken | pinned[level]
        parents = (
            {index // chain.splits[level + 1] for index in touched}
            if level < chain.levels
            else set()
        )
        offered = (
            len(parents) * chain.splits[level + 1] if level < chain.levels else chain.top_cells
        )
        free[level] = offered - len(touched)
        broken = parents
    return tuple(free)


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidSpec(f"name {shown(name)}: tenants and pins are named by non-empty strings")
    return name


def _checked_counts(tenant: str, counts: Mapping[int, int]) -> Counts:
    if not isinstance(counts, Mapping):
        raise InvalidSpec(
            f"tenant {tenant!r}: {shown(counts)} is no mapping from levels to counts"
        )
    for level, number in counts.items():
        if type(level) is not int or level < 1:
            raise InvalidSpec(f"tenant {tenant!r}: level {shown(level)} is not a positive integer")
        if type(number) is not int or number < 0:
            raise InvalidSpec(
                f"tenant {tenant!r}: {shown(number)} cells of level {shown(level)}; "
                "a count is an integer of at least 0"
            )
    return tuple(sorted((level, number) for level, number in counts.items() if number))


def _checked_pins(chain: Chain, pins: tuple[Pin, ...]) -> tuple[int, ...]:
    spans: list[tuple[int, int, str]] = []
    found = []
    for pin in pins:
        try:
            index = chain.index(pin.cell)
        except InvalidSpec as error:
            raise InvalidSpec(f"pin {pin.name!r}: {error}") from error
        size = chain.sizes[pin.cell.level]
        spans.append((index * size, (index + 1) * size, pin.name))
        found.append(index)
    spans.sort()
    for (_, end, first), (start, _, second) in pairwise(spans):
        if start < end:
            raise InvalidSpec(f"pins {first!r} and {second!r} overlap")
    return tuple(found)
