"""Which versions are in use: the first thing that a report of a fault needs.

Takes nothing and gives, or prints, the versions of this package and of what it computes with.
"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "synergy-hived"
_LIBRARIES = ("numpy", "scipy", "highspy", "cvxpy", "ortools", "msgspec", "rich", "matplotlib")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


__version__ = _version(DISTRIBUTION)


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
