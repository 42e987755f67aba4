"""The kit for gang schedulers: it passes sound ones, and says which rule a faulty one breaks."""

import hypothesis
import pytest
from hypothesis.stateful import run_state_machine_as_test

from hived_cells import (
    Cell,
    Chain,
    Gang,
    GangPool,
    IllegalRequest,
    MustWait,
    NeverFits,
    Pin,
    Pool,
    Reservation,
    initial_gangs,
    place_gang,
    remove_gang,
)
from hived_cells.state import bound_cells
from hived_cells.testing import gang_machine
from hived_cells.testing.gang_books import GangBooks
from hived_cells.testing.gang_machine import ASKS
from hived_cells.testing.planted_gangs import FAULTS, FirstFit, finds, main

OWN = gang_machine(
    lambda chain, reservation, node: initial_gangs(
        [GangPool("pool", Pool(chain, reservation), node)]
    ),
    lambda state, gang: place_gang(state, gang)[0],
    remove_gang,
    lambda state: {name: one.pods for name, one in state.gangs.items()},
    lambda state: bound_cells(state.cells("pool")),
    asks=ASKS,
    refusals=(MustWait, NeverFits, IllegalRequest),
)
TestOwnGangs = OWN.TestCase
TestOwnGangs.settings = hypothesis.settings(max_examples=40, stateful_step_count=20)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_named(fault):
    """Tests that the machine names the rule that each faulty scheduler breaks."""
    assert finds(fault).split(":")[0] == FAULTS[fault]


def test_the_sound_scheduler_passes():
    """Tests that nothing is found where nothing is planted."""
    assert finds("", examples=25) == ""


def test_the_example_reports_all(capsys, monkeypatch):
    """Tests the example's table and its exit code, sound and unsound."""
    monkeypatch.setattr("hived_cells.testing.planted_gangs.finds", lambda fault: fault and "found")
    assert main() == 0
    assert capsys.readouterr().out.count("found") == len(FAULTS) + 1  # "nothing found" once
    monkeypatch.setattr("hived_cells.testing.planted_gangs.finds", lambda _: "")
    assert main() == 1


def test_a_state_that_is_changed_is_found():
    """Tests purity: a scheduler that writes the next state into the one it was given."""
    its = FirstFit()

    def place(state, gang):
        state[0] = its.place(state[0], gang)
        return [state[0]]

    machine = gang_machine(
        lambda *pool: [its.initial(*pool)],
        place,
        lambda state, name: [its.remove(state[0], name)],
        lambda state: its.running(state[0]),
        lambda state: its.held(state[0]),
    )
    limits = hypothesis.settings(database=None, phases=[hypothesis.Phase.generate])
    with pytest.raises(AssertionError, match="purity: a state changed"):
        run_state_machine_as_test(machine, settings=limits)


NODE = Cell(2, (0,))
ONE, TWO, LOW = (
    Gang("g1", "A", ((2, 1),)),
    Gang("g2", "A", ((2, 1),)),
    Gang("g3", "B", ((1, 1),), -1),
)
WRONG = {
    "quota": ({"g1": ((0, 1),)}, {("A", NODE), ("A", Cell(2, (1,)))}, ONE),
    "conservation": ({"g1": ((0, 1),)}, {("A", NODE), ("B", Cell(1, (0, 0)))}, ONE),
    "node": ({"g1": ((3, 4),)}, {("A", NODE)}, ONE),
    "own cells": ({"g1": ((4, 5),)}, {("A", NODE)}, ONE),
    "overlap": ({"g1": ((0, 0),)}, {("A", NODE)}, ONE),
    "overlap: g1 runs on GPUs": ({"g1": ((8, 9),)}, {("A", NODE)}, ONE),
    "all or nothing": ({"g1": ((0,),)}, {("A", NODE)}, ONE),
    "all or nothing: g9": ({"g1": ((0, 1),), "g9": ((2,),)}, {("A", NODE)}, ONE),
    "low priority": ({"g3": ((0,),)}, {("A", NODE)}, LOW),
}


@pytest.mark.parametrize("rule", WRONG)
def test_the_books_name_the_rule(rule):
    """Tests one state for each rule that breaks it, from the empty cluster."""
    books = GangBooks(Chain(2, (4,)), Reservation({"A": {2: 1}, "B": {1: 4}}), 2)
    with pytest.raises(AssertionError, match=f"^{rule}"):
        books.enter(*WRONG[rule], "")


