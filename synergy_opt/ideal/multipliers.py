"""The price bound of stage 1, exact: multipliers in, an upper bound on every throughput out.

Takes kinds of jobs, the cluster's capacity and one price a resource, rationalised from whatever
floats a solver gave, and gives a bound that holds whatever the floats were (theory: stage 1,
points 1, 2 and 6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from synergy_opt.checks import all_of, not_negative
from synergy_opt.configurations import Configurations
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import IntArray, exact_sum
from synergy_opt.kinds import Kind
from synergy_opt.model import Instance, Vector

_DENOMINATORS = (10, 100, 1000, 10**4, 10**6, 10**9)
_LATTICE = 10**30  # a coarser lattice than 1/this is worth rounding to


def price_bound(
    kinds: Sequence[Kind],
    capacity: Vector,
    multipliers: Vector,
    *,
    integral: bool = True,
    rows: bool = False,
    skipping: bool = False,
) -> Fraction:
    """Give L(λ) = Σ_r λ_r R_r + Σ_j max_k (W_jk − λ·d_jk), the maximum over fair configurations.

    Parameters
    ----------
    kinds
        Jobs with their configurations, fair or not.
    capacity
        R, the cluster's amount of each resource.
    multipliers
        λ ≥ 0.
    integral
        The bound is for placements with one grid point a job: round L(λ) down to the lattice that
        their throughputs lie on, the multiples of 1/D with D the values' common denominator.
    rows
        Row (5) as the paper writes it, W ≥ W^f on average: the maximum is over mixtures of two
        configurations, one of them below the floor. Only without `integral`.
    skipping
        Jobs may be left out: a term counts at least 0.

    Returns
    -------
    Fraction
        An upper bound on the throughput of every such placement.

    Notes
    -----
    One pass over the configurations; quadratic in those of one kind with `rows`.
    """
    term = _mixed_term if rows and not integral else _fair_term
    terms = ((len(kind), term(kind.configurations, multipliers)) for kind in kinds)
    total = exact_sum(
        [price * amount for price, amount in zip(multipliers, capacity, strict=True)]
        + [count * (max(best, Fraction(0)) if skipping else best) for count, best in terms]
    )
    return _rounded_down(total, kinds) if integral else total


def checked_prices(instance: Instance, multipliers: object) -> Vector:
    """Give multipliers that a caller passed as exact prices; raises `InvalidInstance`."""
    given = all_of(object, multipliers, "multipliers")
    if len(given) != len(instance.cluster.names):
        rule = f"must be one a resource: {', '.join(instance.cluster.names)}"
        raise InvalidInstance(rule, "multipliers")
    return tuple(not_negative(price, f"multipliers[{r}]") for r, price in enumerate(given))


def rationalised(
    prices: Sequence[float], evaluate: Callable[[Vector], Fraction]
) -> tuple[Vector, Fraction]:
    """Give the rational multipliers near `prices` with the least bound, and that bound.

    Any λ ≥ 0 gives a valid bound; a simple fraction near the float often is the exact dual.
    """
    best: tuple[Vector, Fraction] | None = None
    for limit in _DENOMINATORS:
        rounded = tuple(max(Fraction(p), Fraction(0)).limit_denominator(limit) for p in prices)
        value = evaluate(rounded)
        if best is None or value < best[1]:
            best = rounded, value
    assert best is not None
    return best


def reduced(found: Configurations, multipliers: Vector) -> tuple[IntArray, int]:
    """Give W_k − λ·d_k for each configuration, as integers on one denominator."""
    factors = [
        price / amounts.denominator
        for price, amounts in zip(multipliers, found.demand, strict=True)
    ]
    unit = Fraction(1, found.value.denominator)
    below = math.lcm(unit.denominator, *(f.denominator for f in factors))
    value = _times(found.value.numerators, int(unit * below))
    for factor, amounts in zip(factors, found.demand, strict=True):
        # A difference of two numbers below 2^61 fits; more resources may take more room.
        value = _small(value - _times(amounts.numerators, int(factor * below)))
    return value, below


def _fair_term(found: Configurations, multipliers: Vector) -> Fraction:
    value, below = reduced(found.fair(), multipliers)
    return Fraction(int(value.max()), below)


def _mixed_term(found: Configurations, multipliers: Vector) -> Fraction:
    """Give the maximum over mixtures with Σ W y ≥ W^f: one fair point, or two around the floor."""
    best = _fair_term(found, multipliers)
    value, below = reduced(found, multipliers)
    throughput, floor = found.value.tolist(), found.floor
    low = [i for i, w in enumerate(throughput) if w < floor]
    high = [i for i, w in enumerate(throughput) if w > floor]
    for i in low:
        for j in high:
            if value[i] > value[j]:
                part = (throughput[j] - floor) / (throughput[j] - throughput[i])
                mixed = part * int(value[i]) + (1 - part) * int(value[j])
                best = max(best, mixed / below)
    return best


def lattice(kinds: Sequence[Kind]) -> int | None:
    """Give D such that sums of one value a job are multiples of 1/D; None where it is huge."""
    common = 1
    for kind in kinds:
        common = math.lcm(common, kind.configurations.value.denominator)
        if common > _LATTICE:
            return None
    return common


def _rounded_down(total: Fraction, kinds: Sequence[Kind]) -> Fraction:
    common = lattice(kinds)
    return total if common is None else Fraction(math.floor(total * common), common)


def _times(numbers: IntArray, factor: int) -> IntArray:
    """Multiply, in int64 only where the products stay below 2^61."""
    largest = max(abs(int(numbers.max())), abs(int(numbers.min())), 1)  # 0 · huge overflows too
    if largest * abs(factor) >= 2**61:
        numbers = numbers.astype(object)
    return numbers * factor


def _small(numbers: IntArray) -> IntArray:
    """Go over to Python integers before the next difference could overflow."""
    if numbers.dtype == object or max(abs(int(numbers.max())), abs(int(numbers.min()))) < 2**61:
        return numbers
    return numbers.astype(object)
