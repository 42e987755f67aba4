"""The public specification: what is inferred, and every faulty one refused by name."""

import gc
import re
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hived_specs import NODES
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Cell,
    Chain,
    Infeasible,
    InvalidSpec,
    Pin,
    initial_cluster,
    parse_spec,
    read_spec,
    violations,
)
from hived_cells.spec import tree

DATA = Path(__file__).parent / "data"

SPEC = read_spec(DATA / "mixed.yaml")
TYPES = """
  cellTypes:
    NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}
    RACK: {childCellType: NODE, childCellNumber: 2}
"""


def text(cells, tenants="", types=TYPES):
    """Return a specification with these physical cells and virtual clusters."""
    return f"physicalCluster:{types}  physicalCells: {cells}\nvirtualClusters: {{{tenants}}}\n"


RACKS = "[{cellType: RACK}, {cellType: RACK}]"


def test_a_specification_with_every_feature_is_read():
    """Tests pools, pins and reservations of a specification with all features."""
    spec = read_spec(DATA / "mixed.yaml")
    assert [pool.name for pool in spec] == sorted(pool.name for pool in spec)
    assert spec.tenants == ("speech", "vision")
    pool = spec.pool("4-V100-NODE")
    assert pool.pool.chain == Chain(2, (2,) * 6)
    assert dict(pool.pool.reservation.cells) == {"vision": ((5, 2), (6, 1))}
    assert pool.pool.reservation.pins == (Pin("lab", "vision", Cell(6, (0, 0))),)
    assert pool.types[1:3] == ("V100", "V100-NODE-2-GPU")
    cluster = initial_cluster({pool.name: pool.pool for pool in spec})
    assert all(violations(cluster[name]) == () for name in cluster)


@pytest.mark.parametrize(
    ("address", "pool", "path"),
    [
        ("h0031", "4-V100-NODE", (0, 0, 1)),
        ("7/0", "4-V100-NODE", (0, 0)),
        ("7/0/h0031/1/3", "4-V100-NODE", (0, 0, 1, 1, 1)),
        ("h0032/1/3/7/15", "4-V100-NODE", (0, 1, 0, 1, 1, 1, 1)),
        ("h1000/1/0/7", "3-P100-NODE", (0, 2, 0, 1, 1)),
        ("h1002/1/2/4", "3-P100-NODE", (0, 0, 1, 0, 0)),
        ("h1002/8", "T4-NODE", (2, 0)),
        ("9", "2-LINKED-V100-NODE", (0,)),
    ],
)
def test_addresses_are_inferred_as_documented(address, pool, path):
    """Tests numbers within the node below it and within the top cell above it."""
    spec = read_spec(DATA / "mixed.yaml")
    found = [(p.name, cell.path) for p, cell in spec.find(address)]
    assert found == [(pool, path)]
    known = spec.pool(pool)
    assert known.find(known.address(known.pool.chain.at(path))) == (known.pool.chain.at(path),)


def test_a_machine_with_two_kinds_of_gpu_is_in_two_pools():
    """Tests that its address finds it in both, and in one when the pool is given."""
    spec = read_spec(DATA / "mixed.yaml")
    assert len(spec.find("h1002")) == 2
    assert len(spec.find("h1002", pools=["T4-NODE"])) == 1
    assert spec.find("nowhere") == spec.find("h0010/7") == ()


@given(st.data())
def test_every_address_leads_back_to_its_cell(data):
    """Tests that address and find are inverse on every cell of every pool."""
    pool = data.draw(st.sampled_from(SPEC.pools))
    level = data.draw(st.integers(1, pool.pool.chain.levels))
    cell = pool.pool.chain.cell(
        level, data.draw(st.integers(0, pool.pool.chain.counts[level] - 1))
    )
    assert pool.find(pool.address(cell)) == (cell,)


