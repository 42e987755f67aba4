"""Rules that values keep, one function a rule.

Takes what somebody wrote and gives it as an exact value, or raises `InvalidInstance` with the
rule and the path below the value that is being made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import ExactArray, Number, exact

_MOST = 1_000_000  # servers of a group, GPUs of a server or a job: each server takes memory
_RESERVED = ("type", "count", "gpus", "server")  # keys beside the resources in a file


def grid_axis(name: str, values: object) -> ExactArray:
    """Give one axis of a grid: at least one number, increasing strictly, none negative."""
    path = f".axes.{name}"
    axis = not_negative_table(values, path)
    if len(axis.shape) != 1 or not len(axis):
        raise InvalidInstance("must be a list of at least one number", path)
    numerators = axis.numerators
    for i in range(1, len(axis)):
        if numerators[i] <= numerators[i - 1]:
            rule = f"must increase strictly, but {axis[i]} follows {axis[i - 1]}"
            raise InvalidInstance(rule, f"{path}[{i}]")
    return axis


def not_negative_table(values: object, path: str) -> ExactArray:
    """Give nested lists of numbers as an array: not ragged, nothing negative."""
    try:
        table = ExactArray.of(values)
    except InvalidInstance as error:
        raise error.at(path) from None
    negative = (table.numerators < 0).ravel()
    if negative.any():
        worst = table.tolist()[int(negative.argmax())]
        raise InvalidInstance(f"must not be negative, but holds {worst}", path)
    return table


def not_negative(value: Number, path: str) -> Fraction:
    """Give a number of at least 0."""
    try:
        number = exact(value)
    except InvalidInstance as error:
        raise error.at(path) from None
    if number < 0:
        raise InvalidInstance(f"must not be negative, not {number}", path)
    return number


def check_name(name: object, path: str) -> None:
    """Refuse what is no string, or is empty."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidInstance(f"must be a name of at least one character, not {name!r}", path)


def check_count(count: object, path: str) -> None:
    """Refuse what is no whole number of at least 1, or more than any cluster has."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidInstance(f"must be a whole number of at least 1, not {count!r}", path)
    if count > _MOST:
        raise InvalidInstance(f"must be at most {_MOST}", path)


def check_unique(names: Sequence[str], path: str, what: str) -> None:
    """Refuse a name that occurs twice."""
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise InvalidInstance(f"{what} {name!r} occurs {times} times", path)


def check_resources(names: Sequence[str]) -> None:
    """Check that these can be the names of a cluster's resources.

    Raises
    ------
    InvalidInstance
        When there is none, one is blank or there twice, or one is a key that files use otherwise.
    """
    if not names:
        raise InvalidInstance("names no resource; there is nothing to divide", ".resources")
    for name in names:
        check_name(name, ".resources")
        if name in _RESERVED:
            raise InvalidInstance(f"{name!r} cannot be the name of a resource", ".resources")
    check_unique(names, ".resources", "resource")
