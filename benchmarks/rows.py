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

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.text import read_text, write_text

Row = dict[str, object]
_KEY = ("instance", "sha256", "method", "seed", "time_limit", "memory_limit")


def read_results(path: Path) -> list[Row]:
    """Read the rows that are whole.

    Raises
    ------
    InvalidInstance
        When the file cannot be read, or a line but the last is no row.
    """
    rows: list[Row] = []
    lines = read_text(path).split("\n")
    for number, line in enumerate(lines):
        if not line:
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict) or any(key not in row for key in _KEY):
                raise ValueError
        except ValueError:
            if number == len(lines) - 1:
                break  # cut off: no line end
            raise InvalidInstance("is no row of results", f"{path}:{number + 1}") from None
        rows.append(row)
    return rows


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
