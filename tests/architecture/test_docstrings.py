"""The docstrings of what users import: every parameter, what comes back, an example that runs."""

import dataclasses
import inspect
from enum import Enum
from importlib import import_module

import pytest
from numpydoc.docscrape import NumpyDocString

PACKAGES = (
    "synergy_opt",
    "synergy_opt.simulation",
    "synergy_opt.testing",
    "hived_cells",
    "hived_cells.design",
    "hived_cells.simulation",
    "hived_cells.testing",
)


def public():
    """Give the functions and classes of the packages, each once, by the name of its home."""
    found = {}
    for name in PACKAGES:
        package = import_module(name)
        for each in getattr(package, "__all__", None) or dir(package):
            value = getattr(package, each)
            ours = str(getattr(value, "__module__", "")).startswith(("synergy_opt", "hived_cells"))
            if ours and not each.startswith("_") and hasattr(value, "__name__"):
                found.setdefault(f"{value.__module__}.{each}", value)
    return found


PUBLIC = public()
GIVES = (
    "Give",
    "Return",
    "Yield",
    "Draw",
    "Raise",
    "Write",
    "Print",
    "Read",
    "Make",
    "Recommend",
    "Assert",
)
OPAQUE = ("hived_cells.state.State", "hived_cells.gangs.state.GangState")


def asked_for(value):
    """Give the names that a caller may pass."""
    if f"{value.__module__}.{value.__name__}" in OPAQUE:
        return []
    if inspect.isclass(value) and issubclass(value, Enum):
        return []
    if dataclasses.is_dataclass(value) and value.__dataclass_params__.init:
        return [field.name for field in dataclasses.fields(value) if field.init]
    if not callable(value) or (inspect.isclass(value) and getattr(value, "_is_protocol", False)):
        return []
    return [name.strip("*") for name in inspect.signature(value).parameters]


def documented(parsed, section):
    """Give the names of a section; several may share an entry."""
    return [
        name.strip(" *")
        for each in parsed[section]
        for name in (each.name or "").split(",")
        if name
    ]


def faults(value):
    """Give what is missing in a docstring.

    A function of one parameter may say in its first line what it takes, and any function what it
    gives. Fields that no user makes and no user reads (`State`) are no parameters.
    """
    if inspect.isclass(value) and issubclass(value, BaseException):
        return [] if inspect.getdoc(value) else ["says nothing"]
    parsed = NumpyDocString(inspect.getdoc(value) or "")
    asked, names = asked_for(value), documented(parsed, "Parameters")
    told = [] if inspect.isfunction(value) and len(asked) == 1 and not names else asked
    found = [f"parameter {name} is not documented" for name in told if name not in names]
    found += [f"no parameter {name}" for name in names if name not in asked]
    if inspect.isfunction(value):
        if not parsed["Returns"] and not parsed["Summary"][0].startswith(GIVES):
            found.append("does not say what it returns")
        if ">>>" not in "\n".join(parsed["Examples"]):
            found.append("has no example")
    return found


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_the_docstring_says_what_a_caller_needs(name):
    """Tests a public name's docstring against its signature."""
    assert faults(PUBLIC[name]) == []
