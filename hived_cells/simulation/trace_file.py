"""Traces in files: takes CSV (plain or gzip), gives a trace, and writes one back.

Every refusal names the file, the line and the rule.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from hived_cells.errors import InvalidSpec, shown
from hived_cells.simulation.trace import Shape, Trace, TraceJob

__all__ = ["COLUMNS", "csv_rows", "file_text", "read_trace", "trace_text", "whole"]

COLUMNS = ("job", "tenant", "submit", "duration", "nodes", "gpus_per_node", "affinity")
_Built = TypeVar("_Built")
_LFS = b"version https://git-lfs"
_AFFINITY = {"hard": False, "soft": True}


def read_trace(path: str | Path) -> Trace:
    r"""Read a trace: CSV with the columns of `COLUMNS` in that order, times in whole seconds.

    Gzip is recognised by its content, lines may end as on any system, empty lines are skipped.

    Raises
    ------
    InvalidSpec
        The file is no such table; names the file, the line and the rule.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "trace.csv")
    >>> _ = path.write_text("job,tenant,submit,duration,nodes,gpus_per_node,affinity\n"
    ...                     "j1,A,0,60,1,8,hard\n")
    >>> read_trace(path).jobs[0].shape
    Shape(nodes=1, gpus=8, soft=False)
    """
    seen: set[str] = set()

    def job_of(row: list[str]) -> TraceJob:
        name, tenant, submit, duration, nodes, gpus, affinity = row
        if affinity not in _AFFINITY:
            raise InvalidSpec(f"affinity {shown(affinity)} is neither 'hard' nor 'soft'")
        if name in seen:
            raise InvalidSpec(f"job {name!r} is there twice")
        seen.add(name)
        shape = Shape(whole("nodes", nodes), whole("gpus_per_node", gpus), _AFFINITY[affinity])
        return TraceJob(name, tenant, whole("submit", submit), whole("duration", duration), shape)

    return Trace(csv_rows(path, COLUMNS, job_of))


def csv_rows(
    path: str | Path, columns: tuple[str, ...], build: Callable[[list[str]], _Built]
) -> Iterator[_Built]:
    """Yield what `build` makes of each row of a table with exactly these columns.

    Raises
    ------
    InvalidSpec
        The file is no such table, or `build` refuses a row; file and line are named.

    Examples
    --------
    >>> next(csv_rows(Path("/nowhere.csv"), ("job",), None))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: '/nowhere.csv'
    """
    reader = csv.reader(io.StringIO(file_text(path), newline=""), strict=True)
    try:
        header = next(reader, [])
        if tuple(header) != columns:
            raise InvalidSpec(f"columns are {shown(header)}; {','.join(columns)} are needed")
        for row in reader:
            if not row:
                continue
            if len(row) != len(columns):
                raise InvalidSpec(f"{len(row)} fields, {len(columns)} are needed")
            yield build(row)
    except (InvalidSpec, csv.Error) as error:
        raise InvalidSpec(f"{path}: line {max(reader.line_num, 1)}: {error}") from None


def file_text(path: str | Path) -> str:
    """Return a file's text, plain or gzip.

    Raises
    ------
    InvalidSpec
        It is a device, a Git LFS pointer, broken gzip, or not UTF-8; the line is named.

    Examples
    --------
    >>> file_text(Path("/nowhere"))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: '/nowhere'
    """
    if Path(path).is_char_device() or Path(path).is_block_device():
        raise InvalidSpec(f"{path}: is a device, not a file")  # /dev/zero never ends
    data = Path(path).read_bytes()
    if data.startswith(_LFS):
        raise InvalidSpec(
            f"{path}: line 1: a Git LFS pointer, not the data it points to (fetch it first)"
        )
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidSpec(f"{path}: broken gzip: {error}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidSpec(f"{path}: line {line}: not UTF-8") from None


def whole(what: str, text: str) -> int:
    """Return the whole number that a field says.

    Raises
    ------
    InvalidSpec
        It says something else.

    Examples
    --------
    >>> whole("nodes", "12")
    12
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise InvalidSpec(f"{what} is {shown(text)}; a whole number of 1 to 12 digits is needed")
    return int(text)


def trace_text(trace: Trace) -> str:
    """Return the trace as the CSV that `read_trace` reads.

    Examples
    --------
    >>> print(trace_text(Trace([TraceJob("j1", "A", 0, 60, Shape(2, 8))])), end="")
    job,tenant,submit,duration,nodes,gpus_per_node,affinity
    j1,A,0,60,2,8,hard
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for job in trace.jobs:
        shape = job.shape
        affinity = "soft" if shape.soft else "hard"
        writer.writerow(
            (job.name, job.tenant, job.submit, job.duration, shape.nodes, shape.gpus, affinity)
        )
    return out.getvalue()
