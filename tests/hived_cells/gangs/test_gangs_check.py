"""Each rule of `gang_violations` is broken once, on purpose, and named."""

from dataclasses import replace

from gang_builders import one_pool

from hived_cells import Cell, Chain, Gang, GangState, gang_violations, place_gang, release
from hived_cells.gangs import desk as desk_module
from hived_cells.gangs import place as place_module
from hived_cells.gangs.state import View

CHAIN = Chain(2, (2, 2, 2))


def sound() -> GangState:
    """Return two gangs of A in one node, one of B, one at low priority."""
    state = one_pool(CHAIN, 3, A={4: 1}, B={1: 3})
    for gang in [
        Gang("a1", "A", ((2, 1),)),
        Gang("a2", "A", ((2, 2),)),
        Gang("b1", "B", ((1, 2),)),
        Gang("low", "C", ((1, 1),), -1),
    ]:
        state, _ = place_gang(state, gang)
    assert gang_violations(state) == ()
    return state


def move(state: GangState, name: str, *pods: tuple[int, ...]) -> GangState:
    """Return the state in which a gang is said to run elsewhere."""
    one = state.running[name]._replace(pods=pods)
    return replace(state, running={**state.running, name: one})


def rebook(gangs: GangState, **fields) -> GangState:
    """Return the state with fields of its book overwritten."""
    return replace(gangs, books={"P": gangs.books["P"]._replace(**fields)})


def rules(state: GangState) -> set[str]:
    return {one.rule for one in gang_violations(state)}


def test_a_gang_with_other_pods():
    """Tests a pod too few, a pod too large and no GPU at all."""
    state = sound()
    assert "shape" in rules(move(state, "a2", (4, 5)))
    assert "shape" in rules(move(state, "a1", (0, 1, 2)))
    assert "shape" in rules(move(state, "a1", ()))


def test_a_gang_in_no_pool():
    """Tests a gang whose pool does not exist."""
    state = sound()
    one = state.running["a1"]._replace(pool="Q")
    assert "shape" in rules(replace(state, running={**state.running, "a1": one}))


def test_two_gangs_on_one_gpu():
    """Tests that the GPU and both gangs are named."""
    found = gang_violations(move(sound(), "a1", (4, 5)))
    overlaps = [one for one in found if one.rule == "overlap"]
    assert str(overlaps[0]) == "overlap: GPU 4 is of gangs 'a1' and 'a2'"


def test_a_gang_outside_its_cells():
    """Tests a free cell and another tenant's."""
    state = sound()
    assert "own cells" in rules(move(state, "b1", (15,), (14,)))
    assert "own cells" in rules(move(state, "b1", (7,), (6,)))


def test_a_pod_over_two_nodes():
    """Tests the tenant's cells above the node level, and low priority."""
    state = sound()
    assert rules(move(state, "a1", (2, 6))) >= {"node"}
    state, _ = place_gang(state, Gang("wide", "C", ((2, 1),), -1))
    assert "node" in rules(move(state, "wide", (11, 12)))


def test_a_gang_not_within_its_cell():
    """Tests a gang that asked for one switch and has two."""
    state = one_pool(CHAIN, 3, A={4: 1})
    state, _ = place_gang(state, Gang("a", "A", ((1, 2),), within=2))
    assert "within" in rules(move(state, "a", (0,), (2,)))


def test_a_cell_bound_for_nobody():
    """Tests that a gang forgotten without its cell is found."""
    state = sound()
    running = {name: one for name, one in state.running.items() if name != "b1"}
    assert {"idle", "view"} <= rules(replace(state, running=running))


def test_a_view_that_is_wrong():
    """Tests each of its three fields, and one that is missing."""
    state = sound()
    views = state.books["P"].views
    view = views["A", ""]
    for wrong in [
        view._replace(free={**view.free, (3, 0): 0}),
        view._replace(buckets={}),
        view._replace(above={(4, 0): 1}),
        View({}, {}, {}),
    ]:
        assert rules(rebook(state, views={**views, ("A", ""): wrong})) & {"view", "own cells"}


def test_low_priority_that_is_not_on_the_books():
    """Tests a job without a gang, a gang without a job, and a job that ended."""
    state = sound()
    assert "low priority" in rules(rebook(state, jobs={}))
    running = {name: one for name, one in state.running.items() if name != "low"}
    assert "low priority" in rules(replace(state, running=running))


def test_the_rules_of_cells_are_asked_too():
    """Tests that a cell released under a gang is a gang outside its cells."""
    state = sound()
    cells = release(state.cells("P"), "A", Cell(4, (0,)))
    assert "own cells" in rules(rebook(state, state=cells))


def test_planted_a_cell_is_not_given_back(monkeypatch):
    """Tests that the fault shows in the next state."""
    monkeypatch.setattr(desk_module.Desk, "give_back", lambda self, level, index: None)
    assert "idle" in rules(place_module.remove_gang(sound(), "b1"))
