"""Rules that values keep, one function a rule.

Takes what somebody wrote and gives it as an exact value, or raises `InvalidInstance` with the
rule and the path below the value that is being made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeGuard, TypeVar

import numpy as np

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import MOST_AXES, ExactArray, exact, shown

T = TypeVar("T")

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


def not_negative(value: object, path: str) -> Fraction:
    """Give a number of at least 0."""
    try:
        number = exact(value)
    except InvalidInstance as error:
        raise error.at(path) from None
    if number < 0:
        raise InvalidInstance(f"must not be negative, not {number}", path)
    return number


def check_name(name: object, path: str) -> None:
    """Refuse what is no string, is empty, or holds what cannot be printed."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidInstance(f"must be a name of at least one character, not {shown(name)}", path)
    if not name.isprintable():
        raise InvalidInstance(f"holds characters that cannot be printed: {shown(name)}", path)


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is a whole number, which True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole_count(count: object, path: str) -> int:
    """Give a whole number of at least 1, and no more than any cluster has."""
    if not is_whole(count) or int(count) < 1:
        raise InvalidInstance(f"must be a whole number of at least 1, not {shown(count)}", path)
    if int(count) > _MOST:
        raise InvalidInstance(f"must be at most {_MOST}", path)
    return int(count)


def all_of(kind: type[T], values: object, path: str) -> tuple[T, ...]:
    """Give a list's values as a tuple, each of one type."""
    if not is_list(values):
        raise InvalidInstance(f"must be a list, not {type(values).__name__}", path)
    found = tuple(values)
    for i, value in enumerate(found):
        if not isinstance(value, kind):
            rule = f"must be of type {kind.__name__}, not {type(value).__name__}"
            raise InvalidInstance(rule, f"{path}[{i}]")
    return found


def is_list(values: object) -> TypeGuard[Iterable[Any]]:
    """Tell whether values come in an order of their own, and are no text."""
    flat = isinstance(values, np.ndarray) and values.ndim == 0
    unordered = isinstance(values, str | bytes | bytearray | Mapping | Set)
    return isinstance(values, Iterable) and not flat and not unordered


def named(values: object, path: str, what: str) -> tuple[tuple[str, object], ...]:
    """Give a mapping's entries, or a list of pairs, as pairs; each name once, and printable."""
    entries = tuple(values.items()) if isinstance(values, Mapping) else values
    pairs = []
    for i, pair in enumerate(all_of(tuple, entries, path)):
        if len(pair) != 2:
            raise InvalidInstance(f"must be a pair, not {shown(pair)}", f"{path}[{i}]")
        check_name(pair[0], path)
        pairs.append(pair)
    check_unique([name for name, _ in pairs], path, what)
    return tuple(pairs)


def expect(kind: type, value: object, name: str) -> None:
    """Refuse an argument of another type than a function is for.

    Raises
    ------
    TypeError
        Naming the argument: the caller's mistake, not one of the data.
    """
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} must be {article} {kind.__name__}, not {type(value).__name__}")


def check_one_of(value: object, allowed: Sequence[str], path: str) -> None:
    """Refuse what is none of a few words."""
    if not isinstance(value, str) or value not in allowed:
        rule = f"must be {' or '.join(map(repr, allowed))}, not {shown(value)}"
        raise InvalidInstance(rule, path)


def check_text(value: object, path: str) -> None:
    """Refuse what is no string, or has half a character, which no file can hold."""
    if not isinstance(value, str):
        raise InvalidInstance(f"must be a string, not {shown(value)}", path)
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidInstance("holds half a character, which no file can", path)


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
        When there is none, there are too many, or one is a key that files use otherwise.
    """
    if not names:
        raise InvalidInstance("names no resource; there is nothing to divide", ".resources")
    if len(names) > MOST_AXES:
        raise InvalidInstance(f"are {len(names)}, more than {MOST_AXES}", ".resources")
    for name in names:
        if name in _RESERVED:
            raise InvalidInstance(f"{name!r} cannot be the name of a resource", ".resources")