@pytest.mark.parametrize(
    ("rule", "pods"),
    {
        "kept: g1 was moved": {"g1": ((2, 3),), "g3": ((4,),)},
        "kept: the guaranteed gang g1": {"g3": ((4,),)},
        "low priority: g3 was stopped": {"g1": ((0, 1),)},
    }.items(),
)
def test_the_books_name_what_happens_to_those_that_run(rule, pods):
    """Tests that a gang may not move or end because another ends."""
    books = GangBooks(Chain(2, (4,)), Reservation({"A": {2: 1}, "B": {1: 4}}), 2)
    books.enter({"g1": ((0, 1),)}, {("A", NODE)}, ONE, "")
    books.enter({"g1": ((0, 1),), "g2": ((2, 3),)}, {("A", NODE)}, TWO, "")
    running = {"g1": ((0, 1),), "g2": ((2, 3),), "g3": ((4,),)}
    books.enter(running, {("A", NODE)}, LOW, "")
    with pytest.raises(AssertionError, match=f"^{rule}"):
        books.enter(pods, {("A", NODE)}, None, "g2")


PINS = [Pin("lab", "A", Cell(2, (0,))), Pin("desk", "B", Cell(1, (1, 0)))]
PINNED = Gang("g1", "A", ((1, 1),), pinned="lab")
ASKED = {
    "pins: pod .* is not in lab": ({"g1": ((8,),)}, {("A", Cell(2, (2,)))}, PINNED),
    "pins: pod .* asked for none": ({"g1": ((0, 1),)}, {("A", NODE)}, ONE),
    "own cells: pod .* not in one cell of 'B'": (
        {"g3": ((0,),)}, {("A", NODE)}, Gang("g3", "B", ((1, 1),), pinned="desk"),
    ),
    "quota: 'B' holds 0, a pin of 'A'": ({"g1": ((0,),)}, {("B", NODE)}, PINNED),
    "conservation: 0/1 overlaps 0, which is pinned": (
        {"g3": ((1,),)}, {("B", Cell(1, (0, 1)))}, Gang("g3", "B", ((1, 1),)),
    ),
    "low priority": ({"g3": ((0,),)}, {("A", NODE)}, LOW),
    "within: g1 lies in no one cell of level 1": (
        {"g1": ((0,), (1,))}, {("A", NODE)}, Gang("g1", "A", ((1, 2),), pinned="lab", within=1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", ASKED)
def test_the_books_name_the_rule_of_what_is_asked_for(rule):
    """Tests pins and common cells the same way: one state for each rule that breaks it."""
    reservation = Reservation({"A": {2: 1}, "B": {1: 2}}, pins=PINS)
    with pytest.raises(AssertionError, match=f"^{rule}"):
        GangBooks(Chain(4, (4,)), reservation, 2).enter(*ASKED[rule], "")


@pytest.mark.parametrize(
    ("rule", "placed"),
    [
        (None, Gang("g3", "A", ((2, 2),), 1)),
        ("preemption: g1 was stopped for g3", Gang("g3", "A", ((2, 1),), 1)),
        ("kept: the guaranteed gang g1", Gang("g3", "A", ((2, 2),))),
        ("kept: the guaranteed gang g1", Gang("g3", "A", ((2, 2),), 1, pinned="lab")),
    ],
)
def test_a_gang_is_stopped_only_where_it_must_be(rule, placed):
    """Tests who may stop whom: higher priority, same tenant and pin, and no room beside."""
    pins = [Pin("lab", "A", Cell(2, (1,)))]
    books = GangBooks(Chain(4, (4,)), Reservation({"A": {2: 1}}, pins=pins), 2)
    books.enter({"g1": ((0, 1),)}, {("A", NODE)}, ONE, "")
    at = 4 if placed.pinned else 0
    pods = tuple((at + 2 * n, at + 2 * n + 1) for n in range(placed.pods[0][1]))
    cells = {("A", NODE), *([("A", Cell(2, (1,)))] if placed.pinned else [])}
    if rule is None:
        books.enter({"g3": pods}, cells, placed, "")
        return
    with pytest.raises(AssertionError, match=f"^{rule}"):
        books.enter({"g3": pods}, cells, placed, "")


def test_what_is_unknown_is_not_asked_for():
    """Tests that a misspelt wish is refused and not silently left out."""
    with pytest.raises(ValueError, match="'pin' is none of pins, within, preemption"):
        gang_machine(*[lambda: None] * 5, asks=["pin"])
