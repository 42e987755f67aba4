"""Allocation: what is granted, what is refused, and that refusals change nothing."""

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
    initial_state,
    jobs,
    mark_bad,
    release,
    start,
    stop,
    victims,
    violations,
)


def test_the_issues_example_runs():
    """Tests the interface as it is promised, on 65,536 GPUs."""
    chain = Chain(top_cells=512, factors=(16, 2, 2, 2))
    state = initial_state(chain, Reservation({"A": {3: 8, 1: 4}, "B": {5: 2}}))
    state2, cell = allocate(state, "A", 3)
    state3 = release(state2, "A", cell)
    assert state3 == state != state2
    assert violations(state2) == ()


@pytest.mark.parametrize(
    ("tenant", "level", "says"),
    [
        ("A", 1, "reserved 1 cells of level 1 and holds 1"),
        ("A", 2, "reserved 0 cells of level 2 and holds 0"),
        ("C", 1, "'C' reserved nothing here; 'A', 'B' did"),
        ("A", 0, "levels are 1..2"),
        ("A", 3, "levels are 1..2"),
        ("A", True, "levels are 1..2"),
        ("A", "1", "levels are 1..2"),
    ],
)
def test_illegal_requests_say_why_and_change_nothing(tenant, level, says):
    """Tests that a request beyond the reservation raises and the state is what it was."""
    state, _ = allocate(start_with(Chain(2, (2,)), A={1: 1}, B={2: 1}), "A", 1)
    dump = pickle.dumps(state)
    with pytest.raises(IllegalRequest, match=says):
        allocate(state, tenant, level)
    assert pickle.dumps(state) == dump


def test_nobody_reserved_anything():
    """Tests the message in a pool without tenants."""
    with pytest.raises(IllegalRequest, match="nobody did"):
        allocate(start_with(Chain(1, ())), "A", 1)


def test_a_granted_cell_stops_the_jobs_on_it_wherever_they_run():
    """Tests that a victim ends on all its GPUs, in other free cells as in held ones."""
    state = start_with(Chain(2, (2, 2)), A={3: 2, 1: 0})
    state, job = start(state, "B", 6)
    state, other = start(state, "B", 1)
    later, cell = allocate(state, "A", 3, choose=lambda c: max(x.cell for x in c))
    assert victims(state, cell) == (job, other)
    assert jobs(later) == ()
    assert violations(later) == ()
    assert jobs(state) == (job, other)


def test_pins_are_bound_by_name_once():
    """Tests that a pin is granted to its tenant, once, and given back to it."""
    pins = [Pin("p", "A", Cell(1, (0, 0))), Pin("q", "B", Cell(1, (1, 0)))]
    first = initial_state(Chain(2, (2,)), Reservation({"A": {1: 1}}, pins=pins))
    busy, job = start(first, "C", 4)
    state, cell = allocate_pin(busy, "A", "p")
    assert (cell, jobs(state)) == (Cell(1, (0, 0)), ())
    assert violations(state) == ()
    with pytest.raises(IllegalRequest, match="in use already"):
        allocate_pin(state, "A", "p")
    with pytest.raises(IllegalRequest, match=r"no pin 'q'; it has \['p'\]"):
        allocate_pin(state, "A", "q")
    assert release(state, "A", cell) == first
    assert job.gpus == (1, 3, 0, 2) or set(job.gpus) == {0, 1, 2, 3}


def test_wide_cells_are_split_and_merged():
    """Tests a factor far beyond a machine word."""
    state = start_with(Chain(1, (3000,)), A={1: 3000})
    later, cell = allocate(state, "A", 1)
    later, second = allocate(later, "A", 1)
    assert violations(later) == ()
    assert release(release(later, "A", cell), "A", second) == state


@pytest.mark.parametrize("last", [0, 3, 4, 7])
def test_a_split_sorts_each_part_by_its_own_use_and_health(last):
    """Tests that what runs or is bad in a part stays known when cells around it are split."""
    state = start_with(Chain(1, (2, 2, 2)), A={1: 2})
    state, first = start(state, "B", 4)
    state, _ = start(state, "B", 1)
    state = mark_bad(stop(state, first), Cell(1, (0, 0, 1, 0)))
    state = mark_bad(state, Cell(1, (0, 1, 1, 0)))
    wanted = state.chain.cell(1, last)

    def towards(cells):
        return next(c.cell for c in cells if wanted.path[: len(c.cell.path)] == c.cell.path)

    later, cell = allocate(state, "A", 1, choose=towards)
    assert (cell, violations(later)) == (wanted, ())
    assert jobs(later) == (() if last == 4 else jobs(state))
    assert release(later, "A", cell) == stop(state, jobs(state)[0]) or last != 4
    assert violations(release(later, "A", cell)) == ()
