"""The gang machine's own books: take who runs where and who holds what, give what must be true.

Independent of any scheduler: everything is worked out from the GPUs of gangs and cells.
"""

from collections.abc import Iterator, Mapping, Set

from hived_cells.gangs.values import Gang
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Reservation
from hived_cells.testing.books import Books

__all__ = ["GangBooks", "Pods"]

Pods = tuple[tuple[int, ...], ...]  # the GPUs of each pod, sorted


class GangBooks:
    """Which gangs run where, which cells are held, and the checks.

    Parameters
    ----------
    chain, reservation
        The pool.
    node
        Level of a node.

    Examples
    --------
    >>> books = GangBooks(Chain(2, (4,)), Reservation({"A": {2: 1}}), node=2)
    >>> books.has_room(Gang("g1", "A", ((2, 2),))), books.has_room(Gang("g1", "A", ((4, 2),)))
    (True, False)
    """

    def __init__(self, chain: Chain, reservation: Reservation, node: int) -> None:
        self.chain = chain
        self.node = node
        self.cells = Books(chain, reservation)
        self.tenants = reservation.tenants or ("A",)
        self.pins = {pin.name: pin for pin in reservation.pins}
        self.pins_in_use: set[Cell] = set()
        self.gangs: dict[str, tuple[Gang, Pods]] = {}

    def has_room(self, gang: Gang, *, preempting: bool = True) -> bool:
        """Return whether the gang fits into what its tenant holds and what it may still bind.

        Without `preempting` beside all guaranteed gangs that run, with it beside those of its
        priority and above. In a pin counts that pin alone; within a level, one cell of it that
        lies in one of the tenant's. Largest pods first, into any bin: exact, for each size
        divides the next larger one.

        Examples
        --------
        >>> books = GangBooks(Chain(2, (4,)), Reservation({"A": {2: 2}}), node=2)
        >>> [books.has_room(Gang("g1", tenant, ((1, 1), (4, 1)))) for tenant in "AB"]
        [True, False]
        >>> books.has_room(Gang("g1", "A", ((4, 2),), within=2))
        False
        """
        least = gang.priority if preempting else 0
        used = {gpu for one, pods in self.gangs.values() if one.priority >= least
                for pod in pods for gpu in pod}  # fmt: skip
        parts = list(self._parts(gang, used))
        if gang.within is None:
            parts = [[free for part in parts for free in part]]
        pods = sorted((size for size, count in gang.pods for _ in range(count)), reverse=True)
        return any(_fit(pods, part) for part in parts)

    def _parts(self, gang: Gang, used: Set[int]) -> Iterator[list[int]]:
        """Yield each of the tenant's cells, or of its cells' parts of the level asked for.

        A part is the GPUs free in each of its nodes, or in itself below the node level.
        """
        sizes = self.chain.sizes
        for level, first in self._homes(gang):
            part = level if gang.within is None else gang.within
            size = sizes[min(part, self.node)]
            for begin in range(0, sizes[level], sizes[part]) if part <= level else ():
                yield [
                    size - sum(first + gpu in used for gpu in range(at, at + size))
                    for at in range(begin, begin + sizes[part], size)
                ]

    def _homes(self, gang: Gang) -> Iterator[tuple[int, int]]:
        """Yield level and first GPU of each cell in which the gang may run.

        Of one that is not bound yet, GPUs below 0, which nobody uses.
        """
        sizes = self.chain.sizes
        if gang.pinned is not None:
            pin = self.pins[gang.pinned]
            if pin.tenant == gang.tenant:
                yield pin.cell.level, self._gpus(pin.cell).start
            return
        left = {key: count for key, count in self.cells.owned.items() if key[0] == gang.tenant}
        for cell, tenant in self.cells.held.items():
            if tenant == gang.tenant:
                left[tenant, cell.level] -= 1
                yield cell.level, self._gpus(cell).start
        for (_, level), count in left.items():
            yield from [(level, -sizes[level])] * count

    def enter(
        self,
        pods: Mapping[str, Pods],
        cells: Set[tuple[str, Cell]],
        placed: Gang | None,
        ended: str,
    ) -> None:
        """Enter the next state; raise `AssertionError` with the rule's name where one is broken.

        Examples
        --------
        >>> books = GangBooks(Chain(1, (4,)), Reservation({"A": {2: 1}}), node=2)
        >>> gang = Gang("g1", "A", ((2, 2),))
        >>> books.enter({"g1": ((0, 1),)}, {("A", Cell(2, (0,)))}, gang, "")
        Traceback (most recent call last):
        AssertionError: all or nothing: g1 asked for pods of [2, 2] GPUs and has [2]
        """
        needless = placed is not None and self.has_room(placed, preempting=False)
        fresh = self._bound(cells)
        before = dict(self.gangs)
        before.pop(ended, None)
        self.gangs = {}
        for name, (gang, was) in before.items():
            if name in pods:
                if pods[name] != was:
                    raise AssertionError(f"kept: {name} was moved from {was} to {pods[name]}")
                self.gangs[name] = gang, was
            elif gang.priority >= 0:
                if placed is None or not _may_stop(placed, gang):
                    raise AssertionError(f"kept: the guaranteed gang {name} was stopped")
                if needless:
                    raise AssertionError(
                        f"preemption: {name} was stopped for {placed.id}, which had room beside it"
                    )
            elif not {gpu for pod in was for gpu in pod} & fresh:
                raise AssertionError(f"low priority: {name} was stopped for no cell")
        if placed is not None:
            asked = sorted(size for size, count in placed.pods for _ in range(count))
            found = sorted(map(len, pods.get(placed.id, ())))
            if asked != found:
                raise AssertionError(
                    f"all or nothing: {placed.id} asked for pods of {asked} GPUs and has {found}"
                )
            self.gangs[placed.id] = placed, pods[placed.id]
        if strays := sorted(set(pods) - set(self.gangs)):
            raise AssertionError(f"all or nothing: {strays[0]} runs and should not")
        self._check_places()

    def _bound(self, cells: Set[tuple[str, Cell]]) -> set[int]:
        """Enter the held cells, and return the GPUs of those that are new."""
        fresh = self._pins_bound(cells)
        cells = {(tenant, cell) for tenant, cell in cells if cell not in self.cells.pins}
        before = {(tenant, cell) for cell, tenant in self.cells.held.items()}
        for _, cell in before - cells:
            self.cells.unbind(cell)
        for tenant, cell in sorted(cells - before):
            if (tenant, cell.level) not in self.cells.rights():
                raise AssertionError(
                    f"quota: {tenant!r} holds more cells of level {cell.level} than it reserved"
                )
            self.cells.bind(tenant, cell.level, cell)
            fresh.update(self._gpus(cell))
        self.cells.check_slack(None)
        return fresh

    def _pins_bound(self, cells: Set[tuple[str, Cell]]) -> set[int]:
        """Enter the pins that are held, and return the GPUs of those that are new."""
        held = {cell: tenant for tenant, cell in cells if cell in self.cells.pins}
        for cell, tenant in sorted(held.items()):
            if tenant != (owner := self.cells.pins[cell]):
                raise AssertionError(f"quota: {tenant!r} holds {cell}, a pin of {owner!r}")
        before, self.pins_in_use = self.pins_in_use, set(held)
        return {gpu for cell in self.pins_in_use - before for gpu in self._gpus(cell)}

    def _gpus(self, cell: Cell) -> range:
        size = self.chain.sizes[cell.level]
        first = self.chain.index(cell) * size
        return range(first, first + size)

    def _check_places(self) -> None:
        size = self.chain.sizes[self.node]
        owner: dict[int, str] = {}
        held = (*self.cells.held, *self.pins_in_use)
        home = {gpu: cell for cell in held for gpu in self._gpus(cell)}
        for name, (gang, pods) in sorted(self.gangs.items()):
            for pod in pods:
                if not all(0 <= gpu < self.chain.gpus for gpu in pod):
                    raise AssertionError(f"overlap: {name} runs on GPUs {pod} that do not exist")
                for gpu in pod:
                    if gpu in owner:
                        raise AssertionError(f"overlap: GPU {gpu} is of {owner[gpu]} and {name}")
                    owner[gpu] = name
                if len({gpu // size for gpu in pod}) > 1:
                    raise AssertionError(f"node: pod {pod} of {name} spans nodes")
                self._check_home(gang, pod, {home.get(gpu) for gpu in pod})
            wide = 1 if gang.within is None else self.chain.sizes[gang.within]
            if gang.within and len({gpu // wide for pod in pods for gpu in pod}) > 1:
                raise AssertionError(f"within: {name} lies in no one cell of level {gang.within}")

    def _check_home(self, gang: Gang, pod: tuple[int, ...], homes: Set[Cell | None]) -> None:
        """Check that a pod lies where its gang may run; `homes` are the held cells around it."""
        if gang.priority < 0:
            if homes != {None}:
                raise AssertionError(f"low priority: {gang.id} runs on held GPUs of {pod}")
            return
        owners = {**self.cells.held, **self.cells.pins}
        if len(homes) > 1 or {cell and owners[cell] for cell in homes} != {gang.tenant}:
            raise AssertionError(
                f"own cells: pod {pod} of {gang.id} is not in one cell of {gang.tenant!r}"
            )
        if gang.pinned is not None and homes != {self.pins[gang.pinned].cell}:
            raise AssertionError(f"pins: pod {pod} of {gang.id} is not in {gang.pinned}")
        if gang.pinned is None and homes <= self.pins_in_use:
            raise AssertionError(f"pins: pod {pod} of {gang.id}, which asked for none, is in one")


def _fit(pods: list[int], bins: list[int]) -> bool:
    """Return whether pods, largest first, fit into bins."""
    left = list(bins)
    for pod in pods:
        place = next((number for number, free in enumerate(left) if free >= pod), None)
        if place is None:
            return False
        left[place] -= pod
    return True


def _may_stop(placed: Gang, running: Gang) -> bool:
    """Return whether one gang may stop another: of its tenant and pin, and of lower priority."""
    mine, its = (placed.tenant, placed.pinned), (running.tenant, running.pinned)
    return mine == its and placed.priority > running.priority
