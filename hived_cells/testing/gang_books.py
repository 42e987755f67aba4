"""The gang machine's own books: take who runs where and who holds what, give what must be true.

Independent of any scheduler: everything is worked out from the GPUs of gangs and cells.
"""

from collections.abc import Mapping, Set

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
        self.gangs: dict[str, tuple[Gang, Pods]] = {}

    def has_room(self, gang: Gang) -> bool:
        """Return whether the gang fits into what its tenant holds and what it may still bind.

        Largest pods first, into any bin: exact, for each size divides the next larger one.

        Examples
        --------
        >>> books = GangBooks(Chain(2, (4,)), Reservation({"A": {2: 2}}), node=2)
        >>> [books.has_room(Gang("g1", tenant, ((1, 1), (4, 1)))) for tenant in "AB"]
        [True, False]
        """
        sizes = self.chain.sizes
        used = {gpu for one, pods in self.gangs.values() if one.priority >= 0
                for pod in pods for gpu in pod}  # fmt: skip
        left = {key: count for key, count in self.cells.owned.items() if key[0] == gang.tenant}
        bins: list[int] = []
        for cell, tenant in self.cells.held.items():
            if tenant == gang.tenant:
                left[tenant, cell.level] -= 1
                size = sizes[min(cell.level, self.node)]
                first = self.chain.index(cell) * sizes[cell.level]
                bins += [
                    sum(gpu not in used for gpu in range(start, start + size))
                    for start in range(first, first + sizes[cell.level], size)
                ]
        for (_, level), count in left.items():
            lower = min(level, self.node)
            bins += [sizes[lower]] * (count * sizes[level] // sizes[lower])
        pods = sorted((size for size, count in gang.pods for _ in range(count)), reverse=True)
        for pod in pods:
            place = next((number for number, free in enumerate(bins) if free >= pod), None)
            if place is None:
                return False
            bins[place] -= pod
        return True

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
                raise AssertionError(f"kept: the guaranteed gang {name} was stopped")
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
        before = {(tenant, cell) for cell, tenant in self.cells.held.items()}
        for _, cell in before - cells:
            self.cells.unbind(cell)
        fresh: set[int] = set()
        for tenant, cell in sorted(cells - before):
            if (tenant, cell.level) not in self.cells.rights():
                raise AssertionError(
                    f"quota: {tenant!r} holds more cells of level {cell.level} than it reserved"
                )
            self.cells.bind(tenant, cell.level, cell)
            fresh.update(self._gpus(cell))
        self.cells.check_slack(None)
        return fresh

    def _gpus(self, cell: Cell) -> range:
        size = self.chain.sizes[cell.level]
        first = self.chain.index(cell) * size
        return range(first, first + size)

    def _check_places(self) -> None:
        size = self.chain.sizes[self.node]
        owner: dict[int, str] = {}
        home = {gpu: cell for cell in self.cells.held for gpu in self._gpus(cell)}
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
                homes = {home.get(gpu) for gpu in pod}
                if gang.priority < 0:
                    if homes != {None}:
                        raise AssertionError(f"low priority: {name} runs on held GPUs of {pod}")
                elif {cell and self.cells.held[cell] for cell in homes} != {gang.tenant} or (
                    len(homes) > 1
                ):
                    raise AssertionError(
                        f"own cells: pod {pod} of {name} is not in one cell of {gang.tenant!r}"
                    )
