"""A user's own function, by the name of its module or its file.

Takes ``module:function`` or ``file.py:function`` and gives what stands there. Raises whatever the
user's code raises; only what is missing is said in words.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from synergy_opt.errors import InvalidInstance


def load(name: str) -> object:
    """Import ``file.py:function`` or ``module:function``, the current directory first.

    Raises
    ------
    InvalidInstance
        When there is no such file or module.
    AttributeError
        When it has no such attribute.

    Examples
    --------
    >>> load("fractions:Fraction.from_float")(0.5)
    Fraction(1, 2)
    """
    module_name, _, attribute = name.rpartition(":")
    found: object = _module(module_name)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


def source_of(name: str) -> bytes:
    """Give the text of the file in which ``file.py:function`` or ``module:function`` stands.

    Empty where the module has no file that can be read.

    Raises
    ------
    InvalidInstance
        As `load`.

    Examples
    --------
    >>> b"class Fraction" in source_of("fractions:Fraction")
    True
    """
    module = name.rpartition(":")[0]
    file = Path.cwd() / module if module.endswith(".py") else _module(module).__file__
    return Path(file).read_bytes() if file is not None and Path(file).is_file() else b""


def _module(name: str) -> ModuleType:
    """Import a module by its name, or by its file where the name ends in ``.py``."""
    if name.endswith(".py"):
        return _file(Path.cwd() / name, name)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise  # a module that the user's own module asks for
        missing = f"no {error.name}.py in {here}, and no such module is installed"
        raise InvalidInstance(missing, name) from None


def _file(path: Path, name: str) -> ModuleType:
    """Run a file as a module; it may import its neighbours, and be called like any module."""
    if not path.is_file():
        raise InvalidInstance(f"no {path.name} in {path.parent}", name)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    known = path.stem if path.stem not in sys.modules else f"_users_{path.stem}"
    spec = spec_from_file_location(known, path)
    if spec is None or spec.loader is None:
        raise InvalidInstance("is no Python file", name)
    module = module_from_spec(spec)
    sys.modules[known] = module  # where data classes look for the names of their annotations
    spec.loader.exec_module(module)
    return module
