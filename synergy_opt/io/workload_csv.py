"""Our own trace format: a CSV file with a line a job.

Takes a path and profiles and gives a `Workload`, or writes one; what was written reads back the
same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import decimal_text
from synergy_opt.io.csv_rows import Row, csv_text, needs, stream_rows
from synergy_opt.io.text import write_text
from synergy_opt.model import Profile
from synergy_opt.profiling.cache_model import MODELS
from synergy_opt.simulation.workload import TraceJob, Workload

_COLUMNS = ("id", "submitted", "duration", "gpus", "profile")


def read_workload(
    path: str | Path,
    *,
    profiles: Iterable[Profile] | None = None,
    name: str | None = None,
    most_gpus: int | None = None,
) -> Workload:
    r"""Read a trace, gzipped or not.

    Parameters
    ----------
    path
        ``id,submitted,duration,gpus,profile``, in any order of columns: times in seconds, exact
        (``0.5``, ``10/3``); jobs in order of submission.
    profiles
        Those that the trace names, and perhaps more; default the twelve synthetic models.
    name
        Of the workload; default the file's name up to its first point.
    most_gpus
        GPUs of the cluster: a job that asks for more is refused. Default no limit.

    Raises
    ------
    InvalidInstance
        Naming the file, the line, the column and the rule: a missing, negative or malformed
        number, a duration or demand of 0, a job before the one above it, an id that occurs twice,
        a profile that is not there, more GPUs than the cluster has.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "trace.csv")
    ...     _ = path.write_text("id,submitted,duration,gpus,profile\na,0,3600,2,resnet18\n")
    ...     print(read_workload(path))
    Workload 'trace': 1 jobs, 12 profiles
    """
    known = dict(_synthetic() if profiles is None else _by_name(profiles))
    jobs: list[TraceJob] = []
    seen: set[str] = set()
    last = Fraction(0)
    for row in stream_rows(path, needs(_COLUMNS)):
        job = _job(row, known, most_gpus)
        if job.id in seen:
            row.fail(f"{job.id!r} occurs twice", "id")
        if job.submitted < last:
            row.fail(f"is {row.cells['submitted']}, before the job above it", "submitted")
        seen.add(job.id)
        last = job.submitted
        jobs.append(job)
    stem = Path(path).name.partition(".")[0]
    return Workload(stem if name is None else name, known, tuple(jobs))


def workload_text(workload: Workload) -> str:
    """Give the trace as the text of a CSV file; the profiles are not in it.

    Examples
    --------
    >>> profile = Profile(name="m", axes={"cpu": [3]}, throughput=[1])
    >>> jobs = (TraceJob("a", 0, "10/3", 1, "m"), TraceJob("b", "0.5", 60, 2, "m"))
    >>> print(workload_text(Workload("w", {"m": profile}, jobs)), end="")
    id,submitted,duration,gpus,profile
    a,0,10/3,1,m
    b,0.5,60,2,m
    """
    rows = [
        (
            job.id,
            decimal_text(job.submitted),
            decimal_text(job.duration),
            str(job.gpus),
            job.profile,
        )
        for job in workload.jobs
    ]
    return csv_text(_COLUMNS, rows)


def write_workload(path: str | Path, workload: Workload) -> None:
    """Write the trace, whole or not at all; `write_profiles` writes the profiles.

    Parameters
    ----------
    path
        Where to.
    workload
        Whose jobs.

    Raises
    ------
    InvalidInstance
        When the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from synergy_opt import derived_workload, read_workload
    >>> workload = derived_workload(jobs=3, seed=1, load=2)
    >>> with TemporaryDirectory() as folder:
    ...     write_workload(Path(folder, "trace.csv"), workload)
    ...     read_workload(Path(folder, "trace.csv")).jobs == workload.jobs
    True
    """
    write_text(path, workload_text(workload))


def _job(row: Row, profiles: Mapping[str, Profile], most_gpus: int | None) -> TraceJob:
    submitted, duration = row.number("submitted"), row.number("duration")
    if submitted.numerator < 0:
        row.fail(f"must not be negative, not {row.cells['submitted']}", "submitted")
    if duration.numerator <= 0:
        row.fail(f"must be above 0, not {row.cells['duration']}", "duration")
    gpus, profile = row.whole("gpus", 1), row.text("profile")
    if most_gpus is not None and gpus > most_gpus:
        row.fail(f"is {gpus}, but the cluster has {most_gpus} GPUs", "gpus")
    if profile not in profiles:
        row.fail(f"there is no profile {profile!r}", "profile")
    name = row.text("id")
    try:
        # One string a profile, not one a line.
        return TraceJob(name, submitted, duration, gpus, profiles[profile].name)
    except InvalidInstance as error:
        row.fail(error.rule, error.path.removeprefix("."))


def _synthetic() -> Mapping[str, Profile]:
    return {name: model.profile() for name, model in MODELS.items()}


def _by_name(profiles: Iterable[Profile]) -> Mapping[str, Profile]:
    found: dict[str, Profile] = {}
    for profile in profiles:
        if profile.name in found:
            raise InvalidInstance(f"the profile {profile.name!r} occurs twice", "profiles")
        found[profile.name] = profile
    return found
