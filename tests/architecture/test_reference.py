"""The documentation's reference has every public name, once, and no other."""

import re
from pathlib import Path

import pytest

import hived_cells
import hived_cells.design
import hived_cells.simulation
import synergy_opt

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def public(package):
    """Give a package's public names: what it lists, or what it re-exports."""
    listed = getattr(package, "__all__", None)
    if listed is None:
        source = Path(package.__file__).read_text("utf-8")
        listed = re.findall(r"^from \S+ import \S+ as (\S+)$", source, re.MULTILINE)
    return sorted(name for name in listed if not name.startswith("__"))


@pytest.mark.parametrize("package", [synergy_opt, hived_cells], ids=lambda each: each.__name__)
def test_the_reference_lists_every_public_name_once(package):
    """Tests the names in the page's tables against those that can be imported."""
    page = (REFERENCE / f"{package.__name__}.rst").read_text("utf-8")
    assert sorted(re.findall(r"^   (\w+)$", page, re.MULTILINE)) == public(package)


def test_the_reference_lists_the_simulation_and_the_design():
    """Tests the page that two packages share."""
    page = (REFERENCE / "hived_simulation.rst").read_text("utf-8")
    names = public(hived_cells.simulation) + public(hived_cells.design)
    assert sorted(re.findall(r"^   (\w+)$", page, re.MULTILINE)) == sorted(names)
