"""Pins: a pinned gang runs in its tenant's pin, nobody else's gang does."""

import pytest
from gang_builders import one_pool

from hived_cells import (
    Cell,
    Chain,
    Gang,
    IllegalRequest,
    MustWait,
    NeverFits,
    Outlook,
    Pin,
    gang_violations,
    outlook,
    place_gang,
    remove_gang,
)

PINS = [Pin("lab", "A", Cell(3, (0,))), Pin("gpu", "B", Cell(1, (1, 0, 0)))]


def start(**cells):
    """Return one rack of two nodes of four, two nodes more, A's rack pinned."""
    return one_pool(Chain(3, (2, 4)), 2, pins=PINS, **cells)


def test_only_pinned_gangs_use_a_pin():
    """Tests both ways: neither the reservation serves the pin's gangs nor the pin the others."""
    state = start(A={2: 1})
    state, placed = place_gang(state, Gang("g1", "A", ((4, 2),), pinned="lab"))
    assert placed.bound == (Cell(3, (0,)),)
    state, placed = place_gang(state, Gang("g2", "A", ((4, 1),)))
    assert placed.pods[0][0] >= 8
    assert gang_violations(state) == ()
    with pytest.raises(MustWait, match="pin 'lab'"):
        place_gang(state, Gang("g3", "A", ((1, 1),), pinned="lab"))
    with pytest.raises(NeverFits):
        place_gang(state, Gang("g3", "A", ((4, 3),), pinned="lab"))
    assert remove_gang(remove_gang(state, "g1"), "g2") == start(A={2: 1})


def test_priorities_count_inside_a_pin():
    """Tests that only gangs in the pin are victims."""
    state = start(A={2: 1})
    state, _ = place_gang(state, Gang("g1", "A", ((4, 1),)))
    state, _ = place_gang(state, Gang("g2", "A", ((4, 1),), pinned="lab"))
    high = Gang("g3", "A", ((4, 2),), 1, pinned="lab")
    assert outlook(state, high) is Outlook.PREEMPT
    later, placed = place_gang(state, high)
    assert placed.victims == ("g2",)
    assert gang_violations(later) == ()


def test_low_priority_takes_pins_last_and_gives_them_back():
    """Tests that the pin is used when nothing else is left, and that its owner comes first."""
    state = start(A={2: 1})
    state, first = place_gang(state, Gang("low", "C", ((4, 3),), -1))
    assert min(first.pods)[0] >= 8
    state, _ = place_gang(state, Gang("last", "C", ((4, 2),), -1))
    state, placed = place_gang(state, Gang("g", "A", ((4, 2),), pinned="lab"))
    assert placed.victims == ("last",)
    assert gang_violations(state) == ()


def test_a_pin_of_nobody_or_of_another_tenant_is_refused():
    """Tests that the message lists the tenant's pins."""
    for name in ("gpu", "nothing"):
        with pytest.raises(IllegalRequest, match=rf"has no pin '{name}'; it has \['lab'\]"):
            place_gang(start(A={2: 1}), Gang("g", "A", ((1, 1),), pinned=name))
