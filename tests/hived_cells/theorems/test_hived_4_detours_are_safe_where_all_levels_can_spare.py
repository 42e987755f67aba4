"""HiveD 4: splitting level l instead of a lower one is safe iff S_j >= 1 for all k < j <= l."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Candidates,
    Chain,
    IllegalRequest,
    Reservation,
    allocate,
    bound_cells,
    free_counts,
    initial_state,
    is_feasible,
    lowest_address,
    owed_counts,
    release,
    slack,
    violations,
)
from hived_cells.testing import pools


@given(
    pools(max_gpus=24), st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4))), st.data()
)
def test_exactly_the_safe_levels_are_offered(pool, requests, data):
    """Tests the levels offered against what S would be after a split from each of them."""
    state = initial_state(pool.chain, pool.reservation)
    for tenant, level in requests:
        try:
            state, _ = allocate(state, tenant, level, choose=lowest_address)
        except IllegalRequest:
            continue
    rights = [
        (tenant, level)
        for tenant in "AB"
        for level in range(1, pool.chain.levels + 1)
        if can_ask(state, tenant, level)
    ]
    if not rights:
        return
    tenant, wanted = data.draw(st.sampled_from(rights))
    offered: list[int] = []

    def look(candidates: Candidates):
        if candidates.level >= wanted and not offered:
            probe = candidates
            while probe is not None:
                offered.append(probe.level)
                probe = probe.detour()
        return candidates.lowest()

    allocate(state, tenant, wanted, choose=look)
    lowest = offered[0]
    for level in range(lowest + 1, pool.chain.levels + 1):
        spare = all(slack(state)[j - 1] >= 1 for j in range(wanted + 1, level + 1))
        assert (level in offered) == (spare and free_counts(state)[level - 1] > 0)
        if level in offered:
            assert remains_sound(state, tenant, wanted, level)


def can_ask(state, tenant, level):
    number = state.reservation.tenants.index(tenant)
    return state.held[number][level] < state.pool.reserved[number][level]


def remains_sound(state, tenant, wanted, level):
    """Take the detour and then everything that is owed."""

    def climb(candidates: Candidates):
        while candidates.level < level:
            higher = candidates.detour()
            if higher is None:
                break
            candidates = higher
        return candidates.lowest()

    state, _ = allocate(state, tenant, wanted, choose=climb)
    assert violations(state) == ()
    for number, owner in enumerate(state.reservation.tenants):
        for k in range(pool_levels(state), 0, -1):
            for _ in range(state.pool.reserved[number][k] - state.held[number][k]):
                state, _ = allocate(state, owner, k)
    assert is_feasible(state.chain, state.reservation)
    return not any(owed_counts(state))


def pool_levels(state):
    return state.chain.levels


def highest_detour(candidates: Candidates):
    """Take the highest address of the highest level that is offered."""
    while (higher := candidates.detour()) is not None:
        candidates = higher
    return max(candidate.cell for candidate in candidates)


@pytest.mark.parametrize(
    ("own", "others"),
    [({1: 2}, {2: 3}), ({1: 2, 2: 1}, {2: 2}), ({1: 4}, {2: 1, 3: 0}), ({1: 3}, {1: 1})],
)
def test_every_state_reached_by_detours_is_sound(own, others):
    """Tests all states of two tops of 2 x 2 reachable by lowest takes and highest detours."""
    waiting = [initial_state(Chain(2, (2, 2)), Reservation({"A": own, "B": others}))]
    seen = set(waiting)
    while waiting:
        state = waiting.pop()
        assert violations(state) == ()
        later = [release(state, tenant, cell) for tenant, cell in bound_cells(state)]
        requests = [(t, k) for t in "AB" for k in (1, 2, 3) if can_ask(state, t, k)]
        for tenant, level in requests:
            later.append(allocate(state, tenant, level, choose=lowest_address)[0])
            later.append(allocate(state, tenant, level, choose=highest_detour)[0])
        for new in later:
            if new not in seen:
                seen.add(new)
                waiting.append(new)
    assert len(seen) > 20


def test_a_level_between_without_free_cells_is_asked_too():
    """Tests S(3) = 1 with S(2) = 0 and no free cell of level 2: the top cell is not offered."""
    state = initial_state(Chain(2, (2, 2)), Reservation({"A": {1: 2}, "B": {2: 3}}))
    state, _ = allocate(state, "A", 1)
    state, _ = allocate(state, "B", 2)
    assert (free_counts(state), slack(state)) == ((1, 0, 1), (0, 0, 1))
    offered = []

    def look(candidates: Candidates):
        offered.append(candidates.detour())
        return candidates.lowest()

    allocate(state, "A", 1, choose=look)
    assert offered == [None]
