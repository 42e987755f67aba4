"""The verdicts on the packed optimum: what came after a limit does not count, a miss is told."""

from __future__ import annotations

import pytest

from benchmarks.synergy import packed as command
from benchmarks.synergy.packed import gap_within, run
from benchmarks.synergy.packed_cases import cases
from benchmarks.synergy.packed_targets import verdicts


def row(section, **changes):
    """Give a run that keeps every target, with changes."""
    found = {
        "section": section,
        "servers": 512,
        "proof": "patterns",
        "gap": 0.0,
        "left_out": 0,
        "gap_in_limit": 0.0,
        "limit_s": 10.0,
        "cpu_s": 0.5,
        "wall_s": 0.5,
        "broken": None,
    }
    return {**found, **changes}


def test_only_what_was_known_within_the_limit_counts():
    """Tests before the first report, between two, at the limit itself, and without a placement."""
    known = [(1.0, None), (3.0, 0.5), (7.0, 0.1)]
    assert [gap_within(known, s) for s in (0.5, 2.0, 3.0, 6.9, 7.0, 99.0)] == [
        *(None, None, 0.5, 0.5, 0.1, 0.1)
    ]


@pytest.mark.parametrize("section", ["large", "large-jobs", "split-allowed", "different"])
@pytest.mark.parametrize("late", [None, 0.01])
def test_a_gap_closed_after_the_limit_is_not_kept(section, late):
    """Tests one late run among good ones: none or a wide gap at its limit, 0 at its end."""
    good = row(section)
    assert all(v["kept"] for v in verdicts(section, [good, good]))
    assert not all(v["kept"] for v in verdicts(section, [good, row(section, gap_in_limit=late)]))


@pytest.mark.parametrize("section", ["large", "medium", "large-jobs"])
def test_a_job_left_out_is_not_kept(section):
    """Tests that placing fewer jobs is no answer, whatever its gap."""
    some = [row(section), row(section, left_out=1)]
    assert [v["target"] for v in verdicts(section, some) if not v["kept"]] == ["all jobs placed"]


def test_one_slow_run_of_many_is_not_kept():
    """Tests that a median does not hide a run of more than a second."""
    some = [*(row("large") for _ in range(30)), row("large", cpu_s=1.1)]
    assert [v["measured"] for v in verdicts("large", some) if not v["kept"]] == [
        "1.10 s, median 0.50 s"
    ]


def test_a_real_run_is_judged_at_its_limit():
    """Tests a small case: done within its limit, it counts as it ended."""
    case = next(c for c in cases("few", 1) if c.servers == 2)
    found = run(case, check=True, clock=1.0)
    assert found["broken"] == 0
    assert found["gap_in_limit"] == found["gap"]


@pytest.mark.parametrize(("kept", "code"), [(True, 0), (False, 1)])
def test_a_target_that_is_not_kept_is_code_1(monkeypatch, tmp_path, kept, code):
    """Tests the exit code, and that only the whole file is left in the folder."""
    found = row("large", gap_in_limit=0.0 if kept else 0.5)
    monkeypatch.setattr(command, "cases", lambda *_: [None])
    monkeypatch.setattr(command, "run", lambda *_, **__: found)
    path = tmp_path / "rows.json"
    arguments = ["packed", "--sections", "large", "--output", str(path)]
    monkeypatch.setattr("sys.argv", arguments)
    assert command.main() == code
    assert list(tmp_path.iterdir()) == [path]
