"""Frozen values by the ten thousand, from columns.

Takes a class and a column for each of its fields and gives the values. A frozen value sets its
fields one call each, so that most of the time of writing down a large placement would be theirs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import repeat
from typing import TypeVar

T = TypeVar("T")


def from_columns(cls: type[T], count: int, columns: Sequence[Iterable[object]]) -> list[T]:
    """Give `count` values of a dataclass with slots and no check of its own.

    Parameters
    ----------
    cls
        Its fields have slots, and it has no ``__post_init__``, which would not be called.
    count
        Number of values.
    columns
        One a field, in their order, each of `count` entries.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from synergy_opt.answer import Piece
    >>> columns = [0, 1], [Fraction(2), Fraction(8)], [(), ()]
    >>> from_columns(Piece, 2, columns) == [
    ...     Piece(server=s, gpus=g, amounts=a) for s, g, a in zip(*columns)
    ... ]
    True
    """
    found: list[T] = list(map(cls.__new__, repeat(cls, count)))
    for field, column in zip(fields(cls), columns, strict=True):  # type: ignore[arg-type]
        put = vars(cls)[field.name].__set__
        deque(map(put, found, column), maxlen=0)
    return found
