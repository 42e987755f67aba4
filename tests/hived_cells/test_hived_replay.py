"""Events and replays: strict lines, outcomes, streaming."""

import json

import pytest
from hived_specs import EVENTS, NODES
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import Infeasible, InvalidSpec, parse_spec
from hived_cells import replay as replay_module
from hived_cells.events import Allocate, Bad, LowPriority, parse_event, read_events
from hived_cells.replay import Session, replay
from hived_cells.replay_gangs import gangs_of
from hived_cells.testing import event_lists


def run(text, tmp_path, spec=NODES):
    path = tmp_path / "events.jsonl"
    path.write_text(text)
    return list(replay(parse_spec(spec), read_events(path), source="events.jsonl"))


def test_a_replay_says_what_became_of_each_event(tmp_path):
    """Tests outcome, cell, victims, flags and counts of every kind of event."""
    outcomes = run(EVENTS, tmp_path)
    assert [o["line"] for o in outcomes] == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert [o["outcome"] for o in outcomes] == [
        *("done", "done", "done", "done", "refused", "done", "done"),
        *("wait", "done", "done", "refused"),
    ]
    assert outcomes[0]["gpus"] == ["n1/0", "n1/1", "n2/0"]
    assert outcomes[1] == {
        "line": 2, "op": "allocate", "id": "c1", "pool": "NODE", "outcome": "done",
        "cell": "n2/1", "victims": [], "flagged": False,
        "free": [1, 1], "owed": [1, 1], "slack": [0, 0],
    }  # fmt: skip
    assert (outcomes[3]["cell"], outcomes[3]["victims"]) == ("n2/0", ["p1"])
    assert outcomes[4]["reason"] == ("tenant 'A' reserved 2 cells of level 1 and holds 2 of them")
    assert outcomes[10]["reason"] == "id 'p1' runs no low-priority job"
    assert all(json.loads(json.dumps(o)) == o for o in outcomes)
    assert not any("broken" in o for o in outcomes)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1: "),
        ("[]", "line 1: Expected `object`, got `array`"),
        ('{"op": "jump"}', "at `$.op`"),
        ('{"id": "c1"}', "missing required field `op`"),
        ('{"op": "release"}', "missing required field `id`"),
        ('{"op": "release", "id": 3}', "at `$.id`"),
        ('{"op": "release", "id": "c", "level": 2}', "unknown field `level`"),
        ('{"op": "allocate", "id": "c", "tenant": "A"}', "'level' or 'pin'"),
        ('{"op": "allocate", "id": "c", "tenant": "A", "level": 1, "pin": "p"}', "not both"),
        ('{"op": "allocate", "id": "c", "tenant": "A", "level": 1.5}', "at `$.level`"),
        ('{"op": "low_priority", "id": "c", "tenant": "A", "gpus": NaN}', "invalid"),
        ('{"op": "low_priority", "id": "c", "tenant": "A", "gpus": true}', "at `$.gpus`"),
        ('{"op": "allocate", "id": "c", "tenant": "A", "level": "BOX"}', "$.level: 'BOX' is no"),
        ('{"op": "allocate", "id": "c", "tenant": "A", "level": 1, "pool": "P"}', "pool 'P' is"),
        ('{"op": "low_priority", "id": "c", "tenant": "A", "gpus": 1, "pool": "P"}', "pool 'P'"),
        ('{"op": "bad", "cell": "n3"}', "no cell has the address 'n3'"),
        ('{"op": "bad", "cell": "n1", "pool": "P"}', "pool 'P' is not one of"),
    ],
)
def test_faulty_events_are_refused_with_line_and_place(line, says, tmp_path):
    """Tests that a line that is no event, or names what is not there, ends the replay."""
    with pytest.raises(InvalidSpec) as caught:
        run(line + "\n", tmp_path)
    assert says in str(caught.value)
    assert "line 1" in str(caught.value)


