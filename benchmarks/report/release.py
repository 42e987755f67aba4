"""One row a release: the few figures that a page of results keeps for ever.

Takes facts and rows and gives a line of Markdown; or a page, where it replaces what was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.metrics import shifted_geometric_mean
from benchmarks.report.facts import Fact
from benchmarks.report.tables import Table
from benchmarks.rows import Row
from synergy_opt.errors import InvalidInstance
from synergy_opt.io.text import read_text, write_text

HEAD = (
    "| version | date | commit | runs | packed closed | packed mean gap | packed mean s "
    "| TUNE mean gap | stage 1 closed | refuted claims |"
)
BEGIN, END = "<!-- releases -->", "<!-- end of releases -->"
STUDY = "<!-- study -->", "<!-- end of study -->"


def release_row(facts: Sequence[Fact], rows: Sequence[Row]) -> str:
    """Give the row of the version that the last run was made with."""
    about = rows[-1]["environment"]
    assert isinstance(about, dict)
    packed = [f for f in facts if f.method == "packed"]
    ideal = [f for f in facts if f.method == "ideal-core"]
    cells = [
        str(about["version"]),
        max(str(row["date"]) for row in rows),
        f"`{about['commit'] or '–'}`",
        str(len(facts)),
        _closed(packed),
        _mean_gap(packed),
        f"{shifted_geometric_mean([f.time for f in packed]):.2f}" if packed else "–",
        _mean_gap([f for f in facts if f.method == "tune"]),
        _closed(ideal),
        str(sum(f.claim == "refuted" for f in facts)),
    ]
    return "| " + " | ".join(cells) + " |"


def put_row(page: Path, row: str) -> None:
    """Put a version's row on the page, in place of an older one of the same version.

    Raises
    ------
    InvalidInstance
        When the page has no marks between which the rows stand.
    """
    inside = _between(page, read_text(page), (BEGIN, END))[1]
    version = row.split("|")[1].strip()
    old = [line for line in inside.splitlines() if line.startswith("|")][2:]
    kept = [line for line in old if line.split("|")[1].strip() != version]
    rule = "|:--|:--|:--|" + "--:|" * (HEAD.count("|") - 4)
    _put(page, (BEGIN, END), "\n".join([HEAD, rule, *kept, row]))


def put_study(page: Path, head: Sequence[str], tables: Sequence[Table]) -> None:
    """Put the study's tables on the page, in place of the last ones."""
    parts = ["\n".join(f"- {line}" for line in head)]
    parts += [f"#{table.markdown()}".rstrip() for table in tables]
    _put(page, STUDY, "\n\n".join(parts))


def _put(page: Path, marks: tuple[str, str], body: str) -> None:
    before, _, after = _between(page, read_text(page), marks)
    write_text(page, f"{before}{marks[0]}\n\n{body}\n\n{marks[1]}{after}")


def _between(page: Path, text: str, marks: tuple[str, str]) -> tuple[str, str, str]:
    begin, end = marks
    if begin not in text or end not in text:
        raise InvalidInstance(f"has no {begin} … {end}", f"{page}")
    before, rest = text.split(begin, 1)
    inside, after = rest.split(end, 1)
    return before, inside, after


def _closed(some: Sequence[Fact]) -> str:
    return f"{sum(f.claim == 'certified' for f in some)} of {len(some)}" if some else "–"


def _mean_gap(some: Sequence[Fact]) -> str:
    gaps = [float(f.gap) for f in some if f.gap is not None]
    return f"{100 * sum(gaps) / len(gaps):.2f} %" if gaps else "–"
