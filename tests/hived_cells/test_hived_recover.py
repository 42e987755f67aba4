"""Recovery: own bindings, changed reservations, downgrades, vanished hardware."""

import json

import pytest
from hived_builders import at, npq, start_with
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Bindings,
    Cell,
    Chain,
    IllegalRequest,
    Infeasible,
    InvalidSpec,
    Job,
    NoRoom,
    Pin,
    Pool,
    Reservation,
    allocate,
    allocate_pin,
    bindings_of,
    heal,
    initial_state,
    jobs,
    mark_bad,
    parse_spec,
    recover,
    slack,
    start,
    violations,
)
from hived_cells.testing import pools


@st.composite
def busy_states(draw):
    """Draw a state with held cells, jobs and bad GPUs."""
    pool = draw(pools(max_gpus=16))
    state = initial_state(pool.chain, pool.reservation)
    for tenant, level in draw(st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4)))):
        try:
            state, _ = allocate(state, tenant, level)
            state, _ = start(state, tenant, level)
        except (IllegalRequest, NoRoom):
            continue
    for gpu in draw(st.sets(st.integers(0, pool.chain.gpus - 1), max_size=5)):
        state = mark_bad(state, pool.chain.cell(1, gpu))
    return state


@given(busy_states(), st.randoms())
def test_own_bindings_give_an_equal_state_in_any_order(state, random):
    """Tests that bindings through JSON, in any order, give the state they were taken from."""
    bindings = bindings_of(state)
    data = json.loads(json.dumps(bindings.to_data()))
    again = Bindings.from_data(state.chain, data)
    assert again == bindings
    held = list(again.held)
    random.shuffle(held)
    done = recover(state.pool, Bindings(held, jobs=again.jobs, bad=again.bad))
    assert (done.state, done.downgraded, done.ignored) == (state, (), ())
    assert violations(done.state) == ()


def test_known_case_replay_of_bindings_that_owe_too_much():
    """Tests that the third binding, which would make S(P) = -1, is downgraded, then preempted."""
    pool = Pool(npq(3), Reservation({"A": {2: 4}, "B": {3: 2}, "C": {4: 1}}))
    cells = [Cell(2, path) for path in ((0, 0, 0), (0, 1, 0), (1, 0, 0))]
    done = recover(pool, Bindings([("A", cell) for cell in cells]))
    assert done.downgraded == (("A", cells[2]),)
    assert min(slack(done.state)) >= 0
    assert jobs(done.state) == (Job("A", (4,)),)
    state = done.state
    for tenant, level in (("C", 4), ("B", 3), ("B", 3)):
        state, _ = allocate(state, tenant, level)
    assert jobs(state) == ()
    assert violations(state) == ()


def test_a_tenants_smaller_reservation_downgrades_the_last():
    """Tests that priority is the order, and unknown tenants and levels are downgraded."""
    pool = Pool(Chain(2, (2,)), Reservation({"A": {1: 1}}))
    first, second = Cell(1, (0, 0)), Cell(1, (0, 1))
    done = recover(pool, Bindings([("A", first), ("A", second), ("Z", Cell(2, (1,)))]))
    assert done.downgraded == (("A", second), ("Z", Cell(2, (1,))))
    assert jobs(done.state) == (Job("A", (1,)), Job("Z", (2, 3)))
    assert violations(done.state) == ()


def test_hardware_that_is_gone_is_ignored_and_the_rest_stays():
    """Tests that cells beyond the pool are ignored and a job keeps the GPUs that are left."""
    pool = Pool(Chain(1, (2,)), Reservation({"A": {1: 1}}))
    gone = ("A", Cell(1, (1, 0)))
    done = recover(
        pool,
        Bindings(
            [gone],
            jobs=[Job("B", (1, 2)), Job("B", (7,))],
            bad=[Cell(2, (1,)), Cell(1, (0, 0)), Cell(1, (0, 0))],
        ),
    )
    assert done.ignored == (gone,)
    assert jobs(done.state) == (Job("B", (1,)),)
    assert heal(done.state, Cell(1, (0, 0))) != done.state
    assert violations(done.state) == ()


def test_pins_are_bound_again_where_they_are_still_the_tenants():
    """Tests that a pinned cell comes back as the pin, and is downgraded where it is none."""
    pins = [Pin("p", "A", Cell(1, (0, 0)))]
    state = initial_state(Chain(2, (2,)), Reservation({"B": {1: 1}}, pins=pins))
    state, cell = allocate_pin(mark_bad(state, Cell(1, (0, 0))), "A", "p")
    assert recover(state.pool, bindings_of(state)).state == state
    other = Pool(Chain(2, (2,)), Reservation({"A": {}, "B": {1: 1}}))
    assert recover(other, bindings_of(state)).downgraded == (("A", cell),)


def test_a_binding_to_anothers_pin_is_downgraded():
    """Tests that a cell inside a pinned one cannot be bound by a reservation of its level."""
    pins = [Pin("p", "A", Cell(2, (0,)))]
    pool = Pool(Chain(2, (2,)), Reservation({"B": {1: 1}}, pins=pins))
    done = recover(pool, Bindings([("B", Cell(1, (0, 0)))], bad=[Cell(1, (0, 1))]))
    assert done.downgraded == (("B", Cell(1, (0, 0))),)
    assert violations(done.state) == ()


