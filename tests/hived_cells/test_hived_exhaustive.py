"""Small scope, exhaustively: every reachable state of every hierarchy of a few GPUs.

Two tenants and every maximal reservation: what can be held under a smaller one can be held
under a maximal one, with no more slack. Eight GPUs; twelve in the nightly profile.
"""

import os
from itertools import product

import pytest
from hived_builders import small_chains

from hived_cells import (
    Candidates,
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

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
CHAINS = small_chains(12 if NIGHTLY else 8)
ANY_CHOICE = small_chains(8 if NIGHTLY else 5)


def highest_address(candidates: Candidates):
    return max(candidate.cell for candidate in candidates)


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


def next_states(state, choices):
    """Yield every state one legal request or release away; check that the others are refused."""
    for number, tenant in enumerate(state.reservation.tenants):
        for level in range(1, state.chain.levels + 1):
            if state.held[number][level] < state.pool.reserved[number][level]:
                for choose in choices:
                    yield allocate(state, tenant, level, choose=choose)[0]
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


def explore(first, choices):
    """Visit every reachable state once; states of the same cells must be equal."""
    seen, cells_seen = {first}, {frozenset()}
    waiting = [first]
    while waiting:
        state = waiting.pop()
        assert violations(state) == ()
        for later in next_states(state, choices):
            if later in seen:
                continue
            cells = frozenset(bound_cells(later))
            assert cells not in cells_seen  # the same cells in another, unequal state
            seen.add(later)
            cells_seen.add(cells)
            waiting.append(later)
    return len(seen)


@pytest.mark.parametrize("chain", CHAINS, ids=str)
def test_every_reachable_state_is_sound(chain):
    """Tests quota, slack, free lists, merges and equality in every state, lowest address first."""
    for reservation in maximal_reservations(chain):
        assert explore(initial_state(chain, reservation), [lowest_address]) >= 1


@pytest.mark.parametrize("chain", ANY_CHOICE, ids=str)
def test_every_reachable_state_is_sound_whichever_cell_is_taken(chain):
    """Tests the same when each request takes the lowest or the highest address."""
    choices = [lowest_address, highest_address]
    for reservation in maximal_reservations(chain):
        assert explore(initial_state(chain, reservation), choices) >= 1


def test_the_scope_is_what_it_says():
    """Tests that the list of hierarchies has the flat, the binary and the mixed ones."""
    assert {Chain(8, ()), Chain(1, (8,)), Chain(1, (2, 2, 2)), Chain(2, (3,))} <= set(CHAINS)
