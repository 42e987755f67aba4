"""Known answers: feasibility verdicts, counts and slack after each step, cell-level cases."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from hived_cells import (
    Cell,
    Chain,
    Infeasible,
    Reservation,
    State,
    allocate,
    fewest_low_priority,
    free_counts,
    initial_state,
    is_feasible,
    lowest_address,
    owed_counts,
    release,
    slack,
    violations,
)


def load(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text())


def build(case: dict[str, Any]) -> tuple[Chain, Reservation]:
    return Chain(case["top_cells"], tuple(case["factors_top_down"])), Reservation(case["reserved"])


def test_feasibility_verdicts(reference_data):
    """Tests that every verdict, first short level and both counts are the known ones."""
    cases = load(reference_data / "hived-reference" / "feasibility.yaml")["cases"]
    assert cases
    for case in cases:
        chain, reservation = build(case)
        assert is_feasible(chain, reservation) == (case["verdict"] == "feasible"), case
        if case["verdict"] == "feasible":
            assert violations(initial_state(chain, reservation)) == ()
            continue
        with pytest.raises(Infeasible) as caught:
            initial_state(chain, reservation)
        found = (caught.value.level, caught.value.needed, caught.value.available)
        assert found == (case["first_short_level"], case["needed"], case["available"]), case


def replay(sequence: dict[str, Any], choose) -> Iterator[tuple[State, dict[str, Any]]]:
    state = initial_state(*build(sequence))
    held: dict[str, tuple[str, Cell]] = {}
    for step in sequence["steps"]:
        if "allocate" in step:
            request = step["allocate"]
            state, cell = allocate(state, request["vc"], request["level"], choose=choose)
            held[request["id"]] = (request["vc"], cell)
        else:
            state = release(state, *held.pop(step["release"]))
        yield state, step


@pytest.mark.parametrize("choose", [lowest_address, fewest_low_priority])
def test_sequences_give_the_known_counts(reference_data, choose):
    """Tests that free, owed and slack are the known ones after each step of each sequence."""
    sequences = load(reference_data / "hived-reference" / "sequences.yaml")["sequences"]
    assert sequences
    for sequence in sequences:
        for number, (state, step) in enumerate(replay(sequence, choose)):
            found = (free_counts(state), owed_counts(state), slack(state))
            known = tuple(tuple(reversed(step[name])) for name in ("free", "owed", "slack"))
            assert found == known, (sequence["id"], number)
            assert violations(state) == ()
