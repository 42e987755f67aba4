"""The results file: one JSON line a run, appended as it ends; certified answers beside it.

Takes rows and gives rows. A run that was cut off while its line was written leaves a last line
without an end, which is dropped and run again.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec

from benchmarks.methods import Problem
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import exact
from synergy_opt.io.text import read_text, write_text

Row = dict[str, object]
_KEY = ("instance", "sha256", "method", "seed", "time_limit", "memory_limit")


class _Run(msgspec.Struct):
    """What every row has, however its run ended; rows may have more."""

    instance: str
    sha256: str
    servers: int
    method: str
    problem: Problem
    exact: bool
    seed: int
    time_limit: float
    memory_limit: int
    date: str
    environment: _Environment
    outcome: str
    seconds: float
    cpu_seconds: float | None = None
    claimed_bound: float | None = None
    certified: bool = False


class _Environment(msgspec.Struct):
    version: str
    commit: str
    hardware: str
    libraries: dict[str, str]


class _Judged(msgspec.Struct):
    """What a row has whose answer keeps every rule."""

    throughput: str
    solves: list[Problem]
    bound: str | None
    bounds: list[Problem]


def read_results(path: Path) -> list[Row]:
    """Read the rows that are whole.

    Raises
    ------
    InvalidInstance
        When the file cannot be read, or a line but the last is no row: naming the line, what
        stands there and the rule.
    """
    rows: list[Row] = []
    lines = read_text(path).split("\n")
    for number, line in enumerate(lines):
        if not line:
            continue
        try:
            rows.append(_row(line))
        except (ValueError, InvalidInstance) as error:
            if number == len(lines) - 1:
                break  # cut off: no line end
            where = f"{path}:{number + 1}"
            raise InvalidInstance(f"is no row of results: {error}", where) from None
    return rows


def _row(line: str) -> Row:
    row = json.loads(line)
    if msgspec.convert(row, _Run).certified:
        judged = msgspec.convert(row, _Judged)
        exact(judged.throughput)
        exact(judged.bound or 0)
    found: Row = row
    return found


def keys(rows: Iterable[Row]) -> set[tuple[object, ...]]:
    """Give what the rows are known by."""
    return {tuple(row[key] for key in _KEY) for row in rows}


def mend(path: Path) -> None:
    """Drop a last line that was cut off, so that the next one starts where a line starts."""
    if not path.exists():
        return
    text = read_text(path)
    if text and not text.endswith("\n"):
        write_text(path, text[: text.rfind("\n") + 1])


def append(path: Path, row: Row, answer: bytes | None) -> None:
    """Add a row and its answer; when this returns both are on the disk."""
    if answer is not None:
        folder = answers(path)
        folder.mkdir(exist_ok=True)
        name = sha256(answer).hexdigest()
        target = folder / f"{name}.json.xz"
        if not target.exists():
            beside = target.with_suffix(f".{os.getpid()}")
            beside.write_bytes(lzma.compress(answer))
            beside.replace(target)
        row = {**row, "answer": name}
    with path.open("ab") as stream:
        stream.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
        stream.flush()
        os.fsync(stream.fileno())


def answers(path: Path) -> Path:
    """Give the folder of a results file's answers."""
    return path.with_name(path.name + ".answers")


def answer_of(path: Path, row: Row) -> bytes | None:
    """Give the answer's file of a row, None where it has none; its checksum is its name."""
    name = row.get("answer")
    if not isinstance(name, str):
        return None
    data = lzma.decompress((answers(path) / f"{name}.json.xz").read_bytes())
    if sha256(data).hexdigest() != name:
        raise InvalidInstance("the answer's checksum is not its name", name)
    return data
