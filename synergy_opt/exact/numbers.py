"""Exact rational numbers, alone and in arrays: integers on one common denominator.

Takes numbers as people write them (62.5 is 125/2), gives `Fraction` and `ExactArray`; no float
survives in here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from numbers import Rational

import numpy as np
import numpy.typing as npt

from synergy_opt.errors import InvalidInstance

Number = int | float | str | Decimal | Fraction
IntArray = npt.NDArray[np.int64]

_LONGEST = 100  # digits before or after the point; a longer number is a mistake or an attack
_LONGEST_DECIMAL = 4 * _LONGEST  # characters, with sign, point and exponent
_LONGEST_FRACTION = 20_000  # characters of "a/b": sums of unlike throughputs are long
_FRACTION = re.compile(r"[+-]?[0-9]+/[0-9]+")
MOST_AXES = 16  # resources of a profile; NumPy itself stops at 32 or 64
_DECIMAL = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf(inity)?)", re.I
)
_LARGE_PART = 10**6  # beyond, a part of 1 is shown with an exponent
_INT64 = 2**62  # headroom of one bit, so that a sum of two still fits


def exact(value: object) -> Fraction:
    """Give the rational number that `value` writes down.

    A float counts as the shortest decimal that denotes it, so ``exact(62.5) == Fraction(125, 2)``
    and ``exact(20.83) == Fraction(2083, 100)``. A string is a decimal or a fraction ``"10/3"``.

    Raises
    ------
    InvalidInstance
        When `value` is no finite number of at most 100 digits on either side of the point.

    Examples
    --------
    >>> exact("10/3"), exact(20.83)
    (Fraction(10, 3), Fraction(2083, 100))
    """
    if isinstance(value, bool):
        raise InvalidInstance(f"must be a number, not {value!r}")
    if isinstance(value, int):
        return _bounded(Fraction(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float | np.floating):
        return _from_text(np.format_float_scientific(value))  # the shortest for its own width
    if isinstance(value, Decimal | str):
        return _from_text(str(value))
    raise InvalidInstance(f"must be a number, not {shown(value)}")


def _from_text(text: str) -> Fraction:
    if "/" not in text:
        return _decimal(text)
    if len(text) > _LONGEST_FRACTION or not _FRACTION.fullmatch(text):
        raise InvalidInstance(f"must be a number, not {shown(text)}")
    # Decimal, since Python refuses to turn text of more than 4,300 digits into an int.
    numerator, denominator = (int(Decimal(part)) for part in text.split("/"))
    if denominator == 0:
        raise InvalidInstance(f"must be a number, not {shown(text)}: denominator 0")
    return Fraction(numerator, denominator)


def _decimal(text: str) -> Fraction:
    if len(text) > _LONGEST_DECIMAL:
        rule = f"must be a number of at most {_LONGEST_DECIMAL} characters, not {shown(text)}"
        raise InvalidInstance(rule)
    try:
        if not _DECIMAL.fullmatch(text):
            raise ValueError
        number = Decimal(text)
    except (ArithmeticError, ValueError):
        raise InvalidInstance(f"must be a number, not {shown(text)}") from None
    if not number.is_finite():
        raise InvalidInstance(f"must be finite, not {text}")
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # a finite number's exponent is no letter
    if exponent < -_LONGEST or number.adjusted() > _LONGEST:
        rule = f"has more than {_LONGEST} digits on a side of the point: {shown(text)}"
        raise InvalidInstance(rule)
    return Fraction(number)


def _bounded(number: Fraction) -> Fraction:
    if abs(number.numerator) > 10**_LONGEST:
        raise InvalidInstance(f"has more than {_LONGEST} digits")
    return number


def shown(value: object) -> str:
    """Write any value shortly for a message, even one that cannot write itself."""
    try:
        text = repr(value)
    except Exception:  # code of the value's own type, or an integer of thousands of digits
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:60] + "…"


def decimal_text(number: Fraction) -> str:
    """Write a number exactly: as a decimal where that ends, as ``"10/3"`` where not.

    Examples
    --------
    >>> decimal_text(Fraction(125, 2)), decimal_text(Fraction(10, 3)), decimal_text(Fraction(4))
    ('62.5', '10/3', '4')
    """
    twos, fives, rest = 0, 0, number.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    places = max(twos, fives)
    if rest != 1 or places > _LONGEST:
        return f"{_digits(number.numerator)}/{_digits(number.denominator)}"
    digits = _digits(abs(number.numerator) * 10**places // number.denominator)
    digits = digits.rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def _digits(number: int) -> str:
    """Write an integer of any length; Python's own `str` refuses more than 4,300 digits."""
    return format(Decimal(number), "f")


