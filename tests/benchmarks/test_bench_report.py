"""A report says of the rows what is so: claims, gaps, and unsolved runs at the limit."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.archive.records import read_archive
from benchmarks.report.analysis import claim_table, time_table
from benchmarks.report.facts import facts
from benchmarks.report.release import BEGIN, END, STUDY, put_row, put_study, release_row
from benchmarks.report.tables import Table
from benchmarks.rows import read_results
from synergy_opt.errors import InvalidInstance

ROOT = Path(__file__).resolve().parents[2]


def cell(table, first, column):
    """Give a cell of the row whose first cell is this."""
    row = next(row for row in table.rows if row[0] == first)
    return row[table.columns.index(column)]


def test_claims_are_counted_by_what_became_of_them(results):
    """Tests a true, an open and a forged claim."""
    rows = read_results(results)
    known = facts(rows, [])
    table = claim_table(known)
    assert cell(table, "whole: packed", "said optimal") == "3"
    assert cell(table, "whole: packed", "refuted") == "0"
    certified = sum(f.claim == "certified" for f in known if f.method == "packed")
    assert cell(table, "whole: packed", "certified") == str(certified)
    forged = [r | {"said": "optimal"} if r["method"] == "proportional" else r for r in rows]
    claims = {f.instance: f for f in facts(forged, []) if f.method == "proportional"}
    assert claims["triplets-3-0"].claim == "refuted"
    assert claims["triplets-3-0"].short > 0


def test_a_gap_is_to_the_best_certified_bound(results, archive):
    """Tests exact gaps, from the rows and from the archive alike."""
    rows = read_results(results)
    for known in (facts(rows, []), facts(rows, read_archive(archive))):
        ours = next(f for f in known if (f.instance, f.method) == ("triplets-3-0", "packed"))
        share = next(
            f for f in known if f.method == "proportional" and f.instance == ours.instance
        )
        assert (ours.gap, ours.lower, ours.upper) == (0, 18, 18)
        assert share.gap == Fraction(18) / share.throughput - 1


def test_an_unsolved_run_counts_at_the_limit(results):
    """Tests the time of a row that ended by the clock."""
    rows = read_results(results)
    late = rows[0] | {"outcome": "time", "said": "", "certified": False, "cpu_seconds": 3.0}
    assert facts([late], [])[0].time == late["time_limit"]
    table = time_table(facts([late, *rows[1:]], []))
    assert cell(table, "whole: packed", "solved") == "2"
    assert cell(table, "whole: packed", "longest s") == "20.00"


def test_the_command_writes_every_form(results, archive, tmp_path):
    """Tests Markdown, HTML with pictures inside it, and CSV."""
    folder = tmp_path / "report"
    words = ["report", str(results), "--archive", str(archive), "--output", str(folder)]
    assert main(words) == 0
    assert {p.suffix for p in folder.iterdir()} >= {".md", ".html", ".csv"}
    markdown = (folder / "report.md").read_text("utf-8")
    assert "| whole: packed | " in markdown
    assert "arithmetic: exact" in markdown
    assert (folder / "families.csv").read_text("utf-8").startswith("method,family,runs")
    assert "<table>" in (folder / "report.html").read_text("utf-8")


def test_a_release_replaces_its_own_row_only(results, archive, tmp_path):
    """Tests the page of releases: one row a version, older ones kept."""
    rows = read_results(results)
    row = release_row(facts(rows, read_archive(archive)), rows)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\n{END}\nafter\n", "utf-8")
    put_row(page, "| 0.0.1 | old |")
    put_row(page, row)
    put_row(page, row)
    text = page.read_text("utf-8")
    assert text.count("| 0.0.1 | old |") == 1
    assert text.count(row) == 1
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")


def test_the_page_says_what_the_stored_results_say():
    """Tests the documentation's release row, times and claims against the rows they come from."""
    stored = sorted((ROOT / "benchmarks" / "results").glob("*.jsonl"))[-1]
    rows = read_results(stored)
    known = facts(rows, read_archive())
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    assert release_row(known, rows) in page
    for table in (time_table(known), claim_table(known)):
        assert f"#{table.markdown()}".strip() in page


def test_the_study_replaces_the_last_one(results, tmp_path):
    """Tests the tables' place on a page, and a page without a place."""
    rows = read_results(results)
    page = tmp_path / "page.md"
    page.write_text("\n".join(["a", *STUDY, "b", BEGIN, END]), "utf-8")
    for _ in range(2):
        put_study(page, ["head"], [claim_table(facts(rows, []))])
    text = page.read_text("utf-8")
    assert text.count("### Claims that hold") == 1
    assert text.count("- head") == 1
    page.write_text("nothing\n", "utf-8")
    with pytest.raises(InvalidInstance, match="has no <!-- study"):
        put_study(page, [], [])


def test_a_table_is_safe_in_every_form():
    """Tests cells with the marks of each format."""
    table = Table(key="k", title="T", note="n", columns=("a", "b"), rows=(("x|y", "<b>,"),))
    assert "x\\|y" in table.markdown()
    assert "&lt;b&gt;," in table.html()
    assert table.csv() == 'a,b\nx|y,"<b>,"\n'


@pytest.mark.parametrize("text", ["", "nonsense\n", json.dumps({"instance": "x"}) + "\n"])
def test_a_file_that_holds_no_results_is_refused(tmp_path, text, capsys):
    """Tests exit code 2 with the line."""
    path = tmp_path / "results.jsonl"
    path.write_text(text, "utf-8")
    assert main(["report", str(path), "--output", str(tmp_path / "out")]) == 2
    assert str(path) in capsys.readouterr().err
