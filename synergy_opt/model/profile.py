"""The throughput of a model as a table over amounts of resources.

Takes numbers as people write them and gives a frozen, checked `Profile` with exact numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args

from synergy_opt.checks import (
    check_name,
    check_one_of,
    check_text,
    grid_axis,
    named,
    not_negative_table,
)
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import ExactArray
from synergy_opt.model.cluster import Vector

Per = Literal["gpu", "job"]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Throughput of a model on a grid over the resources.

    Parameters
    ----------
    name
        Unique in an instance.
    axes
        For each resource its grid values, strictly increasing, at least 0:
        ``{"cpu": [1, 2, 3], "memory": [20.83, 62.5]}``; stored as pairs.
    throughput
        Nested lists in the order of `axes`, or an `ExactArray`; at least 0, in `unit`.
    per
        ``"gpu"``: axes and throughput are for one GPU, and a job of g GPUs takes g times both;
        ``"job"``: they are the job's totals.
    unit
        Of the throughput, for people: ``"samples/s"``.
    """

    name: str
    axes: tuple[tuple[str, ExactArray], ...]
    throughput: ExactArray
    per: Per = "gpu"
    unit: str = ""

    def __init__(
        self,
        *,
        name: str,
        axes: Mapping[str, object] | Iterable[tuple[str, object]],
        throughput: object,
        per: Per = "gpu",
        unit: str = "",
    ) -> None:
        pairs = named(axes, ".axes", "axis")
        object.__setattr__(self, "name", name)
        object.__setattr__(
            self, "axes", tuple((key, grid_axis(key, values)) for key, values in pairs)
        )
        object.__setattr__(self, "throughput", not_negative_table(throughput, ".throughput"))
        object.__setattr__(self, "per", per)
        object.__setattr__(self, "unit", unit)
        self._check()

    def _check(self) -> None:
        check_name(self.name, "")
        check_text(self.unit, ".unit")
        check_one_of(self.per, get_args(Per), ".per")
        if not self.axes:
            raise InvalidInstance("has no axis", ".axes")
        expected = tuple(len(values) for _, values in self.axes)
        if self.throughput.shape != expected:
            shape = " × ".join(map(str, self.throughput.shape)) or "a single number"
            rule = f"is {shape}, but the axes are {' × '.join(map(str, expected))}"
            raise InvalidInstance(rule, ".throughput")

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources, in the order of the axes."""
        return tuple(key for key, _ in self.axes)

    def best_within(self, amounts: Vector, gpus: int) -> Fraction | None:
        """Give the highest throughput of a job of `gpus` GPUs within `amounts` of each resource.

        None where no grid point lies within. In the profile's own units, not times `gpus`.
        """
        scale = gpus if self.per == "gpu" else 1
        counts = [
            values.count_at_most(amount / scale)
            for (_, values), amount in zip(self.axes, amounts, strict=True)
        ]
        if 0 in counts:
            return None
        inside = self.throughput.numerators[tuple(slice(n) for n in counts)]
        return Fraction(int(inside.max()), self.throughput.denominator)
