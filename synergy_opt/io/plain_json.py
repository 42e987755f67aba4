"""JSON documents of our own making: numbers are doubles, written so that they read back the same.

Takes plain values and a path, writes whole files and reads them; for results, whose exact numbers
are strings, not for input that people write (`text.read_json` keeps its decimals exact).
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.text import read_text, write_text


def write_plain(path: Path, document: dict[str, object]) -> None:
    """Write a document, whole or not at all."""
    write_text(path, msgspec.json.encode(document).decode() + "\n")


def read_plain(path: Path) -> dict[str, object]:
    """Read a document.

    Raises
    ------
    InvalidInstance
        When the file cannot be read or is no JSON object.
    """
    try:
        document = msgspec.json.decode(read_text(path))
    except msgspec.DecodeError as error:
        raise InvalidInstance(f"is no JSON: {error}", f"{path}") from None
    if not isinstance(document, dict):
        raise InvalidInstance("is no document of a run", f"{path}")
    return document
