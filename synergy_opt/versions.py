"""Which versions are in use: the first thing that a report of a fault needs.

Takes nothing and gives, or prints, the versions of this package and of what it computes with; and
a digest of the source itself, for results that are kept and must not outlive it.
"""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

DISTRIBUTION = "synergy-hived"
_LIBRARIES = ("numpy", "scipy", "highspy", "cvxpy", "ortools", "msgspec", "rich", "matplotlib")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


__version__ = _version(DISTRIBUTION)


@cache
def source_digest() -> str:
    """Give a digest of this package's source files: a version may stay while they change."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Give the version of this package, of Python, of the system and of each library."""
    return {
        DISTRIBUTION: __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **{name: _version(name) for name in _LIBRARIES},
    }


def show_versions() -> None:
    """Print `versions`, a line each, for a report of a fault.

    Examples
    --------
    >>> show_versions()  # doctest: +ELLIPSIS
    synergy-hived ...
    """
    width = max(map(len, versions())) + 1
    for name, found in versions().items():
        print(f"{name:<{width}}{found}")
