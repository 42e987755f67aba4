"""``python -m benchmarks report RESULTS``: what the results say, as Markdown, HTML and CSV.

Takes a results file and the archive and gives a folder: ``report.md``, ``report.html``, a CSV file
a table and the pictures.
"""

from __future__ import annotations

import argparse
import base64
import html
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.archive.records import ARCHIVE, read_archive
from benchmarks.report.analysis import family_table, tables
from benchmarks.report.facts import facts
from benchmarks.report.plots import draw
from benchmarks.report.release import put_row, put_study, release_row
from benchmarks.report.tables import Table
from benchmarks.rows import Row, read_results
from synergy_opt.errors import InvalidInstance
from synergy_opt.io.text import write_text

_STYLE = (
    "body{font:15px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse}td,th{border-bottom:1px solid #ccc;padding:.2em .6em;"
    "text-align:right}td:first-child,th:first-child{text-align:left}img{max-width:100%}"
)


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.add_argument("results", type=Path)
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    parser.add_argument("--output", type=Path, default=Path("benchmark-report"), metavar="FOLDER")
    parser.add_argument(
        "--docs", type=Path, metavar="PAGE", help="put this version's row and the tables on a page"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the report."""
    rows = read_results(options.results)
    if not rows:
        raise InvalidInstance("has no rows", f"{options.results}")
    archive = read_archive(options.archive) if options.archive.exists() else []
    known = facts(rows, archive)
    options.output.mkdir(parents=True, exist_ok=True)
    found, pictures = tables(known), draw(known, options.output)
    whole, head = [*found, family_table(known)], protocol(rows)
    for table in whole:
        write_text(options.output / f"{table.key}.csv", table.csv())
    write_text(options.output / "report.md", _markdown(head, whole, pictures))
    write_text(options.output / "report.html", _html(head, whole, pictures, options.output))
    if options.docs is not None:
        put_row(options.docs, release_row(known, rows))
        put_study(options.docs, head, found)
    print(f"{len(rows)} runs: {options.output / 'report.md'}, report.html, CSV, pictures")
    return 0


def protocol(rows: Sequence[Row]) -> list[str]:
    """Say under what the runs were made; more than one machine or version shows."""
    about = [row["environment"] for row in rows]
    lines = []
    for key in ("version", "commit", "hardware"):
        counts = Counter(str(a[key]) for a in about if isinstance(a, dict))
        lines.append(f"{key}: " + "; ".join(f"{k} ({n} runs)" for k, n in counts.items()))
    libraries = {k: v for a in about if isinstance(a, dict) for k, v in a["libraries"].items()}
    lines.append("libraries: " + ", ".join(f"{k} {v}" for k, v in sorted(libraries.items())))
    limits = Counter(f"{row['time_limit']:g} s, {row['memory_limit']} MB" for row in rows)
    lines.append("limits: " + "; ".join(f"{k} ({n} runs)" for k, n in limits.items()))
    lines.append("arithmetic: exact; every answer judged by the certificate, without a tolerance")
    return lines


def _markdown(
    head: Sequence[str], found: Sequence[Table], pictures: Sequence[tuple[str, str]]
) -> str:
    parts = ["# Benchmark report\n", "\n".join(f"- {line}" for line in head) + "\n"]
    parts += [table.markdown() for table in found]
    parts += [f"![{caption}]({name})\n" for name, caption in pictures]
    return "\n".join(parts)


def _html(
    head: Sequence[str],
    found: Sequence[Table],
    pictures: Sequence[tuple[str, str]],
    folder: Path,
) -> str:
    items = "".join(f"<li>{html.escape(line)}</li>" for line in head)
    images = "".join(
        f'<figure><img alt="{html.escape(caption)}" src="data:image/png;base64,'
        f'{base64.b64encode((folder / name).read_bytes()).decode()}">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>\n"
        for name, caption in pictures
    )
    body = "\n".join(table.html() for table in found)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Benchmark report</title>'
        f"<style>{_STYLE}</style><h1>Benchmark report</h1><ul>{items}</ul>\n"
        f"{body}{images}</html>\n"
    )
