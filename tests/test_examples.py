"""Every example that people read is run: the docstrings of both packages and the README."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import hived_cells
import synergy_opt

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(
    module.name
    for package in (synergy_opt, hived_cells)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", [*MODULES, "synergy_opt", "hived_cells"])
def test_docstring_examples(name):
    """Tests that the examples in a module's docstrings print what stands there."""
    found = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.failed == 0


def test_readme_examples():
    """Tests that the README's Python blocks print what stands there."""
    found = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.attempted > 0
    assert found.failed == 0
