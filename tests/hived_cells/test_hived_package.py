"""The package's public names are lazy and complete; functions win over modules of their name."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import hived_cells

SHARED = sorted(
    name
    for name in hived_cells.__all__
    if importlib.util.find_spec(f"hived_cells.{name}") is not None
)


def python(code):
    """Run code in an interpreter of its own; return its error output, "" where it succeeds."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""


def test_importing_the_package_loads_none_of_its_modules():
    """Tests that `import hived_cells` loads one file, and a name what it needs."""
    loaded = "[n for n in sys.modules if n.startswith('hived_cells.') or n == 'numpy']"
    assert python(f"import sys, hived_cells\nassert not {loaded}") == ""
    code = f"import sys\nfrom hived_cells import Chain\nfound = {loaded}\n"
    assert python(code + "assert 'hived_cells.hierarchy' in found, found") == ""
    assert python(code + "assert 'hived_cells.gangs' not in found and 'numpy' not in found") == ""


def test_every_public_name_is_there_and_says_what_it_is():
    """Tests that each name in __all__ can be had, is its module's and is listed by dir."""
    for name in hived_cells.__all__:
        value = getattr(hived_cells, name)
        assert not inspect.ismodule(value)
        assert value.__doc__
    assert dir(hived_cells) == sorted(hived_cells.__all__)


def test_an_unknown_name_is_an_attribute_error():
    """Tests that a wrong name fails as in any module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hived_cells.nothing


@pytest.mark.parametrize(
    "first",
    [
        "",
        "import hived_cells.{0}",
        "from hived_cells.{0} import {0}",
        "import importlib; importlib.import_module('hived_cells.{0}')",
        "import hived_cells; hived_cells.{0}; import hived_cells.{0}",
    ],
)
def test_a_function_wins_over_its_module_in_every_order(first):
    """Tests that the package gives the function, and the import system still the module."""
    assert {"allocate", "doomed", "recover", "release"} <= set(SHARED)
    for name in SHARED:
        code = (
            f"{first.format(name)}\n"
            f"from hived_cells import {name}\n"
            "import inspect, importlib, hived_cells\n"
            f"assert inspect.isfunction({name}), {name}\n"
            f"assert hived_cells.{name} is {name}\n"
            f"module = importlib.import_module('hived_cells.{name}')\n"
            f"assert inspect.ismodule(module) and module.{name} is {name}\n"
        )
        assert python(code) == ""


def test_what_type_checkers_see_is_what_is_exported():
    """Tests that the imports for type checkers and the table of lazy names agree."""
    tree = ast.parse(Path(hived_cells.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        seen |= {name.asname: node.module.removeprefix("hived_cells.") for name in node.names}
    assert seen == hived_cells._HOME
