"""Everything in whole numbers: wishes of the kinds of jobs, slots on servers, servers.

Takes the kinds of jobs of an instance and gives a frozen `Shop`: what each kind may be given, the
slots that a server of each group can be divided into, and what each server has, all resources in
units small enough that every amount is whole (theory: "The packed optimum").
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from synergy_opt.answer import Split
from synergy_opt.configurations import Configurations
from synergy_opt.exact import ExactArray
from synergy_opt.fair_share import fair_share, fair_throughput, unit_value
from synergy_opt.kinds import Kind
from synergy_opt.model import Instance, Job

Sizes = tuple[int, ...]
"""An amount of each resource, in units."""
SizeArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What the jobs of one kind may be given.

    Parameters
    ----------
    kind
        The jobs.
    configurations
        The fair ones: fair in at least one group.
    sizes
        Configurations × resources: a job's totals, in units.
    pieces
        True: a job may be divided among servers, in whole GPUs, each piece of k GPUs with k/g of
        its totals. False: one server.
    floors
        For each set of groups that a job may touch, its fair throughput there, as a value.
    """

    kind: Kind
    configurations: Configurations
    sizes: SizeArray
    pieces: bool
    floors: dict[frozenset[int], Fraction]

    @property
    def gpus(self) -> int:
        """GPUs of each job."""
        return self.kind.gpus

    def fair(self, configuration: int, groups: frozenset[int]) -> bool:
        """Tell whether the configuration is worth the share of these groups."""
        return self.configurations.value[configuration] >= self.floors[groups]

    @cached_property
    def values(self) -> npt.NDArray[np.float64]:
        """Value of each configuration, as the nearest double."""
        return self.configurations.value.to_floats()


class Slot(NamedTuple):
    """Room for one piece on a server of a group: GPUs, and each resource in units."""

    group: int
    gpus: int
    sizes: Sizes


