"""The package's public names: lazy, complete, and functions where modules share their name."""

import importlib
import inspect
import subprocess
import sys

import pytest

import synergy_opt

SHARED = sorted(
    name
    for name in synergy_opt.__all__
    if importlib.util.find_spec(f"synergy_opt.{name}") is not None
)


def test_every_public_name_is_there_and_says_what_it_is():
    """Tests that each name in __all__ can be had, has a docstring and is listed by dir."""
    for name in synergy_opt.__all__:
        value = getattr(synergy_opt, name)
        assert name in dir(synergy_opt)
        if not name.startswith("__"):
            assert inspect.isclass(value) or inspect.isfunction(value)
            assert value.__doc__


def test_an_unknown_name_is_an_attribute_error():
    """Tests that a wrong name fails as in any module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = synergy_opt.nothing
    assert "tune" in SHARED


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize(
    "first",
    [
        "",
        "import synergy_opt.{0}",
        "from synergy_opt.{0} import {0}",
        "import importlib; importlib.import_module('synergy_opt.{0}')",
        "import synergy_opt; synergy_opt.{0}; import synergy_opt.{0}",
    ],
)
def test_a_function_wins_over_its_module_in_every_order(name: str, first: str):
    """Tests that the package gives the function, and the import system still the module."""
    code = (
        f"{first.format(name)}\n"
        f"from synergy_opt import {name}\n"
        "import inspect, importlib, synergy_opt\n"
        f"assert inspect.isfunction({name}), {name}\n"
        f"assert synergy_opt.{name} is {name}\n"
        f"module = importlib.import_module('synergy_opt.{name}')\n"
        f"assert inspect.ismodule(module) and module.{name} is {name}\n"
        f"from synergy_opt.{name} import {name} as again\n"
        f"assert again is {name} is synergy_opt.{name}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_other_attributes_can_be_set_as_in_any_module(monkeypatch: pytest.MonkeyPatch):
    """Tests that only modules are kept from replacing functions: patching still works."""
    monkeypatch.setattr(synergy_opt, "tune", len)
    assert synergy_opt.tune is len


def test_versions_are_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Tests that the versions of the libraries are printed, also where one is missing."""
    from synergy_opt import versions

    synergy_opt.show_versions()
    printed = capsys.readouterr().out
    assert synergy_opt.__version__ in printed
    assert "numpy" in printed
    monkeypatch.setattr(versions, "_LIBRARIES", ("no-such-library",))
    assert versions.versions()["no-such-library"] == "not installed"
