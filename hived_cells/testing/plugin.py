"""What pytest needs to know of the allocator kit: its options.

Registered with pytest by the installed package, so that it must import nothing beyond
`hived_cells` itself; from a clone, ``-p hived_cells.testing.plugin`` does the same.
"""

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

__all__ = ["allocator", "pytest_addoption", "pytest_configure"]

KIT = "hived_cells.testing.conformance"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the kit's options."""
    group = parser.getgroup("conformance", "conformance kits")
    group.addoption(
        "--allocator",
        metavar="NAME",
        help=f"what {KIT} tests: module:Name of an object, or of a class to call without "
        "arguments, with initial, allocate and release",
    )
    with suppress(ValueError):  # the other kit of this distribution has it too
        group.addoption(
            "--examples",
            type=int,
            metavar="N",
            help="drawn examples a rule (default: as the Hypothesis profile says)",
        )


def pytest_configure(config: pytest.Config) -> None:
    """Look at the options before anything is run."""
    name: str | None = config.getoption("--allocator")
    examples: int | None = config.getoption("--examples")
    if name is not None:
        if examples is not None and examples < 1:
            raise pytest.UsageError(f"--examples {examples}: must be at least 1")
        try:
            allocator(name)
        except (Exception, SystemExit) as error:
            message = f"--allocator {name}: {type(error).__name__}: {error}"
            raise pytest.UsageError(message) from None
    elif any(KIT in arg.replace("/", ".") for arg in config.args):
        raise pytest.UsageError(f"{KIT} needs --allocator module:Name")


def allocator(name: str) -> Any:
    """Import an allocator, the current directory first.

    Raises
    ------
    TypeError
        It lacks one of the three functions.

    Examples
    --------
    >>> allocator("hived_cells.testing.planted:ListAllocator")
    ListAllocator(fault='')
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        raise TypeError("must be module:Name")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    found: Any = import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    if isinstance(found, type):
        found = found()
    for function in ("initial", "allocate", "release"):
        if not callable(getattr(found, function, None)):
            raise TypeError(f"has no function {function!r}")
    return found
