"""Trees, verdicts, graphs and pictures of a state."""

import json

import networkx as nx
import pytest
from hived_builders import at, start_with
from hived_specs import NODES, SHORT

from hived_cells import (
    Chain,
    InvalidSpec,
    Pin,
    Reservation,
    allocate,
    allocate_pin,
    initial_state,
    mark_bad,
    parse_spec,
    start,
    to_networkx,
)
from hived_cells.plot import draw
from hived_cells.report import cell_tree, tree_lines, verdict


@pytest.fixture
def state():
    """Return six top cells: one split and held in part, one pinned, bad, busy, two free."""
    pins = [Pin("p", "B", at(start_with(Chain(6, (2,))), "1"))]
    first = initial_state(Chain(6, (2,)), Reservation({"A": {1: 1}}, pins=pins))
    first, _ = allocate(first, "A", 1)
    first, _ = start(mark_bad(first, at(first, "2/0")), "B", 1)
    return first


def test_the_tree_says_what_every_cell_is(state):
    """Tests free, bound, pinned, low priority and bad cells, and that runs are one line."""
    assert list(tree_lines(cell_tree(state))) == [
        "0  split",
        "  0/0  bound to A",
        "  0/1  free",
        "1  pinned for B",
        "2  free, 1 GPUs bad",
        "3  free, 1 GPUs low priority",
        "4 .. 5  free, 2 cells",
    ]
    later, _ = allocate_pin(state, "B", "p")
    assert cell_tree(later)[1].text() == "1  bound to B"


def test_the_whole_tree_opens_cells_with_something_inside(state):
    """Tests that every GPU that is bad or busy has a line of its own when all are asked for."""
    lines = list(tree_lines(cell_tree(state, all_gpus=True)))
    assert "  2/0  free, 1 GPUs bad" in lines
    assert "  3/0  free, 1 GPUs low priority" in lines
    assert lines[-2:] == ["4  free", "5  free"]
    data = json.loads(json.dumps([branch.to_data() for branch in cell_tree(state)]))
    assert data[0]["parts"][0]["tenant"] == "A"


def test_the_verdict_names_what_is_short_and_by_how_much():
    """Tests a feasible and an infeasible specification."""
    fits = verdict(parse_spec(NODES))
    assert fits["feasible"]
    assert fits["pools"][0]["short"] is None
    assert [level["slack"] for level in fits["pools"][0]["levels"]] == [1, 0]
    assert fits["tenants"]["A"] == [{"pool": "NODE", "cells": {"GPU": 2}, "pins": {}}]
    short = verdict(parse_spec(SHORT))
    assert not short["feasible"]
    assert short["pools"][0]["short"] == {
        "level": 1, "type": "GPU", "needed": 2, "available": 0, "by": 2,
    }  # fmt: skip
    assert short["pools"][0]["levels"][0]["slack"] is None


def test_the_graph_is_a_tree_with_attributes(state):
    """Tests shape, sizes, and the status of cells of every kind."""
    later, _ = allocate_pin(state, "B", "p")
    graph = to_networkx(later)
    assert nx.is_forest(graph.to_undirected())
    assert graph.number_of_nodes() == 18
    status = {str(cell): values["status"] for cell, values in graph.nodes(data=True)}
    assert [status[name] for name in ("0", "0/0", "0/1", "1", "1/0", "2", "2/0")] == [
        "split", "bound", "free", "bound", "in bound", "free", "in free",
    ]  # fmt: skip
    assert graph.nodes[at(later, "2")]["bad"] == 1
    assert graph.nodes[at(later, "3")]["low_priority"] == 1
    assert graph.nodes[at(later, "1")]["pin"] == "p"
    deep = to_networkx(start_with(Chain(1, (2, 2))))
    assert deep.nodes[at(start_with(Chain(1, (2, 2))), "0/0/0")]["status"] == "in free"
    assert to_networkx(state).nodes[at(state, "1/1")]["status"] == "in pinned"


def test_the_picture_has_a_box_for_every_visible_cell(state):
    """Tests that held, free, pinned, bad and busy cells are drawn, and hidden ones are not."""
    figure = draw(state, title="six nodes")
    # Six tops, two parts of the split one, one GPU in low-priority use, one bad.
    assert len(figure.axes[0].patches) == 6 + 2 + 1 + 1
    assert figure.axes[0].get_title() == "six nodes"


def test_pictures_of_pools_that_are_too_large_are_refused():
    """Tests the bound on what can be seen."""
    with pytest.raises(InvalidSpec, match="at most 2048 can be drawn"):
        draw(start_with(Chain(4096, ())))
