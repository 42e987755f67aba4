"""An instance from three CSV files: profiles, jobs and servers.

Takes three paths and gives an `Instance`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.csv_rows import Row, needs, read_rows
from synergy_opt.io.profile_csv import read_profiles
from synergy_opt.model import Cluster, Instance, Job, Server

UNITS: Mapping[str, str] = {"cpu": "cores", "memory": "GB", "storage": "MB/s"}
"""Units of well-known resources; another one has none unless it is given."""


def import_csv(
    profiles: str | Path,
    jobs: str | Path,
    servers: str | Path,
    *,
    name: str = "imported",
    units: Mapping[str, str] | None = None,
) -> Instance:
    r"""Make an instance of three CSV files.

    Parameters
    ----------
    profiles
        ``profile,unit,per,<resource…>,throughput``, as `read_profiles` takes it.
    jobs
        ``id,gpus,profile`` and, if wanted, ``weight``; highest priority first.
    servers
        ``type,count,gpus,<resource…>``, a row a group; the resources of the profiles.
    name
        Of the instance.
    units
        Of the resources, for people; default `UNITS` where a resource is named there.

    Raises
    ------
    InvalidInstance
        Naming the file, the line and the rule.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     profiles, jobs, servers = (Path(folder, name) for name in ("p.csv", "j.csv", "s.csv"))
    ...     _ = profiles.write_text(
    ...         "profile,unit,per,cpu,throughput\nm,items/s,gpu,1,5\nm,items/s,gpu,3,9\n")
    ...     _ = jobs.write_text("id,gpus,profile\na,2,m\n")
    ...     _ = servers.write_text("type,count,gpus,cpu\nnode,1,4,12\n")
    ...     print(import_csv(profiles, jobs, servers))
    Instance 'imported': 1 jobs on 1 servers, 4 GPUs, cpu
    """
    table = read_profiles(profiles)
    names, units = table[0].resources, units or {}
    for key in units:
        if key not in names:
            known = ", ".join(names)
            raise InvalidInstance(f"there is no resource {key!r}; there are {known}", "units")
    groups = read_rows(servers, needs(("type", "count", "gpus", *names)))
    rows = read_rows(jobs, needs(("id", "gpus", "profile"), ("weight",)))
    cluster = Cluster(
        resources={key: units.get(key, UNITS.get(key, "")) for key in names},
        servers=[_server(row, names) for row in groups] or _none(servers),
    )
    try:
        return Instance(
            name=name, cluster=cluster, profiles=table, jobs=[_job(row) for row in rows]
        )
    except InvalidInstance as error:
        raise _at_line(error, rows) from None


def _server(row: Row, names: tuple[str, ...]) -> Server:
    capacity = [row.number(key) for key in names]
    for key, amount in zip(names, capacity, strict=True):
        if amount <= 0:
            row.fail(f"capacity must be above 0, not {row.cells[key]}", key)
    return Server(
        type=row.text("type"),
        count=row.whole("count", 1),
        gpus=row.whole("gpus", 1),
        capacity=tuple(capacity),
    )


def _job(row: Row) -> Job:
    weight = row.number("weight") if row.cells.get("weight", "").strip() else Fraction(1)
    if weight <= 0:
        row.fail(f"must be above 0, not {row.cells['weight']}", "weight")
    return Job(
        id=row.text("id"), gpus=row.whole("gpus", 1), profile=row.text("profile"), weight=weight
    )


def _none(path: str | Path) -> list[Server]:
    raise InvalidInstance("has no servers", f"{path}")


def _at_line(error: InvalidInstance, rows: list[Row]) -> InvalidInstance:
    """Turn ``$.jobs[3].gpus`` into the file and line of that job."""
    index, _, key = error.path.removeprefix("$.jobs[").partition("]")
    if not error.path.startswith("$.jobs["):
        return error
    row = rows[int(index)]
    where = f"{row.file}: line {row.line}"
    return InvalidInstance(error.rule, where + (f", {key[1:]}" if key else ""))
