"""Low priority: where jobs go, what stops them, and the shares of capacity."""

from fractions import Fraction

import pytest
from hived_builders import at, npq, start_with
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Cell,
    Chain,
    IllegalRequest,
    Job,
    NoRoom,
    Pin,
    Reservation,
    allocate,
    allocate_pin,
    fair_shares,
    initial_state,
    jobs,
    mark_bad,
    rebalance,
    start,
    stop,
    victims,
    violations,
)


def test_known_case_low_priority_keeps_away(reference_data):
    """Tests the observed sequence: away from guaranteed use, packed, and a victim at the end."""
    assert reference_data
    state = start_with(npq(2), A={3: 4})
    state, first = start(state, "A", 1)
    assert first.gpus == (0,)  # n000
    state, cell = allocate(state, "A", 3)
    assert str(cell) == "1/0"
    state, second = start(state, "A", 1)
    assert second.gpus == (1,)  # n001: beside low priority, away from guaranteed use
    for expected in ("1/1", "0/1"):
        state, cell = allocate(state, "A", 3)
        assert str(cell) == expected
    before = state
    state, cell = allocate(state, "A", 3)
    assert victims(before, cell) == (first, second)
    assert jobs(state) == ()
    assert violations(state) == ()


def test_the_best_fitting_cell_is_filled():
    """Tests that a job goes where it leaves the least idle, and over several cells if it must."""
    state = start_with(Chain(3, (4,)))
    state, _ = start(state, "A", 3)
    state, one = start(state, "A", 1)
    assert one.gpus == (3,)
    state, _ = start(state, "A", 2)
    state, wide = start(state, "A", 5)
    assert wide.gpus == (4 + 2, 8, 9, 10, 11) or len(wide.gpus) == 5
    assert violations(state) == ()
    with pytest.raises(NoRoom, match="2 GPUs at low priority; 1 idle"):
        start(state, "A", 2)


def test_bad_gpus_are_passed_over():
    """Tests that jobs run on the healthy GPUs of a bad cell, last, and on no bad one."""
    state = mark_bad(start_with(Chain(2, (2,))), Cell(1, (0, 0)))
    state, first = start(state, "A", 2)
    state, second = start(state, "A", 1)
    assert (first.gpus, second.gpus) == ((2, 3), (1,))
    with pytest.raises(NoRoom):
        start(state, "A", 1)


def test_pins_not_in_use_come_last():
    """Tests that an unused pinned GPU is lent, after all free ones."""
    pins = [Pin("p", "A", Cell(1, (0, 0)))]
    state = initial_state(Chain(2, (2,)), Reservation({}, pins=pins))
    state, first = start(state, "B", 3)
    state, last = start(state, "B", 1)
    assert (first.gpus, last.gpus) == ((1, 2, 3), (0,))


@pytest.mark.parametrize(("tenant", "gpus"), [("", 1), (None, 1), ("A", 0), ("A", -1), ("A", 1.0)])
def test_impossible_jobs_are_refused(tenant, gpus):
    """Tests that a job needs a tenant and a positive whole number of GPUs."""
    with pytest.raises(IllegalRequest):
        start(start_with(Chain(2, ())), tenant, gpus)


@pytest.mark.parametrize(
    "job", [Job("A", (1,)), Job("B", (0,)), Job("A", ()), Job("A", (9,)), Job("A", ("x",)), None]
)
def test_only_a_job_that_runs_can_be_stopped(job):
    """Tests that another tenant's, another GPU's or no job at all is refused."""
    state, _ = start(start_with(Chain(2, ())), "A", 1)
    with pytest.raises(IllegalRequest, match="no low-priority job"):
        stop(state, job)


def test_the_theorys_shares():
    """Tests capacity 10, demands 10, 10, 1, weights 1, 2, 1: 3, 6, 1."""
    shares = fair_shares(10, {"A": 10, "B": 10, "C": 1}, weights={"A": 1, "B": 2, "C": 1})
    assert shares == {"A": 3, "B": 6, "C": 1}
    assert fair_shares(5, {}) == {}


def one_at_a_time(capacity, demands, weights):
    got = dict.fromkeys(sorted(demands), 0)
    for _ in range(capacity):
        hungry = [t for t in got if got[t] < demands[t]]
        if not hungry:
            break
        got[min(hungry, key=lambda t: (Fraction(got[t] + 1) / weights[t], t))] += 1
    return got


weights = st.one_of(st.integers(1, 5), st.fractions(min_value=Fraction(1, 5), max_value=5))


@given(
    st.integers(0, 60),
    st.dictionaries(st.sampled_from("ABCDE"), st.tuples(st.integers(0, 30), weights), max_size=5),
)
def test_shares_are_those_of_one_gpu_at_a_time(capacity, wishes):
    """Tests that the shares in one step are those of the rule applied GPU by GPU."""
    demands = {tenant: demand for tenant, (demand, _) in wishes.items()}
    weight = {tenant: weight for tenant, (_, weight) in wishes.items()}
    shares = fair_shares(capacity, demands, weights=weight)
    assert shares == one_at_a_time(capacity, demands, weight)


