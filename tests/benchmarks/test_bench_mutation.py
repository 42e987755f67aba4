"""Mutation testing counts as killed only where a test failed, and remembers what stands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mutmut")  # an extra of its own

from benchmarks.mutation.verdicts import stands, table

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "pyproject.toml": """
        [tool.mutmut]
        source_paths = ["tiny"]
        only_mutate = ["tiny/sums.py"]
        pytest_add_cli_args = ["-p", "no:cacheprovider"]
        pytest_add_cli_args_test_selection = ["test_sums.py"]
        """,
    "tiny/__init__.py": "",
    "tiny/sums.py": """
        def double(n):
            return n + n

        def wait(n):
            while n:
                n = 0
            return n

        def lonely(n):
            return -n
        """,
    "test_sums.py": """
        from tiny.sums import double, wait

        def test_double():
            assert double(0) == 0

        def test_wait():
            assert wait(3) == 0
        """,
}


@pytest.fixture
def project(tmp_path):
    """Write a project with a weak test, a loop that a mutant never leaves, an untested end."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        lines = [line.removeprefix(" " * 8) for line in text.strip("\n").splitlines()]
        path.write_text("\n".join(lines) + "\n")
    return tmp_path


def run(project, *arguments):
    """Run the command in the project."""
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.mutation", *arguments],
        cwd=project,
        env=os.environ | {"PYTHONPATH": f"{project}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


def verdicts(project):
    """Give the lines written down so far."""
    lines = (project / ".mutants.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_run_is_a_table_and_is_taken_up_again(project):
    """Tests each verdict, what --alive shows, and that only what a change touches is tried."""
    first = run(project, "--alive")
    assert first.returncode == 0, first.stderr
    (row,) = [line for line in first.stdout.splitlines() if line.startswith("| `tiny")]
    by_name = {v["mutant"].removeprefix("tiny.sums.x_"): v["verdict"] for v in verdicts(project)}
    assert by_name["double__mutmut_1"] == "alive"  # 0 - 0 is 0 as well
    assert by_name["lonely__mutmut_1"] == "alive"  # no test calls it
    assert by_name["wait__mutmut_1"] == "killed"  # n = None
    assert by_name["wait__mutmut_2"] == "cut off"  # n = 1
    assert row.startswith(f"| `tiny/sums.py` | {len(by_name)} | ")
    assert (
        "tiny.sums.x_double__mutmut_1: alive\n-    return n + n\n+    return n - n" in first.stdout
    )

    again = run(project)
    assert again.stdout.splitlines() == first.stdout.splitlines()[: len(again.stdout.splitlines())]
    assert len(verdicts(project)) == len(by_name)  # all stand

    tests = project / "test_sums.py"
    tests.write_text(tests.read_text().replace("double(0) == 0", "double(1) == 2"))
    assert run(project).returncode == 0
    assert verdicts(project)[len(by_name)]["verdict"] == "killed"


def test_a_failing_test_ends_the_run(project):
    """Tests that nothing is judged by tests that fail without a mutant, and which that is."""
    (project / "test_sums.py").write_text("def test_wrong():\n    assert 1 == 2\n")
    found = run(project)
    assert found.returncode == 1
    assert "a test fails without a mutant: test_sums.py::test_wrong" in found.stdout + found.stderr
    assert not (project / ".mutants.jsonl").exists()


def test_a_prefix_without_modules_is_bad_input(project):
    """Tests the error and its code."""
    found = run(project, "tiny/nothing")
    assert found.returncode == 2
    assert "no module of [tool.mutmut] begins with tiny/nothing" in found.stderr


def test_a_verdict_on_a_test_that_is_gone_does_not_stand(tmp_path):
    """Tests that a verdict is thrown away with its test."""
    module = tmp_path / "a.py"
    module.touch()
    old = {"file": str(module), "test": f"{tmp_path}/gone.py::test", "source": "", "rests_on": ""}
    assert not stands(old, [])


def test_the_share_is_of_all_mutants():
    """Tests that those cut off and alive lower the share, by file and by folder."""
    counts = {"killed": 3, "cut off": 1, "alive": 2}
    found = [{"file": "a/b/c.py", "verdict": v} for v, n in counts.items() for _ in range(n)]
    assert table(found)[2:] == [
        "| `a/b/c.py` | 6 | 3 | 1 | 2 | 50.0 |",
        "| **`a/b`** | 6 | 3 | 1 | 2 | 50.0 |",
    ]
