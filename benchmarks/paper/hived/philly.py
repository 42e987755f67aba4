"""The public Philly job list in all three ways: another trace than the paper's, and a real one."""

from pathlib import Path

from benchmarks.paper.hived.setting import Experiment, Row, Setting, compared, ratio
from hived_cells import Chain, Reservation
from hived_cells.simulation import SCHEDULERS, Trace, read_philly

__all__ = ["philly"]

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "philly" / "philly_jobs.csv.gz"
LOAD = 70  # percent of the GPUs: assumed, for quotas are not published


def philly(setting: Setting) -> Experiment:
    """Virtual clusters as tenants, each with nodes for its demand at 70 % and its largest job."""
    if not DATA.exists():
        raise SystemExit(f"the Philly list is not here: {DATA}")
    trace = read_philly(DATA)
    chain, reservation = _cluster(trace)
    place = Setting(setting.options, trace, chain, reservation)
    rows, data = [], {}
    for name in ("capacity", "capacity-tightest"):
        found, summary = compared(place, SCHEDULERS[name], lending=False)
        data[name] = summary
        worse = [
            tenant
            for tenant, row in summary["tenants"].items()
            if row["delay"]["quota"] > row["delay"]["private"]
        ]
        worst = max(worse, key=lambda tenant: ratio(summary, tenant, "quota"), default="")
        told = f"; worst {worst} ×{ratio(summary, worst, 'quota'):.2f}" if worst else ""
        rows += [
            Row(
                f"{name}: virtual clusters whose mean delay is longer under quota than alone",
                "-",
                f"{len(worse)} of {len(summary['tenants'])}{told}",
            ),
            Row(
                f"{name}: jobs that found no place within their quota and are done later",
                "-",
                f"{summary['anomalies']['causes'].get('fragmented', 0)}",
            ),
            Row(
                f"{name}: jobs granted or done later under cells than alone",
                "none",
                f"{len(found.longer)} of {len(trace.jobs)}",
            ),
        ]
    return Experiment(
        f"The Philly list: {len(trace.jobs)} jobs of {len(trace.tenants)} virtual clusters on "
        f"{chain.top_cells} nodes",
        tuple(rows),
        "Quotas and shapes are not on the list: nodes for each virtual cluster's demand at 70 % "
        "and for its largest job are assumed, and that jobs of up to 8 GPUs want one node.",
        data,
    )


def _cluster(trace: Trace) -> tuple[Chain, Reservation]:
    """Return nodes for each tenant: its mean demand at `LOAD`, at least its largest job."""
    nodes = {}
    for tenant, seconds in trace.gpu_seconds().items():
        largest = max(job.shape.nodes for job in trace.jobs if job.tenant == tenant)
        nodes[tenant] = max(largest, -(-seconds * 100 // (LOAD * 8 * max(1, trace.end))))
    cells = {tenant: {4: number} for tenant, number in nodes.items()}
    return Chain(sum(nodes.values()), (2, 2, 2)), Reservation(cells)