def approximate(number: Fraction | int, *, digits: int = 6) -> str:
    """Write about the number, for people to read: at most `digits` figures, whatever its size.

    Examples
    --------
    >>> approximate(Fraction(10, 3)), approximate(10**500), approximate(Fraction(-1, 3 * 10**400))
    ('3.33333', '1e+500', '-3.33333e-401')
    """
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if math.isfinite(value) and (value or not number):
        return f"{value:.{digits}g}"
    context = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{quotient.normalize(context):g}"


def percent(part: Fraction, *, places: int = 0) -> str:
    """Write a part of 1 in percent, for people to read, whatever its size; zero is zero alone.

    Examples
    --------
    >>> percent(Fraction(1, 3)), percent(Fraction(1, 3), places=2), percent(Fraction(10**500))
    ('33%', '33.33%', '1e+502%')
    >>> percent(Fraction(0), places=2), percent(Fraction(1, 10**6), places=2)
    ('0.00%', '<0.01%')
    """
    least = Fraction(1, 10 ** (places + 2))
    if 0 < 2 * part < least:  # what rounds to zero
        return f"<{float(least):.{places}%}"
    large = abs(part) > _LARGE_PART
    return f"{approximate(100 * part)}%" if large else f"{float(part):.{places}%}"


def exact_sum(numbers: Iterable[Fraction]) -> Fraction:
    """Add fractions with one common denominator a time, pairwise: fast for many denominators."""
    by_denominator: dict[int, int] = {}
    for number in numbers:
        key = number.denominator
        by_denominator[key] = by_denominator.get(key, 0) + number.numerator
    parts = [Fraction(above, below) for below, above in by_denominator.items()]
    while len(parts) > 1:
        parts = [sum(parts[i : i + 2], Fraction(0)) for i in range(0, len(parts), 2)]
    return parts[0] if parts else Fraction(0)


