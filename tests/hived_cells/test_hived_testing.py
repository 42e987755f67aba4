"""The kit for other allocators: the machine passes a sound one and finds five planted faults."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

import hived_cells
from hived_cells import (
    Cell,
    Chain,
    IllegalRequest,
    Reservation,
    first_short_level,
    free_cells,
    slack,
)
from hived_cells.testing import allocator_machine, chains, event_lists, pools, reservations
from hived_cells.testing.books import Books
from hived_cells.testing.planted import FAULTS, finds, main

OWN = allocator_machine(
    hived_cells.initial_state,
    hived_cells.allocate,
    hived_cells.release,
    free=lambda state: [c for k in range(1, state.chain.levels + 1) for c in free_cells(state, k)],
    slack=slack,
    refusals=(IllegalRequest,),
)
TestOwnAllocator = OWN.TestCase


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(fault):
    """Tests that the machine names the broken rule of each faulty allocator."""
    expected = {
        "no quota check": "quota",
        "partial merge": "merge",
        "lost child": "conservation",
        "wrong F": "invariant",
        "any free cell": "invariant",
    }
    assert finds(fault).split(":")[0] == expected[fault]


def test_the_sound_allocator_passes():
    """Tests that nothing is found where nothing is planted."""
    assert finds("", examples=25) == ""


def test_the_example_reports_all_six(capsys, monkeypatch):
    """Tests the example's table and its exit code, sound and unsound."""
    monkeypatch.setattr("hived_cells.testing.planted.finds", lambda fault: fault and "found")
    assert main() == 0
    assert capsys.readouterr().out.count("found") == 6  # "nothing found" once
    monkeypatch.setattr("hived_cells.testing.planted.finds", lambda _: "")
    assert main() == 1


def failing(**changes):
    """Run the machine on this package's allocator with a function replaced."""
    functions = {
        "initial": hived_cells.initial_state,
        "allocate": hived_cells.allocate,
        "release": hived_cells.release,
        **changes,
    }
    machine = allocator_machine(*functions.values(), refusals=(IllegalRequest,))
    with pytest.raises(AssertionError) as caught:
        run_state_machine_as_test(
            machine,
            settings=settings(phases=(Phase.generate,), database=None, derandomize=True),
        )
    return str(caught.value)


def test_refused_legal_requests_wrong_levels_and_thefts_are_found():
    """Tests that a refusal, a cell of another level and a release by another are found."""

    def refuse(state, tenant, level):
        raise IllegalRequest("never")

    def bigger(state, tenant, level):
        later, cell = hived_cells.allocate(state, tenant, level)
        return later, Cell(cell.level + 1, cell.path[:-1])

    def anybody(state, tenant, cell):
        return hived_cells.release(state, hived_cells.holder(state, cell), cell)

    assert "Theorem 1" in failing(allocate=refuse)
    assert "was asked for" in failing(allocate=bigger)
    assert "does not hold" in failing(release=anybody)


def test_states_that_change_are_found():
    """Tests purity: an allocator that works on one list in place."""

    def initial(chain, reservation):
        return {"now": hived_cells.initial_state(chain, reservation)}

    def allocate(state, tenant, level):
        state["now"], cell = hived_cells.allocate(state["now"], tenant, level)
        return state, cell

    assert "purity" in failing(initial=initial, allocate=allocate, release=lambda *_: 1 / 0)


def test_a_state_that_cannot_be_pickled_is_one_sentence():
    """Tests that a user's state with, say, a lock in it is no traceback of pickle's."""
    assert "purity: a state must be" in failing(initial=lambda *_: (value for value in ()))


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ([Cell(2, (0,)), Cell(2, (0,))], "listed twice"),
        ([Cell(2, (0,)), Cell(1, (0, 1))], "free twice"),
        ([Cell(1, (0, 1))], "1 GPUs are neither"),
        ([Cell(1, (0, 0)), Cell(1, (0, 1))], "merge"),
    ],
)
def test_the_books_find_wrong_free_lists(listed, says):
    """Tests a cell listed twice, GPUs free twice, lost GPUs and buddies not merged."""
    with pytest.raises(AssertionError, match=says):
        Books(Chain(1, (2,)), Reservation({})).check_free(listed)


def test_the_books_find_overlaps():
    """Tests that a granted cell over a held one is found."""
    books = Books(Chain(1, (2,)), Reservation({"A": {1: 2, 2: 1}}))
    books.bind("A", 1, Cell(1, (0, 0)))
    with pytest.raises(AssertionError, match="overlaps 0/0"):
        books.bind("A", 2, Cell(2, (0,)))


@given(chains(max_gpus=16), st.data())
def test_strategies_draw_what_they_say(chain, data):
    """Tests bounds, feasibility and addresses of what the strategies draw."""
    assert chain.gpus <= 16
    reservation = data.draw(reservations(chain, tenants=("A", "B", "C")))
    assert first_short_level(chain, reservation) is None
    pool = data.draw(pools(max_gpus=8, tenants=()))
    events = data.draw(event_lists(pool, max_size=6))
    assert len(events) <= 6
    for event in events:
        if hasattr(event, "cell"):
            assert pool.chain.parse(event.cell)