def test_contradictory_bindings_are_refused():
    """Tests that one GPU in two bindings is refused, naming it."""
    pool = Pool(Chain(2, (2,)), Reservation({"A": {1: 1, 2: 1}}))
    twice = Bindings([("A", Cell(1, (0, 1))), ("A", Cell(2, (0,)))])
    with pytest.raises(InvalidSpec, match="GPU 0/1 is claimed twice"):
        recover(pool, twice)
    with pytest.raises(InvalidSpec, match="claimed twice"):
        recover(pool, Bindings([("A", Cell(1, (0, 0)))], jobs=[Job("B", (0,))]))


@pytest.mark.parametrize("gpus", [(1, 0), (0, 0), (-1,), (0.5,)])
def test_impossible_jobs_are_refused(gpus):
    """Tests that a job's GPUs must be ascending whole numbers."""
    with pytest.raises(InvalidSpec, match="ascending"):
        recover(start_with(Chain(2, ())).pool, Bindings([], jobs=[Job("B", gpus)]))


def test_tenants_have_names():
    """Tests that a binding of a nameless tenant is refused."""
    pool = start_with(Chain(2, ())).pool
    for bindings in (Bindings([(3, Cell(1, (0,)))]), Bindings([], jobs=[Job("", (0,))])):
        with pytest.raises(InvalidSpec, match="is not a name"):
            recover(pool, bindings)


def test_an_infeasible_reservation_is_refused_before_anything_is_bound():
    """Tests that recovery checks the new reservation first."""
    with pytest.raises(Infeasible):
        recover(Pool(Chain(1, ()), Reservation({"A": {1: 2}})), Bindings([]))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"held": [{}], "low_priority": [], "bad": []},
        {"held": None, "low_priority": [], "bad": []},
        {"held": [{"tenant": "A", "cell": ["x"]}], "low_priority": [], "bad": []},
        {"held": [], "low_priority": [3], "bad": []},
        {"held": [], "low_priority": [], "bad": [[-1]]},
    ],
)
def test_data_of_another_form_is_refused(data):
    """Tests that data that to_data never makes is refused."""
    with pytest.raises(InvalidSpec, match="bindings"):
        Bindings.from_data(Chain(2, ()), data)


def test_a_binding_that_needs_no_split_is_kept():
    """Tests a binding of a whole top cell, and bad GPUs in a cell that is pinned."""
    state = start_with(Chain(2, (2,)), A={2: 1})
    state, cell = allocate(state, "A", 2)
    assert recover(state.pool, Bindings([("A", cell)])).state == state
    assert str(at(state, "0")) == "0"


SPEC = """
physicalCluster:
  cellTypes: {NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}}
  physicalCells: [{cellType: NODE, cellAddress: n1}, {cellType: NODE, cellAddress: n2}]
virtualClusters: {A: {virtualCells: [{cellType: NODE.GPU, cellNumber: 3}]}}
"""


def test_a_specification_and_plain_data_will_do():
    """Tests `recover(spec, bindings)` with all that is a specification and with JSON's data."""
    spec = parse_spec(SPEC)
    state, _ = allocate(initial_state(Chain(2, (2,)), Reservation({"A": {1: 3}})), "A", 1)
    bindings = bindings_of(state)
    for one in (spec, spec.pool("NODE"), state.pool, state):
        for saved in (bindings, json.loads(json.dumps(bindings.to_data()))):
            assert recover(one, saved).state == state


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (parse_spec("physicalCluster: {cellTypes: {}}"), "0 pools; recover_cluster"),
        (None, "is no pool"),
        (Chain(2, ()), "is no pool"),
        ({"pools": []}, "is no pool"),
    ],
)
def test_what_is_no_pool_is_refused(spec, says):
    """Tests that a specification of several pools is sent to `recover_cluster`."""
    with pytest.raises(InvalidSpec, match=says):
        recover(spec, Bindings([]))


@pytest.mark.parametrize("bindings", [None, [], 3, {}, [("A", Cell(1, (0, 0)))]])
def test_what_are_no_bindings_is_refused(bindings):
    """Tests that bindings of another type are refused by name."""
    with pytest.raises(InvalidSpec, match="bindings"):
        recover(parse_spec(SPEC), bindings)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bindings(5),
        lambda: Bindings([("A",)]),
        lambda: Bindings([("A", "0/0")]),
        lambda: Bindings([("A", Cell(1, [0, 0]))]),
        lambda: Bindings([], jobs=[("A", (1,))]),
        lambda: Bindings([], jobs=[Job("A", 5)]),
        lambda: Bindings([], jobs=None),
        lambda: Bindings([], bad=["0"]),
    ],
)
def test_what_is_not_understood_is_not_taken_for_gone(make):
    """Tests that a cell that is no `Cell` is refused; it used to be ignored as gone."""
    with pytest.raises(InvalidSpec, match="are needed"):
        make()