def test_bytes_that_are_no_text_and_lines_without_end(tmp_path):
    """Tests bytes that are not UTF-8, a line over the limit and nesting beyond the parser."""
    path = tmp_path / "e"
    for content, says in (
        (b'{"op": "release", "id": "\xff"}', "line 1"),
        (b" " * ((1 << 20) + 1), "line 1: longer than 1 MiB"),
        (b"[" * 100_000, "line 1"),
    ):
        path.write_bytes(content)
        with pytest.raises(InvalidSpec, match=says):
            list(read_events(path))
    with pytest.raises(InvalidSpec, match="Is a directory"):
        list(read_events(tmp_path))
    with pytest.raises(InvalidSpec, match="null"):
        list(read_events(tmp_path / "a\0b"))


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"op": "release", "id": "a", "id": "b"}', "id"),
        ('{"op": "release", "id": "a", "id" : "a"}', "id"),
        ('{"op": "release", "op": "release", "id": "a"}', "op"),
        ('{"op": "bad", "cell": "n1", "pool": null, "pool": "NODE"}', "pool"),
        (r'{"op": "release", "id": "a", "i\u0064": "b"}', "id"),
    ],
)
def test_a_key_that_stands_twice_is_refused(line, key):
    """Tests that neither of two equal keys wins; the last one used to, silently."""
    with pytest.raises(InvalidSpec, match=rf"\$\.{key}: the key stands here twice"):
        parse_event(line.encode())


def test_colons_in_values_are_no_keys():
    """Tests that what the search for equal keys looks at first does not refuse anything."""
    event = parse_event(b'{"op": "bad", "cell": "n1:0:1", "pool": null}')
    assert event == Bad(cell="n1:0:1")


def test_a_byte_order_mark_and_carriage_returns_are_no_text(tmp_path):
    """Tests that a file from another system is read; a mark in the middle is refused."""
    path = tmp_path / "events.jsonl"
    line = b'{"op": "release", "id": "a"}\r\n'
    path.write_bytes(b"\xef\xbb\xbf" + line + line)
    assert [number for number, _ in read_events(path)] == [1, 2]
    path.write_bytes(line + b"\xef\xbb\xbf" + line)
    with pytest.raises(InvalidSpec, match="line 2"):
        list(read_events(path))


def test_nesting_beyond_the_parser_is_refused():
    """Tests that an unknown key with a deep value is refused, not followed."""
    with pytest.raises(InvalidSpec):
        parse_event(b'{"op": "release", "id": "c", "x": ' + b"[" * 100_000)


def test_ids_stand_for_one_thing_at_a_time(tmp_path):
    """Tests that an id in use is refused, and free again after its release."""
    lines = [
        {"op": "allocate", "id": "c", "tenant": "A", "level": 1},
        {"op": "low_priority", "id": "c", "tenant": "A", "gpus": 1},
        {"op": "allocate", "id": "c", "tenant": "A", "level": 1},
        {"op": "release", "id": "c"},
        {"op": "release", "id": "c"},
        {"op": "low_priority", "id": "c", "tenant": "A", "gpus": 1},
    ]
    outcomes = run("\n".join(map(json.dumps, lines)), tmp_path)
    assert [o["outcome"] for o in outcomes] == [
        "done", "refused", "refused", "done", "refused", "done",
    ]  # fmt: skip


TWO = NODES.replace(
    "  physicalCells:\n",
    "    BOX: {childCellType: GPU, childCellNumber: 1}\n"
    "  physicalCells:\n  - {cellType: BOX, pinnedCellId: p}\n",
).replace("B: {", "C: {pinnedCells: [{pinnedCellId: p}]}\n  B: {")


