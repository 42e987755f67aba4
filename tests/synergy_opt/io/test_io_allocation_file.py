"""The allocation file: strict, and what is written and read again is what it was."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from synergy_opt import (
    Instance,
    InvalidInstance,
    ideal_allocation,
    mix,
    place,
    read_allocation,
    scattered,
    shipped,
    write_allocation,
)

INSTANCES = [shipped("two-groups"), mix(servers=2, seed=4), scattered(servers=1, seed=2)]


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: i.name)
@pytest.mark.parametrize("integral", [True, False])
def test_an_allocation_survives_its_file(tmp_path: Path, instance: Instance, integral: bool):
    """Tests that reading a written allocation, mixtures too, gives an equal one, and the bytes."""
    allocation = ideal_allocation(instance, integral=integral)
    path, again = tmp_path / "allocation.json", tmp_path / "again.json"
    write_allocation(allocation, instance, path)
    found = read_allocation(path, instance)
    assert found == allocation
    write_allocation(found, instance, again)
    assert again.read_bytes() == path.read_bytes()


def test_an_allocation_that_was_read_can_be_placed(tmp_path: Path):
    """Tests that stage 2 goes on from the file alone."""
    instance, path = shipped("worked-example"), tmp_path / "allocation.json"
    allocation = ideal_allocation(instance)
    write_allocation(allocation, instance, path)
    assert place(instance, read_allocation(path, instance)) == place(instance, allocation)


def change(key: str, value: object) -> Callable[[dict[str, object]], None]:
    """Give a change of one key at the top."""
    return lambda document: document.update({key: value})


@pytest.mark.parametrize(
    ("spoil", "path", "rule"),
    [
        (change("schema", "synergy-opt/placement/1"), "$.schema", "must be 'synergy-opt/alloc"),
        (change("instance", "other"), "$.instance", "the allocation is for 'other'"),
        (change("certificate", None), "$.certificate", "with multipliers"),
        (change("upper_bound", "x"), "$.upper_bound", "must be a number"),
        (change("proof", "surely"), "$.proof", "must be one of"),
        (change("throughput", "7"), "$.throughput", "must be the sum of the jobs, 17/3"),
        (change("more", 1), "$.more", "unknown key"),
        (change("rivals", 1.5), "$.rivals", "whole number"),
        (change("stopped", 1), "$.stopped", "true or false"),
        (lambda d: d.pop("certificate"), "$", "'certificate' is missing"),
        (
            lambda d: d["jobs"][1].update(id="\ud800"),
            "$.jobs[1].id",
            "holds half a character, which no file can",
        ),
        (
            change("certificate", {"split": "often", "servers": [], "shapes": []}),
            "$.certificate.split",
            "must be 'never' or 'allowed', not 'often'",
        ),
        (lambda d: d["jobs"][1]["mixture"][0].pop("part"), "$.jobs[1].mixture[0]", "missing"),
        (lambda d: d["jobs"][0]["demand"].pop("cpu"), "$.jobs[0].demand", "missing"),
    ],
)
def test_each_fault_of_a_file_is_named(tmp_path: Path, spoil, path: str, rule: str):
    """Tests that a fault is refused with the file, the path inside it and the rule."""
    instance, file = shipped("worked-example"), tmp_path / "allocation.json"
    write_allocation(ideal_allocation(instance), instance, file)
    document = json.loads(file.read_text())
    spoil(document)
    file.write_text(json.dumps(document))
    with pytest.raises(InvalidInstance) as caught:
        read_allocation(file, instance)
    assert str(caught.value).startswith(f"{file}: {path}: ")
    assert rule in str(caught.value)


def test_a_file_that_is_not_there_is_named_once(tmp_path: Path):
    """Tests that a file that cannot be read is named by its path alone."""
    with pytest.raises(InvalidInstance) as caught:
        read_allocation(tmp_path / "none.json", shipped("worked-example"))
    assert str(caught.value).count("none.json") == 1
