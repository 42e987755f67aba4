"""The instances that come with the package.

Takes a name and gives the `Instance` of that name, or its path for tools that want a file.
"""

from __future__ import annotations

from pathlib import Path

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.instance_file import read_instance
from synergy_opt.model import Instance

_FOLDER = Path(__file__).resolve().parent.parent / "instances"


def shipped_names() -> tuple[str, ...]:
    """Give the names of the shipped instances, sorted.

    Examples
    --------
    >>> shipped_names()
    ('three-resources', 'two-groups', 'worked-example')
    """
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


def shipped_path(name: str) -> Path:
    """Give the file of a shipped instance.

    Raises
    ------
    InvalidInstance
        When no instance of that name is shipped.
    """
    if name not in shipped_names():
        known = ", ".join(shipped_names())
        raise InvalidInstance(f"no instance {name!r} is shipped; there are {known}")
    return _FOLDER / f"{name}.json"


def shipped(name: str) -> Instance:
    """Read a shipped instance.

    Examples
    --------
    >>> shipped("worked-example").cluster.gpus
    16
    """
    return read_instance(shipped_path(name))
