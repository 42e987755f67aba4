"""Throughput over cores from a few measurements: a binary search that skips what hides little.

Takes a function that measures and a grid of cores and gives for each core count a bracket of the
throughput there. What a skipped value can be follows from two assumptions: throughput never falls
with more cores, and each further core brings no more than the one before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from time import perf_counter

from synergy_opt.checks import grid_axis, not_negative
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import Number, exact

Measure = Callable[[Fraction], Number]
"""Runs the job with that many cores and full memory and gives its throughput."""


@dataclass(frozen=True, kw_only=True)
class CpuCurve:
    """Throughput at full memory on a grid of cores, each value between two bounds.

    Parameters
    ----------
    cpu
        The grid, increasing.
    measured
        Measured throughput by core count, in the order in which they were measured.
    lower, upper
        Bounds at each grid value; equal where it was measured.
    seconds
        Time spent in measuring.
    """

    cpu: tuple[Fraction, ...]
    measured: Mapping[Fraction, Fraction]
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    seconds: float = field(compare=False)

    @property
    def estimate(self) -> tuple[Fraction, ...]:
        """The value with the least relative error over its bracket [l, u]: 2lu/(l + u)."""
        pairs = zip(self.lower, self.upper, strict=True)
        return tuple(2 * low * up / (low + up) if up else up for low, up in pairs)

    @property
    def error(self) -> Fraction:
        """Largest relative error of `estimate` that the brackets allow: max (u − l)/(u + l)."""
        pairs = zip(self.lower, self.upper, strict=True)
        return max((up - low) / (up + low) if up else Fraction(0) for low, up in pairs)

    @property
    def keeps_its_assumptions(self) -> bool:
        """False where measured points fall, or gain more than before, with more cores.

        The brackets then are no bounds. Measuring noise alone can be the cause.
        """
        points = [(Fraction(0), Fraction(0)), *sorted(self.measured.items())]
        slopes = [(w2 - w1) / (c2 - c1) for (c1, w1), (c2, w2) in pairwise(points)]
        return all(a >= b >= 0 for a, b in pairwise(slopes))


def measure_curve(
    measure: Measure, cpu: Sequence[Number], *, threshold: Number = "0.06"
) -> CpuCurve:
    """Measure throughput over cores where it matters, from the most cores down.

    The interval between two measured core counts is halved as long as it may hide more than
    `threshold`; its upper half is searched first. The paper's rule is the case of a flat interval:
    when the most cores gain less than the threshold over half of them, the search goes on in the
    lower half. Straight parts are skipped as well.

    Parameters
    ----------
    measure
        Called once for each core count that is measured.
    cpu
        Core counts, increasing, above 0.
    threshold
        Relative; larger means fewer measurements. The paper says 10 %, which allows errors of
        4.8 %; the default allows 2.9 %.

    Returns
    -------
    CpuCurve
        With `error` ≤ threshold / (2 + threshold). The error holds for curves W with W(0) ≥ 0
        that never fall and are concave; measuring noise comes on top.

    Raises
    ------
    InvalidInstance
        When the grid or the threshold breaks its rule, or a measurement is no number of at least
        0.

    Notes
    -----
    A curve that rises in proportion and is flat from some core count on takes O(log n)
    measurements for n core counts; a curve that bends everywhere may take all n.

    References
    ----------
    Mohan et al., OSDI '22, §3.1, "CPU profiling".

    Examples
    --------
    >>> curve = measure_curve(lambda cpu: min(100 * cpu, 900), range(1, 25))
    >>> [int(c) for c in curve.measured], curve.estimate[6], float(curve.error)
    ([24, 12, 6, 9], Fraction(700, 1), 0.0)
    """
    axis = tuple(grid_axis("cpu", list(cpu)).tolist())
    if axis[0] == 0:
        raise InvalidInstance("must be above 0", ".axes.cpu[0]")
    limit = exact(threshold)
    if limit <= 0:
        raise InvalidInstance(f"must be above 0, not {threshold}", "threshold")
    search = _Search(measure, axis, limit)
    search.measure_at(len(axis) - 1)
    search.explore(-1, len(axis) - 1)
    brackets = [search.bracket(i) for i in range(len(axis))]
    return CpuCurve(
        cpu=axis,
        measured=search.measured,
        lower=tuple(low for low, _ in brackets),
        upper=tuple(up for _, up in brackets),
        seconds=search.seconds,
    )


class _Search:
    """What is measured so far. Index −1 stands for no core, where nothing is made."""

    def __init__(self, measure: Measure, axis: tuple[Fraction, ...], threshold: Fraction) -> None:
        self.measure, self.axis, self.threshold = measure, axis, threshold
        self.known: list[tuple[Fraction, Fraction]] = [(Fraction(0), Fraction(0))]
        self.measured: dict[Fraction, Fraction] = {}
        self.seconds = 0.0

    def measure_at(self, i: int) -> None:
        cpu = self.axis[i]
        start = perf_counter()
        raw = self.measure(cpu)
        self.seconds += perf_counter() - start
        value = not_negative(raw, f"measure({cpu})")
        self.measured[cpu] = value
        self.known.insert(bisect_left(self.known, (cpu, Fraction(0))), (cpu, value))

    def explore(self, a: int, b: int) -> None:
        if b - a < 2 or all(self._hides_little(i) for i in range(a + 1, b)):
            return
        middle = max(a + 1, (a + b) // 2)
        self.measure_at(middle)
        self.explore(middle, b)
        self.explore(a, middle)

    def _hides_little(self, i: int) -> bool:
        low, up = self.bracket(i)
        return up <= low * (1 + self.threshold)

    def bracket(self, i: int) -> tuple[Fraction, Fraction]:
        """Bound the throughput at a grid value: above the chord, below the neighbours' chords."""
        cpu = self.axis[i]
        if cpu in self.measured:
            return self.measured[cpu], self.measured[cpu]
        right = bisect_left(self.known, (cpu, Fraction(0)))
        left = right - 1
        low = self._line(left, right, cpu)
        up = self.known[right][1]
        if left > 0:
            up = min(up, self._line(left - 1, left, cpu))
        if right + 1 < len(self.known):
            up = min(up, self._line(right, right + 1, cpu))
        return low, max(low, up)  # noise can cross them

    def _line(self, i: int, j: int, cpu: Fraction) -> Fraction:
        (c1, w1), (c2, w2) = self.known[i], self.known[j]
        return w1 + (w2 - w1) * (cpu - c1) / (c2 - c1)
