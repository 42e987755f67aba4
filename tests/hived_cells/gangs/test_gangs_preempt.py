"""Preemption: who goes, who is spared, who goes on at low priority."""

import pytest
from gang_builders import one_pool

from hived_cells import Chain, Gang, MustWait, gang_violations, place_gang
from hived_cells.gangs import preempt as preempt_module
from hived_cells.gangs.desk import Desk

CHAIN = Chain(4, (2, 2))


def full(priorities, **more):
    """Return four nodes of A with one gang each, of the given priorities."""
    state = one_pool(CHAIN, 3, A={3: 4}, B={})
    for number, priority in enumerate(priorities):
        gang = Gang(f"g{number}", "A", ((4, 1),), priority, **more)
        state, _ = place_gang(state, gang)
    return state


def victims(state, gang):
    later, placed = place_gang(state, gang)
    assert gang_violations(later) == ()
    return placed.victims


def test_the_lowest_priorities_go_first():
    """Tests one and two victims, in whatever order they came."""
    state = full([5, 1, 3, 1])
    assert victims(state, Gang("h", "A", ((4, 1),), 9)) == ("g1",)
    assert victims(state, Gang("h", "A", ((4, 2),), 9)) == ("g1", "g3")
    assert victims(state, Gang("h", "A", ((4, 3),), 4)) == ("g1", "g3", "g2")


def test_equal_priority_is_no_reason():
    """Tests that a gang waits for those of its own priority."""
    with pytest.raises(MustWait):
        place_gang(full([2, 2, 2, 2]), Gang("h", "A", ((1, 1),), 2))


def test_nobody_goes_in_vain():
    """Tests that small gangs which make no room for the pod are spared."""
    state = one_pool(CHAIN, 3, A={3: 1, 1: 3})
    for number in range(3):
        state, _ = place_gang(state, Gang(f"small{number}", "A", ((1, 1),), 0))
    state, _ = place_gang(state, Gang("large", "A", ((4, 1),), 3))
    assert victims(state, Gang("h", "A", ((4, 1),), 5)) == ("large",)


def test_none_can_be_spared_though_one_alone_would_do():
    """Tests what is promised and what is not: the victims are minimal, not always fewest."""
    state = one_pool(CHAIN, 3, A={3: 2})
    for number in range(4):
        state, _ = place_gang(state, Gang(f"small{number}", "A", ((1, 1),), 1))
    state, _ = place_gang(state, Gang("large", "A", ((4, 1),), 1))
    assert victims(state, Gang("h", "A", ((4, 1),), 5)) == tuple(f"small{n}" for n in range(4))


def test_a_lazy_gang_goes_on_where_there_is_another_cell():
    """Tests that it keeps its GPUs, and that it ends where there is no other cell."""
    state = one_pool(CHAIN, 3, A={3: 2}, B={})
    for number in range(2):
        gang = Gang(f"g{number}", "A", ((4, 1),), lazy=True)
        state, _ = place_gang(state, gang)
    later, placed = place_gang(state, Gang("h", "A", ((4, 1),), 1))
    assert (placed.victims, placed.downgraded) == ((), ("g0",))
    assert later.gangs["g0"].pods == state.gangs["g0"].pods
    assert gang_violations(later) == ()
    whole = full([0, 0, 0, 0], lazy=True)
    later, placed = place_gang(whole, Gang("h", "A", ((4, 1),), 1))
    assert (placed.victims, placed.downgraded) == (("g0",), ())
    assert gang_violations(later) == ()


def test_a_lazy_gang_in_a_cell_that_others_keep_ends():
    """Tests that low priority never runs in a held cell."""
    state = one_pool(Chain(2, (2, 2)), 3, A={3: 1})
    state, _ = place_gang(state, Gang("stays", "A", ((2, 1),), 5))
    state, _ = place_gang(state, Gang("goes", "A", ((2, 1),), lazy=True))
    later, placed = place_gang(state, Gang("h", "A", ((2, 1),), 1))
    assert (placed.victims, placed.downgraded) == (("goes",), ())
    assert gang_violations(later) == ()


def test_where_going_on_spoils_the_search_nobody_goes_on(monkeypatch):
    """Tests that a downgrade that leaves no room is taken back, and then the gang waits."""
    state = full([0, 0, 0, 0], lazy=True)
    seat = Desk.seat

    def spoilt(self, gang):
        return (None, False) if self.book.jobs else seat(self, gang)

    monkeypatch.setattr(Desk, "seat", spoilt)
    _, placed = place_gang(state, Gang("h", "A", ((4, 1),), 1))
    assert (placed.victims, placed.downgraded) == (("g0",), ())
    monkeypatch.setattr(preempt_module, "_fits", lambda *_: (True, True))
    monkeypatch.setattr(Desk, "seat", lambda self, gang: (None, True))
    with pytest.raises(MustWait) as caught:
        place_gang(state, Gang("h", "A", ((4, 1),), 1))
    assert not caught.value.exact
