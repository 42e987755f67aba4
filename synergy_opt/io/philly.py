"""The public Philly trace: its job log, or the CSV file that others made of it → a workload.

Takes a path and gives an `Imported`. Times are local and without a zone, as published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import msgspec

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.csv_rows import Row, needs, stream_rows
from synergy_opt.io.text import open_text
from synergy_opt.io.trace import SPLIT, Imported, Line, imported

_COLUMNS = ("timestamp", "duration", "num_gpus")
_UNUSED = ("gpu_time", "cluster")
_FORM = "%Y-%m-%d %H:%M:%S"
_START = datetime(2017, 1, 1)
_NEVER_RAN, _NO_GPU, _NO_TIME = "without an attempt", "without a GPU", "that took no time"


class _Detail(msgspec.Struct):
    gpus: list[str]


class _Attempt(msgspec.Struct):
    start_time: str | None
    end_time: str | None
    detail: list[_Detail]


class _Job(msgspec.Struct):
    jobid: str
    submitted_time: str | None
    attempts: list[_Attempt]


def read_philly_csv(
    path: str | Path,
    *,
    split: Sequence[int] = SPLIT,
    seed: int = 0,
    most_gpus: int | None = None,
) -> Imported:
    r"""Read ``timestamp,duration,num_gpus[,gpu_time,cluster]``, gzipped or not, in any order.

    Parameters
    ----------
    path
        The file; a duration is in seconds. A job's id is its line, ``line-2`` for the first.
    split, seed
        Weights of image, language and speech models, and the draw: the trace names no models.
    most_gpus
        Leave out jobs that ask for more; default none.

    Raises
    ------
    InvalidInstance
        Naming the file, the line, the column and the rule. Jobs that took no time are left out
        and counted, not refused.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "philly.csv")
    ...     _ = path.write_text("timestamp,duration,num_gpus\n2017-10-03 21:03:20,120,1\n")
    ...     print(read_philly_csv(path))
    philly: 1 jobs; left out: none
    """
    check = needs(_COLUMNS, _UNUSED)
    lines = (_csv_line(row) for row in stream_rows(path, check))
    return imported("philly", lines, path=f"{path}", split=split, seed=seed, most_gpus=most_gpus)


def read_philly_log(
    path: str | Path,
    *,
    split: Sequence[int] = SPLIT,
    seed: int = 0,
    most_gpus: int | None = None,
) -> Imported:
    """Read the original ``cluster_job_log``, a JSON list, gzipped or not.

    A job's duration is the sum of its attempts, its demand the most GPUs of an attempt. Left out
    and counted are jobs that never ran, have no GPU, or took no time; an attempt without a start
    or an end took none.

    Parameters
    ----------
    path, split, seed, most_gpus
        As in `read_philly_csv`.

    Raises
    ------
    InvalidInstance
        Naming the file, the place such as ``$[3].attempts[0].end_time``, and the rule: not the
        log's format, an unreadable time, an attempt that ends before it starts, an id that occurs
        twice.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> attempt = {"start_time": "2017-10-03 21:04:00", "end_time": "2017-10-03 21:14:00",
    ...            "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]}
    >>> job = {"status": "Pass", "vc": "a", "jobid": "j1", "attempts": [attempt],
    ...        "submitted_time": "2017-10-03 21:03:20", "user": "u"}
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "cluster_job_log")
    ...     _ = path.write_text(json.dumps([job]))
    ...     print(read_philly_log(path))
    philly: 1 jobs; left out: none
    """
    with open_text(path) as text:
        data = text.read()
    try:
        jobs = msgspec.json.decode(data, type=list[_Job])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise InvalidInstance(f"is no Philly job log: {error}", f"{path}") from None
    del data
    lines = _log_lines(path, jobs)
    return imported("philly", lines, path=f"{path}", split=split, seed=seed, most_gpus=most_gpus)


def _csv_line(row: Row) -> Line | str:
    at = _seconds(row.text("timestamp"))
    if at is None:
        row.fail(f"must be YYYY-MM-DD hh:mm:ss, not {row.cells['timestamp']!r:.40}", "timestamp")
    duration, gpus = row.number("duration"), row.whole("num_gpus")
    if duration < 0:
        row.fail(f"must not be negative, not {row.cells['duration']}", "duration")
    if gpus == 0:
        return _NO_GPU
    return Line(f"line-{row.line}", Fraction(at), duration, gpus) if duration else _NO_TIME


def _log_lines(path: str | Path, jobs: Sequence[_Job]) -> Iterator[Line | str]:
    seen: set[str] = set()
    for i, job in enumerate(jobs):
        where = f"{path}: $[{i}]"
        if job.jobid in seen:
            raise InvalidInstance(f"{job.jobid!r:.60} occurs twice", f"{where}.jobid")
        seen.add(job.jobid)
        at = _time(job.submitted_time, f"{where}.submitted_time")
        if at is None:
            raise InvalidInstance("is missing", f"{where}.submitted_time")
        duration = sum(
            _length(attempt, f"{where}.attempts[{k}]") for k, attempt in enumerate(job.attempts)
        )
        gpus = max((sum(len(d.gpus) for d in a.detail) for a in job.attempts), default=0)
        if not job.attempts:
            yield _NEVER_RAN
        elif not gpus:
            yield _NO_GPU
        elif not duration:
            yield _NO_TIME
        else:
            yield Line(job.jobid, Fraction(at), Fraction(duration), gpus)


def _length(attempt: _Attempt, where: str) -> int:
    start = _time(attempt.start_time, f"{where}.start_time")
    end = _time(attempt.end_time, f"{where}.end_time")
    if start is None or end is None:
        return 0
    if end < start:
        raise InvalidInstance(f"{attempt.end_time} is before the start", f"{where}.end_time")
    return end - start


def _time(text: str | None, where: str) -> int | None:
    """Give a time of the log in seconds; it writes a missing one as null or ``"None"``."""
    if text is None or text == "None":
        return None
    seconds = _seconds(text)
    if seconds is None:
        _bad_time(text, where)
    return seconds


def _bad_time(text: str, where: str) -> NoReturn:
    raise InvalidInstance(f"must be YYYY-MM-DD hh:mm:ss, not {text!r:.40}", where)


def _seconds(text: str) -> int | None:
    """Give seconds since a fixed day; None where it is no time."""
    try:
        moment = datetime.strptime(text, _FORM)
    except ValueError:
        return None
    passed = moment - _START
    return passed.days * 86400 + passed.seconds
