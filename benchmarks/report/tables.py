"""A table as a value, written as Markdown, HTML or CSV.

Takes columns and rows of text and gives text.
"""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with a title and a sentence on how to read it."""

    key: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Write it as Markdown; the first column to the left, the others to the right."""
        rule = "|".join([":--", *["--:"] * (len(self.columns) - 1)])
        lines = [_line(self.columns), f"|{rule}|", *map(_line, self.rows)]
        return f"## {self.title}\n\n{self.note}\n\n" + "\n".join(lines) + "\n"

    def html(self) -> str:
        """Write it as HTML."""
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "\n".join(
            "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>"
            for row in self.rows
        )
        title, note = html.escape(self.title), html.escape(self.note)
        return f"<h2>{title}</h2>\n<p>{note}</p>\n<table>\n<tr>{head}</tr>\n{body}\n</table>\n"

    def csv(self) -> str:
        """Write it as CSV."""
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows([self.columns, *self.rows])
        return stream.getvalue()


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
