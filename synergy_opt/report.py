"""Mechanisms side by side: measured, certified and set against one bound.

Takes an instance and mechanisms and gives a `Comparison`, which is data; `table` draws it and
`comparison_json` writes it down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING

from synergy_opt.answer import Allocation, Bound, PatternBound, Placement
from synergy_opt.certificate import violations
from synergy_opt.errors import Infeasible
from synergy_opt.exact import decimal_text
from synergy_opt.ideal import ideal_allocation, skipping_bound
from synergy_opt.measures import above_a_server, below_floor, utilisation
from synergy_opt.model import Instance, Vector
from synergy_opt.solution import Limits

if TYPE_CHECKING:
    from rich.table import Table

Mechanism = Callable[[Instance], Placement]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One mechanism on one instance.

    Parameters
    ----------
    mechanism
        Its name.
    placement
        What it returned.
    seconds
        How long it took.
    bound
        Upper bound that holds for this placement; None where none does, because a job is placed
        below its fair floor.
    below
        Jobs that make less than their fair throughput, the left-out ones among them.
    utilisation
        Parts in use of all GPUs, then of each resource.
    broken
        Every rule that the placement breaks, in words; empty means certified.
    """

    mechanism: str
    placement: Placement
    seconds: float
    bound: Bound | PatternBound | None
    below: tuple[str, ...]
    utilisation: Vector
    broken: tuple[str, ...]

    @property
    def gap(self) -> Fraction | None:
        """(bound − throughput) / throughput; None without a bound or without throughput."""
        if self.bound is None or not self.placement.throughput:
            return None
        return (self.bound.value - self.placement.throughput) / self.placement.throughput


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Mechanisms on one instance, all against the bound of one set of multipliers.

    Parameters
    ----------
    instance
        The instance.
    ideal
        Stage 1's answer: its bound holds for every fair placement of all runnable jobs.
    rows
        One a mechanism.
    without
        Name and reason of each mechanism that found no placement.
    """

    instance: Instance
    ideal: Allocation
    rows: tuple[Row, ...]
    without: tuple[tuple[str, str], ...] = ()


def compare(
    instance: Instance,
    mechanisms: Mapping[str, Mechanism],
    *,
    limits: Limits | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Run mechanisms on an instance and judge what they return.

    Parameters
    ----------
    instance
        The instance.
    mechanisms
        Functions by name.
    limits
        Of stage 1, which gives the bound.
    progress
        Called with what is about to run.

    Returns
    -------
    Comparison
        A row whose placement breaks a rule is kept, with the rules in `broken`.
    """
    if progress:
        progress("bound")
    ideal = ideal_allocation(instance, limits=limits)
    rows, without = [], []
    for name, mechanism in mechanisms.items():
        if progress:
            progress(name)
        start = perf_counter()
        try:
            placement = mechanism(instance)
        except Infeasible as reason:
            without.append((name, str(reason)))
            continue
        seconds = perf_counter() - start
        rows.append(judge(instance, name, placement, seconds=seconds, bound=ideal.bound))
    return Comparison(instance=instance, ideal=ideal, rows=tuple(rows), without=tuple(without))


def judge(
    instance: Instance,
    name: str,
    placement: Placement,
    *,
    seconds: float = 0.0,
    bound: Bound | PatternBound | None = None,
) -> Row:
    """Certify a placement and measure it; `bound` is stage 1's, for placements of every job."""
    broken = tuple(map(str, violations(instance, placement)))
    if broken and not _measurable(instance, placement):
        # What the numbers mean is not defined when jobs or servers are not those of the instance.
        return Row(
            mechanism=name,
            placement=placement,
            seconds=seconds,
            bound=None,
            below=(),
            utilisation=(),
            broken=broken,
        )
    below = below_floor(instance, placement)
    valid = _valid_bound(instance, placement, below, bound)
    if valid is not None and valid != placement.bound:
        # The certificate computes the bound anew from its multipliers.
        stated = map(str, violations(instance, replace(placement, bound=valid)))
        broken = tuple(dict.fromkeys([*broken, *stated]))
    return Row(
        mechanism=name,
        placement=placement,
        seconds=seconds,
        bound=valid,
        below=below,
        utilisation=utilisation(instance, placement),
        broken=broken,
    )


def _measurable(instance: Instance, placement: Placement) -> bool:
    """Tell whether jobs, servers and numbers are such that sums over them mean something."""
    jobs = {job.id for job in instance.jobs}
    servers, width = instance.cluster.server_count, len(instance.cluster.resources)
    return _exact_numbers(placement) and all(
        entry.id in jobs
        and len(entry.demand) == width
        and all(0 <= p.server < servers and len(p.amounts) == width for p in entry.pieces)
        for entry in placement.jobs
    )


def _exact_numbers(placement: Placement) -> bool:
    numbers = (
        number
        for entry in placement.jobs
        for number in (
            entry.throughput,
            *entry.demand,
            *(n for p in entry.pieces for n in (p.gpus, *p.amounts)),
        )
    )
    return all(isinstance(number, Fraction | int) for number in numbers)