REFUSED = [
    ("", "the file is empty"),
    ("[1]", "a mapping is needed"),
    ("physicalCluster:", "'physicalCluster' is missing"),
    ("a: 1", "key 'a' is not known here"),
    ("a: [", "not YAML"),
    ("a: 1\n---\nb: 2", "not YAML"),
    ("? [a]\n: 1", "a key is not a name"),
    ('a: "\\UFFFFFFFF"', "not YAML"),
    ("a: !!python/object:os.system {}", "tag"),
    ("a: &x [*x]", "alias 'x' has no value yet"),
    (text(RACKS, types=TYPES + "    RACK: {childCellType: A, childCellNumber: 1}\n"), "twice"),
    (text("[{cellType: BOX}]"), "cell type 'BOX' is not defined"),
    (text("[{cellAddress: n1}]"), "'cellType' is missing"),
    (text("{cellType: RACK}"), "a list is needed"),
    (text("[{cellType: RACK, cellChildren: [{cellAddress: n1}]}]"), "1 children are listed"),
    (text("[{cellType: NODE, cellChildren: [{cellChildren: [{}]}, {}]}]"), "declares 0"),
    (text("[{cellType: NODE, cellAddress: n1}, {cellType: NODE, cellAddress: n1}]"), "twice"),
    (
        text(
            "[{cellType: NODE, cellAddress: n1}, {cellType: RACK, cellChildren: "
            "[{cellAddress: n1}, {cellAddress: n2}]}]"
        ),
        "node 'n1' is listed twice",
    ),
    (text("[{cellType: NODE, cellAddress: a/b}]"), "has a '/'"),
    (text("[{cellType: NODE, cellAddress: [a]}]"), "a name is needed"),
    (text("[{cellType: NODE, cellChildren: [{cellAddress: 1}, {}]}]"), "address '1' stands for"),
    (text("[{cellType: RACK, cellChildren: [{cellType: RACK}, {}]}]"), "'NODE' belongs"),
    (text("[{cellType: NODE, pinnedCellId: p}, {cellType: NODE, pinnedCellId: p}]"), "twice"),
    (text("[{cellType: NODE, pinnedCells: p}]"), "key 'pinnedCells' is not known"),
    (text(RACKS, "A: {virtualCells: [{cellType: BOX, cellNumber: 1}]}"), "no top-level type"),
    (text(RACKS, "A: {virtualCells: [{cellType: NODE, cellNumber: 1}]}"), "no top-level type"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK.BOX, cellNumber: 1}]}"), "'BOX' is no level"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK.GPU, cellNumber: 1}]}"), "skips or rev"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK.GPU.NODE, cellNumber: 1}]}"), "skips or"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK, cellNumber: -1}]}"), "'-1' is not an int"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK, cellNumber: 1.0}]}"), "'1.0' is not an"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK, cellNumber: .nan}]}"), "'.nan' is not an"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK, cellNumber: '1'}]}"), "'1' is not an int"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK, cellNumber: true}]}"), "'true' is not an"),
    (text(RACKS, "A: {virtualCells: [{cellType: RACK}]}"), "'cellNumber' is missing"),
    (
        text(RACKS, "A: {virtualCells: [{cellType: RACK, cellNumber: 1, pinnedCells: []}]}"),
        "key 'pinnedCells' is not known",
    ),
    (text(RACKS, "A: {pinnedCells: [{pinnedCellId: p}]}"), "pinned cell 'p' is not in"),
    (
        text(
            "[{cellType: RACK, pinnedCellId: p}]",
            "A: {pinnedCells: [{pinnedCellId: p}]}, B: {pinnedCells: [{pinnedCellId: p}]}",
        ),
        "given twice, to 'A' and to 'B'",
    ),
    (text(RACKS, "'': {}"), "a virtual cluster needs a name"),
    (
        text(
            "[{cellType: RACK, pinnedCellId: p, cellChildren: [{pinnedCellId: q}, {}]}]",
            "A: {pinnedCells: [{pinnedCellId: p}, {pinnedCellId: q}]}",
        ),
        "overlap",
    ),
    ("!!set {a}", "tag 'set' has no place here"),
    (text(RACKS, "A: 3"), "a mapping is needed"),
    (
        text("[]", types="\n  cellTypes: {A: {childCellType: B, childCellNumber: 0}}\n"),
        "'0' is not",
    ),
    (text("[]", types="\n  cellTypes: {A: {childCellType: B, childCellNumber: -1}}\n"), "'-1' is"),
    (text("[]", types="\n  cellTypes: {A: {childCellType: B}}\n"), "'childCellNumber' is missing"),
    (text("[]", types="\n  cellTypes: {'': {childCellType: B, childCellNumber: 1}}\n"), "needs a"),
    (text("[]", types="\n  cellTypes: {A: {childCellType: A, childCellNumber: 1}}\n"), "cycle"),
    (
        text(
            "[]",
            types="\n  cellTypes: {A: {childCellType: B, childCellNumber: 1}, "
            "B: {childCellType: A, childCellNumber: 1}}\n",
        ),
        "cycle: A > B > A",
    ),
    (
        text(
            "[]",
            types="\n  cellTypes: {A: {childCellType: B, childCellNumber: 1, isNodeLevel: 1}}\n",
        ),
        "neither true nor false",
    ),
    (
        text(
            "[{cellType: A}]",
            types="\n  cellTypes: {A: {childCellType: B, childCellNumber: 1, isNodeLevel: true}, "
            "B: {childCellType: C, childCellNumber: 1, isNodeLevel: true}}\n",
        ),
        "are both node-level",
    ),
    (
        text(
            "[{cellType: A}]",
            types="\n  cellTypes: {A: {childCellType: B, childCellNumber: 99999999}}\n",
        ),
        "at most 16777216",
    ),
    (
        text(
            "[]",
            types="\n  cellTypes: {"
            + ", ".join(
                f"T{i}: {{childCellType: T{i + 1}, childCellNumber: 1}}" for i in range(70)
            )
            + "}\n",
        ),
        "more than 64 levels",
    ),
]


