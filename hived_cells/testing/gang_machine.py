"""A state machine for gang schedulers: takes five functions, gives a Hypothesis test case.

It keeps its own books of which gang runs where and which cells a tenant holds, and derives from
them alone what must be true; nothing of this package's placement is used.
"""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hived_cells.gangs.values import LOW_PRIORITY, Gang
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Reservation
from hived_cells.testing.gang_books import GangBooks, Pods
from hived_cells.testing.strategies import pools

__all__ = ["gang_machine"]


def gang_machine(
    initial: Callable[[Chain, Reservation, int], Any],
    place: Callable[[Any, Gang], Any],
    remove: Callable[[Any, str], Any],
    running: Callable[[Any], Mapping[str, Iterable[Sequence[int]]]],
    held: Callable[[Any], Iterable[tuple[str, Cell]]],
    *,
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
        State → (tenant, cell) of every reserved cell that is bound.
    refusals
        The exceptions that mean "refused".
    max_gpus
        Size of the largest pool.

    Returns
    -------
    type
        A `RuleBasedStateMachine`; its `.TestCase` is what a test runner collects.

    References
    ----------
    HiveD (OSDI 2020), Section 3: sharing safety.

    Examples
    --------
    >>> from hypothesis import settings
    >>> from hypothesis.stateful import run_state_machine_as_test
    >>> from hived_cells.testing.planted_gangs import FirstFit
    >>> its = FirstFit()
    >>> machine = gang_machine(its.initial, its.place, its.remove, its.running, its.held)
    >>> run_state_machine_as_test(machine, settings=settings(max_examples=5))
    """

    class GangMachine(_Machine):
        """The machine for the given functions."""

        functions = (initial, place, remove, running, held)
        refused = refusals
        largest = max_gpus

    return GangMachine


class _Machine(RuleBasedStateMachine):
    """The rules; a subclass names the functions under test."""

    functions: tuple[Any, ...]
    refused: tuple[type[Exception], ...]
    largest: int
    last: ClassVar["_Machine | None"] = None  # the run that began last: after a failure, its least

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        type(self).last = self
        pool = data.draw(pools(max_gpus=self.largest))
        node = data.draw(st.integers(1, pool.chain.levels))
        self.initial, self.place, self.remove, self.running, self.held = self.functions
        self.books = GangBooks(pool.chain, pool.reservation, node)
        self.asked = 0
        self.state = self.initial(pool.chain, pool.reservation, node)
        self.past = [(self.state, pickle.dumps(self.state))]

    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        gang = self._drawn(data, priority=0)
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
        gang = self._drawn(data, priority=LOW_PRIORITY)
        try:
            state = self.place(self.state, gang)
        except self.refused:
            return
        self._go_on(state, placed=gang)

    @precondition(lambda self: self.books.gangs)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.books.gangs)))
        self._go_on(self.remove(self.state, name), ended=name)

    def _drawn(self, data: st.DataObject, *, priority: int) -> Gang:
        self.asked += 1
        sizes = self.books.chain.sizes[1 : self.books.node + 1]
        pairs = st.tuples(st.sampled_from(sizes), st.integers(1, 3))
        return Gang(
            f"g{self.asked}",
            data.draw(st.sampled_from(self.books.tenants)),
            tuple(data.draw(st.lists(pairs, min_size=1, max_size=2))),
            priority,
        )

    def _go_on(self, state: Any, placed: Gang | None = None, ended: str = "") -> None:
        pods: dict[str, Pods] = {
            name: tuple(sorted(tuple(sorted(pod)) for pod in found))
            for name, found in self.running(state).items()
        }
        cells = {(tenant, Cell(*cell)) for tenant, cell in self.held(state)}
        self.books.enter(pods, cells, placed, ended)
        self.state = state
        self.past.append((state, pickle.dumps(state)))

    @invariant()
    def earlier_states_are_what_they_were(self) -> None:
        for number, (state, dump) in enumerate(self.past[-4:]):
            if pickle.dumps(state) != dump:
                raise AssertionError(f"purity: a state changed after step {number} from here")
