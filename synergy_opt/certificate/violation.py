"""One broken rule, and the way numbers are shown in it.

Takes a rule, a path into the placement and the numbers; gives a frozen value that prints as one
line.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from synergy_opt.exact import approximate, decimal_text

_LONGEST = 128  # bits; beyond, a number would fill the screen (and Python refuses to write it)


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """A rule that an answer breaks, where, and with which numbers.

    Parameters
    ----------
    rule
        Short stable name, such as ``"capacity"``.
    where
        JSON path into the placement, such as ``$.jobs[3].pieces[0]``.
    message
        What should hold and what holds instead, with the numbers.

    Examples
    --------
    >>> print(Violation(rule="gpu-total", where="$.jobs[3]", message="3 GPUs of its 4"))
    $.jobs[3]: gpu-total: 3 GPUs of its 4
    """

    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.rule}: {self.message}"


def show(number: Fraction | int) -> str:
    """Write a number exactly where that is short enough to read, else "about" it.

    Examples
    --------
    >>> show(Fraction(125, 2)), show(Fraction(10, 3))
    ('62.5', '10/3')
    >>> show(Fraction(10**50, 3))
    'about 3.33333333333333e+49'
    """
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits > _LONGEST:
        return f"about {approximate(number, digits=15)}"
    return decimal_text(Fraction(number))
