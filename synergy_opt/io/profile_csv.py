"""Profiles as CSV: one row a grid point, ``profile,unit,per,<resource…>,throughput``.

Takes a path and gives `Profile`s, or writes them; reading what was written gives equal values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import cast

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import decimal_text
from synergy_opt.io.csv_rows import Row, csv_text, read_rows
from synergy_opt.io.text import write_text
from synergy_opt.model import Per, Profile

_BEFORE = ("profile", "unit", "per")
_LAST = "throughput"


def read_profiles(path: str | Path) -> tuple[Profile, ...]:
    r"""Read a CSV file of profiles.

    The columns between ``per`` and ``throughput`` are the resources. Rows may come in any order;
    profiles come in the order of their first rows.

    Raises
    ------
    InvalidInstance
        Naming the file, the line and the rule: a wrong header, a number that is none or is
        negative, a grid point that is there twice or not at all, units that differ in a profile.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "profiles.csv")
    ...     _ = path.write_text(
    ...         "profile,unit,per,cpu,throughput\nm,items/s,gpu,1,5\nm,items/s,gpu,3,9\n")
    ...     (profile,) = read_profiles(path)
    >>> profile.name, profile.throughput.tolist()
    ('m', [Fraction(5, 1), Fraction(9, 1)])
    """
    by_name: dict[str, list[Row]] = {}
    for row in read_rows(path, _check_header):
        by_name.setdefault(row.text("profile"), []).append(row)
    if not by_name:
        raise InvalidInstance("holds no profile", f"{path}")
    return tuple(_profile(name, rows) for name, rows in by_name.items())


def write_profiles(profiles: Iterable[Profile], path: str | Path) -> None:
    """Write profiles that have the same resources to a CSV file, whole or not at all.

    Parameters
    ----------
    profiles
        With the same resources, in the order to be written.
    path
        Where to.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from synergy_opt import read_profiles, shipped
    >>> profiles = shipped("worked-example").profiles
    >>> with TemporaryDirectory() as folder:
    ...     write_profiles(profiles, Path(folder, "profiles.csv"))
    ...     read_profiles(Path(folder, "profiles.csv")) == profiles
    True
    """
    write_text(path, profiles_text(list(profiles)))


def profiles_text(profiles: Sequence[Profile]) -> str:
    """Give the CSV text of profiles.

    Raises
    ------
    InvalidInstance
        When there is none, or their resources differ: a CSV file has one header.
    """
    resources = {profile.resources for profile in profiles}
    if len(resources) != 1:
        raise InvalidInstance("need profiles with the same resources, at least one profile")
    names = resources.pop()
    for name in {*_BEFORE, _LAST}.intersection(names):
        raise InvalidInstance(f"a resource {name!r} cannot be a column of a CSV file")
    rows = [
        [profile.name, profile.unit, profile.per, *map(decimal_text, (*point, value))]
        for profile in profiles
        for point, value in zip(
            product(*(axis.tolist() for _, axis in profile.axes)),
            profile.throughput.tolist(),
            strict=True,
        )
    ]
    return csv_text([*_BEFORE, *names, _LAST], rows)


def _check_header(header: Sequence[str]) -> str:
    if tuple(header[:3]) != _BEFORE or header[-1] != _LAST or len(header) < 5:
        return "the header must be profile,unit,per,<at least one resource>,throughput"
    return ""


def _profile(name: str, rows: list[Row]) -> Profile:
    resources = [key for key in rows[0].cells if key not in (*_BEFORE, _LAST)]
    first, found = rows[0], dict[tuple[Fraction, ...], Fraction]()
    for row in rows:
        for column in ("unit", "per"):
            if row.cells[column] != first.cells[column]:
                row.fail(f"differs from line {first.line} of the same profile", column)
        point = tuple(_amount(row, key) for key in resources)
        if point in found:
            row.fail(f"profile {name!r} already has a row for this grid point")
        found[point] = _amount(row, _LAST)
    axes = [sorted({point[i] for point in found}) for i in range(len(resources))]
    flat = [found.get(point) for point in product(*axes)]
    if None in flat:
        missing = next(p for p in product(*axes) if p not in found)
        shown = ", ".join(
            f"{key} {decimal_text(v)}" for key, v in zip(resources, missing, strict=True)
        )
        rows[-1].fail(f"the grid of profile {name!r} is not full: no row for {shown}")
    try:
        return Profile(
            name=name,
            unit=first.cells["unit"],
            per=cast("Per", first.text("per")),
            axes=zip(resources, axes, strict=True),
            throughput=_nested(flat, [len(axis) for axis in axes]),
        )
    except InvalidInstance as error:
        first.fail(error.rule, error.path.removeprefix("."))


def _amount(row: Row, column: str) -> Fraction:
    value = row.number(column)
    if value < 0:
        row.fail(f"must not be negative, not {row.cells[column]}", column)
    return value


def _nested(flat: Sequence[object], shape: Sequence[int]) -> object:
    if len(shape) == 1:
        return flat
    size = len(flat) // shape[0]
    return [_nested(flat[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]
