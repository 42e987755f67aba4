"""Fitted rates: the true ones come back, and what the points cannot show is not made up."""

from fractions import Fraction
from random import Random

import pytest

from synergy_opt.errors import InvalidInstance
from synergy_opt.profiling import Point, fit_cache_model
from synergy_opt.profiling.cache_model import MODELS, STORAGE

GRID = [(c, m) for c in (1, 2, 3, 6, 9, 12, 24) for m in (20, 62.5, 125, 187.5, 250, 500)]


def points(name: str, noise: float = 0.0) -> list[Point]:
    """Measure a synthetic model on a grid."""
    rng, model = Random(5), MODELS[name]
    return [
        Point(
            c, m, float(model.rate(Fraction(c), Fraction(m))) * rng.uniform(1 - noise, 1 + noise)
        )
        for c, m in GRID
    ]


@pytest.mark.parametrize("name", ["resnet18", "m5"])
def test_the_parameters_come_back(name: str):
    """Tests that noiseless points give the rates they were made from."""
    model, found = MODELS[name], fit_cache_model(points(name))
    assert found.error < 1e-3
    uncached = float(STORAGE / model.item)
    expected = (model.core_rate, model.gpu_rate, uncached, float(model.dataset))
    seen = (found.core_rate, found.gpu_rate, found.uncached_rate, found.dataset)
    for value, truth in zip(seen, expected, strict=True):
        assert value is not None
        assert abs(value / truth - 1) < 0.01


def test_one_memory_size_tells_no_data_set():
    """Tests WaveNet, which storage limits only without any cache: its data set is not stated."""
    found = fit_cache_model(points("wavenet"))
    assert found.uncached_rate == pytest.approx(float(STORAGE / MODELS["wavenet"].item), rel=1e-3)
    assert found.dataset is None


@pytest.mark.parametrize("seed", range(3))
def test_one_cache_size_tells_no_rate_of_storage(seed: int):
    """Tests storage that limits one memory size with a cache: any rate goes with some data set."""
    fetch = {60: 1000 / 3, 500: float("inf")}
    seen = [Point(c, m, min(50 * c, 400, fetch[m])) for c in (1, 3, 9, 24) for m in fetch]
    # At 500 GB the plateau could be storage's as well; half of the points there lie above it.
    seen += [Point(24, 400, 400), Point(9, 400, 400)]
    found = fit_cache_model(seen, seed=seed)
    assert found.error < 1e-3
    assert (found.uncached_rate is None) == (found.dataset is None)


def test_noise_moves_them_little():
    """Tests 3 % noise: every rate within 5 %."""
    model, found = MODELS["resnet18"], fit_cache_model(points("resnet18", noise=0.03))
    assert found.core_rate is not None
    assert abs(found.core_rate / model.core_rate - 1) < 0.05
    assert found.gpu_rate is not None
    assert abs(found.gpu_rate / model.gpu_rate - 1) < 0.05
    assert 0.01 < found.error < 0.07


def test_what_never_binds_is_not_stated():
    """Tests a language model: one core is enough and storage never limits, so neither is known."""
    found = fit_cache_model([p for p in points("gnmt") if p.cpu > 1])
    assert found.core_rate is None
    assert found.uncached_rate is None
    assert found.dataset is None
    assert found.gpu_rate == pytest.approx(400, rel=1e-3)


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        ([], "at least 4"),
        ([Point(0, 20, 1)] * 4, "above 0"),
        ([Point(1, 20, 0)] * 4, "above 0"),
        ([Point(1, 20, float("nan"))] * 4, "above 0"),
        ([Point(1, 19, 1)] * 4, "less than the process's 20 GB"),
    ],
)
def test_bad_points_are_refused(bad: list[Point], rule: str):
    """Tests that the message names the point and the rule."""
    with pytest.raises(InvalidInstance, match=rule):
        fit_cache_model(bad)
