"""Kept runs of the paper's evaluation: done once, and never taken for those of other code."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.paper.synergy import runs, source
from benchmarks.paper.synergy.case import Case
from benchmarks.paper.synergy.entry import SMALL
from benchmarks.paper.synergy.runs import run_all
from benchmarks.paper.synergy.source import code_digest

CASE = Case(load=9.0, seed=1, mechanism="tune", jobs=20, first=5, last=10)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project of three modules: `top` imports `deep`, and nothing imports `other`."""
    package = tmp_path / "benchmarks"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "top.py").write_text("def f():\n    from benchmarks import deep\n")
    (package / "deep.py").write_text('"""Text."""\nVALUE = 1  # why\n')
    (package / "other.py").write_text("VALUE = 1\n")
    monkeypatch.setattr(source, "_ROOT", tmp_path)
    return package


def _digest() -> str:
    return code_digest.__wrapped__("benchmarks.top")


@pytest.mark.parametrize(
    ("name", "text", "changes"),
    [
        ("deep.py", "VALUE = 2\n", True),
        ("top.py", "def f():\n    pass\n", True),
        ("deep.py", '"""Other text."""\n\nVALUE   =  1\n', False),
        ("other.py", "VALUE = 2\n", False),
    ],
    ids=["imported inside a function", "the module", "words alone", "not imported"],
)
def test_the_digest_changes_with_the_code_that_is_reached_alone(
    project: Path, name: str, text: str, changes: bool
):
    """Tests that results grow old with the code behind them, and with nothing else."""
    before = _digest()
    (project / name).write_text(text)
    assert (_digest() != before) is changes


def test_the_digest_of_a_case_reaches_simulator_mechanisms_and_profiles():
    """Tests that the modules that decide a run are among those that count."""
    reached = source._reached("benchmarks.paper.synergy.case")
    assert {f"synergy_opt.{name}" for name in (
        "simulation.engine", "simulation.derived", "tune", "greedy", "packed.optimum",
        "profiling.cache_model", "model.profile", "fair_share", "io.philly",
    )} <= reached.keys()  # fmt: skip
    assert not any("cli" in name or "plot" in name for name in reached)


def test_a_kept_run_is_not_done_again_until_the_code_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Tests resuming: one file a case, read the second time; a new file under other code."""
    settings = replace(SMALL, runs=str(tmp_path))
    first = run_all([CASE], settings)
    assert len(list(tmp_path.iterdir())) == 1
    with monkeypatch.context() as patch:
        patch.setattr(runs, "run", None)  # a run would fail
        assert run_all([CASE], settings) == first
    monkeypatch.setattr(runs, "code_digest", lambda _: "other code")
    assert run_all([CASE], settings) == first
    assert len(list(tmp_path.iterdir())) == 2


def test_a_kept_run_of_a_trace_is_that_of_its_content(tmp_path: Path):
    """Tests that an edited trace under the same name is another one."""
    trace, kept = tmp_path / "t.csv", tmp_path / "kept"
    head = "timestamp,duration,num_gpus\n"
    case = replace(CASE, load=None, trace=str(trace), jobs=2, first=0, last=2)
    found = []
    for duration in (600, 6000):
        trace.write_text(
            head + f"2017-10-01 00:00:00,{duration},1\n2017-10-01 00:00:10,{duration},1\n"
        )
        runs._content.cache_clear()
        found.append(run_all([case], replace(SMALL, runs=str(kept)))[case].completion)
        runs.run.cache_clear()
    assert found[0] != found[1]
    assert len(list(kept.iterdir())) == 2
