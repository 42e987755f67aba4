"""Faults of an earlier implementation, each with what is right."""

import pytest
from hived_builders import at, npq, start_with

from hived_cells import (
    Candidates,
    Chain,
    InvalidSpec,
    allocate,
    doomed,
    free_counts,
    heal,
    mark_bad,
    owed_counts,
    parse_spec,
    release,
    slack,
    start,
    violations,
)


def test_detour_tested_only_the_slack_of_the_level_it_split():
    """Tests that S of every level between is asked: S(Q) = 1 is not enough while S(P) = 0."""
    state = start_with(npq(2), A={2: 2}, B={3: 3})
    state, _ = allocate(state, "A", 2)
    assert slack(state) == (0, 0, 0, 1)
    offers = []

    def look(candidates: Candidates):
        offers.append(candidates.detour())
        return candidates.lowest()

    allocate(mark_bad(state, at(state, "0/0/1")), "A", 2, choose=look)
    assert offers == [None]


def test_doomed_cell_used_healed_and_released_was_neither_free_nor_owed():
    """Tests that the books are as at the start, whichever of the three comes first."""
    first = start_with(Chain(2, (2,)), A={2: 1}, B={1: 2})
    bad = mark_bad(mark_bad(first, at(first, "0")), at(first, "1"))
    assert doomed(bad) == 3
    held, cell = allocate(bad, "A", 2)
    healed = heal(heal(held, at(first, "0")), at(first, "1"))
    assert release(healed, "A", cell) == first
    released = release(held, "A", cell)
    assert heal(heal(released, at(first, "0")), at(first, "1")) == first
    assert (free_counts(first), owed_counts(first)) == ((0, 2), (2, 1))


def test_choosing_copied_and_sorted_the_free_list():
    """Tests that a choice sees groups of like cells, not 8,192 nodes, and takes the right one."""
    state = start_with(Chain(8192, (8,)), A={2: 1})
    state, _ = start(state, "B", 8 * 5)
    groups = []

    def look(candidates: Candidates):
        groups.append(len(candidates.groups))
        return candidates.lowest()

    allocate(state, "A", 2, choose=look)
    assert groups == [2]
    assert str(allocate(state, "A", 2)[1]) == "5"


def test_node_events_scanned_all_leaves():
    """Tests that an event on one node leaves the sets of the other levels as they are."""
    state = start_with(Chain(8192, (2, 2, 2)), A={1: 1})
    later = mark_bad(state, at(state, "77"))
    assert all(a is b for a, b in zip(state.free, later.free, strict=True))
    assert all(a is b for a, b in zip(state.groups[:4], later.groups[:4], strict=True))
    assert sum(a is not b for a, b in zip(state.bad[1], later.bad[1], strict=True)) == 1


@pytest.mark.parametrize("priority", [-2, 1001])
def test_priorities_are_no_part_of_the_interface(priority):
    """Tests that a request with a priority is refused: order is all that recovery needs."""
    with pytest.raises(TypeError):
        allocate(start_with(Chain(1, ()), A={1: 1}), "A", 1, priority=priority)


def test_children_listed_and_declared_differ():
    """Tests the report of eight declared and one listed child: refused, naming both numbers."""
    text = """
physicalCluster:
  cellTypes: {NODE: {childCellType: GPU, childCellNumber: 8, isNodeLevel: true}}
  physicalCells: [{cellType: NODE, cellAddress: n, cellChildren: [{cellAddress: 0}]}]
virtualClusters:
  A: {virtualCells: [{cellType: NODE.GPU, cellNumber: 3}]}
  B: {virtualCells: [{cellType: NODE.GPU, cellNumber: 5}]}
"""
    with pytest.raises(InvalidSpec, match="1 children are listed, cell type 'NODE' declares 8"):
        parse_spec(text)
    whole = parse_spec(text.replace(", cellChildren: [{cellAddress: 0}]", ""))
    state = start_with(whole.pools[0].pool.chain, A={1: 3}, B={1: 5})
    assert violations(state) == ()
