"""States as values: equality, hash, pickle, printing, and what is read from them."""

import pickle
from dataclasses import FrozenInstanceError

import pytest
from hived_builders import at, start_with

from hived_cells import (
    Cell,
    Chain,
    InvalidSpec,
    Pin,
    Reservation,
    allocate,
    allocate_pin,
    bound_cells,
    free_cells,
    holder,
    initial_state,
    jobs,
    mark_bad,
    release,
    start,
)


def test_two_orders_to_the_same_cells_give_equal_states():
    """Tests that states are equal, and hash alike, exactly if the cells are the same."""
    state = start_with(Chain(2, (2, 2)), A={1: 2}, B={2: 1})
    one, first = allocate(state, "A", 1)
    one, second = allocate(one, "A", 1)
    one, pair = allocate(one, "B", 2)
    two = release(release(one, "A", first), "B", pair)
    two, again = allocate(two, "A", 1)
    two, pair_again = allocate(two, "B", 2)
    assert (again, pair_again) == (first, pair)
    assert one == two
    assert hash(one) == hash(two)
    assert one != release(one, "A", second)
    assert one != "a state"


def test_states_pickle_and_go_on_working():
    """Tests that a state that was pickled is equal and takes the same operations."""
    state, cell = allocate(start_with(Chain(2, (2, 2)), A={1: 2}), "A", 1)
    state, _ = start(mark_bad(state, at(state, "1")), "B", 2)
    copy = pickle.loads(pickle.dumps(state))
    assert copy == state
    assert release(copy, "A", cell) == release(state, "A", cell)


def test_a_state_says_what_it_is():
    """Tests that the printed state has free, owed and held cells, low priority and faults."""
    state, _ = allocate(start_with(Chain(2, (2,)), A={1: 2}), "A", 1)
    state, _ = start(mark_bad(state, at(state, "1/0")), "A", 1)
    assert repr(state) == (
        "<State of 4 GPUs in 2 levels: free 1+1, owed 0+1, held {'A': {1: 1}}, "
        "1 GPUs in low-priority use, 1 GPUs bad>"
    )


def test_states_cannot_be_changed():
    """Tests that assignment to a state's field is refused."""
    with pytest.raises(FrozenInstanceError):
        start_with(Chain(1, ())).used = None


def test_holder_and_cells_include_pins():
    """Tests that a pin in use is a held cell and an unused one is not."""
    pins = [Pin("p", "A", Cell(1, (0, 0)))]
    state = initial_state(Chain(2, (2,)), Reservation({"B": {1: 1}}, pins=pins))
    assert holder(state, Cell(1, (0, 0))) is None
    assert list(bound_cells(state)) == []
    state, cell = allocate_pin(state, "A", "p")
    state, other = allocate(state, "B", 1)
    assert (holder(state, cell), holder(state, other)) == ("A", "B")
    assert sorted(bound_cells(state)) == [("A", cell), ("B", other)]
    assert holder(state, Cell(1, (1, 0))) is None


def test_free_cells_of_a_level_that_is_not_there():
    """Tests that the level is checked."""
    with pytest.raises(InvalidSpec):
        free_cells(start_with(Chain(1, ())), 2)


def test_jobs_are_listed_once_in_gpu_order():
    """Tests that a job on several GPUs is one entry."""
    state, first = start(start_with(Chain(2, (2,))), "B", 3)
    state, second = start(state, "A", 1)
    assert jobs(state) == (first, second)
