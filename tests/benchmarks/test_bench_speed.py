"""A stage that became slower than the factor is named; noise and other machines are not."""

import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks import speed
from benchmarks.__main__ import main
from benchmarks.speed.command import SCHEMA, read_baseline
from benchmarks.speed.measure import Figure, compare, growth, least, measure
from benchmarks.speed.workloads import Workload, calibration, workloads


def figure(name, ratio):
    """Give a figure of a stage."""
    stage, _, size = name.rpartition("-")
    return Figure(name=name, stage=stage, size=int(size), seconds=ratio / 50, ratio=ratio)


def test_only_what_is_slower_by_factor_and_noise_is_a_regression():
    """Tests both conditions, and workloads that only one side has."""
    now = [figure("a-1", 4.1), figure("b-1", 3.9), figure("c-1", 0.03), figure("d-1", 9.0)]
    found = compare(now, {"a-1": 2.0, "b-1": 2.0, "c-1": 0.01}, factor=2.0, noise=0.05)
    assert [(c.name, c.regression) for c in found] == [
        ("a-1", True),
        ("b-1", False),
        ("c-1", False),
    ]


def test_a_second_measurement_counts_where_it_is_lower():
    """Tests that other work on the machine during the first makes no regression."""
    first = [figure("a-1", 9.0), figure("b-1", 2.0)]
    assert least(first, [figure("a-1", 3.0)]) == [figure("a-1", 3.0), figure("b-1", 2.0)]
    assert least(first, [figure("a-1", 10.0)]) == first


def test_growth_is_largest_over_smallest():
    """Tests a stage with two sizes and one with one."""
    assert growth([figure("a-10", 6.0), figure("a-1", 2.0), figure("b-1", 1.0)]) == {"a": 3.0}


def test_the_ratio_does_not_depend_on_the_machine():
    """Tests that a workload of two calibrations takes about two calibrations."""

    def twice():
        calibration()
        calibration()

    work = Workload(stage="twice", size=1, prepare=partial(lambda: twice))
    (found,) = measure([work], runs=5)
    assert 1.4 < found.ratio < 2.8


def test_the_command_compares_and_fails_on_a_planted_regression(tmp_path, capsys):
    """Tests a baseline that was a hundred times faster, and the one just measured."""
    path = tmp_path / "speed.json"
    assert main(["speed", "--only", "stage-1", "--runs", "2", "--output", str(path)]) == 0
    again = ["speed", "--only", "stage-1", "--runs", "2", "--compare"]
    assert main([*again, str(path), "--factor", "20"]) == 0
    document = json.loads(path.read_text("utf-8"))
    for row in document["figures"]:
        row["ratio"] /= 100
    path.write_text(json.dumps(document), "utf-8")
    capsys.readouterr()
    assert main([*again, str(path)]) == 1
    assert "stage-1-64: " in capsys.readouterr().out


@pytest.mark.parametrize("text", ["{}", "[]", '{"schema": "x"}', f'{{"schema": "{SCHEMA}"}}'])
def test_a_file_that_is_no_baseline_is_refused(tmp_path, text, capsys):
    """Tests exit code 2, before anything is measured."""
    path = tmp_path / "speed.json"
    path.write_text(text, "utf-8")
    assert main(["speed", "--only", "stage-1", "--compare", str(path)]) == 2
    assert str(path) in capsys.readouterr().err


def test_the_stored_baseline_has_every_workload():
    """Tests that no workload goes without comparison."""
    stored = sorted(Path(speed.__file__).parent.glob("baseline-*.json"))
    assert set(read_baseline(stored[-1])) == {w.name for w in workloads()}
