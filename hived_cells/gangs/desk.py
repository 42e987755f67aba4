"""One operation's workbench: takes a pool's book and a tenant, gives the next book.

It lives inside one function call and never leaves this package; what the book shares with its
successors is copied before it is written to.
"""

from functools import lru_cache

from hived_cells import bitset
from hived_cells.allocate import allocate, allocate_pin
from hived_cells.choose import HIVED, Choose
from hived_cells.gangs.packing import Filled
from hived_cells.gangs.pick import pick
from hived_cells.gangs.plan import Plan, Room, Unit, plan
from hived_cells.gangs.search import search
from hived_cells.gangs.state import EMPTY, Book, View
from hived_cells.gangs.values import Gang
from hived_cells.hierarchy import Cell
from hived_cells.low_priority import victims
from hived_cells.release import release
from hived_cells.state import Job

__all__ = ["Desk"]

Seats = dict[int, list[tuple[int, ...]]]  # GPUs a pod → the GPUs of each pod of that size


class Desk:
    """The cells and the view of one tenant, or of one of its pins, while a gang is placed."""

    __slots__ = (
        "above",
        "avoid",
        "book",
        "bound",
        "buckets",
        "chain",
        "free",
        "node",
        "pin",
        "state",
        "stopped",
        "tenant",
    )

    def __init__(self, book: Book, tenant: str, pin: str | None) -> None:
        view = book.views.get((tenant, pin or ""), EMPTY)
        self.book = book
        self.tenant = tenant
        self.pin = pin
        self.chain = book.state.pool.chain
        self.node = book.node_level
        self.state = book.state
        self.avoid = book.state.bad
        self.free = dict(view.free)
        self.above = dict(view.above)
        self.buckets = self._usable_buckets() if self.avoid[0] else dict(view.buckets)
        self.bound: list[Cell] = []
        self.stopped: list[Job] = []

    def room(self) -> Room:
        """Return what there is to place gangs in."""
        free = self.free
        if self.avoid[0]:
            free = {unit: self._usable(unit) for unit in free}
        return Room(self.chain, self.node, free, self.buckets, self.above, self._rights())

    def _rights(self) -> dict[int, int]:
        pool = self.state.pool
        if self.pin is not None:
            for number, one in enumerate(pool.reservation.pins):
                if one.name == self.pin and not self.state.pins_in_use >> number & 1:
                    return {one.cell.level: 1}
            return {}
        number = pool.tenant_number(self.tenant)
        if number < 0:
            return {}
        held = self.state.held[number]
        return {
            level: reserved - held[level]
            for level, reserved in enumerate(pool.reserved[number])
            if reserved > held[level]
        }

    def seat(self, gang: Gang) -> tuple[Seats | None, bool]:
        """Place the gang's pods; return their GPUs, or None and whether that is proved.

        A cell that is bound and turns out to have bad GPUs stays with what is healthy in it, and
        the pods are planned anew. Where that ends without room, other cells might have had it:
        they are searched.
        """
        start = self.copy() if self.avoid[0] else self
        while True:
            found = plan(self.room(), gang)
            if found.filled is None:
                break
            area, sound = self._bind_for(found)
            if sound:
                return self._fill_all(found, area), found.exact
        if start is self or not self.bound:
            return None, found.exact
        other, exact = search(start, gang)
        if other is None:
            return None, exact
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))
        found = plan(self.room()._replace(rights={}), gang)
        return self._fill_all(found, found.area), exact

    def copy(self) -> "Desk":
        """Return a desk that can go on by itself."""
        other = Desk(self.book, self.tenant, self.pin)
        other.state = self.state
        other.free = dict(self.free)
        other.above = dict(self.above)
        other.buckets = dict(self.buckets)
        other.bound = [*self.bound]
        other.stopped = [*self.stopped]
        return other

    def _fill_all(self, found: Plan, area: Unit | None) -> Seats:
        """Put the pods where the plan says; give back the cells that were bound in vain."""
        seats: Seats = {}
        for one in found.filled or ():
            for _ in range(one.number):
                self._fill(one, area, seats)
        for cell in [*self.bound]:
            index = self.chain.index(cell)
            if self._is_idle(cell.level, index):
                self.give_back(cell.level, index)
                self.bound.remove(cell)
        return seats

    def _bind_for(self, found: Plan) -> tuple[Unit | None, bool]:
        """Bind the cells a plan needs; return its area and whether all their GPUs are healthy."""
        sizes = self.chain.sizes
        needed: dict[int, int] = {}
        for one in found.filled or ():
            if len(one.origin) == 1:
                needed[one.origin[0]] = needed.get(one.origin[0], 0) + one.number
        sound = True
        area = found.area
        for level, units in needed.items():
            each = sizes[level] // sizes[min(level, self.node)]
            for _ in range(-(-units // each)):
                index = self.bind(level)
                size = sizes[level]
                sound = sound and not bitset.window(self.avoid, index * size, size)
                if found.inside is not None:
                    inner = found.inside[0]
                    area = inner, index * (size // sizes[inner])
        return area, sound

    def bind(self, level: int, choose: Choose = HIVED) -> int:
        """Bind a reserved cell of the level, or the pin, and return its number."""
        before = self.state
        if self.pin is None:
            self.state, cell = allocate(before, self.tenant, level, choose=choose)
        else:
            self.state, cell = allocate_pin(before, self.tenant, self.pin)
        if before.low[0]:
            self.stopped.extend(victims(before, cell))
        self.bound.append(cell)
        index = self.chain.index(cell)
        self.adopt(level, index)
        return index

    def adopt(self, level: int, index: int) -> None:
        """Take a held cell into the view, all of it free."""
        sizes, lower = self.chain.sizes, min(level, self.node)
        units = sizes[level] // sizes[lower]
        if level > self.node:
            self.above[level, index] = 0
        for number in range(index * units, (index + 1) * units):
            self.free[lower, number] = 0
            self._set(lower, number, (1 << sizes[lower]) - 1)

    def give_back(self, level: int, index: int) -> None:
        """Release a held cell none of whose GPUs is in use."""
        sizes, lower = self.chain.sizes, min(level, self.node)
        units = sizes[level] // sizes[lower]
        for number in range(index * units, (index + 1) * units):
            self._set(lower, number, 0)
            del self.free[lower, number]
        if level > self.node:
            del self.above[level, index]
        self.state = release(self.state, self.tenant, self.chain.cell(level, index))

    def _is_idle(self, level: int, index: int) -> bool:
        if level > self.node:
            return self.above[level, index] == 0
        return self.free[level, index].bit_count() == self.chain.sizes[level]

    def _fill(self, one: Filled, area: Unit | None, seats: Seats) -> None:
        """Put the pods of a bin into a unit."""
        origin = one.origin
        if len(origin) == 1:
            lower = min(origin[0], self.node)
            unit = lower, self._lowest((lower, self.chain.sizes[lower]), area)
        elif len(origin) == 2:
            unit = origin[0], self._lowest((origin[0], origin[1]), area)
        else:
            unit = origin[0], origin[2]
        sizes = self.chain.sizes
        level, number = unit
        usable = self._usable(unit)
        wanted = sum([size * count for size, count in one.contents])
        left = mask = pick(sizes, level, usable, wanted)
        start = number * sizes[level]
        for size, count in one.contents:
            for _ in range(count):
                part = left if left.bit_count() == size else pick(sizes, level, left, size)
                left ^= part
                seats.setdefault(size, []).append(gpus_of(start, part))
        self._set(level, number, self.free[unit] & ~mask)
        self._count_above(unit, wanted)

    def _lowest(self, bucket: tuple[int, int], area: Unit | None) -> int:
        members = self.buckets[bucket]
        if area is None:
            return bitset.lowest(members)
        units = self.chain.sizes[area[0]] // self.chain.sizes[self.node]
        inside = bitset.window(members, area[1] * units, units)
        return area[1] * units + (inside & -inside).bit_length() - 1

    def vacate(self, gpus: tuple[int, ...]) -> None:
        """Free a pod's GPUs; a cell none of whose GPUs is in use any more is released."""
        if not gpus:  # a pod whose node is in the specification no more
            return
        unit, mask = self._unit_of(gpus)
        self._set(*unit, self.free[unit] | mask)
        cell = self._count_above(unit, -len(gpus)) or unit
        if self._is_idle(*cell):
            self.give_back(*cell)

    def occupy(self, gpus: tuple[int, ...]) -> None:
        """Take a pod's GPUs in a unit of the view."""
        unit, mask = self._unit_of(gpus)
        self._set(*unit, self.free[unit] & ~mask)
        self._count_above(unit, len(gpus))

    def _unit_of(self, gpus: tuple[int, ...]) -> tuple[Unit, int]:
        """Return the unit a pod lies in and its GPUs there, one bit each."""
        sizes = self.chain.sizes
        level = next(
            level
            for level in range(self.node, 0, -1)
            if (level, gpus[0] // sizes[level]) in self.free
        )
        number = gpus[0] // sizes[level]
        return (level, number), sum([1 << (gpu - number * sizes[level]) for gpu in gpus])

    def _count_above(self, unit: Unit, change: int) -> Unit | None:
        """Count GPUs in use in the cell above the node level that a unit is part of, if any."""
        level, number = unit
        if self.above and level == self.node:
            for outer in range(self.node + 1, self.chain.levels + 1):
                cell = outer, number // (self.chain.sizes[outer] // self.chain.sizes[level])
                if cell in self.above:
                    self.above[cell] += change
                    return cell
        return None

    def _usable(self, unit: Unit) -> int:
        mask = self.free[unit]
        if self.avoid[0]:
            size = self.chain.sizes[unit[0]]
            mask &= ~bitset.window(self.avoid, unit[1] * size, size)
        return mask

    def _set(self, level: int, number: int, mask: int) -> None:
        """Change what is free in a unit."""
        unit = level, number
        self._rebucket(level, number, self._usable(unit).bit_count())
        self.free[unit] = mask
        self._rebucket(level, number, self._usable(unit).bit_count())

    def _rebucket(self, level: int, number: int, free: int) -> None:
        """Take a unit out of the bucket of so many free GPUs, or put it in."""
        if free:
            key = level, free
            members = self.buckets.get(key)
            if members is None:
                members = bitset.empty(self.chain.counts[level])
            members = bitset.flip(members, number)
            if members[0]:
                self.buckets[key] = members
            else:
                del self.buckets[key]

    def _usable_buckets(self) -> dict[tuple[int, int], bitset.BitSet]:
        numbers: dict[tuple[int, int], list[int]] = {}
        for unit in self.free:
            if free := self._usable(unit).bit_count():
                numbers.setdefault((unit[0], free), []).append(unit[1])
        return {
            key: bitset.from_indices(self.chain.counts[key[0]], found)
            for key, found in numbers.items()
        }

    def freeze(self) -> Book:
        """Return the pool's next book, in which low-priority jobs that were stopped are gone."""
        if self.avoid[0]:
            self.avoid = bitset.empty(self.chain.gpus)
            self.buckets = self._usable_buckets()
        views = dict(self.book.views)
        views[self.tenant, self.pin or ""] = View(self.free, self.buckets, self.above)
        jobs = self.book.jobs
        if self.stopped:
            gone = set(self.stopped)
            jobs = {job: name for job, name in jobs.items() if job not in gone}
        return self.book._replace(state=self.state, views=views, jobs=jobs)


@lru_cache(maxsize=1 << 16)
def _offsets(mask: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def gpus_of(start: int, mask: int) -> tuple[int, ...]:
    """Return the numbers of the GPUs in a mask whose lowest bit is GPU `start`."""
    return tuple([start + offset for offset in _offsets(mask)])
