"""Gangs, pools and states of gangs as values: what is refused, and when two are equal."""

import pytest
from gang_builders import one_pool

from hived_cells import (
    Cell,
    Chain,
    Gang,
    GangPool,
    IllegalRequest,
    Infeasible,
    InvalidSpec,
    MustWait,
    NeverFits,
    Outlook,
    Pool,
    Reservation,
    allocate,
    common_cell,
    gang_violations,
    initial_gangs,
    initial_state,
    mark_bad,
    outlook,
    place_gang,
    release,
    remove_gang,
    start,
)

CHAIN = Chain(2, (2, 2))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"id": ""}, "non-empty string"),
        ({"tenant": 3}, "non-empty string"),
        ({"pods": 3}, "pairs are needed"),
        ({"pods": ()}, "no pods"),
        ({"pods": ((1,),)}, "pair of integers"),
        ({"pods": ((1, 0),)}, "pair of integers"),
        ({"pods": ((True, 1),)}, "pair of integers"),
        ({"pods": "12"}, "pair of integers"),
        ({"pods": ((10**9999, 1),)}, "pair of integers"),
        ({"pods": ((1, 1 << 25),)}, "pair of integers"),
        ({"within": 10**9999}, "level from 1"),
        ({"priority": 1001}, "not in -1..1000"),
        ({"priority": -2}, "not in -1..1000"),
        ({"priority": True}, "not in -1..1000"),
        ({"kind": 1}, "string or None"),
        ({"pool": b"P"}, "string or None"),
        ({"pinned": 0}, "string or None"),
        ({"within": 0}, "level from 1"),
        ({"lazy": 1}, "True or False"),
        ({"gather": None}, "True or False"),
        ({"pinned": "lab", "priority": -1}, "exclude each other"),
    ],
)
def test_what_is_no_gang_is_refused(fields, rule):
    """Tests that the message names the rule."""
    with pytest.raises(InvalidSpec, match=rule):
        Gang(**{"id": "g", "tenant": "A", "pods": ((1, 1),)} | fields)


def test_lists_of_pods_are_taken():
    """Tests that what was read from JSON makes the same gang."""
    assert Gang("g", "A", [[1, 2]]) == Gang("g", "A", ((1, 2),))


def test_what_is_no_pool_is_refused():
    """Tests types, levels, names given twice and reservations that do not fit."""
    pool = Pool(CHAIN, Reservation({"A": {3: 1}}))
    for wrong in [
        lambda: GangPool(1, pool, 1),
        lambda: GangPool("P", pool, 1, kind=None),
        lambda: GangPool("P", CHAIN, 1),
        lambda: GangPool("P", pool, 4),
        lambda: initial_gangs(3),
        lambda: initial_gangs([pool]),
        lambda: initial_gangs([GangPool("P", pool, 1)] * 2),
    ]:
        with pytest.raises(InvalidSpec):
            wrong()
    with pytest.raises(Infeasible, match="pool 'P'"):
        initial_gangs([GangPool("P", Pool(CHAIN, Reservation({"A": {3: 3}})), 1)])


def test_requests_that_name_what_is_not_there_are_refused():
    """Tests kind, pool, tenant, id and gang, each told by name."""
    state = one_pool(CHAIN, 3, A={3: 1})
    for gang, rule in [
        (Gang("g", "A", ((1, 1),), kind="V"), "no kind 'V'"),
        (Gang("g", "A", ((1, 1),), pool="Q"), "no pool 'Q'"),
        (Gang("g", "C", ((1, 1),)), "tenant 'C' reserved nothing"),
        (Gang("g", "C", ((1, 1),), pool="P"), "reserved nothing in pool 'P'"),
    ]:
        with pytest.raises(IllegalRequest, match=rule):
            place_gang(state, gang)
    state, _ = place_gang(state, Gang("g", "A", ((1, 1),)))
    with pytest.raises(IllegalRequest, match="in use already"):
        outlook(state, Gang("g", "A", ((1, 1),)))
    with pytest.raises(IllegalRequest, match="'h' does not run"):
        remove_gang(state, "h")
    with pytest.raises(InvalidSpec, match="is no Gang"):
        place_gang(state, "g")
    with pytest.raises(InvalidSpec, match="does not run"):
        common_cell(state, "h")
    with pytest.raises(InvalidSpec, match="is not one of"):
        state.cells("Q")


