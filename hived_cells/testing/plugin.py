"""What pytest needs to know of the kits: their options.

Registered with pytest by the installed package, so that it must import nothing beyond
`hived_cells` itself; from a clone, ``-p hived_cells.testing.plugin`` does the same.
"""

import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

__all__ = ["ALLOCATOR", "GANGS", "named", "pytest_addoption", "pytest_configure"]

ALLOCATOR = ("initial", "allocate", "release")
"""The functions of an allocator."""
GANGS = ("initial", "place", "remove", "running", "held")
"""The functions of a gang scheduler."""

KITS = {
    "--allocator": ("hived_cells.testing.conformance", ALLOCATOR),
    "--gangs": ("hived_cells.testing.gang_conformance", GANGS),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the kits' options."""
    group = parser.getgroup("conformance", "conformance kits")
    for option, (kit, functions) in KITS.items():
        group.addoption(
            option,
            metavar="NAME",
            help=f"what {kit} tests: module:Name or file.py:Name of an object, or of a class "
            f"to call without arguments, with {', '.join(functions[:-1])} and {functions[-1]}",
        )
    with suppress(ValueError):  # the other kit of this distribution has it too
        group.addoption(
            "--examples",
            type=int,
            metavar="N",
            help="random runs of a kit (default: 1,000)",
        )


def pytest_configure(config: pytest.Config) -> None:
    """Look at the options before anything is run."""
    examples: int | None = config.getoption("--examples")
    for option, (kit, functions) in KITS.items():
        name: str | None = config.getoption(option)
        if name is not None:
            if examples is not None and examples < 1:
                raise pytest.UsageError(f"--examples {examples}: must be at least 1")
            try:
                named(name, functions)
            except (Exception, SystemExit) as error:
                message = f"{option} {name}: {type(error).__name__}: {error}"
                raise pytest.UsageError(message) from None
        elif any(kit in arg.replace("/", ".") for arg in config.args):
            raise pytest.UsageError(f"{kit} needs {option} module:Name")


def named(name: str, functions: Iterable[str]) -> Any:
    """Import what is to be tested by its module or its file, the current directory first.

    Raises
    ------
    TypeError
        It lacks one of the functions.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> named("hived_cells.testing.planted:ListAllocator", ALLOCATOR)
    ListAllocator(fault='')
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        raise TypeError("must be module:Name")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    found: Any = _file(Path.cwd() / module) if module.endswith(".py") else import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    if isinstance(found, type):
        found = found()
    for function in functions:
        if not callable(getattr(found, function, None)):
            raise TypeError(f"has no function {function!r}")
    return found


def _file(path: Path) -> ModuleType:
    """Run a file as a module, once; it may import its neighbours."""
    if not path.is_file():
        raise FileNotFoundError(f"no {path.name} in {path.parent}")
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    known = f"_tested_{path.stem}"
    module = sys.modules.get(known)
    if module is None or module.__file__ != str(path):
        spec = spec_from_file_location(known, path)
        if spec is None or spec.loader is None:  # never for a file that ends in .py
            raise ImportError(f"{path} is no Python file")
        module = sys.modules[known] = module_from_spec(spec)  # where states are unpickled from
        spec.loader.exec_module(module)
    return module
