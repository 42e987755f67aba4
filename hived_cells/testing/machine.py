"""A state machine for allocators: takes three functions, gives a Hypothesis test case.

It keeps its own books of who holds what and derives from them alone what must be true; nothing
of this package's allocator is used.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Pool, Reservation
from hived_cells.testing.books import Books
from hived_cells.testing.past import Past
from hived_cells.testing.strategies import pools

__all__ = ["allocator_machine"]


def allocator_machine(
    initial: Callable[[Chain, Reservation], Any],
    allocate: Callable[[Any, str, int], tuple[Any, Cell]],
    release: Callable[[Any, str, Cell], Any],
    *,
    free: Callable[[Any], Iterable[Cell]] | None = None,
    slack: Callable[[Any], Sequence[int]] | None = None,
    refusals: tuple[type[Exception], ...] = (Exception,),
    max_gpus: int = 16,
) -> type[RuleBasedStateMachine]:
    """Return a state machine that runs an allocator on random pools and checks what it does.

    Checked after each step: *Theorem 1* (each legal request is granted, an illegal one is
    refused), the *invariant* S_k >= 0 at every level, *conservation* (a granted cell has the
    level asked for and overlaps no held one; with `free`, every GPU is held or free exactly
    once and free cells are merged as far as they go) and *purity* (an earlier state is still
    what it was).

    Parameters
    ----------
    initial
        Chain and reservation → first state. States must be picklable: changes of one are seen so.
    allocate
        State, tenant and level → next state and cell; raises where the request is illegal.
    release
        State, tenant and cell → next state; raises where the tenant does not hold the cell.
    free
        State → the cells on its free lists; without it their content is not checked.
    slack
        State → (S_1, ..., S_n) as the allocator has it; without it only its signs are checked,
        on the machine's own books.
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
    HiveD (OSDI 2020), Theorem 1 and its proof.

    Examples
    --------
    >>> import hived_cells
    >>> from hypothesis import settings
    >>> from hypothesis.stateful import run_state_machine_as_test
    >>> machine = allocator_machine(
    ...     hived_cells.initial_state, hived_cells.allocate, hived_cells.release
    ... )
    >>> run_state_machine_as_test(machine, settings=settings(max_examples=5))
    """

    class AllocatorMachine(_Machine):
        """The machine for the given functions."""

        functions = (initial, allocate, release, free, slack)
        refused = refusals
        largest = max_gpus

    return AllocatorMachine


class _Machine(RuleBasedStateMachine):
    """The rules; a subclass names the functions under test."""

    functions: tuple[Any, ...]
    refused: tuple[type[Exception], ...]
    largest: int
    last: ClassVar["_Machine | None"] = None  # the run that began last: after a failure, its least
    pool: Pool
    steps: list[dict[str, object]]

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        type(self).last = self
        self.pool = pool = data.draw(pools(max_gpus=self.largest))
        self.steps, self.names = [], dict[Cell, str]()
        self.books = Books(pool.chain, pool.reservation)
        self.initial, self.allocate, self.release, self.free, self.slack = self.functions
        self.state = self.initial(pool.chain, pool.reservation)
        self.past = Past(self.state)

    @precondition(lambda self: self.books.rights())
    @rule(data=st.data())
    def ask_for_what_is_ones_own(self, data: st.DataObject) -> None:
        self._ask(*data.draw(st.sampled_from(self.books.rights())))

    @precondition(lambda self: self.books.rights())
    @rule(largest_first=st.booleans())
    def ask_for_all_that_is_left(self, largest_first: bool) -> None:
        """Ask for all, so that what was split without need, or never merged, is missed."""
        while rights := self.books.rights():
            self._ask(*sorted(rights, key=lambda right: right[1], reverse=largest_first)[0])
            self._check()

    @precondition(lambda self: self.books.wrongs())
    @rule(data=st.data())
    def ask_for_more(self, data: st.DataObject) -> None:
        tenant, level = data.draw(st.sampled_from(self.books.wrongs()))
        self._step(tenant, level)
        try:
            _, cell = self.allocate(self.state, tenant, level)
        except self.refused:
            return
        raise AssertionError(
            f"quota: {tenant!r} holds all it reserved of level {level} and was given {cell}"
        )

    @precondition(lambda self: self.books.held)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        cell = data.draw(st.sampled_from(sorted(self.books.held)))
        self.steps.append({"op": "release", "id": self.names.pop(cell)})
        state = self.release(self.state, self.books.held[cell], cell)
        self.books.unbind(cell)
        self._go_on(state)

    @precondition(lambda self: self.books.held)
    @rule(data=st.data())
    def give_back_what_is_not_ones_own(self, data: st.DataObject) -> None:
        cell = data.draw(st.sampled_from(sorted(self.books.held)))
        other = "B" if self.books.held[cell] == "A" else "A"
        try:
            self.release(self.state, other, cell)
        except self.refused:
            return
        raise AssertionError(f"release: {other!r} gave back {cell}, which it does not hold")

    def _ask(self, tenant: str, level: int) -> None:
        """Ask for a cell that the tenant has a right to."""
        name = self._step(tenant, level)
        try:
            state, cell = self.allocate(self.state, tenant, level)
        except Exception as error:
            raise AssertionError(
                f"Theorem 1: the legal request of {tenant!r} for level {level} failed: {error!r}"
            ) from error
        self.books.bind(tenant, level, Cell(*cell))
        self.names[Cell(*cell)] = name
        self._go_on(state)

    def _step(self, tenant: str, level: int) -> str:
        """Write a request down, and return its name."""
        name = f"c{len(self.steps) + 1}"
        step: dict[str, object] = {"op": "allocate", "id": name, "tenant": tenant, "level": level}
        self.steps.append(step)
        return name

    def _go_on(self, state: Any) -> None:
        self.state = state
        self.past.add(state)

    @invariant()
    def the_books_agree(self) -> None:
        self._check()

    def _check(self) -> None:
        """Check that every GPU is held or free once, and that every level has enough."""
        free = None if self.free is None else self.free(self.state)
        if free is not None:
            self.books.check_free(free)
        found = self.books.check_slack(free)
        if self.slack is not None and tuple(self.slack(self.state)) != found:
            raise AssertionError(f"invariant: S is {found}, not {tuple(self.slack(self.state))}")

    @invariant()
    def earlier_states_are_what_they_were(self) -> None:
        self.past.check()
