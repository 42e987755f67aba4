"""The archive as values: an entry an instance and problem, a record a bound.

Takes ``best_known.json`` and gives frozen `Entry` values, or writes them. Values are exact:
decimals or fractions in strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks.methods import Problem
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import exact
from synergy_opt.io.text import read_text, write_text

ARCHIVE = Path(__file__).resolve().parents[1] / "best_known.json"
SCHEMA = "synergy-hived/best-known/1"
Class = Literal["toy", "easy", "medium", "hard", "open"]
_CLASSES: tuple[tuple[Class, float], ...] = (("toy", 60), ("easy", 600), ("medium", 3600))


@dataclass(frozen=True, kw_only=True)
class Record:
    """A bound and where it comes from.

    Parameters
    ----------
    value
        Exact, a decimal or a fraction.
    date, method, version, hardware
        When, by what (with its settings), of which version and commit, on which kind of machine.
    seconds
        Processor time of that run.
    certificate, sha256
        A placement file beside the archive, as `synergy-opt verify` reads it (unpacked first
        where its name ends in ``.xz``), and the checksum of its unpacked bytes.
    """

    value: str
    date: str
    method: str
    version: str
    hardware: str
    seconds: float
    certificate: str
    sha256: str

    @property
    def exactly(self) -> Fraction:
        """Give the value as a number."""
        return exact(self.value)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is known of one problem on one instance; None where nothing is."""

    instance: str
    sha256: str
    problem: Problem
    difficulty: Class
    lower: Record | None
    upper: Record | None

    @property
    def name(self) -> str:
        """Give what messages call the entry."""
        return f"{self.instance} ({self.problem})"


def difficulty(lower: Record | None, upper: Record | None) -> Class:
    """Give the class by proof time: the longer of the two runs that closed the gap.

    Toy: at most a minute; easy: ten; medium: an hour; hard: more; open: not closed.
    """
    if lower is None or upper is None or lower.exactly != upper.exactly:
        return "open"
    longest = max(lower.seconds, upper.seconds)
    return next((name for name, most in _CLASSES if longest <= most), "hard")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    schema: str
    entries: list[Entry]


def read_archive(path: Path = ARCHIVE) -> list[Entry]:
    """Read an archive.

    Raises
    ------
    InvalidInstance
        Naming the file, the place inside it and the rule.
    """
    try:
        found = msgspec.json.decode(read_text(path).encode(), type=_File)
    except msgspec.MsgspecError as error:
        raise InvalidInstance(str(error), f"{path}") from None
    if found.schema != SCHEMA:
        raise InvalidInstance(f"must be {SCHEMA!r}, not {found.schema!r}", f"{path}: $.schema")
    return found.entries


def write_archive(entries: Iterable[Entry], path: Path = ARCHIVE) -> None:
    """Write an archive, an entry a line."""
    lines = [json.dumps(asdict(entry), ensure_ascii=False) for entry in entries]
    body = ",\n  ".join(lines)
    write_text(path, f'{{"schema": "{SCHEMA}",\n "entries": [\n  {body}]}}\n')
