"""The books: exact units, pieces taken and given back, what fits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from builders import cluster
from hypothesis import given
from hypothesis import strategies as st
from strategies import clusters

from synergy_opt.packing.ledger import Ledger

F = Fraction


@given(data=st.data(), place=clusters())
def test_used_and_free_are_the_capacity_after_every_call(data, place):
    """Tests that pieces taken and not given back account for exactly what is missing."""
    width = len(place.resources)
    amounts = st.builds(F, st.integers(0, 20), st.integers(1, 7))
    kinds = data.draw(st.lists(st.tuples(*[amounts] * width), min_size=1, max_size=3))
    ledger = Ledger(place, kinds)
    booked = []
    for _ in range(data.draw(st.integers(0, 12))):
        if booked and data.draw(st.booleans()):
            ledger.give(*booked.pop(data.draw(st.integers(0, len(booked) - 1))))
        else:
            need = ledger.need(data.draw(st.sampled_from(kinds)), 1)
            server = data.draw(st.integers(0, len(ledger) - 1))
            booked.append((server, need, data.draw(st.integers(1, 3))))
            ledger.take(*booked[-1])
        for server in range(len(ledger)):
            group = place.servers[place.group_of_server[server]]
            mine = [(need, gpus) for at, need, gpus in booked if at == server]
            gpus, free = ledger.free_amounts(server)
            assert gpus + sum(gpus for _, gpus in mine) == group.gpus
            for r, below in enumerate(ledger.denominators):
                used = F(sum(need[1 + r] * gpus for need, gpus in mine), below)
                assert free[r] + used == group.capacity[r]
    for call in booked:
        ledger.give(*call)
    assert (ledger.free == ledger.capacity).all()


def test_a_third_is_taken_three_times_without_remainder():
    """Tests that nothing is lost where a decimal would not end."""
    ledger = Ledger(cluster((1, 3, 10)), [(F(10, 3),)])
    for _ in range(3):
        ledger.take(0, ledger.need((F(10, 3),), 1), 1)
    assert ledger.free_amounts(0) == (0, (F(0),))


def test_amounts_off_the_units_are_refused():
    """Tests that an amount that was not announced is not rounded silently."""
    with pytest.raises(ValueError, match="no whole units"):
        Ledger(cluster((1, 2, 10))).need((F(1, 3),), 1)


def test_giving_back_more_than_was_taken_is_refused():
    """Tests that a server never has more free than it has."""
    ledger = Ledger(cluster((1, 2, 10)))
    with pytest.raises(ValueError, match="more free than it has"):
        ledger.give(0, (1, 0), 1)
    assert ledger.free_amounts(0) == (2, (F(10),))


def test_what_fits_is_decided_at_the_boundary():
    """Tests that a piece fits exactly up to the last unit, one server and all alike."""
    ledger = Ledger(cluster((2, 8, 24, 500)))
    need = ledger.need((F(6), F(125)), 1)
    assert [ledger.holds(0, need), *ledger.hold(need)] == [4, 4, 4]
    assert ledger.fits(((0, 4), (1, 4)), need)
    assert not ledger.fits(((0, 4), (1, 5)), need)
    assert ledger.holds(0, (1, 0, 0)) == 8


def test_an_overdrawn_server_holds_nothing_and_says_of_what():
    """Tests that negative free amounts are reported and do not count as room."""
    ledger = Ledger(cluster((1, 8, 24, 500)))
    ledger.take(0, ledger.need((F(9), F(1)), 1), 3)
    assert ledger.overdrawn(0) == [1]
    assert ledger.holds(0, (1, 1, 0)) == 0
    assert list(ledger.hold((1, 1, 0))) == [0]


def test_room_is_the_sum_of_free_over_the_clusters_capacity():
    """Tests that the measure of free resources ignores units and order of the resources."""
    ledger = Ledger(cluster((2, 8, 24, 500)))
    full = ledger.room(0)
    ledger.take(0, ledger.need((F(12), F(0)), 1), 1)
    assert F(ledger.room(0), full) == F(F(7, 8) + F(1, 2) + 1, 3)
    assert list(ledger.rooms()) == [ledger.room(0), ledger.room(1)]


def test_numbers_beyond_64_bits_stay_exact():
    """Tests that large denominators fall back to Python integers."""
    huge = F(10**30 + 1, 10**25)
    ledger = Ledger(cluster((2, 4, 10**6)), [(huge,)])
    assert ledger.free.dtype == object
    need = ledger.need((huge,), 1)
    ledger.take(1, need, 1)
    assert ledger.free_amounts(1) == (3, (10**6 - huge,))
    assert list(ledger.hold(need)) == [4, 3]
    ledger.give(1, need, 1)
    assert np.array_equal(ledger.free, ledger.capacity)
