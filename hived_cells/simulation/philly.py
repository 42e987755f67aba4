"""The public Philly job list: takes its CSV, gives a trace whose tenants are virtual clusters.

Only the number of GPUs is on the list; shapes are assumed, as said below.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

from hived_cells.errors import InvalidSpec, shown
from hived_cells.simulation.trace import Shape, Trace, TraceJob
from hived_cells.simulation.trace_file import csv_rows, whole

__all__ = ["PHILLY_COLUMNS", "read_philly"]

_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
PHILLY_COLUMNS = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")


def read_philly(path: str | Path, *, node_gpus: int = 8) -> Trace:
    r"""Read the Philly list (columns of `PHILLY_COLUMNS`), times from the first submission on.

    Assumed, for the list does not say: a job of up to `node_gpus` GPUs wants them on one node;
    a larger one whole nodes, its number of GPUs rounded up to a multiple. Durations are rounded
    up to whole seconds, 0 to 1.

    Parameters
    ----------
    path
        A CSV file, gzip or not.
    node_gpus
        GPUs of a node.

    Raises
    ------
    InvalidSpec
        A row breaks a rule of the format; names the file, the line and the rule.

    References
    ----------
    Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters" (USENIX ATC 2019).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "philly.csv")
    >>> _ = path.write_text("timestamp,duration,num_gpus,gpu_time,cluster\n"
    ...                     "2017-10-09 07:01:55,66.0,12,792.0,11cb48\n")
    >>> read_philly(path).jobs[0].shape
    Shape(nodes=2, gpus=8, soft=False)
    """
    rows = 0

    def job_of(row: list[str]) -> TraceJob:
        nonlocal rows
        rows += 1
        stamp, duration, gpus, _, cluster = row
        count = whole("num_gpus", gpus)
        shape = Shape(1, count) if count <= node_gpus else Shape(-(-count // node_gpus), node_gpus)
        return TraceJob(f"p{rows}", cluster, _seconds(stamp), _duration(duration), shape)

    jobs = list(csv_rows(path, PHILLY_COLUMNS, job_of))
    first = min((job.submit for job in jobs), default=0)
    return Trace(
        TraceJob(job.name, job.tenant, job.submit - first, job.duration, job.shape) for job in jobs
    )


def _seconds(stamp: str) -> int:
    try:
        if not _STAMP.fullmatch(stamp):
            raise ValueError
        moment = datetime.fromisoformat(stamp).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidSpec(f"timestamp is {shown(stamp)}; YYYY-MM-DD HH:MM:SS is needed") from None
    return int(moment.timestamp())


def _duration(text: str) -> int:
    """Return seconds rounded up, read digit by digit: no float is made of them."""
    seconds, dot, part = text.partition(".")
    if dot and not (part.isascii() and part.isdigit()):
        raise InvalidSpec(f"duration is {shown(text)}; seconds are needed")
    return max(1, whole("duration", seconds) + bool(part.strip("0")))
