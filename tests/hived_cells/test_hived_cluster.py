"""Several pools, and recovery by address when the specification has changed."""

import pickle
from pathlib import Path

import pytest

from hived_cells import (
    Cell,
    Chain,
    Cluster,
    InvalidSpec,
    Pool,
    Reservation,
    allocate,
    allocate_pin,
    bound_cells,
    initial_cluster,
    jobs,
    mark_bad,
    named_bindings,
    parse_spec,
    read_spec,
    recover_cluster,
    start,
    violations,
)

MIXED = Path(__file__).parent / "data" / "mixed.yaml"


def test_a_cluster_is_a_frozen_mapping():
    """Tests order, equality, hash, pickling, and that replacing leaves the old one as it was."""
    pools = {
        "b": Pool(Chain(1, ()), Reservation({"A": {1: 1}})),
        "a": Pool(Chain(2, ()), Reservation({})),
    }
    cluster = initial_cluster(pools)
    assert (list(cluster), len(cluster)) == (["a", "b"], 2)
    later = cluster.replace("b", allocate(cluster["b"], "A", 1)[0])
    assert later != cluster == initial_cluster(dict(reversed(pools.items())))
    assert hash(pickle.loads(pickle.dumps(later))) == hash(later)
    assert "b" in repr(cluster)
    for call in (lambda: cluster["c"], lambda: cluster.replace("c", cluster["a"])):
        with pytest.raises(InvalidSpec, match="'c' is not one of"):
            call()
    with pytest.raises(InvalidSpec, match="named by strings"):
        Cluster({1: cluster["a"]})


def busy():
    """Return the mixed specification and a cluster with one of everything."""
    spec = read_spec(MIXED)
    cluster = initial_cluster({pool.name: pool.pool for pool in spec})

    def act(name, call, *arguments):
        nonlocal cluster
        state = call(cluster[name], *arguments)
        cluster = cluster.replace(name, state[0] if isinstance(state, tuple) else state)

    act("4-V100-NODE", allocate_pin, "vision", "lab")
    act("4-V100-NODE", allocate, "vision", 5)
    act("4-V100-NODE", start, "speech", 3)
    act("T4-NODE", allocate_pin, "vision", "bench")
    act("3-P100-NODE", allocate, "speech", 4)
    act("3-P100-NODE", allocate, "speech", 4)
    act("3-V100-NODE", mark_bad, Cell(1, (0, 0, 0, 0, 0, 0)))
    return spec, cluster


def test_own_bindings_by_address_give_an_equal_cluster():
    """Tests that names lead back to the same cells, pins, jobs and bad GPUs."""
    spec, cluster = busy()
    done = recover_cluster(spec, named_bindings(spec, cluster))
    assert (done.cluster, done.downgraded, done.ignored) == (cluster, (), ())


def test_a_changed_specification_downgrades_what_no_longer_fits():
    """Tests lost inner levels, a renamed node, a smaller reservation and nodes in another pool."""
    spec, cluster = busy()
    text = MIXED.read_text()
    for old, new in (
        (
            "V100-NODE: {childCellType: V100-NODE-8-GPU, childCellNumber: 2, isNode",
            "V100-NODE: {childCellType: V100, childCellNumber: 16, isNode",
        ),
        ("h0030", "h003100"),
        (
            "{cellType: 3-P100-NODE.P100-NODE, cellNumber: 2}",
            "{cellType: 3-P100-NODE.P100-NODE, cellNumber: 1}",
        ),
    ):
        assert old in text
        text = text.replace(old, new)
    bindings = named_bindings(spec, cluster)
    done = recover_cluster(parse_spec(text), bindings)
    assert [(b.pool, b.kind) for b in done.downgraded] == [("3-P100-NODE", "P100-NODE")]
    assert done.ignored == ()
    assert all(violations(done.cluster[name]) == () for name in done.cluster)
    pinned = [c for _, c in bound_cells(done.cluster["4-V100-NODE"])]
    assert len(pinned) == 2  # the pin, though half of its node names changed, and the node
    assert [len(job.gpus) for job in jobs(done.cluster["3-P100-NODE"])] == [8]


def test_nodes_that_moved_to_another_pool_are_downgraded_there():
    """Tests that a held node that now is a top cell of its own runs on at low priority."""
    spec, cluster = busy()
    text = MIXED.read_text()
    moved = """  - {cellType: V100-NODE, cellAddress: h0032}
  - {cellType: V100-NODE, cellAddress: h0033}
"""
    text = text.replace(
        "[{cellAddress: h0032}, {cellAddress: h0033}]", "[{cellAddress: x}, {cellAddress: y}]"
    )
    text = text.replace("  - cellType: 2-LINKED", moved + "  - cellType: 2-LINKED")
    text = text.replace("    - pinnedCellId: bench\n", "")
    done = recover_cluster(parse_spec(text), named_bindings(spec, cluster))
    kinds = {(b.pool, b.kind) for b in done.downgraded}
    assert kinds == {("4-V100-NODE", "V100-NODE"), ("T4-NODE", "T4")}
    assert sum(len(job.gpus) for job in jobs(done.cluster["V100-NODE"])) >= 16


def test_pins_and_unnamed_nodes_keep_their_cells():
    """Tests the second of two pins, and nodes without a name of their own."""
    spec = parse_spec("""
physicalCluster:
  cellTypes: {NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}}
  physicalCells: [{cellType: NODE, pinnedCellId: p}, {cellType: NODE, pinnedCellId: q}]
virtualClusters: {A: {pinnedCells: [{pinnedCellId: p}]}, B: {pinnedCells: [{pinnedCellId: q}]}}
""")
    cluster = initial_cluster({pool.name: pool.pool for pool in spec})
    state, _ = allocate_pin(cluster["NODE"], "B", "q")
    cluster = cluster.replace("NODE", state)
    bindings = named_bindings(spec, cluster)
    assert bindings[0].gpus == ("1/0", "1/1")
    assert recover_cluster(spec, bindings).cluster == cluster
    stolen = [bindings[0]._replace(tenant="A")]
    assert recover_cluster(spec, stolen).downgraded == tuple(stolen)


def test_cells_of_types_that_are_gone_or_of_torn_cells_are_downgraded():
    """Tests a lost cell type and a cell whose GPUs now lie in two cells."""
    old = parse_spec("""
physicalCluster:
  cellTypes:
    PAIR: {childCellType: GPU, childCellNumber: 2}
    NODE: {childCellType: PAIR, childCellNumber: 2}
  physicalCells: [{cellType: NODE}]
virtualClusters: {A: {virtualCells: [{cellType: NODE.PAIR, cellNumber: 2}]}}
""")
    cluster = initial_cluster({pool.name: pool.pool for pool in old})
    state, _ = allocate(cluster["NODE"], "A", 2)
    bindings = named_bindings(old, cluster.replace("NODE", state))
    flat = parse_spec("""
physicalCluster:
  cellTypes: {NODE: {childCellType: GPU, childCellNumber: 4}}
  physicalCells: [{cellType: NODE}]
virtualClusters: {A: }
""")
    done = recover_cluster(flat, bindings)
    assert done.ignored == bindings  # without node names the addresses have the lost level in them
    named = [binding._replace(gpus=("0/0", "0/1")) for binding in bindings]
    assert recover_cluster(flat, named).downgraded == tuple(named)
    torn = [binding._replace(gpus=("0/0/1", "0/1/2")) for binding in bindings]
    assert recover_cluster(old, torn).downgraded == tuple(torn)
