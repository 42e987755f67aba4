"""Gangs in a replay: outcomes, how they meet cells and jobs, and what is refused."""

import json

import pytest
from hived_specs import NODES

from hived_cells import InvalidSpec, gang_violations, initial_cluster, parse_spec
from hived_cells.cli import main
from hived_cells.events import Allocate, LowPriority, Place, Release, Remove, parse_event
from hived_cells.plot import draw
from hived_cells.replay import replay
from hived_cells.replay_gangs import gangs_of
from hived_cells.session import Session


def run(events, text=NODES):
    """Return the outcomes of events and the session after them."""
    spec = parse_spec(text)
    book = Session(initial_cluster({pool.name: pool.pool for pool in spec}))
    outcomes = list(replay(spec, enumerate(events, 1), session=book))
    assert gang_violations(gangs_of(spec, book)) == ()
    return outcomes, book


def test_outcomes_tell_now_later_and_never_apart():
    """Tests done, wait, never and refused, each with its reason."""
    outcomes, book = run(
        [
            Place(id="g1", tenant="B", pods=((2, 1),)),
            Place(id="g2", tenant="B", pods=((2, 1),)),
            Place(id="g3", tenant="B", pods=((2, 2),)),
            Place(id="g4", tenant="C", pods=((1, 1),)),
            Place(id="g1", tenant="B", pods=((2, 1),)),
            Remove(id="g2"),
            Place(id="g5", tenant="B", pods=((2, 1),), priority=1),
        ]
    )
    kinds = ["done", "wait", "never", "refused", "refused", "refused", "done"]
    assert [outcome["outcome"] for outcome in outcomes] == kinds
    assert outcomes[0]["pods"] == [["n1/0", "n1/1"]]
    assert outcomes[0]["cells"] == ["n1"]
    assert "reserved {2: 1} and holds {2: 1}" in outcomes[1]["reason"]
    assert outcomes[-1]["victims"] == ["g1"]
    assert list(book.gangs.gangs) == ["g5"]


def test_gangs_meet_cells_and_jobs():
    """Tests that an allocation ends a low-priority gang and that a gang ends a plain job."""
    outcomes, book = run(
        [
            Place(id="low", tenant="B", pods=((1, 4),), priority=-1),
            Allocate(id="c1", tenant="A", level=1),
            LowPriority(id="p1", tenant="A", gpus=3),
            Place(id="g1", tenant="B", pods=((1, 2),)),
            Allocate(id="c2", tenant="B", level=2),
            Remove(id="g1"),
            Allocate(id="c2", tenant="B", level=2),
            Place(id="g2", tenant="B", pods=((1, 1),)),
            Release(id="c2"),
            Place(id="g2", tenant="B", pods=((1, 1),)),
        ]
    )
    assert outcomes[1]["victims"] == ["low"]
    assert outcomes[3]["victims"] == ["p1"]
    assert [outcomes[n]["outcome"] for n in (4, 6, 7, 9)] == ["refused", "done", "wait", "done"]
    assert not book.jobs
    assert not book.ids


def test_a_downgraded_gang_is_a_victim_by_its_id_later():
    """Tests that a lazy gang goes on, and ends when its GPUs are bound."""
    text = NODES.replace("cellType: NODE.GPU, cellNumber: 2", "cellType: NODE, cellNumber: 1")
    outcomes, _ = run(
        [
            Place(id="g1", tenant="A", pods=((2, 1),), lazy=True),
            Place(id="g2", tenant="A", pods=((2, 1),), priority=1, within="NODE"),
            Place(id="g3", tenant="B", pods=((2, 1),)),
            Remove(id="g1"),
        ],
        text,
    )
    assert outcomes[1]["downgraded"] == ["g1"]
    assert outcomes[2]["victims"] == ["g1"]
    assert outcomes[3]["outcome"] == "refused"


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('{"op": "place", "id": "g", "tenant": "A"}', "pods"),
        ('{"op": "place", "id": "g", "tenant": "A", "pods": [[1]]}', "pods"),
        ('{"op": "place", "id": "g", "tenant": "A", "pods": [[1, "1"]]}', "Expected `int`"),
        ('{"op": "place", "id": "g", "id": "h", "tenant": "A", "pods": [[1, 1]]}', "twice"),
        ('{"op": "place", "id": "g", "tenant": "A", "pods": [[1, 1]], "gpu": 1}', "gpu"),
    ],
)
def test_lines_that_are_no_event_are_refused(line, rule):
    """Tests that the message names the place inside the line."""
    with pytest.raises(InvalidSpec, match=rule):
        parse_event(line.encode())


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"pods": ((0, 1),)}, "integers from 1"),
        ({"priority": 1001}, "not in -1..1000"),
        ({"pool": "X"}, "pool 'X' is not one of"),
        ({"within": "RACK"}, r"\$.within"),
        ({"nodes": ("n9",)}, r"\$.nodes"),
        ({"nodes": ("n1/0",)}, "is no node"),
    ],
)
def test_events_that_name_what_is_not_there_stop_the_replay(change, rule):
    """Tests that the message names file, line and rule."""
    event = Place(**{"id": "g", "tenant": "A", "pods": ((1, 1),)} | change)
    with pytest.raises(InvalidSpec, match=f"events: line 1: .*{rule}"):
        run([event])


def test_the_commands_take_gangs(tmp_path, capsys):
    """Tests replay and show, in text and as data."""
    (tmp_path / "spec.yaml").write_text(NODES)
    (tmp_path / "events.jsonl").write_text(
        '{"op": "place", "id": "g1", "tenant": "B", "pods": [[1, 2]], "nodes": ["n2"]}\n'
    )
    paths = [str(tmp_path / "spec.yaml"), str(tmp_path / "events.jsonl")]
    assert main(["replay", *paths]) == 0
    assert json.loads(capsys.readouterr().out)["pods"] == [["n2/0"], ["n2/1"]]
    assert main(["show", *paths]) == 0
    assert "n2  bound to B, gangs g1" in capsys.readouterr().out
    assert main(["show", "--json", *paths]) == 0
    assert json.loads(capsys.readouterr().out)["NODE"][1]["gangs"] == ["g1"]


def test_the_picture_names_the_gangs(tmp_path):
    """Tests that a gang in two pieces is named on each, and that the file is written."""
    events = tmp_path / "events.jsonl"
    events.write_text(
        '{"op": "place", "id": "g1", "tenant": "B", "pods": [[1, 1]]}\n'
        '{"op": "place", "id": "g2", "tenant": "A", "pods": [[1, 2]]}\n'
    )
    (tmp_path / "spec.yaml").write_text(NODES)
    picture = tmp_path / "tree.svg"
    assert main(["show", str(tmp_path / "spec.yaml"), str(events), "--picture", str(picture)]) == 0
    assert picture.stat().st_size > 0
    state = initial_cluster({pool.name: pool.pool for pool in parse_spec(NODES)})["NODE"]
    figure = draw(state, gangs={0: "g1", 2: "g2", 3: "g2", 1: "g3"})
    assert [text.get_text() for text in figure.axes[0].texts] == ["g1", "g3", "g2"]
    assert figure.axes[0].get_yticklabels()[0].get_text() == "gang"
