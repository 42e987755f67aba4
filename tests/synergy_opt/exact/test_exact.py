"""Exact numbers: what counts as one, how it is written, and arrays of them."""

import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import ExactArray, decimal_text, exact, exact_sum

numbers = st.fractions(-(10**6), 10**6, max_denominator=10**4)
HUGE = 2**80


class Half:
    """A rational number of someone else's making."""

    numerator, denominator = 1, 2


@given(number=numbers)
def test_a_number_survives_its_text(number: Fraction):
    """Tests that what decimal_text writes is read as the same number."""
    assert exact(decimal_text(number)) == number


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (7, Fraction(7)),
        (62.5, Fraction(125, 2)),
        (np.float64(20.83), Fraction(2083, 100)),
        (np.float32(0.5), Fraction(1, 2)),
        (np.int64(3), Fraction(3)),
        (Decimal("1e-3"), Fraction(1, 1000)),
        ("10/3", Fraction(10, 3)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_numbers_are_what_they_write_down(value: object, number: Fraction):
    """Tests every type that counts as a number."""
    assert exact(value) == number


def test_a_foreign_rational_is_a_number():
    """Tests that any registered Rational is taken by its numerator and denominator."""
    from numbers import Rational

    Rational.register(Half)
    assert exact(Half()) == Fraction(1, 2)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (True, "must be a number, not True"),
        (None, "must be a number, not None"),
        ("", "must be a number"),
        ("1/0", "denominator 0"),
        ("1/2/3", "must be a number, not '1/2/3'"),
        ("1.5/2", "must be a number, not '1.5/2'"),
        ("1/" + "3" * 20_000, "must be a number, not '1/33.*…"),
        ("x" * 500, "…"),
        (float("nan"), "must be finite"),
        (float("inf"), "must be finite"),
        ("1e101", "100 digits"),
        ("1e-101", "100 digits"),
        (10**101, "100 digits"),
        (Decimal("NaN"), "must be finite"),
        ("9" * 401, "must be a number of at most 400 characters, not .9999.*…"),
        (" 6 ", "must be a number"),
        ("1_000", "must be a number"),
        ("٣٣", "must be a number"),
        ("1_", "must be a number"),
    ],
)
def test_what_is_no_finite_number_is_refused(value: object, rule: str):
    """Tests that each way of not being a number is named."""
    with pytest.raises(InvalidInstance, match=rule):
        exact(value)


def test_a_long_decimal_is_written_as_a_fraction():
    """Tests signs, and that more than 100 places become a fraction."""
    assert decimal_text(Fraction(-1, 8)) == "-0.125"
    assert decimal_text(Fraction(1, 2**101)) == f"1/{2**101}"


@given(values=st.lists(numbers, max_size=20))
def test_sums_are_exact(values: list[Fraction]):
    """Tests that the sum by denominators is the sum."""
    assert exact_sum(values) == sum(values, Fraction(0))


@given(values=st.lists(numbers | st.integers(HUGE, HUGE + 9).map(Fraction), max_size=8))
def test_an_array_holds_its_numbers_whatever_their_size(values: list[Fraction]):
    """Tests values, floats, equality, hash and pickling, with int64 and with big integers."""
    array = ExactArray.of(values)
    assert array.tolist() == values
    assert len(array) == len(values)
    assert array.to_floats() == pytest.approx([float(v) for v in values])
    again = pickle.loads(pickle.dumps(array))
    assert again == array
    assert hash(again) == hash(array)
    assert array != ExactArray.of([*values, 1])
    assert (array == "text") is False
    assert ExactArray.of(array) is array


@given(values=st.lists(numbers, min_size=1, max_size=8), limit=numbers)
def test_counting_is_exact(values: list[Fraction], limit: Fraction):
    """Tests count_at_most against comparing one by one, for small and for big integers."""
    for factor in (1, HUGE):
        array = ExactArray.of(sorted(v * factor for v in values))
        expected = sum(v * factor <= limit * factor for v in values)
        assert array.count_at_most(limit * factor) == expected
    assert ExactArray.of([1]).count_at_most(Fraction(2**70)) == 1


def test_arrays_cannot_be_changed():
    """Tests that neither attributes nor numbers can be set, and how an array prints."""
    array = ExactArray.of(np.array([[1, 2], [3, 4]]))
    with pytest.raises(AttributeError, match="immutable"):
        array.denominator = 2
    with pytest.raises(ValueError, match="read-only"):
        array.numerators[0, 0] = 7
    assert repr(array) == "ExactArray(shape=(2, 2), denominator=1)"
    assert ExactArray(np.array([2, 4], dtype=np.uint64), 2).tolist() == [1, 2]
    assert ExactArray(np.array([1], dtype=np.int32)).tolist() == [1]
    assert ExactArray.of(5).shape == ()


def test_an_array_is_made_of_integers_on_a_positive_denominator():
    """Tests that the constructor takes no float and no denominator below 1."""
    with pytest.raises(ValueError, match="denominator must be at least 1, not 0"):
        ExactArray([1], 0)
    with pytest.raises(TypeError, match="numerators must be integers, not float64"):
        ExactArray([0.5], 2)


def test_a_table_has_at_most_16_axes():
    """Tests 16 levels of lists, which are read, and 17, which NumPy might not hold."""
    nested: object = [1]
    for _ in range(15):
        nested = [nested]
    assert ExactArray.of(nested).shape == (1,) * 16
    with pytest.raises(InvalidInstance, match="nested more than 16 deep"):
        ExactArray.of([nested])


def test_a_huge_denominator_gives_nearest_doubles():
    """Tests floats where the denominator itself is no int64."""
    assert ExactArray.of([Fraction(1, HUGE)]).to_floats()[0] == 1 / HUGE
