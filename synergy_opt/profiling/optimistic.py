"""A whole profile from the throughput over cores and a model of the cache.

Takes a measuring function, grids and a `Cache` and gives a `Profile` with its cost: memory is
estimated, never measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from synergy_opt.checks import not_negative
from synergy_opt.exact import Number
from synergy_opt.model import Profile
from synergy_opt.profiling.cache_model import STORAGE, Cache
from synergy_opt.profiling.curve import CpuCurve, Measure, measure_curve

_FIGURES = 6  # of an estimate; the brackets are wider


@dataclass(frozen=True, kw_only=True)
class OptimisticProfile:
    """A profile and what it took.

    Parameters
    ----------
    profile
        Over cores and memory, for one GPU.
    curve
        Throughput over cores at full memory, as measured and bracketed.
    points
        Grid points, each of which profiling without the model would measure.
    """

    profile: Profile
    curve: CpuCurve
    points: int

    @property
    def measurements(self) -> int:
        """How many were made."""
        return len(self.curve.measured)

    @property
    def saving(self) -> Fraction:
        """Grid points over measurements: how many times cheaper it was."""
        return Fraction(self.points, self.measurements)

    def __str__(self) -> str:
        return (
            f"{self.profile.name}: {self.measurements} measurements for {self.points} points "
            f"({float(self.saving):.3g} times fewer), {self.curve.seconds:.3g} s; "
            f"within {float(self.curve.error):.2%} between measured core counts"
        )


def optimistic_profile(
    measure: Measure,
    *,
    name: str,
    cpu: Sequence[Number],
    memory: Sequence[Number],
    cache: Cache,
    storage: Number = STORAGE,
    threshold: Number = "0.06",
    unit: str = "items/s",
) -> OptimisticProfile:
    """Measure over cores at full memory, estimate every other point.

    W(c, m) = min(W(c, full memory), fetch rate(m)): a job whose preparation, storage and GPU work
    side by side is as fast as the slowest of them, and the cache gives a fixed number of hits an
    epoch.

    Parameters
    ----------
    measure
        Gives the throughput for a number of cores, with the largest of `memory`.
    name, unit
        Of the profile.
    cpu, memory
        Grid values for one GPU, increasing: cores, GB.
    cache
        Sizes of items, data set and process.
    storage
        Bandwidth in MB/s.
    threshold
        As in `measure_curve`.

    Returns
    -------
    OptimisticProfile
        Within `curve.error` of every job that keeps the assumptions of `measure_curve` and of the
        cache, but for the rounding to six figures. A page cache does not keep them: it hits less
        often than the cache assumed here.

    Raises
    ------
    InvalidInstance
        As in `measure_curve`; also when the memory grid breaks its rule.

    References
    ----------
    Mohan et al., OSDI '22, §3.1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> cache = Cache(item=Fraction("0.25"), dataset=Fraction(200))
    >>> found = optimistic_profile(
    ...     lambda cpu: min(100 * cpu, 900),
    ...     name="resnet",
    ...     cpu=range(1, 25),
    ...     memory=[20, 120, 220],
    ...     cache=cache,
    ... )
    >>> found.measurements, found.points, found.profile.throughput[8, 1]
    (4, 72, Fraction(800, 1))
    """
    curve = measure_curve(measure, cpu, threshold=threshold)
    bandwidth = not_negative(storage, "storage")
    amounts = [not_negative(value, f".axes.memory[{i}]") for i, value in enumerate(memory)]
    fetched = [cache.fetch_rate(amount, bandwidth) for amount in amounts]
    profile = Profile(
        name=name,
        axes={"cpu": list(curve.cpu), "memory": amounts},
        throughput=[
            [_rounded(best if rate is None else min(best, rate)) for rate in fetched]
            for best in curve.estimate
        ],
        unit=unit,
    )
    return OptimisticProfile(profile=profile, curve=curve, points=len(curve.cpu) * len(amounts))


def _rounded(value: Fraction) -> Fraction:
    """Give the number to six figures: a float's exact value is long, and no more is known."""
    return Fraction(f"{float(value):.{_FIGURES}g}")
