"""An example: a plain gang scheduler with faults to switch on, and the machine that finds them.

`python -m hived_cells.testing.planted_gangs` runs the sound one and the faulty ones.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from hived_cells.allocate import allocate, allocate_pin
from hived_cells.errors import IllegalRequest
from hived_cells.gangs.values import Gang
from hived_cells.hierarchy import Cell, Chain
from hived_cells.release import release
from hived_cells.reservation import Reservation
from hived_cells.state import State, initial_state
from hived_cells.testing.gang_machine import ASKS, gang_machine
from hived_cells.testing.verdict import print_faults, said, unshrunk

__all__ = ["FAULTS", "FirstFit", "finds"]

FAULTS = {
    "half a gang": "all or nothing",
    "pod across nodes": "node",
    "waits for borrowers": "guarantee",
    "uses a neighbour's cell": "own cells",
    "stops its own": "kept",
    "stops its equals": "kept",
    "stops before it looks": "preemption",
    "never stops": "guarantee",
    "its pin for all": "pins",
    "beside its pin": "pins",
    "pods far apart": "within",
    "near in held cells only": "guarantee",
}
"""Each fault and the rule that it breaks."""

NEEDS = {
    "stops its equals": "preemption",
    "stops before it looks": "preemption",
    "never stops": "preemption",
    "its pin for all": "pins",
    "beside its pin": "pins",
    "pods far apart": "within",
    "near in held cells only": "within",
}
"""What must be asked for, so that a fault shows."""

Pod = tuple[int, ...]


@dataclass(frozen=True)
class Board:
    """A state: the allocator's, held cells and running gangs.

    Examples
    --------
    >>> Board(initial_state(Chain(1, ()), Reservation({})), 1).gangs
    ()
    """

    cells: State
    node: int
    held: tuple[tuple[str, Cell], ...] = ()
    gangs: tuple[tuple[Gang, tuple[Pod, ...]], ...] = ()


@dataclass(frozen=True)
class FirstFit:
    """Largest pods first, each into the first unit with room, else into a cell newly bound.

    Parameters
    ----------
    fault
        One of `FAULTS`, or nothing for the sound scheduler.

    Examples
    --------
    >>> its = FirstFit()
    >>> board = its.initial(Chain(2, (4,)), Reservation({"A": {2: 1}}), 2)
    >>> its.running(its.place(board, Gang("g1", "A", ((2, 2),))))
    {'g1': ((0, 1), (2, 3))}
    """

    fault: str = ""
    asks = ASKS
    refusals = (IllegalRequest,)

    def initial(self, chain: Chain, reservation: Reservation, node: int) -> Board:
        """Return the first state.

        Examples
        --------
        >>> FirstFit().initial(Chain(3, ()), Reservation({}), 1).held
        ()
        """
        return Board(initial_state(chain, reservation), node)

    def running(self, board: Board) -> dict[str, tuple[Pod, ...]]:
        """Return the gangs that run and their pods.

        Examples
        --------
        >>> FirstFit().running(FirstFit().initial(Chain(3, ()), Reservation({}), 1))
        {}
        """
        return {gang.id: pods for gang, pods in board.gangs}

    def held(self, board: Board) -> tuple[tuple[str, Cell], ...]:
        """Return the cells that are bound.

        Examples
        --------
        >>> FirstFit().held(FirstFit().initial(Chain(3, ()), Reservation({}), 1))
        ()
        """
        return board.held

    def remove(self, board: Board, name: str) -> Board:
        """End a gang and release the cells in which nobody is left.

        Examples
        --------
        >>> its = FirstFit()
        >>> board = its.initial(Chain(1, ()), Reservation({"A": {1: 1}}), 1)
        >>> its.remove(its.place(board, Gang("g1", "A", ((1, 1),))), "g1") == board
        True
        """
        left = tuple(pair for pair in board.gangs if pair[0].id != name)
        board = replace(board, gangs=left)
        used = {gpu for gang, pods in left if gang.priority >= 0 for pod in pods for gpu in pod}
        for tenant, cell in board.held:
            if not used.intersection(_gpus(board, cell)):
                cells = release(board.cells, tenant, cell)
                held = tuple(pair for pair in board.held if pair != (tenant, cell))
                board = replace(board, cells=cells, held=held)
        return board

    def place(self, board: Board, gang: Gang) -> Board:
        """Place a gang or raise `IllegalRequest`; gangs of lower priority make room, lowest first.

        Examples
        --------
        >>> its = FirstFit()
        >>> board = its.initial(Chain(1, ()), Reservation({"A": {1: 1}}), 1)
        >>> board = its.place(board, Gang("g1", "A", ((1, 1),)))
        >>> its.held(board)
        (('A', Cell(level=1, path=(0,))),)
        >>> its.running(its.place(board, Gang("g2", "A", ((1, 1),), priority=1)))
        {'g2': ((0,),)}
        """
        below = gang.priority + (self.fault == "stops its equals" and gang.priority >= 0)
        others = [one for one, _ in board.gangs if (one.tenant, one.pinned) ==
                  (gang.tenant, gang.pinned) and 0 <= one.priority < below]  # fmt: skip
        if self.fault == "stops its own" and gang.priority == 0:
            others = [one for one, _ in board.gangs if (one.tenant, one.priority) ==
                      (gang.tenant, 0)]  # fmt: skip
        victims = [] if self.fault == "never stops" else sorted(others, key=_priority)
        if self.fault == "beside its pin" and gang.pinned is not None:
            with suppress(IllegalRequest):
                board = self._placed(board, replace(gang, pinned=None))
                return replace(board, gangs=(*board.gangs[:-1], (gang, board.gangs[-1][1])))
        if victims and self.fault == "stops before it looks":
            board = self.remove(board, victims.pop(0).id)
        while True:
            try:
                return self._placed(board, gang)
            except IllegalRequest:
                if not victims:
                    raise
            board = self.remove(board, victims.pop(0).id)

    def _placed(self, board: Board, gang: Gang) -> Board:
        """Place a gang beside all that run, in the first window in which it fits."""
        if gang.within is None or self.fault == "pods far apart":
            return self._seated(board, gang, range(board.cells.chain.gpus))
        tries = [board]
        if gang.priority >= 0 and self.fault != "near in held cells only":
            levels = range(gang.within, board.cells.chain.levels + 1)
            tries += [found for level in levels if (found := self._with(board, gang, level))]
        size = board.cells.chain.sizes[gang.within]
        for found in tries:
            for start in range(0, board.cells.chain.gpus, size):
                with suppress(IllegalRequest):
                    return self._seated(found, gang, range(start, start + size))
        raise IllegalRequest(f"{gang.id}: no cell of level {gang.within} has room")

    def _seated(self, board: Board, gang: Gang, window: range) -> Board:
        sizes = sorted((size for size, n in gang.pods for _ in range(n)), reverse=True)
        pods: list[Pod] = []
        try:
            for size in sizes:
                board, pod = self._seat(board, gang, size, pods, window)
                pods.append(pod)
        except IllegalRequest:
            if self.fault == "half a gang" and pods:
                return replace(board, gangs=(*board.gangs, (gang, tuple(pods))))
            raise
        return replace(board, gangs=(*board.gangs, (gang, tuple(pods))))

    def _seat(
        self, board: Board, gang: Gang, size: int, pods: list[Pod], window: range
    ) -> tuple[Board, Pod]:
        taken = {gpu for _, each in board.gangs for pod in each for gpu in pod}
        taken.update(gpu for pod in pods for gpu in pod)
        if gang.priority < 0:
            for _, cell in board.held:
                taken.update(_gpus(board, cell))
            node = board.cells.chain.sizes[board.node]
            starts = range(0, board.cells.chain.gpus, node)
            units = [list(range(start, start + node)) for start in starts]
        else:
            units = [list(unit) for unit in self._units(board, gang)]
            if self.fault == "pod across nodes" and size > 1:
                node = board.cells.chain.sizes[board.node]
                free = [gpu for unit in units for gpu in unit if gpu not in taken]
                far = [gpu for gpu in free if gpu // node != free[0] // node]
                if far and len(free) >= size:
                    return board, (*free[: size - 1], far[-1])
        for unit in units:
            free = [gpu for gpu in unit if gpu not in taken and gpu in window]
            if len(free) >= size:
                return board, tuple(free[:size])
        if gang.priority < 0:
            raise IllegalRequest(f"{gang.id}: no idle GPUs")
        if len(window) < board.cells.chain.gpus:
            raise IllegalRequest(f"{gang.id}: the window is too small")
        for level in range(1, board.cells.chain.levels + 1):
            if board.cells.chain.sizes[min(level, board.node)] >= size:
                found = self._with(board, gang, level)
                if found is not None:
                    return self._seat(found, gang, size, pods, window)
        raise IllegalRequest(f"{gang.tenant} has no cell for {size} GPUs")

    def _units(self, board: Board, gang: Gang) -> Iterator[range]:
        """Yield the parts of nodes in which a pod of the gang may lie."""
        chain = board.cells.chain
        pins = {pin.cell: pin.name for pin in board.cells.reservation.pins}
        for owner, cell in board.held:
            if owner != gang.tenant and self.fault != "uses a neighbour's cell":
                continue
            if pins.get(cell) == gang.pinned or self.fault == "its pin for all":
                gpus, size = _gpus(board, cell), chain.sizes[min(cell.level, board.node)]
                yield from (gpus[at : at + size] for at in range(0, len(gpus), size))

    def _with(self, board: Board, gang: Gang, level: int) -> Board | None:
        """Bind a cell of a level, of the pin's if any; who borrowed its GPUs ends."""
        pin = gang.pinned
        if self.fault == "its pin for all":
            kept = (gang.tenant, level)
            for one in board.cells.reservation.pins:
                if (one.tenant, one.cell.level) == kept and (kept[0], one.cell) not in board.held:
                    pin = pin or one.name
        try:
            if pin is None:
                cells, cell = allocate(board.cells, gang.tenant, level)
            else:
                cells, cell = allocate_pin(board.cells, gang.tenant, pin)
                if cell.level != level:
                    return None
        except IllegalRequest:
            return None
        gpus = set(_gpus(board, cell))
        hit = [one.id for one, pods in board.gangs if gpus & {gpu for pod in pods for gpu in pod}]
        if hit and self.fault == "waits for borrowers":
            raise IllegalRequest(f"{hit[0]} is in the way")
        gangs = tuple(pair for pair in board.gangs if pair[0].id not in hit)
        return replace(board, cells=cells, held=(*board.held, (gang.tenant, cell)), gangs=gangs)


def _priority(gang: Gang) -> int:
    return gang.priority


def _gpus(board: Board, cell: Cell) -> range:
    chain = board.cells.chain
    first = chain.index(cell) * chain.sizes[cell.level]
    return range(first, first + chain.sizes[cell.level])


def finds(fault: str, *, examples: int = 300) -> str:
    """Return what the machine says of the scheduler with a fault, "" where it finds nothing.

    Examples
    --------
    >>> finds("half a gang").split(":")[0]
    'all or nothing'
    """
    its = FirstFit(fault)
    asks = [NEEDS[fault]] if fault in NEEDS else () if fault else ASKS
    machine = gang_machine(
        its.initial,
        its.place,
        its.remove,
        its.running,
        its.held,
        asks=asks,
        refusals=its.refusals,
    )
    return said(machine, unshrunk(examples)) or ""


def main() -> int:
    """Print a line for each fault; return 0 when all of them, and only they, are found.

    Examples
    --------
    >>> callable(main)
    True
    """
    return print_faults(FAULTS, finds)


if __name__ == "__main__":
    sys.exit(main())
