"""Release: merges, refusals, pins."""

import dataclasses
import pickle

import pytest
from hived_builders import start_with

from hived_cells import (
    Cell,
    Chain,
    IllegalRequest,
    Pin,
    Reservation,
    allocate,
    allocate_pin,
    free_counts,
    initial_state,
    release,
    violations,
)
from hived_cells.release import holdings


def test_buddies_merge_across_tenants_as_far_up_as_they_go():
    """Tests that the last release of a node frees the whole top cell."""
    state = start_with(Chain(1, (2, 2)), A={1: 2}, B={1: 2})
    held = []
    for tenant in "ABAB":
        state, cell = allocate(state, tenant, 1)
        held.append((tenant, cell))
    counts = []
    for tenant, cell in held:
        state = release(state, tenant, cell)
        counts.append(free_counts(state))
    assert counts == [(1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)]


@pytest.mark.parametrize(
    ("tenant", "cell", "says"),
    [
        ("B", Cell(1, (0, 0)), "does not hold cell 0/0 of level 1: it reserved {2: 1} and holds"),
        ("A", Cell(1, (0, 1)), "does not hold cell 0/1 of level 1: it reserved {1: 1} and holds"),
        ("A", Cell(2, (0,)), "does not hold cell 0 of level 2"),
        ("C", Cell(1, (0, 0)), "it reserved nothing here"),
        ("A", Cell(1, (9, 9)), "number 9"),
        ("A", Cell(5, ()), "level 5"),
        ("A", None, "cell None: a Cell"),
        ("A", (1, (0, 0)), "a Cell with a tuple"),
        ("A", Cell(1, [0, 0]), "a Cell with a tuple"),
    ],
)
def test_releases_of_what_is_not_held_change_nothing(tenant, cell, says):
    """Tests that the message says what the tenant reserved and holds, and nothing happens."""
    state, _ = allocate(start_with(Chain(2, (2,)), A={1: 1}, B={2: 1}), "A", 1)
    dump = pickle.dumps(state)
    with pytest.raises(IllegalRequest) as caught:
        release(state, tenant, cell)
    assert says in str(caught.value)
    assert pickle.dumps(state) == dump


def test_a_cell_is_released_once():
    """Tests that the second release of a cell is refused."""
    state, cell = allocate(start_with(Chain(2, (2,)), A={1: 1}), "A", 1)
    with pytest.raises(IllegalRequest):
        release(release(state, "A", cell), "A", cell)


def test_a_pin_does_not_merge():
    """Tests that buddies of a pinned cell stay apart when the pin is given back."""
    pins = [Pin("p", "A", Cell(1, (0, 0)))]
    first = initial_state(Chain(1, (2,)), Reservation({}, pins=pins))
    state, cell = allocate_pin(first, "A", "p")
    assert release(state, "A", cell) == first
    assert free_counts(first) == (1, 0)
    with pytest.raises(IllegalRequest):
        release(first, "A", cell)


def in_full(state):
    """Return every field: states are equal as soon as their content is, whatever the index."""
    return [getattr(state, field.name) for field in dataclasses.fields(state)]


@pytest.mark.parametrize("order", [("p", "q"), ("q", "p")])
def test_pins_are_taken_and_given_back_one_by_one(order):
    """Tests that each of two pins, of two and of one GPU, leaves the other as it is."""
    pins = [Pin("p", "A", Cell(2, (0, 1))), Pin("q", "A", Cell(1, (1, 0, 1)))]
    first = initial_state(Chain(2, (2, 2)), Reservation({"A": {1: 1}}, pins=pins))
    seen, held = [first], []
    for name in order:
        state, cell = allocate_pin(seen[-1], "A", name)
        assert violations(state) == ()
        with pytest.raises(IllegalRequest, match="in use already"):
            allocate_pin(state, "A", name)
        seen.append(state)
        held.append(cell)
    while held:
        state = release(seen.pop(), "A", held.pop())
        assert in_full(state) == in_full(seen[-1])


def test_holdings_in_words():
    """Tests what is said of a tenant that holds something, and of one that may not."""
    state, _ = allocate(start_with(Chain(2, (2,)), A={1: 2, 2: 1}), "A", 1)
    assert holdings(state, "A") == "it reserved {1: 2, 2: 1} and holds {1: 1} (level: cells)"
    assert holdings(state, "B") == "it reserved nothing here"
