"""Faults: health of cells at every level, detours, flags, the known cases with `want`."""

import pytest
from hived_builders import at, npq, rack, start_with
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Cell,
    Chain,
    InvalidSpec,
    allocate,
    bad_gpus,
    doomed,
    doomed_of,
    flagged,
    free_counts,
    heal,
    is_bad,
    lowest_address,
    mark_bad,
    release,
    slack,
    violations,
)
from hived_cells.draft import healthy_level
from hived_cells.testing import chains


@given(chains(max_gpus=36), st.data())
def test_healthy_level_agrees_with_looking_at_each_part(chain, data):
    """Tests the highest level with a healthy part against a search through all parts."""
    level = data.draw(st.integers(1, chain.levels))
    size = chain.sizes[level]
    bad = data.draw(st.integers(1, (1 << size) - 1))
    found = 0
    for inner in range(1, level + 1):
        width = chain.sizes[inner]
        parts = [bad >> start & ((1 << width) - 1) for start in range(0, size, width)]
        if 0 in parts:
            found = inner
    assert healthy_level(chain, level, bad) == found


def test_marking_and_healing_at_any_level():
    """Tests that a bad node has bad GPUs, a healed GPU is healthy again, and counts stand."""
    state = start_with(rack(2), A={1: 3, 3: 1})
    state, held = allocate(state, "A", 1)
    bad = mark_bad(state, at(state, "0"))
    assert is_bad(bad, held)
    assert len(bad_gpus(bad)) == 16
    assert free_counts(bad) == free_counts(state)
    assert violations(bad) == ()
    one = heal(bad, at(state, "0/0/1/0/1"))
    assert not is_bad(one, at(state, "0/0/1/0/1"))
    assert is_bad(one, at(state, "0/0/1/0"))
    assert violations(one) == ()
    assert heal(one, at(state, "0")) == state
    assert mark_bad(bad, at(state, "0/0")) == bad
    with pytest.raises(InvalidSpec):
        mark_bad(state, Cell(1, (0,)))


def test_known_case_detour_skips_a_level():
    """Tests that no detour is taken where S(P) = 0: the bad cell is bound and flagged."""
    state = start_with(npq(2), A={2: 2}, B={3: 3})
    state, cell = allocate(state, "A", 2)
    assert str(cell) == "0/0/0"
    assert slack(state) == (0, 0, 0, 1)
    state = mark_bad(state, at(state, "0/0/1"))
    state, cell = allocate(state, "A", 2)
    assert str(cell) == "0/0/1"
    assert flagged(state) == (("A", cell),)
    for _ in range(3):
        state, _ = allocate(state, "B", 3)
    assert violations(state) == ()


def test_known_case_detour_around_a_bad_node():
    """Tests that one pair can be spared, the second one is owed."""
    state = start_with(Chain(2, (2, 2)), A={1: 4}, B={2: 1})
    state, cell = allocate(state, "A", 1)
    assert str(cell) == "0/0/0"
    state = mark_bad(state, at(state, "0/0/1"))
    state, cell = allocate(state, "A", 1)
    assert str(cell) == "0/1/0"
    state = mark_bad(state, at(state, "0/1/1"))
    assert slack(state)[1] == 1
    state, cell = allocate(state, "A", 1)
    assert str(cell) == "1/0/0"
    state = mark_bad(state, at(state, "1/0/1"))
    assert slack(state)[1] == 0
    state, cell = allocate(state, "A", 1)
    assert flagged(state) == (("A", cell),)  # the last pair is owed to B
    state, _ = allocate(state, "B", 2)
    assert violations(state) == ()


def test_known_case_last_node_owed():
    """Tests that the other rack, which is owed, is not split around a bad node."""
    state = start_with(rack(2), A={4: 2}, B={5: 1})
    state, cell = allocate(state, "A", 4)
    assert str(cell) == "0/0"
    state = mark_bad(state, at(state, "0/1"))
    state, cell = allocate(state, "A", 4)
    assert (str(cell), flagged(state)) == ("0/1", (("A", cell),))
    state, cell = allocate(state, "B", 5)
    assert str(cell) == "1"


def test_known_case_healthy_half_of_a_bad_cell():
    """Tests that A gets the healthy half and B, who then has a doomed cell, the other."""
    state = mark_bad(start_with(npq(1), A={3: 1}, B={3: 1}), Cell(2, (0, 0, 0)))
    assert (doomed_of(state, "A"), doomed_of(state, "B"), doomed(state)) == (0, 0, 1)
    state, cell = allocate(state, "A", 3)
    assert (str(cell), doomed_of(state, "B")) == ("0/1", 1)
    state, cell = allocate(state, "B", 3)
    assert (str(cell), flagged(state)) == ("0/0", (("B", cell),))
    assert not is_bad(state, at(state, "0/0/1"))


def test_known_case_bad_nodes_and_doomed_cells():
    """Tests the doomed cells of two tenants as nodes go bad, heal, and are used and released."""
    state = start_with(Chain(1, (3,)), VC1={1: 2}, VC2={1: 1})

    def counts():
        return doomed_of(state, "VC1"), doomed_of(state, "VC2")

    state, one = allocate(state, "VC1", 1)
    state = mark_bad(state, at(state, "0/1"))
    assert (counts(), doomed(state)) == ((0, 0), 1)
    state, two = allocate(state, "VC2", 1)
    assert (str(two), counts()) == ("0/2", (1, 0))
    state = release(state, "VC2", two)
    assert counts() == (0, 0)
    state = mark_bad(state, two)
    assert counts() == (1, 1)
    state = heal(state, two)
    assert counts() == (0, 0)
    state = mark_bad(mark_bad(state, one), two)
    state = release(state, "VC1", one)
    assert (counts(), doomed(state)) == ((2, 1), 3)


def test_nothing_is_lost_when_a_doomed_cell_was_used_and_heals():
    """Tests that a bad cell that was bound, healed and released is free and owed again."""
    start_state = start_with(npq(1), A={3: 2})
    state = mark_bad(start_state, at(start_state, "0"))
    state, cell = allocate(state, "A", 3)
    state = heal(state, at(state, "0"))
    state = release(state, "A", cell)
    assert state == start_state
    for _ in range(2):
        state, _ = allocate(state, "A", 3)
    assert violations(state) == ()


def test_the_fewest_bad_gpus_where_there_is_no_choice():
    """Tests that of two bad nodes the one with fewer bad GPUs is bound."""
    state = start_with(Chain(2, (4,)), A={2: 1})
    state = mark_bad(mark_bad(state, at(state, "0")), at(state, "1/0"))
    assert str(allocate(state, "A", 2)[1]) == "1"
    assert str(allocate(state, "A", 2, choose=lowest_address)[1]) == "0"
