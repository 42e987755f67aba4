"""What is computed from times and gaps: means, profiles, growth, intervals.

Takes plain numbers and gives plain numbers; statistics in floats, nothing here decides an answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Interval = tuple[float, float]


def shifted_geometric_mean(times: Sequence[float], *, shift: float = 10.0) -> float:
    """Give (Π (t + s))^(1/n) − s: short times count little, one long one does not rule.

    The usual mean of solver benchmarks; with the shift at 10 s as in Mittelmann's.

    Examples
    --------
    >>> round(shifted_geometric_mean([0, 0, 90]), 2)
    11.54
    """
    return math.exp(sum(math.log(t + shift) for t in times) / len(times)) - shift


def performance_profile(
    times: Mapping[str, Sequence[float]], *, points: int = 200
) -> tuple[npt.NDArray[np.float64], dict[str, npt.NDArray[np.float64]]]:
    """Give τ and, for each method, the part of the instances on which it is within τ of the best.

    Parameters
    ----------
    times
        For each method its time on the same instances, infinite where it did not solve one.
    points
        Of τ, from 1 to the largest finite ratio, evenly on a logarithmic scale.

    Notes
    -----
    Source: Dolan and Moré, "Benchmarking optimization software with performance profiles",
    Mathematical Programming 91 (2002). An instance that nobody solves counts for nobody.

    Examples
    --------
    >>> tau, parts = performance_profile({"a": [1, 4], "b": [2, math.inf]}, points=2)
    >>> tau.tolist(), parts["a"].tolist(), parts["b"].tolist()
    ([1.0, 2.0], [1.0, 1.0], [0.0, 0.5])
    """
    table = np.array(list(times.values()), dtype=float)
    best = table.min(axis=0)
    with np.errstate(invalid="ignore"):
        ratios = np.where(np.isfinite(table), table / best, math.inf)
    finite = ratios[np.isfinite(ratios)]
    tau = np.geomspace(1.0, max(float(finite.max(initial=1.0)), 1.0 + 1e-9), points)
    tau[-1] = max(float(finite.max(initial=1.0)), 1.0)
    return tau, {
        name: (row[:, None] <= tau[None, :]).mean(axis=0)
        for name, row in zip(times, ratios, strict=True)
    }


def bootstrap_interval(
    values: Sequence[float], *, seed: int = 0, level: float = 0.95
) -> Interval | None:
    """Give the percentile interval of the mean over resampled instances; None for fewer than two.

    Examples
    --------
    >>> bootstrap_interval([0.5, 0.5, 0.5])
    (0.5, 0.5)
    """
    if len(values) < 2:
        return None
    from scipy.stats import bootstrap  # noqa: PLC0415 - takes a while to import

    found = bootstrap(
        (np.array(values, dtype=float),),
        np.mean,
        confidence_level=level,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def growth_exponent(
    sizes: Sequence[float], times: Sequence[float], *, seed: int = 0
) -> tuple[float, Interval] | None:
    """Give a of t ≈ c · n^a by least squares of the logarithms, with its bootstrap interval.

    None for fewer than three different sizes.

    Examples
    --------
    >>> slope, (low, high) = growth_exponent([1, 10, 100], [2, 20, 200])
    >>> round(slope, 6), round(low, 6), round(high, 6)
    (1.0, 1.0, 1.0)
    """
    if len(set(sizes)) < 3:
        return None
    x, y = np.log(np.array(sizes, dtype=float)), np.log(np.maximum(np.array(times, float), 1e-6))
    rng = np.random.default_rng(seed)
    slopes: list[float] = []
    while len(slopes) < 500:
        drawn = rng.integers(len(x), size=len(x))
        if len(set(x[drawn].tolist())) > 1:
            slopes.append(_slope(x[drawn], y[drawn]))
    low, high = np.quantile(slopes, [0.025, 0.975])
    return _slope(x, y), (float(low), float(high))


def _slope(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float:
    centred = x - x.mean()
    return float(centred @ (y - y.mean()) / (centred @ centred))
