"""Exact numbers: rationals alone and in arrays, and linear systems over them.

Takes numbers as people write them and gives `Fraction` and `ExactArray`; no float survives
here.
"""

from synergy_opt.exact.numbers import MOST_AXES as MOST_AXES
from synergy_opt.exact.numbers import ExactArray as ExactArray
from synergy_opt.exact.numbers import IntArray as IntArray
from synergy_opt.exact.numbers import Number as Number
from synergy_opt.exact.numbers import approximate as approximate
from synergy_opt.exact.numbers import decimal_text as decimal_text
from synergy_opt.exact.numbers import exact as exact
from synergy_opt.exact.numbers import exact_sum as exact_sum
from synergy_opt.exact.numbers import percent as percent
from synergy_opt.exact.numbers import shown as shown

__all__ = [
    "MOST_AXES",
    "ExactArray",
    "IntArray",
    "Number",
    "approximate",
    "decimal_text",
    "exact",
    "exact_sum",
    "percent",
    "shown",
]
