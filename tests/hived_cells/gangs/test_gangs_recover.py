"""Recovery of gangs: the same specification gives an equal state, another one a sound state."""

import pytest
from gang_builders import gang_walks
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Gang,
    HivedError,
    InvalidSpec,
    gang_bindings,
    gang_violations,
    initial_gangs,
    parse_spec,
    place_gang,
    recover_gangs,
    remove_gang,
)

SPEC = """
physicalCluster:
  cellTypes:
    SWITCH: {{childCellType: GPU, childCellNumber: 2}}
    NODE: {{childCellType: SWITCH, childCellNumber: 2, isNodeLevel: true}}
    RACK: {{childCellType: NODE, childCellNumber: 2}}
  physicalCells:
  - cellType: RACK
    cellChildren: [{{cellAddress: n1}}, {{cellAddress: n2}}]
  - cellType: RACK
    cellChildren: [{{cellAddress: n3}}, {{cellAddress: {last}}}]
virtualClusters:
  A: {{virtualCells: [{{cellType: RACK.NODE, cellNumber: {nodes}}},
                     {{cellType: RACK.NODE.SWITCH, cellNumber: {switches}}}]}}
  B: {{virtualCells: [{{cellType: RACK, cellNumber: {racks}}}]}}
"""


def spec(nodes=1, switches=2, racks=1, last="n4"):
    return parse_spec(SPEC.format(nodes=nodes, switches=switches, racks=racks, last=last))


def walked(data, before):
    """Return a state with some gangs on a specification."""
    state = initial_gangs(before)
    for step in data.draw(gang_walks(state)):
        try:
            state = (
                remove_gang(state, step) if isinstance(step, str) else place_gang(state, step)[0]
            )
        except HivedError:
            continue
    return state


@given(data=st.data())
def test_a_states_own_bindings_give_an_equal_state(data):
    """Tests cells, gangs and what is kept as free."""
    before = spec()
    state = walked(data, before)
    done = recover_gangs(before, *gang_bindings(before, state))
    assert done.state == state
    assert (done.downgraded, done.stopped) == ((), ())
    assert gang_violations(done.state) == ()
    assert done.state.cells("RACK") == state.cells("RACK")


@given(
    data=st.data(),
    nodes=st.integers(0, 1),
    switches=st.integers(0, 2),
    racks=st.integers(0, 1),
    last=st.sampled_from(["n4", "n5"]),
)
def test_another_specification_gives_a_sound_state(data, nodes, switches, racks, last):
    """Tests that every gang is kept, downgraded or stopped, and that all can be removed."""
    before, after = spec(), spec(nodes, switches, racks, last)
    state = walked(data, before)
    done = recover_gangs(after, *gang_bindings(before, state))
    assert gang_violations(done.state) == ()
    assert set(done.state.gangs) | set(done.stopped) == set(state.gangs)
    assert set(done.state.gangs).isdisjoint(done.stopped)
    for name in done.downgraded:
        assert done.state.gangs[name].low_priority
        assert not state.gangs[name].low_priority
    again = done.state
    for name in list(again.gangs):
        again = remove_gang(again, name)
        assert gang_violations(again) == ()
    assert again == initial_gangs(after)


def test_the_highest_priority_keeps_the_cell():
    """Tests that of two nodes held and one left the gang of higher priority stays."""
    before, after = spec(nodes=2, switches=0), spec(nodes=1, switches=0)
    state, _ = place_gang(initial_gangs(before), Gang("low", "A", ((4, 1),), 1))
    state, _ = place_gang(state, Gang("high", "A", ((4, 1),), 7))
    done = recover_gangs(after, *gang_bindings(before, state))
    assert done.downgraded == ("low",)
    assert not done.state.gangs["high"].low_priority


RACKS = """
physicalCluster:
  cellTypes:
    NODE: {{childCellType: GPU, childCellNumber: 2, isNodeLevel: true}}
    RACK: {{childCellType: NODE, childCellNumber: 2}}
  physicalCells:
  - cellType: RACK
    cellChildren: [{{cellAddress: n1}}, {{cellAddress: {}}}]
  - cellType: RACK
    cellChildren: [{{cellAddress: n3}}, {{cellAddress: {}}}]
virtualClusters:
  A: {{virtualCells: [{{cellType: RACK.NODE, cellNumber: 2}}]}}
  B: {{virtualCells: [{{cellType: RACK, cellNumber: 1}}]}}
"""


@pytest.mark.parametrize(("tenant", "priority"), [("B", 0), ("A", -1)])
def test_a_gang_whose_common_cell_is_gone_is_stopped(tenant, priority):
    """Tests nodes that change racks under a gang that asks for one rack; another one goes on."""
    before, after = (parse_spec(RACKS.format(*pair)) for pair in (("n2", "n4"), ("n4", "n2")))
    for within, stopped in ((3, ("g",)), (None, ())):
        gang = Gang("g", tenant, ((2, 2),), priority=priority, within=within)
        state, _ = place_gang(initial_gangs(before), gang)
        done = recover_gangs(after, *gang_bindings(before, state))
        assert done.stopped == stopped
        assert gang_violations(done.state) == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one, two: (one, two._replace(pods=one.pods)), "is claimed by gangs 'g1' and 'g2'"),
        (lambda one, _: (one._replace(pods=((one.pods[0][0],) * 2,)),), "by gangs 'g1' and 'g1'"),
        (lambda one, two: (one._replace(pods=one.pods + two.pods),), "not the pods"),
        (lambda one, two: (one._replace(pods=(one.pods[0] + two.pods[0],)),), "not the pods"),
        (lambda one, _: (one, one), "'g1' is given twice"),
    ],
)
def test_gangs_that_no_state_has_are_refused(change, message):
    """Tests overlapping, doubled and misshapen gangs, which were taken over as they stood."""
    state = initial_gangs(spec())
    for name in ("g1", "g2"):
        state, _ = place_gang(state, Gang(name, "A", ((2, 1),)))
    held, gangs = gang_bindings(spec(), state)
    with pytest.raises(InvalidSpec, match=message):
        recover_gangs(spec(), held, change(*gangs))