def test_states_are_equal_by_what_they_are():
    """Tests equality and hash over different ways to one state, and the way it is shown."""
    first = one_pool(CHAIN, 3, A={3: 2})
    one, _ = place_gang(first, Gang("g", "A", ((4, 1),)))
    other, _ = place_gang(one, Gang("h", "A", ((1, 1),)))
    other = remove_gang(other, "h")
    assert (one, hash(one)) == (other, hash(other))
    assert one != first
    assert first != "state"
    assert repr(one) == "<GangState of 8 GPUs in 1 pools: 1 gangs run>"
    with pytest.raises(TypeError):
        one.gangs["g"] = None


def test_a_gang_over_top_cells_has_no_common_cell():
    """Tests the pool's two nodes."""
    state, _ = place_gang(one_pool(CHAIN, 3, A={3: 2}), Gang("g", "A", ((4, 2),)))
    assert common_cell(state, "g") is None


def test_cells_that_changed_by_other_means():
    """Tests a fault, a cell and a job of one's own, and a cell released under a gang."""
    state = one_pool(CHAIN, 3, A={3: 2})
    state, _ = place_gang(state, Gang("g", "A", ((1, 1),)))
    state, _ = place_gang(state, Gang("low", "B", ((1, 1),), -1))
    bad = state.with_cells("P", mark_bad(state.cells("P"), Cell(1, (0, 0, 1))))
    _, placed = place_gang(bad, Gang("h", "A", ((3, 1),)))
    assert placed.pods == ((4, 5, 6),)
    cells, _ = allocate(state.cells("P"), "A", 3)
    held = state.with_cells("P", cells)
    assert list(held.gangs) == ["g"]
    assert gang_violations(held) == ()
    with pytest.raises(MustWait):
        place_gang(held, Gang("h", "A", ((4, 1),)))
    cells, job = start(state.cells("P"), "B", 2)
    busy = state.with_cells("P", cells)
    later, placed = place_gang(busy, Gang("h", "A", ((4, 1),)))
    assert placed.jobs == (job,)
    assert placed.victims == ("low",)
    assert gang_violations(later) == ()
    with pytest.raises(IllegalRequest, match="which is not held"):
        state.with_cells("P", release(state.cells("P"), "A", Cell(3, (0,))))
    with pytest.raises(InvalidSpec, match="is no state of it"):
        state.with_cells("P", initial_state(Chain(1, ()), Reservation({})))


def test_several_pools_are_tried_in_their_order():
    """Tests kinds, the order of pools, and a gang that only the second could ever take."""
    small = Pool(Chain(2, (2,)), Reservation({"A": {2: 2}}))
    large = Pool(Chain(2, (4,)), Reservation({"A": {2: 2}}))
    state = initial_gangs([GangPool("z", small, 2, "K80"), GangPool("a", large, 2, "V100")])
    state, placed = place_gang(state, Gang("g1", "A", ((2, 1),)))
    assert placed.pool == "z"
    state, placed = place_gang(state, Gang("g2", "A", ((2, 1),), kind="V100"))
    assert placed.pool == "a"
    state, placed = place_gang(state, Gang("g3", "A", ((4, 1),)))
    assert placed.pool == "a"
    assert outlook(state, Gang("g4", "A", ((4, 2),))) is Outlook.WAIT
    with pytest.raises(NeverFits, match=r"in pool 'z' it reserved .*; in pool 'a' it"):
        place_gang(state, Gang("g4", "A", ((4, 3),)))
    assert gang_violations(state) == ()


def test_low_priority_now_later_and_never():
    """Tests the outlook of low-priority gangs, and levels and lists of nodes."""
    state = one_pool(CHAIN, 3, A={3: 2})
    state, _ = place_gang(state, Gang("g", "A", ((4, 1),)))
    for pods, more, expected in [
        (((4, 1),), {}, Outlook.NOW),
        (((1, 5),), {}, Outlook.WAIT),
        (((1, 8),), {"within": 3}, Outlook.NEVER),
        (((5, 1),), {}, Outlook.NEVER),
        (((1, 3),), {"within": 2}, Outlook.NEVER),
        (((1, 3),), {"gather": False}, Outlook.NOW),
    ]:
        assert outlook(state, Gang("low", "B", pods, -1, **more)) is expected
