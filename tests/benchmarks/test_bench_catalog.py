"""The catalogue's instances are what their recipes give, byte for byte, and a change is caught."""

from fractions import Fraction

import pytest

from benchmarks.instances import catalog as module
from benchmarks.instances.catalog import STORED, catalog, checksum, load, matching, recipes
from benchmarks.instances.command import fault
from synergy_opt import ideal_allocation
from synergy_opt.errors import InvalidInstance

FIRST = {entry.family: entry for entry in reversed(catalog().values())}


def test_every_recipe_is_on_record_once():
    """Tests that code and record name the same instances in the same order."""
    assert [recipe.name for recipe in recipes()] == list(catalog())


@pytest.mark.parametrize("entry", FIRST.values(), ids=lambda e: e.name)
def test_a_family_is_generated_to_its_checksum(entry):
    """Tests the smallest instance of each family against its record, and its stored file."""
    assert fault(entry) is None


@pytest.mark.parametrize("name", ["mix-20-512-0", "different-64-0", "groups-64-1"])
def test_large_instances_are_generated_to_their_checksums(name):
    """Tests instances that are not stored."""
    assert not catalog()[name].stored
    assert checksum(load(name)) == catalog()[name].sha256


def test_what_is_stored_is_small_and_on_record():
    """Tests the folder against the record: no stray file, less than 1 MB in all."""
    files = {path.stem: path.stat().st_size for path in STORED.glob("*.json")}
    assert set(files) == {name for name, entry in catalog().items() if entry.stored}
    assert sum(files.values()) < 10**6
    assert max(files.values()) <= module.SMALL


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    """Tests that an instance with one digit changed is not loaded."""
    name = "mix-33-4-0"
    text = (STORED / f"{name}.json").read_text("utf-8")
    (tmp_path / f"{name}.json").write_text(text.replace('"gpus": 8', '"gpus": 9', 1), "utf-8")
    monkeypatch.setattr(module, "STORED", tmp_path)
    with pytest.raises(InvalidInstance, match="checksum"):
        load(name)


def test_the_planted_optimum_of_triplets_is_reached():
    """Tests that the ideal allocation makes 2 of every job: the cut that was planted."""
    instance = load("triplets-3-0")
    assert ideal_allocation(instance).throughput == 2 * len(instance.jobs)
    used = [sum(p.axes[r][1][1] for p in instance.profiles) for r in range(2)]
    assert used == [Fraction(24 * 3), Fraction(500 * 3)]


def test_the_widest_gap_is_as_the_theory_says():
    """Tests LP 2n − 2 and ILP n of stage 1."""
    found = ideal_allocation(load("widest-gap-10"))
    assert (found.throughput, found.bound.value) == (10, 18)


def test_patterns_choose_by_name_or_family():
    """Tests that nothing is chosen silently."""
    assert [e.name for e in matching(["widest-gap"])] == ["widest-gap-10", "widest-gap-50"]
    assert [e.name for e in matching(["mix-??-4-1"])] == [f"mix-{w}-4-1" for w in (20, 33, 50)]
    with pytest.raises(InvalidInstance, match="fits no instance"):
        matching(["mixx"])
