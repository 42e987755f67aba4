"""Values of another type or size at the public functions: refused by name, never a surprise."""

import pytest
from hived_builders import start_with

from hived_cells import (
    Bindings,
    Cell,
    Chain,
    Cluster,
    HivedError,
    IllegalRequest,
    InvalidSpec,
    Job,
    Reservation,
    allocate,
    allocate_pin,
    fair_shares,
    first_short_level,
    free_cells,
    heal,
    initial_cluster,
    initial_state,
    mark_bad,
    parse_spec,
    rebalance,
    recover,
    release,
    start,
    stop,
    victims,
)
from hived_cells.errors import shown

HUGE = 10**5000  # Python refuses to write it out, and used to do so inside our messages
CHAIN = Chain(2, (2,))
OTHERS = [
    None,
    3,
    HUGE,
    -HUGE,
    1.5,
    "x",
    b"x",
    [],
    ["A"],
    {},
    {HUGE: HUGE},
    object(),
    Cell(1, (0,)),
]


def state():
    return start_with(CHAIN, A={1: 2})


@pytest.mark.parametrize("wrong", OTHERS, ids=lambda value: shown(value)[:20])
def test_any_value_at_any_argument_is_refused_or_right(wrong):
    """Tests that only this package's errors come out, whatever stands in an argument's place."""
    hashable = HUGE if isinstance(wrong, list | dict) else wrong
    calls = [
        lambda: Chain(wrong, (2,)),
        lambda: Chain(2, (wrong,)),
        lambda: Chain(2, wrong),
        lambda: CHAIN.cell(wrong, 0),
        lambda: CHAIN.at(wrong),
        lambda: CHAIN.at((wrong, wrong)),
        lambda: CHAIN.parse(wrong),
        lambda: CHAIN.index(wrong),
        lambda: Reservation(wrong),
        lambda: Reservation({"A": wrong}),
        lambda: first_short_level(CHAIN, Reservation({"A": {1: wrong}})),
        lambda: initial_state(CHAIN, Reservation({"A": {1: wrong}})),
        lambda: initial_state(CHAIN, Reservation({"A": {hashable: 1}})),
        lambda: Reservation({}, pins=wrong),
        lambda: Reservation({}, pins=[wrong]),
        lambda: initial_state(wrong, Reservation({})),
        lambda: initial_state(CHAIN, wrong),
        lambda: initial_cluster({"N": wrong}),
        lambda: Cluster(wrong),
        lambda: Cluster({"N": wrong}),
        lambda: allocate(state(), wrong, 1),
        lambda: allocate(state(), "A", wrong),
        lambda: allocate(state(), "A", 1, choose=wrong),
        lambda: allocate(state(), "A", 1, choose=lambda _: wrong),
        lambda: allocate_pin(state(), wrong, "p"),
        lambda: release(state(), wrong, Cell(1, (0, 0))),
        lambda: release(state(), "A", wrong),
        lambda: release(state(), "A", Cell(1, (wrong, 0))),
        lambda: mark_bad(state(), wrong),
        lambda: heal(state(), Cell(wrong, (0,))),
        lambda: list(free_cells(state(), wrong)),
        lambda: start(state(), wrong, 1),
        lambda: start(state(), "A", wrong),
        lambda: stop(state(), wrong),
        lambda: stop(state(), Job("A", (wrong,))),
        lambda: victims(state(), wrong),
        lambda: fair_shares(wrong, {"A": 1}),
        lambda: fair_shares(1, wrong),
        lambda: fair_shares(1, {"A": wrong}),
        lambda: fair_shares(1, {"A": 1}, weights={"A": wrong}),
        lambda: fair_shares(1, {"A": 1}, weights=wrong),
        lambda: rebalance(state(), wrong),
        lambda: Bindings(wrong),
        lambda: Bindings([wrong]),
        lambda: recover(wrong, Bindings([])),
        lambda: recover(state(), wrong),
        lambda: recover(state(), Bindings([("A", Cell(1, (wrong, 0)))])),
        lambda: recover(state(), Bindings([(wrong, Cell(1, (0, 0)))])),
        lambda: recover(state(), Bindings([], jobs=[Job("A", (wrong,))])),
        lambda: parse_spec(wrong),
    ]
    refused = 0
    for call in calls:
        try:
            call()
        except HivedError as error:
            assert 0 < len(str(error)) < 1000
            refused += 1
    assert refused > len(calls) / 2


def test_a_mapping_in_a_reservations_place_is_said_to_be_none():
    """Tests the slip of a newcomer: the dictionary itself instead of a `Reservation`."""
    with pytest.raises(InvalidSpec, match=r"\{'A': \{1: 1\}\} is no Reservation"):
        initial_state(CHAIN, {"A": {1: 1}})
    with pytest.raises(InvalidSpec, match="is no Chain"):
        initial_state((2, 2), Reservation({}))


def test_a_level_of_too_many_digits_is_an_illegal_request():
    """Tests that the message is made although Python refuses to write the number out."""
    with pytest.raises(IllegalRequest, match="level <int that cannot be shown>; levels are"):
        allocate(state(), "A", HUGE)
