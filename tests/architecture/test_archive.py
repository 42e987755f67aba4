"""The source archive holds everything that the tests, the documents and the proofs need."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = {"dist", "build", "__pycache__", "pyproject.toml", "PKG-INFO"}  # or added by the builder


def test_the_source_archive_is_the_whole_clone():
    """Tests that each file and folder of the clone is in the list of what is packed."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packed = set(settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    there = {each.name for each in ROOT.iterdir() if not each.name.startswith(".")} - MADE
    assert {each for each in there if not each.endswith(".egg-info")} <= packed
    assert all((ROOT / name).exists() for name in packed)
