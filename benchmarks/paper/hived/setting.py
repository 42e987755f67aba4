"""What all experiments share: takes a scale, gives trace, cluster and reservation."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from hived_cells import Chain, Reservation
from hived_cells.simulation import (
    ProductionOptions,
    Run,
    Trace,
    longer,
    production_trace,
    without,
)
from hived_cells.simulation.comparison import Comparison, compare, summary
from hived_cells.simulation.policy import Scheduler

__all__ = [
    "Experiment",
    "Row",
    "Setting",
    "Study",
    "compared",
    "generated",
    "ratio",
    "require_safe",
    "table",
]


@dataclass(frozen=True)
class Setting:
    """A trace, and the cluster it is run on."""

    options: ProductionOptions
    trace: Trace
    chain: Chain
    reservation: Reservation

    def on(self, nodes: int) -> "Setting":
        """Return the same trace on another number of nodes, divided in the same shares."""
        quotas = replace(self.options, nodes=nodes).quotas
        return replace(
            self,
            chain=Chain(nodes, (2, 2, 2)),
            reservation=Reservation({tenant: {4: n} for tenant, n in quotas.items()}),
        )

    def leaving(self, tenants: Collection[str]) -> "Setting":
        """Return the setting without some tenants, their jobs and their nodes."""
        kept = {t: dict(counts) for t, counts in self.reservation.cells if t not in tenants}
        nodes = sum(counts[4] for counts in kept.values())
        return replace(
            self,
            trace=without(self.trace, tenants),
            chain=Chain(nodes, (2, 2, 2)),
            reservation=Reservation(kept),
        )


def generated(days: int, seed: int) -> Setting:
    """Return the published cluster and so many of its 60 days, at the published rate of jobs."""
    published = ProductionOptions()
    jobs = round(published.jobs * days / published.days)
    return _setting(replace(published, days=days, jobs=jobs), seed)


def _setting(options: ProductionOptions, seed: int) -> Setting:
    trace = production_trace(options, seed=seed)
    return Setting(options, trace, Chain(1, (2, 2, 2)), Reservation({})).on(options.nodes)


@dataclass(frozen=True)
class Row:
    """One published statement and what we measure in its place."""

    what: str
    published: str
    ours: str


@dataclass(frozen=True)
class Experiment:
    """What an experiment found."""

    title: str
    rows: tuple[Row, ...]
    open: str  # what the missing trace leaves open
    data: Any  # all figures, for JSON


def compared(
    setting: Setting, scheduler: Scheduler, *, lending: bool
) -> tuple[Comparison, dict[str, Any]]:
    """Return a comparison in all three ways and its summary; sharing safety must hold."""
    found = compare(
        setting.trace, setting.chain, setting.reservation, scheduler=scheduler, lending=lending
    )
    require_safe(found.trace, found.runs["private"], found.runs["cells"])
    return found, summary(found)


def require_safe(trace: Trace, alone: Run, cells: Run) -> None:
    """End with exit code 1 where a job is granted or done later than in its private cluster."""
    if late := longer(trace, alone, cells):
        raise SystemExit(f"sharing safety is broken, {len(late)} times; first: {late[0]}")


def ratio(data: dict[str, Any], tenant: str, way: str) -> float:
    """Return a tenant's mean delay as a multiple of that in its private cluster."""
    delay = data["tenants"][tenant]["delay"]
    return float(delay[way] / delay["private"]) if delay["private"] else float("inf")


def table(found: Experiment) -> str:
    """Return the published statements beside ours as Markdown."""
    lines = ["| | published | here |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.published} | {row.ours} |" for row in found.rows]
    return "\n".join([*lines, "", f"Open: {found.open}"])


Study = Callable[[Setting], Experiment]
