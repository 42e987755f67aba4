"""Reservations, pins and feasibility."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Cell,
    Chain,
    Infeasible,
    InvalidSpec,
    Pin,
    Pool,
    Reservation,
    Shortage,
    first_short_level,
    free_counts,
    initial_state,
    is_feasible,
    violations,
)
from hived_cells.reservation import free_counts_beside_pins
from hived_cells.testing import chains


def test_reservations_are_values_whatever_the_order():
    """Tests that order and zero counts leave no trace, and that pickling keeps the value."""
    one = Reservation({"A": {3: 8, 1: 4, 2: 0}, "B": {}})
    two = Reservation({"B": {}, "A": {1: 4, 3: 8}})
    assert one == two == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(two)
    assert repr(one) == "Reservation({'A': {1: 4, 3: 8}, 'B': {}})"
    assert one.tenants == ("A", "B")


@pytest.mark.parametrize(
    "cells",
    [
        {"A": {1: -1}},
        {"A": {1: 1.5}},
        {"A": {1: True}},
        {"A": {0: 1}},
        {"A": {"1": 1}},
        {"": {1: 1}},
        {3: {1: 1}},
        {"A": [1]},
        None,
    ],
)
def test_impossible_reservations_are_refused(cells):
    """Tests that negative and fractional counts, level 0 and nameless tenants are refused."""
    with pytest.raises(InvalidSpec):
        Reservation(cells)


def test_levels_and_pins_must_exist_in_the_chain():
    """Tests that a reservation of a level or of a pinned cell that is not there is refused."""
    with pytest.raises(InvalidSpec, match="levels are 1"):
        Pool(Chain(2, (2,)), Reservation({"A": {3: 1}}))
    with pytest.raises(InvalidSpec, match="pin 'p'"):
        Pool(Chain(2, (2,)), Reservation({}, pins=[Pin("p", "A", Cell(1, (2, 0)))]))


@pytest.mark.parametrize(
    "pin",
    [
        None,
        ("p", "A"),
        ("p", "A", Cell(1, (0,))),
        Pin("p", "A", None),
        Pin("", "A", Cell(1, (0,))),
        Pin("p", None, Cell(1, (0,))),
    ],
)
def test_what_is_no_pin_is_refused(pin):
    """Tests that a pin has a name, a tenant and a cell."""
    with pytest.raises(InvalidSpec):
        Reservation({}, pins=[pin])


def test_pins_stand_once_and_apart():
    """Tests that two pins of one name are refused, and two that overlap."""
    with pytest.raises(InvalidSpec, match="twice"):
        Reservation({}, pins=[Pin("p", "A", Cell(1, (0, 0)))] * 2)
    pins = [Pin("p", "A", Cell(1, (0, 1))), Pin("q", "B", Cell(2, (0,)))]
    with pytest.raises(InvalidSpec, match="overlap"):
        Pool(Chain(2, (2,)), Reservation({}, pins=pins))


def test_a_pin_counts_on_top_of_the_reserved_cells():
    """Tests that two nodes and a pinned node in a pool of two nodes are one too many."""
    pins = [Pin("p", "A", Cell(2, (0,)))]
    with pytest.raises(
        Infeasible, match="3 cells needed, 1 of them pinned, 2 available"
    ) as caught:
        initial_state(Chain(2, (2,)), Reservation({"A": {2: 2}}, pins=pins))
    assert (caught.value.level, caught.value.needed, caught.value.available) == (2, 3, 2)
    assert pickle.loads(pickle.dumps(caught.value)).needed == 3


def test_pins_in_two_top_cells_break_both():
    """Tests that a whole top cell beside GPUs pinned in each top cell is refused (it crashed)."""
    pins = [Pin("p", "A", Cell(1, (0, 0))), Pin("q", "A", Cell(1, (1, 0)))]
    assert first_short_level(Chain(2, (4,)), Reservation({"B": {2: 1}}, pins=pins)) == Shortage(
        level=2, needed=1, available=0
    )


def test_a_pool_that_nobody_reserves_is_accepted():
    """Tests that a pool without tenants starts (the earlier implementation crashed)."""
    state = initial_state(Chain(2, (2,)), Reservation({}))
    assert violations(state) == ()
    assert free_counts(state) == (0, 2)


@given(chains(max_gpus=24), st.data())
def test_pins_are_carved_out_as_the_free_lists_say(chain, data):
    """Tests that the free counts beside pins are those of the state that is built from them."""
    cells = st.integers(1, chain.levels).flatmap(
        lambda level: st.integers(0, chain.counts[level] - 1).map(lambda i: chain.cell(level, i))
    )
    pins = [
        Pin(f"p{n}", "A", cell)
        for n, cell in enumerate(data.draw(st.lists(cells, max_size=4, unique=True)))
    ]
    try:
        pool = Pool(chain, Reservation({}, pins=pins))
    except InvalidSpec:
        return  # they overlap
    state = initial_state(chain, pool.reservation)
    assert free_counts_beside_pins(pool) == (0, *free_counts(state))
    assert violations(state) == ()
    assert is_feasible(chain, pool.reservation)
