"""Doomed cells: the exact number against every packing, and both bounds."""

from itertools import combinations
from types import SimpleNamespace

import pytest
import scipy.optimize
from hived_builders import at, start_with
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Cell,
    Chain,
    HivedError,
    IllegalRequest,
    Pin,
    Reservation,
    allocate,
    allocate_pin,
    doomed,
    doomed_greedy_upper_bound,
    doomed_level_lower_bound,
    doomed_of,
    free_cells,
    initial_state,
    is_bad,
    mark_bad,
    owed_counts,
)
from hived_cells.testing import pools


def fewest_bad(state, counted):
    """Try every packing of the owed cells; return the fewest bad ones among the counted."""
    chain = state.chain
    owed = list(owed_counts(state))

    def parts(cell):
        return [Cell(cell.level - 1, (*cell.path, i)) for i in range(chain.splits[cell.level])]

    def search(level, offered):
        if level == 0:
            return 0
        best = None
        bad = {cell: is_bad(state, cell) for cell in offered}
        for taken in combinations(offered, owed[level - 1]):
            flags = sorted(bad[cell] for cell in taken)
            here = sum(flags[: counted[level - 1]])
            left = [cell for cell in offered if cell not in taken]
            below = [part for cell in left for part in parts(cell)] if level > 1 else []
            if level > 1:
                below += list(free_cells(state, level - 1))
            rest = search(level - 1, below)
            best = here + rest if best is None else min(best, here + rest)
            if best == 0:
                break
        return best

    return search(chain.levels, list(free_cells(state, chain.levels)))


@st.composite
def faulty_states(draw):
    """Draw a small state with some cells held and some GPUs bad."""
    pool = draw(pools(max_gpus=8))
    state = initial_state(pool.chain, pool.reservation)
    for tenant, level in draw(st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4)))):
        try:
            state, _ = allocate(state, tenant, level)
        except IllegalRequest:
            continue
    for gpu in draw(st.sets(st.integers(0, pool.chain.gpus - 1))):
        state = mark_bad(state, pool.chain.cell(1, gpu))
    return state


@given(faulty_states())
def test_doomed_is_the_minimum_over_all_packings(state):
    """Tests the exact number against every packing, and that both bounds enclose it."""
    exact = fewest_bad(state, owed_counts(state))
    assert doomed(state) == exact
    assert doomed_level_lower_bound(state) <= exact <= doomed_greedy_upper_bound(state)


@given(faulty_states())
def test_a_tenants_doomed_cells_are_its_own_minimum(state):
    """Tests each tenant's number against every packing with only its cells counted."""
    total = 0
    for number, tenant in enumerate(state.reservation.tenants):
        reserved, held = state.pool.reserved[number], state.held[number]
        own = [r - h for r, h in zip(reserved[1:], held[1:], strict=True)]
        exact = fewest_bad(state, own)
        assert doomed_of(state, tenant) == exact
        total += exact
    assert total <= doomed(state)


def test_level_by_level_is_too_low_and_greedy_too_high():
    """Tests a state where neither bound is the number: one bad node given up saves two GPUs."""
    state = start_with(Chain(2, (2,)), A={2: 1, 1: 2})
    state = mark_bad(state, at(state, "0"))
    assert doomed_level_lower_bound(state) == 0
    assert doomed_greedy_upper_bound(state) == 2
    assert doomed(state) == 1


def test_a_bad_pin_that_is_owed_is_doomed():
    """Tests that an unused bad pin counts for its tenant, and a used one does not."""
    pins = [Pin("p", "A", Cell(1, (0, 0))), Pin("q", "B", Cell(1, (0, 1)))]
    state = initial_state(Chain(2, (2,)), Reservation({}, pins=pins))
    state = mark_bad(state, at(state, "0"))
    found = doomed(state), doomed_of(state, "A"), doomed_of(state, "B")
    assert found == (2, 1, 1)
    state, _ = allocate_pin(state, "A", "p")
    found = doomed(state), doomed_of(state, "A"), doomed_of(state, "B")
    assert found == (1, 0, 1)
    assert (doomed_level_lower_bound(state), doomed_greedy_upper_bound(state)) == (1, 1)


def test_an_unknown_tenant_has_no_doomed_cells():
    """Tests that the tenant is checked."""
    with pytest.raises(IllegalRequest):
        doomed_of(start_with(Chain(1, ())), "A")


@pytest.mark.parametrize("status", [0, 1])
def test_an_answer_that_is_no_packing_is_an_error(monkeypatch, status):
    """Tests that the solver's word is not taken: a status or an answer that is wrong raises."""
    state = start_with(Chain(2, (2,)), A={2: 1, 1: 2})
    state = mark_bad(state, at(state, "0"))

    def lie(cost, **_):
        return SimpleNamespace(x=None if status else 0 * cost, status=status, message="limit")

    monkeypatch.setattr(scipy.optimize, "milp", lie)
    with pytest.raises(HivedError, match="doomed cells"):
        doomed(state)
