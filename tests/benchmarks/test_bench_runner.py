"""Runs end, are judged by the harness and are not repeated, whatever the method does."""

import json
import platform
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.report.facts import facts
from benchmarks.rows import answer_of, read_results
from benchmarks.task import run_task

ROOT = Path(__file__).resolve().parents[2]


def test_a_users_function_is_run_and_certified(task):
    """Tests a function from an instance to a placement, named by its module."""
    row, answer = run_task(task(":good"))
    assert (row["outcome"], row["certified"], row["throughput"]) == ("done", True, "10")
    assert row["solves"] == ["whole", "split", "ideal"]
    assert (row["said"], row["bound"]) == ("", None)
    assert json.loads(answer)["instance"] == "widest-gap-10"
    about = json.dumps(row["environment"])
    assert platform.node() not in about
    assert str(Path.home()) not in about
    assert row["environment"]["hardware"].startswith(platform.machine())


def test_settings_and_seed_reach_the_method(task):
    """Tests that limits go where they are asked for, and settings by name."""
    row, answer = run_task(task("bench_methods:seeded,shift=3", seed=5))
    assert row["method"] == "bench_methods:seeded,shift=3"
    assert json.loads(answer)["mechanism"] == "seed 5 shift 3"


@pytest.mark.parametrize(
    ("name", "outcome", "message"),
    [
        (":eats", "memory", "more than"),
        (":dies", "crashed", "exit code 7"),
        (":raises", "failed", "RuntimeError: no idea"),
        (":wrong_type", "failed", "must return a Placement, not Fraction"),
        (":missing", "failed", "AttributeError"),
    ],
)
def test_a_method_that_fails_leaves_a_row(task, name, outcome, message):
    """Tests each way of failing; the harness goes on."""
    row, answer = run_task(task(name))
    assert (row["outcome"], answer) == (outcome, None)
    assert message in str(row["message"])


def gone(path):
    """Wait until the process whose id is in the file is gone; False after some seconds."""
    for _ in range(100):
        if not Path(f"/proc/{path.read_text().strip()}").exists():
            return True
        time.sleep(0.1)
    return False


def test_a_method_that_ignores_its_time_is_ended_with_its_children(task, monkeypatch, tmp_path):
    """Tests the hard limit: the whole process group is gone."""
    monkeypatch.setattr("benchmarks.task._START", 4.0)
    monkeypatch.setenv("BENCH_SLEEPER", str(tmp_path / "sleeper"))
    began = time.monotonic()
    row, _ = run_task(task(":sleeps", seconds=0.5))
    assert row["outcome"] == "time"
    assert time.monotonic() - began < 60
    assert gone(tmp_path / "sleeper")


def test_what_a_method_states_is_not_believed(task):
    """Tests that doubled throughputs are no result, and the broken rule is named."""
    row, answer = run_task(task(":cheats"))
    assert (row["certified"], answer) == (False, None)
    assert "throughput" in str(row["broken"][0])


def test_said_optimal_is_not_certified(task):
    """Tests a false claim beside a true answer: refuted, by how much, and the bound too."""
    rows = [run_task(task(t, instance="triplets-3-0"))[0] for t in (":boasts", "packed")]
    rows[0]["problem"] = "whole"  # what users' functions are measured against is "split"
    boast, packed = facts(rows, [])
    assert (packed.claim, packed.gap) == ("certified", 0)
    assert (boast.said, boast.claim) == (True, "refuted")
    assert boast.short == (18 - boast.throughput) / 18
    assert boast.below == Fraction(18 - 1, 18)


def command(path, *words):
    """Run a small study."""
    return main(["run", str(path), "--instance", "widest-gap-10", "triplets-3-0", *words])


def test_what_is_in_the_file_is_not_run_again(task, tmp_path, capsys):
    """Tests resuming: after a cut-off line only that run is repeated, and others are added."""
    path = tmp_path / "results.jsonl"
    assert command(path, "--method", "tune") == 0
    whole = path.read_bytes()
    assert command(path, "--method", "tune") == 0
    assert path.read_bytes() == whole
    assert "2 of them" in capsys.readouterr().out
    path.write_bytes(whole[:-20])  # killed while it wrote
    assert command(path, "--method", "tune", "greedy") == 0
    rows = read_results(path)
    assert sorted((r["instance"], r["method"]) for r in rows) == [
        (name, method)
        for name in ("triplets-3-0", "widest-gap-10")
        for method in ("greedy", "tune")
    ]
    certified = [row for row in rows if row["certified"]]
    assert all(answer_of(path, row) for row in certified)
    assert certified


