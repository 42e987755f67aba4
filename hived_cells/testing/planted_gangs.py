"""An example: a plain gang scheduler with faults to switch on, and the machine that finds them.

`python -m hived_cells.testing.planted_gangs` runs the sound one and the faulty ones.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from hived_cells.allocate import allocate
from hived_cells.errors import IllegalRequest
from hived_cells.gangs.values import Gang
from hived_cells.hierarchy import Cell, Chain
from hived_cells.release import release
from hived_cells.reservation import Reservation
from hived_cells.state import State, initial_state
from hived_cells.testing.gang_machine import gang_machine

__all__ = ["FAULTS", "FirstFit", "finds"]

FAULTS = {
    "half a gang": "all or nothing",
    "pod across nodes": "node",
    "waits for borrowers": "guarantee",
    "uses a neighbour's cell": "own cells",
    "stops its own": "kept",
}
"""Each fault and the rule that it breaks."""

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
        """Place a gang or raise `IllegalRequest`.

        Examples
        --------
        >>> its = FirstFit()
        >>> board = its.initial(Chain(1, ()), Reservation({"A": {1: 1}}), 1)
        >>> its.held(its.place(board, Gang("g1", "A", ((1, 1),))))
        (('A', Cell(level=1, path=(0,))),)
        """
        sizes = sorted((size for size, n in gang.pods for _ in range(n)), reverse=True)
        pods: list[Pod] = []
        before = board
        try:
            for size in sizes:
                board, pod = self._seat(board, gang, size, pods)
                pods.append(pod)
        except IllegalRequest:
            if self.fault == "half a gang" and pods:
                return replace(board, gangs=(*board.gangs, (gang, tuple(pods))))
            own = [
                one for one, _ in before.gangs if (one.tenant, one.priority) == (gang.tenant, 0)
            ]
            if self.fault == "stops its own" and own and gang.priority == 0:
                return self.place(self.remove(before, own[0].id), gang)
            raise
        return replace(board, gangs=(*board.gangs, (gang, tuple(pods))))

    def _seat(self, board: Board, gang: Gang, size: int, pods: list[Pod]) -> tuple[Board, Pod]:
        taken = {gpu for _, each in board.gangs for pod in each for gpu in pod}
        taken.update(gpu for pod in pods for gpu in pod)
        if gang.priority < 0:
            for _, cell in board.held:
                taken.update(_gpus(board, cell))
            node = board.cells.chain.sizes[board.node]
            starts = range(0, board.cells.chain.gpus, node)
            units = [list(range(start, start + node)) for start in starts]
        else:
            units = [list(unit) for unit in self._units(board, gang.tenant)]
            if self.fault == "pod across nodes":
                units = [[gpu for unit in units for gpu in unit]]
        for unit in units:
            free = [gpu for gpu in unit if gpu not in taken]
            if len(free) >= size:
                return board, tuple(free[:size])
        if gang.priority < 0:
            raise IllegalRequest(f"{gang.id}: no idle GPUs")
        board = self._bound(board, gang.tenant, size)
        return self._seat(board, gang, size, pods)

    def _units(self, board: Board, tenant: str) -> Iterator[range]:
        """Yield the parts of nodes in which a pod of the tenant may lie."""
        chain = board.cells.chain
        for owner, cell in board.held:
            if owner == tenant or self.fault == "uses a neighbour's cell":
                gpus, size = _gpus(board, cell), chain.sizes[min(cell.level, board.node)]
                yield from (gpus[at : at + size] for at in range(0, len(gpus), size))

    def _bound(self, board: Board, tenant: str, size: int) -> Board:
        """Bind the smallest reserved cell that takes the pod; who borrowed its GPUs ends."""
        chain = board.cells.chain
        for level in range(1, chain.levels + 1):
            if chain.sizes[min(level, board.node)] < size:
                continue
            try:
                cells, cell = allocate(board.cells, tenant, level)
            except IllegalRequest:
                continue
            gpus = set(_gpus(board, cell))
            hit = [
                one.id for one, pods in board.gangs if gpus & {gpu for pod in pods for gpu in pod}
            ]
            if hit and self.fault == "waits for borrowers":
                raise IllegalRequest(f"{hit[0]} is in the way")
            gangs = tuple(pair for pair in board.gangs if pair[0].id not in hit)
            return replace(board, cells=cells, held=(*board.held, (tenant, cell)), gangs=gangs)
        raise IllegalRequest(f"{tenant} has no cell for {size} GPUs")


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
    machine = gang_machine(
        its.initial,
        its.place,
        its.remove,
        its.running,
        its.held,
        refusals=(IllegalRequest,),
        max_gpus=8,
    )
    limits = settings(
        max_examples=examples,
        phases=(Phase.generate,),  # no shrinking: whether is asked, not how small
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
    )
    try:
        run_state_machine_as_test(machine, settings=limits)
    except AssertionError as error:
        return str(error)
    return ""


def main() -> int:
    """Print a line for each fault; return 0 when all of them, and only they, are found.

    Examples
    --------
    >>> callable(main)
    True
    """
    said = {fault: finds(fault) for fault in ("", *FAULTS)}
    for fault, message in said.items():
        sys.stdout.write(f"{fault or 'sound':24} {message or 'nothing found'}\n")
    return int(bool(said[""]) or not all(said[fault] for fault in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