@dataclass(frozen=True, kw_only=True)
class Shop:
    """Wishes, slots and servers in whole numbers.

    Parameters
    ----------
    instance
        Where they come from.
    wishes
        One a kind of jobs.
    units
        For each resource, how many units make one of the instance's own.
    capacity
        For each group, what one server has, in units, rounded down.
    slots
        Every slot that a piece of a job or a fair share fills exactly, ascending.
    """

    instance: Instance
    wishes: tuple[Wish, ...]
    units: tuple[int, ...]
    capacity: tuple[Sizes, ...]
    slots: tuple[Slot, ...]

    @cached_property
    def place_of(self) -> dict[Slot, int]:
        """Position of each slot."""
        return {slot: i for i, slot in enumerate(self.slots)}

    @property
    def counts(self) -> list[int]:
        """Number of servers of each group."""
        return [group.count for group in self.instance.cluster.servers]

    def piece(self, wish: Wish, configuration: int, group: int, gpus: int) -> Slot:
        """Give the slot that `gpus` GPUs of a job in this configuration fill."""
        total = wish.sizes[configuration].tolist()
        sizes = tuple(size * gpus // wish.gpus for size in total)
        return Slot(group, gpus, sizes)

    def fits(self, slot: Slot) -> bool:
        """Tell whether a server of the slot's group has that much."""
        has = self.capacity[slot.group]
        enough = all(a <= b for a, b in zip(slot.sizes, has, strict=True))
        return enough and slot.gpus <= self.instance.cluster.servers[slot.group].gpus


def share_slots(goods: Shop, group: int) -> dict[int, int]:
    """Give for each number of GPUs that a piece may have the slot that is its fair share."""
    cluster, found = goods.instance.cluster, {}
    most = cluster.servers[group].gpus
    for wish in goods.wishes:
        for gpus in range(1, min(most, wish.gpus) + 1) if wish.pieces else [wish.gpus]:
            if gpus <= most and gpus not in found:
                found[gpus] = goods.place_of[_share(goods, group, gpus)]
    return found


def _share(goods: Shop, group: int, gpus: int) -> Slot:
    amounts = fair_share(goods.instance.cluster, gpus, groups=[group])
    sizes = tuple(int(a * unit) for a, unit in zip(amounts, goods.units, strict=True))
    return Slot(group, gpus, sizes)


def shop(instance: Instance, jobs: Sequence[Job], kinds: Sequence[Kind], split: Split) -> Shop:
    """Put an instance into whole numbers, without loss.

    Parameters
    ----------
    instance, jobs, kinds
        The kinds of these jobs of the instance.
    split
        ``"never"``: a job that fits on one server of some group stays on one server, larger jobs
        are divided. ``"allowed"``: every job may be divided.

    Notes
    -----
    O(groups · configurations · GPUs of a server) slots, before equal ones are merged.
    """
    largest = max(group.gpus for group in instance.cluster.servers)
    groups = range(len(instance.cluster.servers))
    fair = [kind.configurations.fair() for kind in kinds]
    pieces = [kind.gpus > largest or (split == "allowed" and kind.gpus > 1) for kind in kinds]
    units = _units(instance, kinds, fair, pieces)
    wishes = tuple(
        Wish(
            kind=kind,
            configurations=found,
            sizes=_sizes(found, units),
            pieces=divided,
            floors=_floors(instance, jobs[kind.members[0]], found.floor, groups, divided),
        )
        for kind, found, divided in zip(kinds, fair, pieces, strict=True)
    )
    capacity = tuple(
        tuple(int(amount * unit) for amount, unit in zip(group.capacity, units, strict=True))
        for group in instance.cluster.servers
    )
    empty = Shop(instance=instance, wishes=wishes, units=units, capacity=capacity, slots=())
    # Rows are looked at once, however many kinds have them.
    rows = {(wish.gpus, wish.pieces, tuple(row)) for wish in wishes for row in wish.sizes.tolist()}
    slots = {slot for row in rows for slot in _slots(empty, *row)}
    for gpus, divided in {(wish.gpus, wish.pieces) for wish in wishes}:
        slots.update(_share(empty, h, k) for h, k in _choices(empty, gpus, divided))
    return Shop(
        instance=instance,
        wishes=wishes,
        units=units,
        capacity=capacity,
        slots=tuple(sorted(slots)),
    )


def _units(
    instance: Instance, kinds: Sequence[Kind], fair: Sequence[Configurations], pieces: list[bool]
) -> tuple[int, ...]:
    """Give for each resource the least number of units in which every piece is whole."""
    units = []
    for r in range(len(instance.cluster.names)):
        below = 1
        seen = set()
        for kind, found, divided in zip(kinds, fair, pieces, strict=True):
            amounts = found.demand[r]
            parts = kind.gpus if divided else 1
            key = (amounts.denominator, parts, amounts.numerators.tobytes() if divided else 0)
            if key in seen:
                continue
            seen.add(key)
            if divided:
                amounts = ExactArray(amounts.numerators, amounts.denominator * parts)
            below = math.lcm(below, amounts.denominator)
        units.append(below)
    return tuple(units)


def _sizes(found: Configurations, units: Sequence[int]) -> SizeArray:
    columns = []
    for amounts, unit in zip(found.demand, units, strict=True):
        factor = unit // amounts.denominator
        numbers = amounts.numerators
        if numbers.dtype == object or int(numbers.max(initial=0)) * factor >= 2**62:
            numbers = numbers.astype(object)
        columns.append(numbers * factor)
    return np.stack(columns, axis=1)


def _floors(
    instance: Instance, job: Job, floor: Fraction, groups: Sequence[int], divided: bool
) -> dict[frozenset[int], Fraction]:
    if len(groups) == 1:
        return {frozenset(groups): floor}
    unit = unit_value(instance, job)
    touched = _subsets(groups) if divided else [frozenset([group]) for group in groups]
    return {some: fair_throughput(instance, job, groups=some) * unit for some in touched}


def _subsets(groups: Sequence[int]) -> list[frozenset[int]]:
    found = [frozenset[int]()]
    for group in groups:
        found += [some | {group} for some in found]
    return found[1:]


def _slots(empty: Shop, gpus: int, divided: bool, row: Sizes) -> Iterator[Slot]:
    """Give the slots that pieces of a job with these totals fill."""
    for group, k in _choices(empty, gpus, divided):
        slot = Slot(group, k, tuple(size * k // gpus for size in row))
        if empty.fits(slot):
            yield slot


def _choices(goods: Shop, gpus: int, divided: bool) -> list[tuple[int, int]]:
    """Give the pairs (group, GPUs) of a piece."""
    return [
        (h, k)
        for h, group in enumerate(goods.instance.cluster.servers)
        for k in (range(1, gpus + 1) if divided else [gpus])
        if k <= group.gpus
    ]
