"""Limits: when a solver may stop, checked where they are made."""

from fractions import Fraction
from time import monotonic

import pytest

from synergy_opt.errors import InvalidInstance
from synergy_opt.solution import Limits, limits_of


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("time", -1, "at least 0 seconds and finite, not -1"),
        ("time", float("nan"), "at least 0 seconds and finite, not nan"),
        ("time", "5", "at least 0 seconds and finite, not '5'"),
        ("time", True, "at least 0 seconds and finite, not True"),
        ("time", float("inf"), "and finite, not inf"),
        ("time", 10**400, "and finite, not 1000"),
        ("gap", -1, "must not be negative, not -1"),
        ("gap", None, "must be a number, not None"),
        ("threads", 0, "whole number of at least 1, not 0"),
        ("threads", 1.0, "whole number of at least 1, not 1.0"),
        ("seed", -1, "from 0 to 2³¹ − 1, not -1"),
        ("seed", 2**31, "from 0 to 2³¹ − 1, not 2147483648"),
        ("seed", "x", "from 0 to 2³¹ − 1, not 'x'"),
        ("seed", True, "from 0 to 2³¹ − 1, not True"),
    ],
)
def test_a_limit_that_breaks_a_rule_is_refused(field, value, rule):
    """Tests that each field says what it takes, with the path of the field."""
    with pytest.raises(InvalidInstance) as caught:
        Limits(**{field: value})
    assert caught.value.path == f".{field}"
    assert rule in caught.value.rule


def test_the_time_that_is_left():
    """Tests that time passes, never below 0, and that no limit stays none."""
    assert Limits().since(monotonic() - 5) == Limits()
    left = Limits(time=60, gap=Fraction(1, 2)).since(monotonic() - 5)
    assert 50 < left.time <= 55
    assert left.gap == Fraction(1, 2)
    assert Limits(time=1).since(monotonic() - 5).time == 0


def test_limits_are_limits_or_nothing():
    """Tests that None means no limits, and that a bare number of seconds is refused."""
    assert limits_of(None) == Limits()
    assert limits_of(Limits(seed=3)) == Limits(seed=3)
    with pytest.raises(TypeError, match=r"must be a Limits, such as Limits\(time=60\), not float"):
        limits_of(5.0)
