"""The rates behind measured throughputs: the cache model fitted to points.

Takes points (cores, memory, throughput) and gives the parameters with the error that remains. This
is statistics, in floats; nothing exact rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from synergy_opt.errors import InvalidInstance

_Floats = npt.NDArray[np.float64]
_LEAST = 4  # points, one a parameter
_WIDE = 1e3  # how far a rate may lie from the largest throughput seen


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement, for one GPU: cores, memory in GB, throughput in items/s."""

    cpu: float
    memory: float
    throughput: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """W(c, m) = min(core_rate · c, gpu_rate, uncached_rate / (1 − (m − process) / dataset)).

    Parameters
    ----------
    core_rate, gpu_rate
        Items/s that one core prepares, that the GPU trains on; None where no point is limited by
        it, so that the points say nothing about it.
    uncached_rate
        Items/s that storage delivers with nothing cached: bandwidth over item size. None also
        where storage limits points of one memory size alone, in which something is cached: they
        show only uncached_rate / (1 − (m − process) / dataset).
    dataset
        In GB; None where storage limits points of fewer than two memory sizes.
    process
        As given.
    error
        Largest relative difference between a point and the model.
    """

    core_rate: float | None
    gpu_rate: float | None
    uncached_rate: float | None
    dataset: float | None
    process: float
    error: float


def fit_cache_model(points: Sequence[Point], *, process: float = 20.0, seed: int = 0) -> Fit:
    """Fit the four parameters by least squares on the logarithms.

    The minimum of three terms has kinks and local optima, so a population search (differential
    evolution) finds the basin and a local method finishes.

    Parameters
    ----------
    points
        At least four, with cores, throughput above 0 and memory of at least `process`.
    process
        Memory that the process needs, in GB.
    seed
        Of the search.

    Returns
    -------
    Fit
        The model, and how far it is from the points.

    Raises
    ------
    InvalidInstance
        When there are too few points, or one breaks its rule.

    Examples
    --------
    >>> grid = [(c, m) for c in (1, 3, 9, 24) for m in (20, 60, 100, 120)]
    >>> fetch = {20: 200, 60: 1000 / 3, 100: 1000, 120: float("inf")}  # 100 GB of data
    >>> found = fit_cache_model([Point(c, m, min(50 * c, 400, fetch[m])) for c, m in grid])
    >>> [round(x or 0, 1) for x in (found.core_rate, found.gpu_rate, found.uncached_rate)]
    [50.0, 400.0, 200.0]
    >>> round(found.dataset or 0, 1), found.error < 1e-4
    (100.0, True)
    """
    from scipy.optimize import Bounds, differential_evolution, least_squares  # noqa: PLC0415 - heavy

    cpu, memory, seen = _columns(points, process)
    room = memory - process
    top, widest = float(seen.max()), float(max(room.max(), 1.0))
    low = np.log([top / _WIDE / float(cpu.max()), top / 1.5, top / _WIDE, widest / 100])
    high = np.log([top * _WIDE, top * 1.5, top * _WIDE, widest * 100])

    column = seen[:, None]

    def residuals(x: _Floats) -> _Floats:
        return np.asarray(np.log(_terms(x, cpu, room).min(axis=0) / seen), dtype=np.float64)

    def squares(x: _Floats) -> _Floats:
        """Give the sum of squares of each column of parameters."""
        squared = np.log(_terms(x, cpu, room).min(axis=0) / column) ** 2
        return np.asarray(squared.sum(axis=0), dtype=np.float64)

    found = differential_evolution(
        squares,  # type: ignore[arg-type]  # the types know no vectorized function
        Bounds(low, high),
        seed=seed,
        popsize=20,
        tol=1e-10,
        polish=False,
        vectorized=True,
        updating="deferred",
    )
    start = np.clip(found.x, low, high)
    x = least_squares(residuals, start, bounds=(low - 1e-9, high + 1e-9), x_scale=0.1).x
    terms = _terms(x, cpu, room)
    limit = terms.argmin(axis=0)
    binding = set(limit.tolist())
    sizes = set(memory[limit == 2].tolist())  # of the points that storage limits
    values = [float(v) for v in np.exp(x)]
    return Fit(
        core_rate=values[0] if 0 in binding else None,
        gpu_rate=values[1] if 1 in binding else None,
        uncached_rate=values[2] if len(sizes) > 1 or process in sizes else None,
        dataset=values[3] if len(sizes) > 1 else None,
        process=process,
        error=float(np.abs(terms.min(axis=0) / seen - 1).max()),
    )


def _terms(x: _Floats, cpu: _Floats, room: _Floats) -> _Floats:
    """Give a row a term of the minimum, then a row a point, and a column a set of parameters."""
    core, gpu, uncached, dataset = np.exp(x)
    cpu, room = (v[:, None] if x.ndim > 1 else v for v in (cpu, room))
    missing = np.maximum(1e-9, 1 - room / dataset)
    return np.stack([core * cpu, gpu + 0 * cpu, uncached / missing])


def _columns(points: Sequence[Point], process: float) -> tuple[_Floats, _Floats, _Floats]:
    if len(points) < _LEAST:
        raise InvalidInstance(f"must be at least {_LEAST} points, not {len(points)}", "points")
    for i, point in enumerate(points):
        values = (point.cpu, point.memory, point.throughput)
        if not all(np.isfinite(values)) or point.cpu <= 0 or point.throughput <= 0:
            rule = f"must have cores and throughput above 0, not {point}"
            raise InvalidInstance(rule, f"points[{i}]")
        if point.memory < process:
            rule = f"has {point.memory:g} GB, less than the process's {process:g} GB"
            raise InvalidInstance(rule, f"points[{i}]")
    table = np.array([[p.cpu, p.memory, p.throughput] for p in points], dtype=np.float64)
    return table[:, 0], table[:, 1], table[:, 2]
