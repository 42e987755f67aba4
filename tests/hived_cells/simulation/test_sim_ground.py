"""Cells that a job gets are bound together, or nothing changes and nobody is preempted."""

from hypothesis import given
from hypothesis import strategies as st
from sim_builders import clusters, jobs_of, nodes_each

from hived_cells.simulation import SCHEDULERS, simulate
from hived_cells.simulation.floor import Floor
from hived_cells.simulation.ground import CellGround, bins_of
from hived_cells.simulation.run import Fault


def seen(floor: Floor) -> tuple:
    """Return all that a floor shows."""
    low = [dict(jobs) for jobs in floor.low]
    return list(floor.held), low, dict(floor.lent), floor.held_gpus, floor.lent_gpus, floor.whole


@given(data=st.data())
def test_a_bad_bin_leaves_everything_as_it_was(data):
    """Tests state and floor after a refusal, with jobs lent all idle GPUs of healthy nodes."""
    chain, reservation = data.draw(clusters())
    ground = CellGround(chain, reservation, static=data.draw(st.booleans()))
    for node in data.draw(st.sets(st.integers(0, chain.top_cells - 1))):
        ground.node_leaves(node)
        ground.floor.switch(node, up=False)
    job = 100
    while (spots := ground.floor.find(1, data.draw(st.integers(1, 2)))) is not None:
        ground.lend(job, reservation.tenants[0], spots)
        job += 1
    for desk, (_, levels) in enumerate(bins_of(reservation)):
        before = ground.state, seen(ground.floor)
        pieces = tuple((number, 1) for number in range(len(levels)))
        bad, hit = ground.occupy(desk, desk, pieces)
        if bad >= 0:
            assert hit == []
            assert (ground.state, seen(ground.floor)) == before
        else:
            for victim in hit:
                ground.take_back(victim)


def test_a_job_that_finds_a_bad_node_preempts_nobody():
    """Tests the case itself: A's two nodes, one gone, B's job at low priority on the other."""
    chain, reservation = nodes_each(A=2, B=1)
    ground = CellGround(chain, reservation, static=False)
    for node in (1, 2):
        ground.node_leaves(node)
        ground.floor.switch(node, up=False)
    ground.lend(7, "B", ground.floor.find(1, 8))
    assert ground.occupy(0, 0, ((0, 8), (1, 8))) == (1, [])
    assert 7 in ground.floor.lent


def test_a_run_in_which_a_node_is_gone_preempts_nobody_in_vain():
    """Tests a whole run: A's job of two nodes waits for the node, B's second job runs on."""
    chain, reservation = nodes_each(A=2, B=1)
    trace = jobs_of(("B", 0, 100, 1, 8), ("B", 0, 100, 1, 8), ("A", 10, 5, 2, 8))
    faults = [Fault(time=5, node=node, leaves=True) for node in (1, 2)]
    run = simulate(
        trace, chain, reservation, way="cells", scheduler=SCHEDULERS["capacity"], faults=faults
    )
    assert run.ended[2] == -1
    assert run.preemptions <= 2  # those that were on the nodes that left
