"""Small scope, exhaustively: every reachable state of every hierarchy of a few GPUs.

Two tenants and every maximal reservation: what can be held under a smaller one can be held
under a maximal one, with no more slack. Each state by itself to eight GPUs where the lowest
address is taken, to five whichever free cell is taken. Whichever is taken, one state of those
that differ by the order of alike cells only: to eight GPUs, to twelve in the nightly profile.
"""

import os
from itertools import islice, product

import pytest
from hived_builders import small_chains

from hived_cells import (
    Cell,
    Chain,
    IllegalRequest,
    Reservation,
    allocate,
    bound_cells,
    initial_state,
    is_feasible,
    lowest_address,
    release,
    violations,
)

CHAINS = small_chains(8)
ANY_CHOICE = small_chains(5)
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
UP_TO_ORDER = [chain for chain in small_chains(12 if NIGHTLY else 8) if chain.gpus > 5]


def maximal_reservations(chain):
    """Return the reservations of A and B to which no cell can be added, A's not above B's."""
    levels = range(1, chain.levels + 1)
    counts = [range(chain.counts[level] + 1) for level in levels]
    totals = [
        total
        for total in product(*counts)
        if is_feasible(chain, Reservation({"A": dict(zip(levels, total, strict=True))}))
    ]
    tops = [
        total
        for total in totals
        if not any(
            tuple(n + (k == level) for k, n in zip(levels, total, strict=True)) in totals
            for level in levels
        )
    ]
    for total in tops:
        for own in product(*(range(n + 1) for n in total)):
            rest = tuple(n - m for n, m in zip(total, own, strict=True))
            if own <= rest:
                yield Reservation({
                    "A": dict(zip(levels, own, strict=True)),
                    "B": dict(zip(levels, rest, strict=True)),
                })  # fmt: skip


def every_choice(state, tenant, level):
    """Yield the state after the request for each sequence of cells that may be chosen."""
    waiting = [()]
    while waiting:
        taken, counts = waiting.pop(), []

        def choose(candidates, taken=taken, counts=counts):
            at = len(counts)
            counts.append(len(candidates))
            return next(islice(candidates, taken[at] if at < len(taken) else 0, None)).cell

        yield allocate(state, tenant, level, choose=choose)[0]
        for at in range(len(taken), len(counts)):
            zeros = (0,) * (at - len(taken))
            waiting += [(*taken, *zeros, other) for other in range(1, counts[at])]


def lowest_choice(state, tenant, level):
    """Yield the state after the request, the lowest address taken."""
    yield allocate(state, tenant, level, choose=lowest_address)[0]


def next_states(state, choices):
    """Yield every state one legal request or release away; check that the others are refused."""
    for number, tenant in enumerate(state.reservation.tenants):
        for level in range(1, state.chain.levels + 1):
            if state.held[number][level] < state.pool.reserved[number][level]:
                yield from choices(state, tenant, level)
            else:
                assert is_refused(state, tenant, level)
    for tenant, cell in bound_cells(state):
        yield release(state, tenant, cell)


def is_refused(state, tenant, level):
    try:
        allocate(state, tenant, level)
    except IllegalRequest:
        return True
    return False


def explore(first, form, choices):
    """Visit a state of every reachable form once and check it; return their number."""
    seen, waiting = {form(first)}, [first]
    while waiting:
        state = waiting.pop()
        assert violations(state) == ()
        for later in next_states(state, choices):
            if form(later) not in seen:
                seen.add(form(later))
                waiting.append(later)
    return len(seen)


def itself(state):
    """Return the state, having checked that the same cells in another order give an equal one."""
    again = CELLS.setdefault((state.pool, frozenset(bound_cells(state))), state)
    assert again == state
    return state


CELLS: dict = {}


def up_to_order(state):
    """Return who holds what, with the cells inside each cell in sorted order."""
    held = {cell: tenant for tenant, cell in bound_cells(state)}

    def below(cell):
        if cell in held:
            return (held[cell],)
        split = state.chain.splits[cell.level] if cell.level > 1 else 0
        children = (Cell(cell.level - 1, (*cell.path, at)) for at in range(split))
        return ("", *sorted(map(below, children)))

    tops = (state.chain.cell(state.chain.levels, at) for at in range(state.chain.top_cells))
    return tuple(sorted(map(below, tops)))


@pytest.mark.parametrize("chain", CHAINS, ids=str)
def test_every_reachable_state_is_sound(chain):
    """Tests quota, slack, free lists, merges and equality in every state, lowest address first."""
    for reservation in maximal_reservations(chain):
        CELLS.clear()
        assert explore(initial_state(chain, reservation), itself, lowest_choice) >= 2


@pytest.mark.parametrize("chain", ANY_CHOICE, ids=str)
def test_every_reachable_state_is_sound_whichever_cell_is_taken(chain):
    """Tests the same for every sequence of choices."""
    for reservation in maximal_reservations(chain):
        CELLS.clear()
        assert explore(initial_state(chain, reservation), itself, every_choice) >= 2


@pytest.mark.parametrize("chain", UP_TO_ORDER, ids=str)
def test_every_reachable_state_is_sound_up_to_the_order_of_cells(chain):
    """Tests the same of one state in each class."""
    for reservation in maximal_reservations(chain):
        assert explore(initial_state(chain, reservation), up_to_order, every_choice) >= 2


@pytest.mark.parametrize("chain", [Chain(5, ()), Chain(2, (3,)), Chain(1, (2, 2))], ids=str)
def test_the_classes_are_those_of_all_states(chain):
    """Tests that going from class to class reaches as many as there are among all the states."""
    for reservation in maximal_reservations(chain):
        first = initial_state(chain, reservation)
        CELLS.clear()
        explore(first, itself, every_choice)
        classes = set(map(up_to_order, CELLS.values()))
        assert explore(first, up_to_order, every_choice) == len(classes)


def test_the_scope_is_what_it_says():
    """Tests that the list of hierarchies has the flat, the binary and the mixed ones."""
    assert {Chain(8, ()), Chain(1, (8,)), Chain(1, (2, 2, 2)), Chain(2, (3,))} <= set(CHAINS)