@pytest.mark.parametrize(("content", "rule"), REFUSED)
def test_faulty_specifications_are_refused_by_name(content, rule):
    """Tests that each fault is refused with the source and the rule it breaks."""
    with pytest.raises(InvalidSpec) as caught:
        parse_spec(content, source="cluster.yaml")
    message = str(caught.value)
    assert message.startswith("cluster.yaml: ")
    assert rule in message
    assert "\n" not in message


def test_a_message_names_path_and_line():
    """Tests that the place of a fault is given as a path and a line."""
    content = "physicalCluster:\n  cellTypes:\n    A:\n      childCellType: B\n      size: 3\n"
    with pytest.raises(InvalidSpec, match=r"\$\.physicalCluster\.cellTypes\.A\.size \(line 5\)"):
        parse_spec(content)


def test_pins_in_two_racks_and_a_whole_rack_do_not_fit():
    """Tests that what passed a count in the earlier implementation is found infeasible."""
    cells = (
        "[{cellType: RACK, cellChildren: [{pinnedCellId: p}, {}]}, "
        "{cellType: RACK, cellChildren: [{pinnedCellId: q}, {}]}]"
    )
    tenants = (
        "A: {virtualCells: [{cellType: RACK, cellNumber: 1}], "
        "pinnedCells: [{pinnedCellId: p}, {pinnedCellId: q}]}"
    )
    spec = parse_spec(text(cells, tenants))
    with pytest.raises(Infeasible, match="pool 'RACK': level 3 is short: 1 cells needed, 0"):
        initial_cluster({pool.name: pool.pool for pool in spec})


def test_what_may_be_left_out():
    """Tests unlisted children, empty places, an unreserved pool and tenants without cells."""
    spec = parse_spec(
        text(
            "[{cellType: RACK, cellChildren: null, pinnedCellId: null}, "
            "{cellType: GPU, cellAddress: ''}]",
            "A: , B: {virtualCells: }",
        )
    )
    assert spec.tenants == ("A", "B")
    assert spec.pool("RACK").pool.chain == Chain(1, (2, 2))
    assert spec.pool("GPU").pool.chain == Chain(1, ())
    assert spec.pool("RACK").address(Cell(1, (0, 1, 1))) == "0/1/1"
    bare = parse_spec("physicalCluster: {cellTypes: {}}")
    assert (bare.pools, bare.tenants) == ((), ())
    with pytest.raises(InvalidSpec, match="not one of"):
        bare.pool("RACK")


def test_entries_of_one_type_add_up():
    """Tests that a type listed twice for a tenant counts twice, as the scheduler has it."""
    entry = "{cellType: RACK.NODE, cellNumber: 1}"
    spec = parse_spec(text(RACKS, f"A: {{virtualCells: [{entry}, {entry}]}}"))
    assert dict(spec.pool("RACK").pool.reservation.cells) == {"A": ((2, 2),)}


def test_cells_without_a_node_level_are_addressed_from_the_top():
    """Tests a specification in which no type is node-level."""
    types = "\n  cellTypes: {P: {childCellType: G, childCellNumber: 4}}\n"
    spec = parse_spec(text("[{cellType: P}, {cellType: P, cellAddress: x}]", types=types))
    pool = spec.pool("P")
    assert pool.address(Cell(1, (1, 2))) == "x/2"
    assert pool.find("0/3") == (Cell(1, (0, 3)),)


def test_a_node_in_two_pools_has_its_gpus_once():
    """Tests that one GPU number in two pools of a machine is refused, two numbers are not."""
    types = (
        "\n  cellTypes: {N: {childCellType: G, childCellNumber: 2, isNodeLevel: true}, "
        "M: {childCellType: H, childCellNumber: 1, isNodeLevel: true}}\n"
    )
    cells = "[{{cellType: N, cellAddress: n}}, {{cellType: M, cellAddress: n, cellChildren: {}}}]"
    with pytest.raises(InvalidSpec, match="GPU '1' of node 'n' stands twice"):
        parse_spec(text(cells.format("[{cellAddress: 1}]"), types=types))
    assert len(parse_spec(text(cells.format("[{cellAddress: 2}]"), types=types)).pools) == 2