def test_the_pool_is_inferred_where_only_one_is_possible(tmp_path):
    """Tests level names, tenants and pins that point to one pool, and the question otherwise."""
    lines = [
        {"op": "allocate", "id": "a", "tenant": "A", "level": 1},
        {"op": "allocate", "id": "b", "tenant": "B", "level": "NODE"},
        {"op": "allocate", "id": "c", "tenant": "C", "pin": "p"},
        {"op": "release", "id": "c"},
        {"op": "bad", "cell": "0"},
    ]
    outcomes = run("\n".join(map(json.dumps, lines)), tmp_path, spec=TWO)
    assert [o.get("pool") for o in outcomes] == ["NODE", "NODE", "BOX", "BOX", None]
    low = {"op": "low_priority", "id": "a", "tenant": "A", "gpus": 1}
    with pytest.raises(InvalidSpec, match=r"\$.pool: which pool is meant"):
        run(json.dumps(low), tmp_path, spec=TWO)
    with pytest.raises(InvalidSpec, match=r"\$.level: 'X' is no level of any pool"):
        wrong = {"op": "allocate", "id": "a", "tenant": "A", "level": "X"}
        run(json.dumps(wrong), tmp_path, spec=TWO)
    for line in (
        {"op": "allocate", "id": "a", "tenant": "Z", "level": 1},
        {"op": "allocate", "id": "a", "tenant": "C", "level": "NODE"},
        {"op": "allocate", "id": "a", "tenant": "A", "pin": "q"},
    ):
        outcome = run(json.dumps(line), tmp_path, spec=TWO)[0]
        assert outcome["outcome"] == "refused"
        assert "reserved nothing in a pool with" in outcome["reason"]
    both = TWO.replace(
        "C: {pinned", "A: {virtualCells: [{cellType: NODE.GPU, cellNumber: 2}], pinned"
    )
    both = both.replace("  A: {virtualCells: [{cellType: NODE.GPU, cellNumber: 2}]}\n", "")
    with pytest.raises(InvalidSpec, match=r"which pool is meant\? 'A' may mean"):
        line = {"op": "allocate", "id": "a", "tenant": "A", "level": "GPU"}
        run(json.dumps(line), tmp_path, spec=both)
    refused = run(json.dumps({"op": "release", "id": "x"}), tmp_path, spec=TWO)[0]
    assert set(refused["pools"]) == {"BOX", "NODE"}


def test_an_infeasible_cluster_does_not_start(tmp_path):
    """Tests that the reservation is checked before the first event."""
    with pytest.raises(Infeasible):
        run(EVENTS, tmp_path, spec=NODES.replace("cellNumber: 1", "cellNumber: 9"))


BIG = """
physicalCluster:
  cellTypes: {NODE: {childCellType: GPU, childCellNumber: 300}}
  physicalCells: [{cellType: NODE}, {cellType: NODE}]
virtualClusters: {A: {virtualCells: [{cellType: NODE, cellNumber: 1}]}}
"""


@pytest.mark.parametrize("spec", [NODES, BIG])
def test_a_broken_invariant_is_reported(spec, monkeypatch, tmp_path):
    """Tests that a faulty allocator's state is found, in small pools and in large ones."""
    sound = replay_module.allocate

    def faulty(state, tenant, level, **options):
        after, cell = sound(state, tenant, level, **options)
        counts = (*after.free_count[:-1], after.free_count[-1] - 2)
        return type(after)(
            *[counts if name == "free_count" else getattr(after, name) for name in after.__slots__]
        ), cell

    monkeypatch.setattr(replay_module, "allocate", faulty)
    line = {"op": "allocate", "id": "a", "tenant": "A", "level": 1 if spec is NODES else 2}
    outcome = run(json.dumps(line), tmp_path, spec=spec)[0]
    assert outcome["broken"]


@given(st.data())
def test_any_events_are_replayed_soundly(data):
    """Tests that no list of events breaks an invariant or fails otherwise."""
    spec = parse_spec(NODES)
    pool = spec.pools[0]
    events = [event for event in data.draw(event_lists(pool.pool)) if not hasattr(event, "cell")]
    book = Session(replay_module.initial_cluster({pool.name: pool.pool}))
    for outcome in replay(spec, enumerate(events), session=book):
        assert "broken" not in outcome
    asked = [e.id for e in events if isinstance(e, Allocate | LowPriority)]
    assert set(book.cells) | set(book.jobs) <= set(asked)
    gangs = gangs_of(spec, book).gangs.values()
    assert len(book.ids) == len(book.jobs) + sum(one.low_priority for one in gangs)