def test_a_killed_study_loses_only_the_run_in_hand(task, tmp_path, monkeypatch):
    """Tests SIGKILL of the command: finished rows stand, no run is left, the file goes on."""
    path, sleeper = tmp_path / "results.jsonl", tmp_path / "sleeper"
    monkeypatch.setenv("BENCH_SLEEPER", str(sleeper))
    words = ["run", str(path), "--instance", "widest-gap-10", "--time-limit", "100"]
    words += ["--method", "tune", "bench_methods:sleeps"]
    study = subprocess.Popen([sys.executable, "-m", "benchmarks", *words], cwd=ROOT)
    deadline = time.monotonic() + 60
    while not (sleeper.exists() and sleeper.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    study.kill()
    study.wait()
    assert gone(sleeper)
    assert [row["method"] for row in read_results(path)] == ["tune"]
    assert command(path, "--method", "greedy") == 0
    assert len(read_results(path)) == 3


def test_a_study_with_a_failed_run_ends_with_one(tmp_path):
    """Tests the exit code where a method raises, and where nothing is left that fails."""
    path = tmp_path / "results.jsonl"
    words = ["run", str(path), "--instance", "mix-20-4-0", "--method"]
    assert main([*words, "tune", "bench_methods:raises"]) == 1
    assert [row["outcome"] for row in read_results(path)] == ["done", "failed"]
    assert main([*words, "tune"]) == 0


def test_bad_input_is_one_message(tmp_path, capsys):
    """Tests names that do not exist: exit code 2, nothing run, no file."""
    for words, text in (
        (["--method", "nobody"], "there is no such method"),
        (["--method", "tune,x"], "name,key=value"),
        (["--instance", "nothing*"], "fits no instance"),
        (["--instance", f"{tmp_path}/none.json"], "cannot be read"),
        (["--time-limit", "0"], "above 0"),
        (["--time-limit", "inf"], "finite"),
        (["--jobs", "0"], "--jobs: must be at least 1"),
        (["--seed", "-1"], "must be from 0"),
    ):
        path = tmp_path / "results.jsonl"
        assert main(["run", str(path), *words]) == 2
        error = capsys.readouterr().err
        assert text in error
        assert error.count("\n") == 1
        assert not path.exists()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"problem": None}, "$.problem"),
        ({"problem": "easy"}, "$.problem"),
        ({"seed": []}, "$.seed"),
        ({"cpu_seconds": "x"}, "$.cpu_seconds"),
        ({"environment": {}}, "$.environment"),
        ({"throughput": "abc"}, "must be a number, not 'abc'"),
        ({"throughput": None}, "$.throughput"),
        ({"solves": ["easy"]}, "$.solves"),
    ],
)
def test_a_row_that_is_none_is_named(task, tmp_path, capsys, change, rule):
    """Tests that report, archive and runner refuse a changed row: its line and the rule."""
    path = tmp_path / "results.jsonl"
    row, _ = run_task(task(":good"))
    path.write_text("".join(json.dumps(each) + "\n" for each in (row, row | change)))
    archive = str(tmp_path / "best.json")
    for words in (
        ["report", str(path), "--output", str(tmp_path / "report")],
        ["update-archive", str(path), "--archive", archive],
        ["run", str(path), "--instance", "widest-gap-10"],
    ):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert f"{path}:2: is no row of results: " in error
        assert rule in error
        assert error.count("\n") == 1


def test_what_cannot_be_written_and_what_is_not_installed_is_one_message(
    tmp_path, capsys, monkeypatch
):
    """Tests a folder that is not there, and an extra that is not."""
    assert main(["run", str(tmp_path / "none" / "results.jsonl"), "--method", "tune"]) == 2
    assert "results.jsonl: No such file" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert main(["run", str(tmp_path / "results.jsonl"), "--method", "tune"]) == 2
    assert "pip install '.[bench]'" in capsys.readouterr().err


def test_dask_runs_a_study_on_two_workers(task, tmp_path):
    """Tests the same command on a local Dask cluster: same rows, written by this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
    ):
        path = tmp_path / "results.jsonl"
        words = ["--method", "tune", "proportional", "--jobs", "2", "--backend", "dask"]
        assert command(path, *words, "--scheduler", cluster.scheduler_address) == 0
    rows = read_results(path)
    assert len(rows) == 4
    assert {row["outcome"] for row in rows} == {"done"}


def test_a_backend_that_is_not_installed_says_so(tmp_path, capsys):
    """Tests Ray, which nothing here installs."""
    try:
        import ray  # noqa: F401
    except ImportError:
        assert command(tmp_path / "r.jsonl", "--backend", "ray") == 2
        assert "is not installed (ray)" in capsys.readouterr().err
    else:
        pytest.skip("Ray is installed")
