"""How far a placement is from the best that is possible, by a bound that anyone can check.

Takes an instance and a placement and gives a `Distance`, a row of the kit's last table.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from synergy_opt.answer import Placement
from synergy_opt.comparison import Row, judge
from synergy_opt.exact import approximate
from synergy_opt.ideal import ideal_allocation
from synergy_opt.measures import above_a_server
from synergy_opt.model import Instance
from synergy_opt.packed import packed
from synergy_opt.proportional import proportional
from synergy_opt.solution import Limits

_LIMITS = Limits(time=5)


@dataclass(frozen=True, kw_only=True)
class Distance:
    """A row of text.

    Parameters
    ----------
    instance, jobs
        What was asked, and how many jobs are listed.
    throughput, bound, gap
        What the placement makes, the proven bound, and (bound − throughput) / throughput.
    model
        What the bound is for: ``"packed"``, placements in whole GPUs on the real servers;
        ``"stage 1"``, all fair placements of the listed jobs; ``"stage 1, skipping"``, those that
        leave jobs out too; and why there is none.
    baseline
        Throughput over that of proportional sharing.
    left_out, below
        Listed jobs without a place; placed jobs that make less than their fair share gives.
    """

    instance: str
    jobs: str
    throughput: str
    bound: str
    gap: str
    model: str
    baseline: str
    left_out: str
    below: str

    def cells(self) -> dict[str, str]:
        """Give the row as plain strings, by column."""
        return asdict(self)


def distance(instance: Instance, placement: Placement) -> Distance:
    """Measure a placement against the lowest bound that is certified and holds for it.

    Stage 1's bound holds for fair placements of all listed jobs within the consolidation rule.
    Where it leaves a gap and the placement is one in whole GPUs, the packed model's bound with
    jobs split as one likes is tried too. Both are computed anew by the certificate.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> row = distance(instance, synergy_opt.proportional(instance))
    >>> row.throughput, row.bound, row.gap, row.model
    ('4', '5.66667', '41.67%', 'stage 1')
    """
    row = judge(
        instance,
        placement.mechanism,
        placement,
        bound=ideal_allocation(instance, limits=_LIMITS).bound,
    )
    row, model = _tighter(instance, row)
    base, made = proportional(instance).throughput, row.throughput
    below = set(row.below) - set(row.placement.left_out)
    return Distance(
        instance=instance.name,
        jobs=str(len(placement.jobs)),
        throughput="-" if made is None else approximate(made),
        bound="-" if row.bound is None else approximate(row.bound.value),
        gap="-" if row.gap is None else f"{100 * float(row.gap):.2f}%",
        model=model,
        baseline="-" if made is None or not base else f"{float(made / base):.4f}",
        left_out=str(len(placement.left_out)),
        below=str(len(below)),
    )


def _tighter(instance: Instance, row: Row) -> tuple[Row, str]:
    if row.broken:
        return row, "none: it breaks a rule"
    if row.bound is None:
        return row, "none: a job is below its fair share"
    if row.placement.left_out:
        return row, "stage 1, skipping"
    whole = row.placement.whole_gpus and not above_a_server(instance, row.placement)
    if row.gap and whole:
        bound = packed(instance, split="allowed", limits=_LIMITS).bound
        again = judge(instance, row.mechanism, row.placement, bound=bound)
        if again.bound is not None and again.bound.value < row.bound.value:
            return again, "packed"
    return row, "stage 1"
