"""A state machine for gang schedulers: takes five functions, gives a Hypothesis test case.

It keeps its own books of which gang runs where and which cells a tenant holds, and derives from
them alone what must be true; nothing of this package's placement is used.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hived_cells.gangs.values import LOW_PRIORITY, Gang
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Pool, Reservation
from hived_cells.testing.gang_books import GangBooks, Pods
from hived_cells.testing.past import Past
from hived_cells.testing.strategies import pools

__all__ = ["ASKS", "gang_machine"]

ASKS = ("pins", "within", "preemption")
"""What a gang scheduler may do beside the least; see `gang_machine`."""


def gang_machine(
    initial: Callable[[Chain, Reservation, int], Any],
    place: Callable[[Any, Gang], Any],
    remove: Callable[[Any, str], Any],
    running: Callable[[Any], Mapping[str, Iterable[Sequence[int]]]],
    held: Callable[[Any], Iterable[tuple[str, Cell]]],
    *,
    asks: Collection[str] = (),
    refusals: tuple[type[Exception], ...] = (Exception,),
    max_gpus: int = 16,
) -> type[RuleBasedStateMachine]:
    """Return a state machine that runs a gang scheduler on random pools and checks what it does.

    Gangs come and go, of pods whose sizes are those of cells up to the node (so that largest first
    is exact), guaranteed ones of priority 0 and low-priority ones of -1. Checked after each step,
    and named in what a failure says: *guarantee* (a guaranteed gang is placed where its tenant's
    private cluster would have room: in the cells that it holds and all that it reserved),
    *all or nothing* (a gang that was placed runs with every pod it asked for), *node* (no pod
    spans nodes), *overlap* (no GPU in two gangs), *own cells* (a guaranteed pod lies in one held
    cell of its tenant), *kept* (a guaranteed gang goes on where it is until it is removed),
    *low priority* (such a gang runs on no held cell, and ends only for a cell that is newly held),
    *quota* (no more cells are held than reserved), *conservation* (held cells do not overlap),
    *invariant* (S_k >= 0: what is still reserved can be bound) and *purity* (an earlier state is
    still what it was). A low-priority gang may always be refused.

    What the scheduler also does is asked for by name. *pins*: reservations have pinned cells;
    `Gang.pinned` names one, and the gang runs in it and no other gang does. *within*:
    `Gang.within` is a level, and the gang lies in one cell of it; it is placed where one of its
    tenant's cells, or a part of it, has room. *preemption*: priorities 0 to 2; a gang is placed
    beside those of its priority and above, those of its tenant and pin below may be stopped for
    it, and none is stopped where there was room.

    Parameters
    ----------
    initial
        Chain, reservation and level of a node → first state. States must be picklable.
    place
        State and gang → next state; raises where the gang must wait.
    remove
        State and id → next state, in which the gang has ended.
    running
        State → the gangs that run, each with its pods' GPUs, numbered across the pool.
    held
        State → (tenant, cell) of every reserved cell that is bound, pins in use among them.
    asks
        Of `ASKS`.
    refusals
        The exceptions that mean "refused".
    max_gpus
        Size of the largest pool.

    Returns
    -------
    type
        A `RuleBasedStateMachine`; its `.TestCase` is what a test runner collects.

    Raises
    ------
    ValueError
        What is asked for is not in `ASKS`.

    References
    ----------
    HiveD (OSDI 2020), Section 3: sharing safety.

    Examples
    --------
    >>> from hypothesis import settings
    >>> from hypothesis.stateful import run_state_machine_as_test
    >>> from hived_cells.testing.planted_gangs import FirstFit
    >>> its = FirstFit()
    >>> functions = its.initial, its.place, its.remove, its.running, its.held
    >>> machine = gang_machine(*functions, asks=["pins", "preemption"])
    >>> run_state_machine_as_test(machine, settings=settings(max_examples=5))
    """
    if unknown := set(asks) - set(ASKS):
        raise ValueError(f"{min(unknown)!r} is none of {', '.join(ASKS)}")

    class GangMachine(_Machine):
        """The machine for the given functions."""

        functions = (initial, place, remove, running, held)
        asked_for = frozenset(asks)
        refused = refusals
        largest = max_gpus

    return GangMachine


# Tenant and pin, pods, priority, level of a common cell:
Wish = tuple[tuple[str, str | None], list[tuple[int, int]], int, int | None]


class _Machine(RuleBasedStateMachine):
    """The rules; a subclass names the functions under test."""

    functions: tuple[Any, ...]
    asked_for: frozenset[str]
    refused: tuple[type[Exception], ...]
    largest: int
    last: ClassVar["_Machine | None"] = None  # the run that began last: after a failure, its least
    pool: Pool
    node: int
    steps: list[dict[str, object]]
    wishes: st.SearchStrategy[Wish]
    idle_wishes: st.SearchStrategy[Wish]

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        type(self).last = self
        self.pool = pool = data.draw(_pools(self.largest, pins=2 * ("pins" in self.asked_for)))
        self.node = data.draw(st.integers(2, pool.chain.levels))
        self.steps = []
        self.wishes = self._wishes(range(3 if "preemption" in self.asked_for else 1))
        self.idle_wishes = self._wishes((LOW_PRIORITY,))
        self.initial, self.place, self.remove, self.running, self.held = self.functions
        self.books = GangBooks(pool.chain, pool.reservation, self.node)
        self.state = self.initial(pool.chain, pool.reservation, self.node)
        self.past = Past(self.state)

    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        gang = self._drawn(data.draw(self.wishes))
        room = self.books.has_room(gang)
        try:
            state = self.place(self.state, gang)
        except self.refused as error:
            if room:
                raise AssertionError(
                    f"guarantee: {gang} was refused, and its tenant's private cluster has room "
                    f"for it: {error!r}"
                ) from error
            return
        self._go_on(state, placed=gang)

    @rule(data=st.data())
    def ask_for_what_is_idle(self, data: st.DataObject) -> None:
        gang = self._drawn(data.draw(self.idle_wishes))
        try:
            state = self.place(self.state, gang)
        except self.refused:
            return
        self._go_on(state, placed=gang)

    @precondition(lambda self: self.books.gangs)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.books.gangs)))
        self.steps.append({"op": "remove", "id": name})
        self._go_on(self.remove(self.state, name), ended=name)

    def _wishes(self, priorities: Sequence[int]) -> st.SearchStrategy[Wish]:
        """Return what may be asked for: made once a run, for to make one is slow."""
        reservation, chain = self.pool.reservation, self.pool.chain
        owners: list[tuple[str, str | None]] = [(one, None) for one in reservation.tenants or "A"]
        if LOW_PRIORITY not in priorities:
            owners += [(pin.tenant, pin.name) for pin in reservation.pins]
        sizes = st.sampled_from(chain.sizes[1 : self.node + 1])
        near: list[int | None] = [None]
        if "within" in self.asked_for:
            near += range(1, chain.levels + 1)
        return st.tuples(
            st.sampled_from(owners),
            st.lists(st.tuples(sizes, st.integers(1, 3)), min_size=1, max_size=2),
            st.sampled_from(priorities),
            st.sampled_from(near),
        )

    def _drawn(self, wish: Wish) -> Gang:
        """Give a wish a name and write it down."""
        (tenant, pin), pods, priority, near = wish
        name = f"g{len(self.steps) + 1}"
        gang = Gang(name, tenant, tuple(pods), priority, pinned=pin, within=near)
        self.steps.append(_step(gang))
        return gang

    def _go_on(self, state: Any, placed: Gang | None = None, ended: str = "") -> None:
        pods: dict[str, Pods] = {
            name: tuple(sorted(tuple(sorted(pod)) for pod in found))
            for name, found in self.running(state).items()
        }
        cells = {(tenant, Cell(*cell)) for tenant, cell in self.held(state)}
        self.books.enter(pods, cells, placed, ended)
        self.state = state
        self.past.add(state)

    @invariant()
    def earlier_states_are_what_they_were(self) -> None:
        self.past.check()


@st.composite
def _pools(draw: st.DrawFn, max_gpus: int, *, pins: int) -> Pool:
    """Draw pools with a level for nodes: one of single GPUs gets a node around each of them."""
    pool = draw(pools(max_gpus=max_gpus, pins=pins))
    if pool.chain.levels > 1:
        return pool
    inner = [pin._replace(cell=Cell(1, (*pin.cell.path, 0))) for pin in pool.reservation.pins]
    cells = {tenant: dict(counts) for tenant, counts in pool.reservation.cells}
    return Pool(Chain(pool.chain.gpus, (1,)), Reservation(cells, pins=inner))


def _step(gang: Gang) -> dict[str, object]:
    """Return the event of a gang that is asked for, as `hived-cells replay` reads it."""
    step: dict[str, object] = {"op": "place", "id": gang.id, "tenant": gang.tenant}
    step |= {"pods": gang.pods, "priority": gang.priority}
    if gang.pinned is not None:
        step["pin"] = gang.pinned
    if gang.within is not None:
        step["within"] = gang.within
    return step