@pytest.mark.parametrize(
    ("capacity", "demands", "weights"),
    [
        (-1, {}, None),
        (1, {"A": -1}, None),
        (1, {"A": 1.5}, None),
        (1, {"A": 1}, {"A": 0}),
        (1, {"A": 1}, {"A": 0.5}),
    ],
)
def test_impossible_shares_are_refused(capacity, demands, weights):
    """Tests that negative, fractional and inexact numbers are refused."""
    with pytest.raises(IllegalRequest):
        fair_shares(capacity, demands, weights=weights)


def test_changed_demands_name_the_victims():
    """Tests that a tenant whose share shrinks loses the smallest jobs that make up for it."""
    state = start_with(Chain(8, ()), A={1: 2})
    state, _ = allocate(state, "A", 1)
    state, wide = start(state, "A", 3)
    state, _ = start(state, "A", 1)
    state, later = start(state, "A", 1)
    state = mark_bad(state, at(state, "7"))
    same = rebalance(state, {"A": 5})
    assert (same.stopped, same.state) == ((), state)
    done = rebalance(state, {"A": 9, "B": 9}, weights={"A": 2, "B": 1})
    assert done.shares == {"A": 4, "B": 2}
    assert done.stopped == (later,)
    less = rebalance(state, {"B": 9})
    assert less.shares == {"A": 0, "B": 6}
    assert wide in less.stopped
    assert jobs(less.state) == ()
    assert violations(less.state) == ()


def test_a_tenant_that_is_content_leaves_the_rest_to_others():
    """Tests the GPUs that rounding leaves: A's first one satisfies it, B gets none of its own."""
    assert fair_shares(3, {"A": 2, "B": 5}) == {"A": 2, "B": 1}


def test_a_node_without_a_healthy_gpu_is_passed_over():
    """Tests that a job goes to the half-used, partly bad node, behind a wholly bad one."""
    state = initial_state(Chain(2, (4,)), Reservation({"A": {1: 1}}))
    state = mark_bad(mark_bad(state, Cell(2, (0,))), Cell(1, (1, 0)))
    state, _ = start(state, "A", 1)
    state, job = start(state, "A", 2)
    assert job.gpus == (6, 7)


def test_a_pin_in_use_is_passed_over():
    """Tests that the idle GPU of a pin is lent, behind a pin whose cell is held."""
    pins = [Pin("p", "A", Cell(1, (0, 0))), Pin("q", "A", Cell(1, (0, 1)))]
    state = initial_state(Chain(1, (2,)), Reservation({"A": {}}, pins=pins))
    state, _ = allocate_pin(state, "A", "p")
    state, job = start(state, "A", 1)
    assert job.gpus == (1,)


def test_weights_that_are_no_mapping_are_refused():
    """Tests a list of weights."""
    with pytest.raises(IllegalRequest, match="is no mapping from tenants' names"):
        fair_shares(3, {"A": 2}, weights=[1])


@pytest.mark.parametrize("before", [0, 1, 6])
def test_stopping_a_job_undoes_its_start(before):
    """Tests that after start and stop all is idle again, from the first, second and last GPUs."""
    state = start_with(Chain(2, (2, 2)), A={1: 1})
    for _ in range(before):
        state, _ = start(state, "B", 1)
    later, job = start(state, "C", 8 - before)
    assert jobs(later)[-1] == job
    stopped = stop(later, job)
    assert (stopped, jobs(stopped)) == (state, jobs(state))
    assert violations(stopped) == ()
    assert start(stopped, "C", 8 - before) == (later, job)
    with pytest.raises(IllegalRequest, match="no low-priority job"):
        stop(stopped, job)


def test_a_job_of_the_gpu_behind_the_last_is_refused():
    """Tests the number just past the pool, at a size where the table has no such entry."""
    state = start_with(Chain(2, ()))
    for gpu in (2, 3, -1, -2):
        with pytest.raises(IllegalRequest, match="no low-priority job"):
            stop(state, Job("A", (gpu,)))


def test_the_rest_of_a_job_goes_where_it_fits_best():
    """Tests that what one cell leaves over goes to the cell whose idle GPUs are just enough."""
    state = start_with(Chain(3, (4,)))
    state, _ = start(state, "A", 2)
    state, job = start(state, "A", 5)
    assert job.gpus == (2, 4, 5, 6, 7)


def test_a_second_pin_in_use_is_passed_over():
    """Tests that the pin at rest is lent where the one behind it is in use."""
    pins = [Pin("p", "A", Cell(1, (0, 0))), Pin("q", "A", Cell(1, (0, 1)))]
    state = initial_state(Chain(1, (2,)), Reservation({"A": {}}, pins=pins))
    state, _ = allocate_pin(state, "A", "q")
    state, job = start(state, "A", 1)
    assert job.gpus == (0,)
    with pytest.raises(NoRoom, match="0 idle"):
        start(state, "A", 1)


def test_a_bad_gpu_in_the_middle_is_passed_over():
    """Tests that the idle GPUs of a cell are found one by one, past a bad and a busy one."""
    state = mark_bad(start_with(Chain(1, (8,))), Cell(1, (0, 2)))
    state, first = start(state, "A", 1)
    state, job = start(state, "B", 4)
    assert (first.gpus, job.gpus) == ((0,), (1, 3, 4, 5))