def _valid_bound(
    instance: Instance,
    placement: Placement,
    below: Sequence[str],
    bound: Bound | PatternBound | None,
) -> Bound | PatternBound | None:
    """Give the bound that holds for this placement, from the same multipliers.

    Stage 1's bound supposes that all runnable jobs run and that none has more than a server's
    worth where it fits on one. A placement that leaves jobs out, or is not consolidated, may
    exceed it; there the weaker bound counts that allows for this.
    """
    if bound is None or set(below) - set(placement.left_out):
        return None
    if isinstance(bound, PatternBound):
        return None if placement.left_out else bound
    consolidated = not above_a_server(instance, placement)
    if consolidated and not placement.left_out:
        return bound
    by_id = {job.id: job for job in instance.jobs}
    listed = [by_id[entry.id] for entry in placement.jobs]
    return skipping_bound(instance, bound.multipliers, jobs=listed, consolidated=consolidated)


def table(comparison: Comparison) -> Table:
    """Draw a comparison."""
    from rich.table import Table  # noqa: PLC0415 - 50 ms to import

    instance = comparison.instance
    bound = comparison.ideal.bound.value
    drawn = Table(
        title=f"{instance.name}: {len(comparison.ideal.jobs)} of {len(instance.jobs)} jobs run, "
        f"bound {float(bound):.6g}",
        title_justify="left",
    )
    drawn.add_column("mechanism")
    for heading in ("throughput", "gap", "fair", "split", "left out", "GPUs"):
        drawn.add_column(heading, justify="right")
    for name in instance.cluster.names:
        drawn.add_column(name, justify="right")
    drawn.add_column("seconds", justify="right")
    for name, _ in comparison.without:
        drawn.add_row(name, "none")
    for row in comparison.rows:
        drawn.add_row(*cells(row, width=len(instance.cluster.names)))
    return drawn


def cells(row: Row, *, width: int) -> list[str]:
    """Give the texts of a row; `width` is the number of resources."""
    parts = [f"{float(part):.0%}" for part in row.utilisation] or ["?"] * (1 + width)
    return [
        row.mechanism + (" ✗" if row.broken else ""),
        f"{float(row.placement.throughput):.6g}",
        gap_text(row),
        "yes" if not row.below else f"no: {len(row.below)}",
        str(len(row.placement.split_jobs)),
        str(len(row.placement.left_out)),
        *parts,
        f"{row.seconds:.3g}",
    ]


def gap_text(row: Row) -> str:
    """Give the gap in percent, with * where the bound is the weaker one of `_valid_bound`."""
    if row.bound is None:
        return "–"
    mark = "*" if row.bound.skipping else ""
    return (f"{float(row.gap):.2%}" if row.gap is not None else "∞") + mark


def footnotes(comparisons: Iterable[Comparison]) -> list[str]:
    """Give the sentences that the marks of these tables need."""
    listed = list(comparisons)
    rows = [row for comparison in listed for row in comparison.rows]
    notes = [
        f"{comparison.instance.name}: {name} finds no placement: {reason}"
        for comparison in listed
        for name, reason in comparison.without
    ]
    if any(row.bound is not None and row.bound.skipping for row in rows):
        notes.append(
            "* against the bound for placements that may leave jobs out or give a job more than "
            "one server's worth"
        )
    if any(row.bound is None for row in rows):
        notes.append("– no bound holds for a placement that has a job below its fair throughput")
    if any(row.broken for row in rows):
        notes.append("✗ the placement breaks a rule")
    return notes


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """Give a comparison as plain JSON data; exact numbers are strings, seconds are floats."""
    names = ("gpus", *comparison.instance.cluster.names)
    return {
        "instance": comparison.instance.name,
        "jobs": len(comparison.instance.jobs),
        "runnable": len(comparison.ideal.jobs),
        "ideal": decimal_text(comparison.ideal.throughput),
        "bound": decimal_text(comparison.ideal.bound.value),
        "proof": comparison.ideal.proof,
        "mechanisms": [row_json(row, names) for row in comparison.rows],
        "without": dict(comparison.without),
    }


def row_json(row: Row, names: Sequence[str]) -> dict[str, object]:
    """Give a row as plain JSON data; `names` are ``gpus`` and the resources."""
    parts = zip(names, row.utilisation, strict=False)
    return {
        "mechanism": row.mechanism,
        "throughput": decimal_text(row.placement.throughput),
        "bound": None if row.bound is None else decimal_text(row.bound.value),
        "skipping": row.bound is not None and row.bound.skipping,
        "gap": None if row.gap is None else decimal_text(row.gap),
        "fair": not row.below,
        "below_floor": list(row.below),
        "split_jobs": list(row.placement.split_jobs),
        "left_out": list(row.placement.left_out),
        "utilisation": {name: decimal_text(part) for name, part in parts},
        "seconds": row.seconds,
        "violations": list(row.broken),
    }