class ExactArray:
    """An immutable array of rationals: integer `numerators` on one `denominator`, in lowest terms.

    Parameters
    ----------
    numerators
        Integers of any shape. Kept as int64 where they fit, as Python integers where not.
    denominator
        Positive.

    Examples
    --------
    >>> a = ExactArray.of([[1, 0.5], ["1/3", 2]])
    >>> a.shape, a[0, 1], a.denominator
    ((2, 2), Fraction(1, 2), 6)
    """

    __slots__ = ("denominator", "numerators")
    numerators: IntArray
    denominator: int

    def __init__(self, numerators: npt.ArrayLike, denominator: int = 1) -> None:
        if denominator < 1:
            raise ValueError(f"the denominator must be at least 1, not {denominator}")
        array = _as_integers(np.asarray(numerators))
        if array.dtype == object:
            common = math.gcd(int(denominator), *(int(n) for n in array.flat))
        else:
            # Reducing int64 by int64 first keeps a huge denominator out of NumPy.
            common = math.gcd(int(denominator), int(np.gcd.reduce(array, axis=None, initial=0)))
        if common > 1:
            array = _as_integers(array // common)
        array = np.array(array, order="C")
        array.flags.writeable = False
        object.__setattr__(self, "numerators", array)
        object.__setattr__(self, "denominator", int(denominator) // common)

    @classmethod
    def of(cls, values: object) -> ExactArray:
        """Read nested sequences of numbers; raises `InvalidInstance` with the path of a fault."""
        if isinstance(values, cls):
            return values
        if isinstance(values, np.ndarray):
            values = values.tolist()
        shape = _shape(values)
        if len(shape) > MOST_AXES:
            raise InvalidInstance(f"is nested more than {MOST_AXES} deep")
        flat = list(_flat(values, shape, ""))
        denominator = math.lcm(*(f.denominator for f in flat)) if flat else 1
        scaled = [f.numerator * (denominator // f.denominator) for f in flat]
        array = np.empty(len(scaled), dtype=object)
        array[:] = scaled
        return cls(array.reshape(shape), denominator)

    @property
    def shape(self) -> tuple[int, ...]:
        """Length along each axis."""
        return self.numerators.shape

    def __len__(self) -> int:
        return len(self.numerators)

    def __getitem__(self, index: int | tuple[int, ...]) -> Fraction:
        return Fraction(int(self.numerators[index]), self.denominator)

    def tolist(self) -> list[Fraction]:
        """Give all numbers in C order."""
        return [Fraction(int(n), self.denominator) for n in self.numerators.flat]

    def to_floats(self) -> npt.NDArray[np.float64]:
        """Give the nearest doubles, for a solver or a picture."""
        if self.numerators.dtype == object or self.denominator >= _INT64:
            quotients = [int(n) / self.denominator for n in self.numerators.flat]
            return np.array(quotients, dtype=np.float64).reshape(self.shape)
        return self.numerators / self.denominator

    def count_at_most(self, limit: Fraction) -> int:
        """Count the numbers ≤ `limit` in a sorted one-dimensional array, exactly."""
        floor = limit.numerator * self.denominator // limit.denominator
        if self.numerators.dtype == object or floor.bit_length() >= 63:
            return sum(int(n) <= floor for n in self.numerators)
        return int(np.searchsorted(self.numerators, floor, side="right"))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an ExactArray is immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactArray):
            return NotImplemented
        same = self.denominator == other.denominator and self.shape == other.shape
        return same and bool((self.numerators == other.numerators).all())

    def __hash__(self) -> int:
        # Equal arrays have equal dtypes, since the dtype follows from the values alone.
        if self.numerators.dtype == object:
            return hash((self.denominator, self.shape, tuple(self.numerators.flat)))
        return hash((self.denominator, self.shape, self.numerators.tobytes()))

    def __reduce__(self) -> tuple[object, ...]:
        return ExactArray, (np.array(self.numerators), self.denominator)

    def __repr__(self) -> str:
        return f"ExactArray(shape={self.shape}, denominator={self.denominator})"


def _as_integers(array: npt.NDArray[np.generic]) -> IntArray:
    """Give int64 where all values fit, else Python integers in an object array."""
    if array.dtype.kind not in "iuO":
        raise TypeError(f"numerators must be integers, not {array.dtype}")
    if array.dtype == object or array.dtype.itemsize == 8:
        small = (
            all(-_INT64 < int(n) < _INT64 for n in (array.min(), array.max()))
            if array.size
            else True
        )
        return array.astype(np.int64 if small else object)
    return array.astype(np.int64)


def _shape(values: object) -> tuple[int, ...]:
    lengths: list[int] = []
    while _is_sequence(values) and len(lengths) <= MOST_AXES:
        assert isinstance(values, Sequence)
        lengths.append(len(values))
        if not values:
            break
        values = values[0]
    return tuple(lengths)


def _flat(values: object, shape: tuple[int, ...], path: str) -> Iterable[Fraction]:
    if not shape:
        try:
            yield exact(values)
        except InvalidInstance as error:
            raise error.at(path) from None
        return
    if not _is_sequence(values):
        raise InvalidInstance(f"must be a list of {shape[0]}: the table is ragged", path)
    assert isinstance(values, Sequence)
    if len(values) != shape[0]:
        rule = f"has {len(values)} entries, not {shape[0]}: the table is ragged"
        raise InvalidInstance(rule, path)
    for i, value in enumerate(values):
        yield from _flat(value, shape[1:], f"{path}[{i}]")


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
