"""What is written and read again is what it was."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped_examples import three_resources, two_groups, worked_example
from value_strategies import instances, placements

from synergy_opt.errors import InvalidInstance
from synergy_opt.io import (
    instance_text,
    placement_to_json,
    read_instance,
    read_placement,
    read_profiles,
    shipped,
    shipped_names,
    shipped_path,
    write_instance,
    write_placement,
    write_profiles,
)
from synergy_opt.model import Instance


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder that examples of one test may share, each overwriting the last one's file."""
    return tmp_path_factory.mktemp("round-trip")


@given(instance=instances())
def test_an_instance_survives_its_file(folder: Path, instance: Instance):
    """Tests that reading a written instance gives an equal instance, and the same bytes again."""
    path = folder / "instance.json"
    write_instance(instance, path)
    again = read_instance(path)
    assert again == instance
    assert instance_text(again).encode() == path.read_bytes()


@given(data=st.data(), instance=instances())
def test_a_placement_survives_its_file(folder: Path, data: st.DataObject, instance: Instance):
    """Tests that reading a written placement gives an equal placement with its stated figures."""
    placement = data.draw(placements(instance))
    path = folder / "placement.json"
    write_placement(placement, instance, path)
    stated = read_placement(path, instance)
    assert stated.placement == placement
    assert stated.throughput == placement.throughput
    assert stated.upper_bound == (placement.bound.value if placement.bound else None)


@given(instance=instances())
def test_profiles_survive_a_csv_file(folder: Path, instance: Instance):
    """Tests that reading written profiles gives equal profiles wherever CSV can hold them."""
    path = folder / "profiles.csv"
    plain = all(
        text == text.strip() and "\r" not in text and "\n" not in text and "\0" not in text
        for text in (*instance.cluster.names, *(p.name for p in instance.profiles))
    )
    clash = {"profile", "unit", "per", "throughput"} & set(instance.cluster.names)
    if not plain or clash:
        return
    write_profiles(instance.profiles, path)
    assert read_profiles(path) == instance.profiles


def test_profiles_of_several_resources_need_several_files():
    """Tests that profiles over different resources, or none, are refused as one CSV file."""
    both = [worked_example().profiles[0], three_resources().profiles[0]]
    for profiles in ([], both):
        with pytest.raises(InvalidInstance, match="the same resources"):
            write_profiles(profiles, "never-written.csv")
    assert not Path("never-written.csv").exists()


@pytest.mark.parametrize("make", [worked_example, three_resources, two_groups])
def test_shipped_files_are_what_the_code_makes(make):
    """Tests that each shipped file is what its code makes, byte for byte."""
    instance = make()
    assert shipped(instance.name) == instance
    assert shipped_path(instance.name).read_text(encoding="utf-8") == instance_text(instance)
    assert instance.name in shipped_names()


def test_an_unknown_shipped_name_lists_the_known_ones():
    """Tests that the message for an unknown name says which there are."""
    with pytest.raises(InvalidInstance, match="worked-example"):
        shipped("no-such")


def test_a_placement_document_names_its_schema():
    """Tests that a placement as data carries schema, instance and strings for numbers."""
    from synergy_opt import proportional

    instance = worked_example()
    document = placement_to_json(proportional(instance), instance)
    assert document["schema"] == "synergy-opt/placement/1"
    assert json.loads(json.dumps(document))["jobs"][0]["demand"] == {"cpu": "12", "memory": "250"}
