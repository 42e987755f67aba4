"""The binary search over cores: what it may skip, what it guarantees, what noise does to it."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from synergy_opt.errors import InvalidInstance
from synergy_opt.profiling import measure_curve
from synergy_opt.profiling.cache_model import MODELS

PLENTY = Fraction(10**6)  # GB


@st.composite
def concave_curves(draw):
    """Draw a curve on 1 … n cores whose gains are at least 0 and never grow."""
    first = draw(st.integers(1, 1000))
    drops = draw(st.lists(st.integers(0, 300), min_size=0, max_size=30))
    gains = [first]
    for drop in drops:
        gains.append(max(0, gains[-1] - drop))
    return [sum(gains[: i + 1]) for i in range(len(gains))]


@given(curve=concave_curves(), threshold=st.fractions(Fraction(1, 100), 1))
def test_the_error_is_bounded_for_every_concave_curve(curve: list[int], threshold: Fraction):
    """Tests threshold / (2 + threshold): each bracket holds the truth, each estimate is near."""
    found = measure_curve(
        lambda cpu: curve[int(cpu) - 1], range(1, len(curve) + 1), threshold=threshold
    )
    assert found.keeps_its_assumptions
    assert found.error <= threshold / (2 + threshold)
    for low, guess, up, truth in zip(found.lower, found.estimate, found.upper, curve, strict=True):
        assert low <= truth <= up
        assert abs(guess - truth) <= found.error * truth


@given(curve=concave_curves())
def test_each_core_count_is_measured_at_most_once(curve: list[int]):
    """Tests that a measured value is kept as it is and never asked for again."""
    asked = []
    found = measure_curve(
        lambda cpu: asked.append(cpu) or curve[int(cpu) - 1], range(1, len(curve) + 1)
    )
    assert len(asked) == len(set(asked)) == len(found.measured)
    assert asked[0] == len(curve)
    for cpu, value in found.measured.items():
        assert found.estimate[int(cpu) - 1] == value == curve[int(cpu) - 1]


def test_a_large_threshold_measures_one_point_and_a_tiny_one_every_bend():
    """Tests both ends: a curve that bends at every core count hides something everywhere."""
    root = [int(1e6 * c**0.5) for c in range(1, 25)]
    assert (
        len(measure_curve(lambda c: root[int(c) - 1], range(1, 25), threshold=100).measured) == 1
    )
    fine = measure_curve(lambda c: root[int(c) - 1], range(1, 25), threshold="0.000001")
    assert len(fine.measured) == 24


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda m: m.name)
def test_at_most_eight_of_24_points(model):
    """Tests the paper's cost, 8 measurements of 24, for each synthetic model (§3.1, Fig. 5b)."""
    found = measure_curve(lambda cpu: model.rate(cpu, PLENTY), range(1, 25))
    assert len(found.measured) <= 8
    for cpu, guess in zip(found.cpu, found.estimate, strict=True):
        assert abs(guess / model.rate(cpu, PLENTY) - 1) < Fraction("0.03")


def test_what_breaks_the_assumptions_is_told():
    """Tests curves that fall, or gain more with a later core, where they were measured."""
    assert not measure_curve(lambda cpu: 100 - cpu, range(1, 9)).keeps_its_assumptions
    step = measure_curve(lambda cpu: 1 if cpu < 5 else 100, range(1, 9))
    assert not step.keeps_its_assumptions


@given(seed=st.integers(0, 10**6), noise=st.floats(0, 0.2))
def test_noise_makes_brackets_wide_but_never_crossed(seed: int, noise: float):
    """Tests that noisy measurements still give brackets in order, with each measurement kept."""
    rng = Random(seed)
    model = MODELS["resnet18"]
    found = measure_curve(
        lambda cpu: float(model.rate(cpu, PLENTY)) * (1 + rng.uniform(-noise, noise)), range(1, 25)
    )
    assert all(low <= up for low, up in zip(found.lower, found.upper, strict=True))
    assume(noise < 0.01)
    worst = max(
        abs(float(guess / model.rate(cpu, PLENTY)) - 1)
        for cpu, guess in zip(found.cpu, found.estimate, strict=True)
    )
    assert worst < 0.03 + 2 * noise


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"cpu": []}, "at least one number"),
        ({"cpu": [0, 1]}, "must be above 0"),
        ({"cpu": [2, 1]}, "increase strictly"),
        ({"threshold": 0}, "must be above 0"),
        ({"measure": lambda _: -1}, "must not be negative"),
        ({"measure": lambda _: float("nan")}, "must be finite"),
        ({"measure": lambda _: None}, "must be a number"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], rule: str):
    """Tests that each fault is named."""
    given_all = {"measure": lambda cpu: cpu, "cpu": [1, 2], **arguments}
    with pytest.raises(InvalidInstance, match=rule):
        measure_curve(given_all.pop("measure"), given_all.pop("cpu"), **given_all)


def test_a_measurement_of_nothing_stays_nothing():
    """Tests a job that makes no progress at all: throughput 0 everywhere, no division by it."""
    found = measure_curve(lambda _: 0, range(1, 25))
    assert set(found.estimate) == {0}
    assert found.error == 0