def test_gpus_of_a_node_have_different_numbers():
    """Tests that two sockets of a node cannot both have GPU 0."""
    types = (
        "\n  cellTypes: {S: {childCellType: G, childCellNumber: 1}, "
        "N: {childCellType: S, childCellNumber: 2, isNodeLevel: true}}\n"
    )
    socket = "{cellChildren: [{cellAddress: 0}]}"
    cells = f"[{{cellType: N, cellAddress: n, cellChildren: [{socket}, {socket}]}}]"
    with pytest.raises(InvalidSpec, match="GPU '0' of node 'n' stands twice"):
        parse_spec(text(cells, types=types))


def test_aliases_are_read_and_bombs_are_not(monkeypatch):
    """Tests that an alias stands for its anchor, and that expansion is bounded."""
    cells = "[&n {cellType: RACK}, *n]"
    assert parse_spec(text(cells)).pool("RACK").pool.chain.top_cells == 2
    monkeypatch.setattr(tree, "MAX_ENTRIES", 10_000)
    bomb = "a: &a [x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join(['*' + a] * 8)}]\n"
        for a, b in zip("abcdefg", "bcdefgh", strict=True)
    )
    with pytest.raises(InvalidSpec, match="more than 10000 entries"):
        parse_spec(bomb)


@pytest.mark.parametrize("enabled", [True, False])
def test_reading_leaves_the_collector_as_it_was(enabled):
    """Tests that garbage collection is on or off after a file as it was before, errors too."""
    (gc.enable if enabled else gc.disable)()
    try:
        parse_spec(text(RACKS))
        with pytest.raises(InvalidSpec):
            parse_spec("a: [")
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


def test_deep_nesting_is_refused():
    """Tests that brackets beyond the parser's own stack are refused."""
    with pytest.raises(InvalidSpec, match="nested deeper"):
        parse_spec("[" * 5000)
    with pytest.raises(InvalidSpec, match="nested deeper"):
        parse_spec("a: " + "[" * 150 + "]" * 150)


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    """Tests a missing file, a folder, bytes that are no text, and one that is too long."""
    for path, says in (
        (tmp_path / "none", "No such file"),
        (tmp_path, "Is a directory"),
        ("a\0b", "null"),
    ):
        with pytest.raises(InvalidSpec, match=says):
            read_spec(path)
    binary = tmp_path / "binary"
    binary.write_bytes(b"a: \xff")
    with pytest.raises(InvalidSpec, match="byte 3 is not UTF-8"):
        read_spec(binary)
    monkeypatch.setattr(tree, "MAX_BYTES", 1 << 20)
    long = tmp_path / "long"
    long.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InvalidSpec, match="longer than 1 MiB"):
        read_spec(long)


@given(st.text(max_size=60) | st.text(alphabet="{}[]:,-&*!|>'\"%@ \n\tabc?#", max_size=60))
def test_any_text_is_read_or_refused(content):
    """Tests that no text makes the reader fail in any other way than by its own error."""
    with suppress(InvalidSpec):
        parse_spec(content)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("!foo n1", "tag '!foo' does not fit 'n1'"),
        ("!!null n1", "tag 'null' does not fit 'n1'"),
        ("!!int n1", "tag 'int' does not fit 'n1'"),
        ("!!bool n1", "tag 'bool' does not fit 'n1'"),
        ("!!binary bjE=", "tag 'binary' does not fit"),
        (r'"n\e[2J"', "has a control character"),
        (r'"n\n1"', "has a control character"),
        (r'"n\0"', "has a control character"),
        (r'"n\x9b"', "has a control character"),
    ],
)
def test_tags_and_control_characters_are_not_overlooked(written, says):
    """Tests that a tag that lies is refused with its place; it used to be dropped.

    A control character in a name would reach the terminal that shows the tree.
    """
    text = NODES.replace("n1", written, 1)
    with pytest.raises(InvalidSpec, match=re.escape(says)):
        parse_spec(text)


def test_tags_that_are_true_are_read():
    """Tests that a text, a number and an empty place may be tagged as what they are."""
    text = NODES.replace("n1", "!!str 1", 1)
    assert parse_spec(text).find("1")
    assert parse_spec(NODES.replace("n1", "!!null null", 1))


def test_a_huge_node_in_two_pools_is_refused_before_its_gpus_are_listed():
    """Tests that 16 million GPUs twice take no time and no memory; they took gigabytes."""
    tracemalloc.start()
    with pytest.raises(InvalidSpec, match="GPU '0' of node 'x' stands twice"):
        parse_spec(
            "physicalCluster:\n  cellTypes:\n"
            "    N: {childCellType: G, childCellNumber: 16777216, isNodeLevel: true}\n"
            "    M: {childCellType: H, childCellNumber: 16777216, isNodeLevel: true}\n"
            "  physicalCells: [{cellType: N, cellAddress: x}, {cellType: M, cellAddress: x}]\n"
        )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000_000
