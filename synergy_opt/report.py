"""A comparison as a table for people and as JSON for programs.

Takes a `Comparison` or a `Row` and gives a rich table, the sentences that explain its marks, or
plain JSON data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from synergy_opt.answer import Bound, PatternBound
from synergy_opt.comparison import Comparison, Row
from synergy_opt.exact import approximate, decimal_text, percent
from synergy_opt.io import certificate_json

if TYPE_CHECKING:
    from rich.table import Table

FRACTIONAL = "fractional GPUs: no real servers can hold this"
VERTEX = "fractional GPUs, stage 2's vertex: no real servers can hold this"
NONE = "–"

_CONDITION = (
    "bound: for fair placements of all listed jobs in which each job stays within the "
    "consolidation rule (one that fits on a server has at most one server's worth, a larger one "
    "that of the fewest servers that hold it, or its fair share)"
)
_WEAKER = (
    "* against the bound for placements that may leave jobs out, or give a job more than the "
    "consolidation rule allows"
)


def table(comparison: Comparison) -> Table:
    """Draw a comparison."""
    from rich.table import Table  # noqa: PLC0415 - 50 ms to import

    instance = comparison.instance
    bound = comparison.ideal.bound.value
    drawn = Table(
        title=f"{instance.name}: {len(comparison.ideal.jobs)} of {len(instance.jobs)} jobs run, "
        f"bound {approximate(bound)} (fair, consolidated)",
        title_justify="left",
    )
    drawn.add_column("mechanism")
    for heading in ("throughput", "gap", "proof", "fair", "split", "left out", "GPUs"):
        drawn.add_column(heading, justify="right")
    for name in instance.cluster.names:
        drawn.add_column(name, justify="right")
    drawn.add_column("seconds", justify="right")
    for failure in comparison.without:
        drawn.add_row(failure.mechanism, "none")
    for row in comparison.rows:
        drawn.add_row(*cells(row, width=len(instance.cluster.names)))
    return drawn


def cells(row: Row, *, width: int) -> list[str]:
    """Give the texts of a row; `width` is the number of resources.

    Where a rule is broken only what can be counted is shown, nothing that the placement states.
    """
    mark = (" ✗" if row.broken else "") + ("" if row.whole_gpus else " †")
    parts = [percent(part) for part in row.utilisation] or [NONE] * (1 + width)
    seconds = f"{row.seconds:.3g}"
    if row.broken:
        return [row.mechanism + mark, *[NONE] * 6, *parts, seconds]
    return [
        row.mechanism + mark,
        approximate(row.placement.throughput),
        gap_text(row),
        row.proof or NONE,
        "yes" if not row.below else f"no: {len(row.below)}",
        str(len(row.placement.split_jobs)),
        str(len(row.placement.left_out)),
        *parts,
        seconds,
    ]


def gap_text(row: Row) -> str:
    """Give the gap in percent, with * where the bound is the weaker one of `judge`."""
    if row.bound is None:
        return NONE
    mark = "*" if weaker_bound(row) else ""
    return (percent(row.gap, places=2) if row.gap is not None else "∞") + mark


def weaker_bound(row: Row) -> bool:
    """Tell whether the row's bound allows for jobs that are left out or have too much."""
    return row.bound is not None and row.bound.skipping


def condition(bound: Bound | PatternBound) -> str:
    """Say in a few words which placements a bound holds for."""
    if isinstance(bound, PatternBound):
        kept = ", none divided that fits on a server" if bound.split == "never" else ""
        return (
            f"fair placements of all listed jobs in whole GPUs within the consolidation rule{kept}"
        )
    listed = (
        "fair placements that may leave jobs out"
        if bound.skipping
        else ("fair placements of all listed jobs")
    )
    return listed + (" within the consolidation rule" if bound.consolidated else "")


def footnotes(comparisons: Iterable[Comparison]) -> list[str]:
    """Give the sentences that the marks of these tables need."""
    listed = list(comparisons)
    rows = [row for comparison in listed for row in comparison.rows]
    notes = [
        f"{comparison.instance.name}: {failure}"
        for comparison in listed
        for failure in comparison.without
    ]
    return [*notes, _CONDITION, *_marks(rows)]


def _marks(rows: Sequence[Row]) -> Iterator[str]:
    if any(weaker_bound(row) for row in rows):
        yield _WEAKER
    if not all(row.whole_gpus for row in rows):
        yield f"† {FRACTIONAL}"
    if any(row.below and row.bound is None for row in rows):
        yield "– no bound holds for a placement that has a job below its fair throughput"
    if any(row.broken for row in rows):
        yield "✗ the placement breaks a rule: nothing that it states is shown"


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """Give a comparison as plain JSON data; exact numbers are strings, seconds are floats."""
    names, ideal = comparison.instance.cluster.names, comparison.ideal
    return {
        "instance": comparison.instance.name,
        "jobs": len(comparison.instance.jobs),
        "runnable": len(ideal.jobs),
        "ideal": decimal_text(ideal.throughput),
        "bound": decimal_text(ideal.bound.value),
        "consolidated": ideal.bound.consolidated,
        "certificate": certificate_json(ideal.bound, names),
        "proof": ideal.proof,
        "mechanisms": [row_json(row, names) for row in comparison.rows],
        "without": {each.mechanism: str(each.error) for each in comparison.without},
    }


def row_json(row: Row, names: Sequence[str]) -> dict[str, object]:
    """Give a row as plain JSON data; `names` are the resources.

    With `certificate`, the multipliers and rules of the bound, anyone can recompute the bound
    (`bound_value`). What a broken rule leaves without a meaning is null.
    """
    sound = not row.broken
    parts = zip(("gpus", *names), row.utilisation, strict=False)
    return {
        "mechanism": row.mechanism,
        "throughput": None if row.throughput is None else decimal_text(row.throughput),
        "bound": None if row.bound is None else decimal_text(row.bound.value),
        "consolidated": None if row.bound is None else row.bound.consolidated,
        "skipping": weaker_bound(row),
        "certificate": None if row.bound is None else certificate_json(row.bound, names),
        "gap": None if row.gap is None else decimal_text(row.gap),
        "proof": row.proof,
        "whole_gpus": row.whole_gpus if sound else None,
        "fair": not row.below if sound else None,
        "below_floor": list(row.below) if sound else None,
        "split_jobs": list(row.placement.split_jobs) if sound else None,
        "left_out": list(row.placement.left_out) if sound else None,
        "utilisation": {name: decimal_text(part) for name, part in parts},
        "seconds": row.seconds,
        "violations": list(row.broken),
    }
