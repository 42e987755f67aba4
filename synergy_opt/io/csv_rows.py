"""Comma-separated files, strictly: one known header, every row as long as it, line numbers kept.

Takes a path and gives rows that name file, line and column in every complaint.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import NoReturn

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import exact
from synergy_opt.io.text import open_text, read_text

_SHORT = 19  # characters


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line of a file: its `cells` by column name."""

    file: str
    line: int
    cells: dict[str, str]

    def fail(self, rule: str, column: str = "") -> NoReturn:
        """Refuse the row with file, line, column and rule."""
        where = f"{self.file}: line {self.line}"
        raise InvalidInstance(rule, f"{where}, {column}" if column else where)

    def text(self, column: str) -> str:
        """Give a cell that is not empty."""
        value = self.cells[column].strip()
        if not value:
            self.fail("must not be empty", column)
        return value

    def number(self, column: str) -> Fraction:
        """Give a cell that is an exact number: a decimal or ``10/3``."""
        text = self.text(column)
        if len(text) < _SHORT and text.isascii() and text.isdigit():
            return Fraction(int(text))  # most cells of a long file
        try:
            return exact(text)
        except InvalidInstance as error:
            if error.path:
                raise
            self.fail(error.rule, column)

    def whole(self, column: str, least: int = 0) -> int:
        """Give a cell that is a whole number of at least `least`."""
        value = self.number(column)
        if value.denominator != 1 or value.numerator < least:
            self.fail(
                f"must be a whole number of at least {least}, not {self.cells[column]}", column
            )
        return int(value)


def read_rows(path: str | Path, check_header: Callable[[Sequence[str]], str]) -> list[Row]:
    """Read a file with a header line.

    Parameters
    ----------
    path
        The file.
    check_header
        Gives what is wrong with the columns, or an empty string.

    Raises
    ------
    InvalidInstance
        When the file cannot be read, is no CSV, or a row is shorter or longer than the header.
    """
    return list(_rows(path, StringIO(read_text(path), newline=""), check_header))


def stream_rows(path: str | Path, check_header: Callable[[Sequence[str]], str]) -> Iterator[Row]:
    """Read as `read_rows` does, gzipped or not, one row at a time: for files of any length."""
    with open_text(path) as text:
        yield from _rows(path, text, check_header)


def _rows(
    path: str | Path, text: Iterable[str], check_header: Callable[[Sequence[str]], str]
) -> Iterator[Row]:
    lines = csv.reader(text, strict=True)
    header: list[str] | None = None
    try:
        for cells in lines:
            if not cells:
                continue
            if header is None:
                header = _header(path, [cell.strip().removeprefix("\ufeff") for cell in cells])
                if complaint := check_header(header):
                    raise InvalidInstance(complaint, f"{path}: line {lines.line_num}")
                continue
            if len(cells) != len(header):
                rule = f"has {len(cells)} cells, but the header has {len(header)}"
                raise InvalidInstance(rule, f"{path}: line {lines.line_num}")
            cells_of = dict(zip(header, cells, strict=True))
            yield Row(file=f"{path}", line=lines.line_num, cells=cells_of)
    except csv.Error as error:
        raise InvalidInstance(f"is not CSV: {error}", f"{path}: line {lines.line_num}") from None
    if header is None:
        raise InvalidInstance("is empty", f"{path}")


def needs(required: Collection[str], optional: Collection[str] = ()) -> Callable[..., str]:
    """Give a header check: all of `required`, nothing but these and `optional`."""

    def check(header: Sequence[str]) -> str:
        for column in required:
            if column not in header:
                return f"the column {column!r} is missing"
        for column in header:
            if column not in required and column not in optional:
                return f"unknown column {column!r}; known are {', '.join([*required, *optional])}"
        return ""

    return check


def csv_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Give the text of a CSV file."""
    stream = StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def _header(path: str | Path, names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise InvalidInstance(f"the column {name!r} occurs twice", f"{path}: line 1")
    return names
