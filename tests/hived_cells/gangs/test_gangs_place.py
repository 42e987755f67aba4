"""Gangs on small pools: a placement is found if and only if brute force finds one."""

import pickle

from gang_builders import brute_force, gang_states, gang_walks, subsets
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    HivedError,
    MustWait,
    NeverFits,
    Outlook,
    gang_violations,
    outlook,
    place_gang,
    remove_gang,
)


@given(data=st.data())
def test_a_placement_is_found_iff_there_is_one(data):
    """Tests place, refuse, preempt and low priority against brute force, step by step."""
    state = data.draw(gang_states())
    (book,) = state.books.values()
    for step in data.draw(gang_walks(state)):
        before = pickle.dumps(state)
        old = state
        if isinstance(step, str):
            if step in state.gangs:
                state = remove_gang(state, step)
                assert step not in state.gangs
        else:
            state = check_one(state, book.node_level, step)
        assert gang_violations(state) == ()
        assert pickle.dumps(old) == before


def check_one(state, node, gang):
    try:
        later, placed = place_gang(state, gang)
    except MustWait as error:
        assert error.exact
        assert outlook(state, gang) is Outlook.WAIT
        if gang.priority >= 0:
            lower = lower_gangs(state, gang)
            assert brute_force(state, gang, gone=lower) is None
            assert brute_force(state, gang, everything=True) is not None
        return state
    except NeverFits:
        assert outlook(state, gang) is Outlook.NEVER
        if gang.priority >= 0:
            assert brute_force(state, gang, everything=True) is None
        return state
    except HivedError:
        assert gang.id in state.gangs or gang.priority >= 0
        return state
    assert placed.exact
    if gang.priority < 0:
        assert outlook(state, gang) is Outlook.NOW
        assert not placed.victims
        return later
    stopped = [
        name
        for name in (*placed.victims, *placed.downgraded)
        if not state.gangs[name].low_priority
    ]
    best = brute_force(state, gang)
    assert outlook(state, gang) is (Outlook.PREEMPT if stopped else Outlook.NOW)
    assert bool(stopped) == (best is None)
    for name in stopped:
        assert state.gangs[name].gang.tenant == gang.tenant
        assert state.gangs[name].gang.priority < gang.priority
    if stopped:
        for few in subsets(stopped):
            if len(few) < len(stopped):
                assert brute_force(state, gang, gone=few) is None
    best = brute_force(state, gang, gone=stopped)
    found = later.gangs[gang.id]
    if gang.gather:
        assert common_level(later, found) <= max(best, node)
    others = set(state.gangs) - set(placed.victims) - set(placed.downgraded)
    assert all(later.gangs[name] == state.gangs[name] for name in others)
    return later


def lower_gangs(state, gang):
    return [
        name
        for name, one in state.gangs.items()
        if one.gang.tenant == gang.tenant and one.gang.priority < gang.priority
    ]


def common_level(state, running):
    chain = state.cells(running.pool).chain
    first, last = running.gpus[0], running.gpus[-1]
    for level in range(1, chain.levels + 1):
        if first // chain.sizes[level] == last // chain.sizes[level]:
            return level
    return 98
