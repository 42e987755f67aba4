"""The benchmark commands of the optimum: names, usage errors, whole files, honest verdicts."""

import json
import time
from functools import partial

import pytest

from benchmarks.__main__ import main as benchmarks
from benchmarks.synergy import distance, packed, stages, vector_packing
from benchmarks.synergy.full_cluster import full_cluster
from benchmarks.synergy.measured import in_child, interrupted_after, write_json
from synergy_opt.placement import place


def test_tasks_and_groups_are_chosen_by_name():
    """Tests a task, a group, several of both, and none: all."""
    known = ["stage-1-2048", "stage-2-8192", "stage-2-8192-different", "mmkp-two-I01"]
    assert stages.chosen([], known) == known
    assert stages.chosen(["stage-2-8192"], known) == ["stage-2-8192"]
    assert stages.chosen(["stage-2"], known) == known[1:3]
    assert stages.chosen(["mmkp", "stage-1"], known) == [known[0], known[3]]


@pytest.mark.parametrize("arguments", [["nonsense"], ["--output", "/no/such/folder/f.json"]])
def test_bad_usage_is_one_message_and_code_2(arguments, capsys):
    """Tests an unknown task and a file that cannot be: code 2, what is wrong, no traceback."""
    with pytest.raises(SystemExit) as stop:
        stages.main(arguments)
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "no task or group 'nonsense'" in said or "no folder /no/such/folder" in said


def test_a_row_beyond_its_limits_is_code_1(monkeypatch, tmp_path, capsys):
    """Tests the verdict: within limits 0, beyond 1, and the file has both."""
    rows = {
        "good": lambda: {"cpu s": 1.0, "MB": 1, "within limits": True},
        "bad": lambda: {"cpu s": 1.0, "MB": 1, "within limits": False},
    }
    monkeypatch.setattr(stages, "tasks", lambda: rows)
    monkeypatch.setattr(stages, "in_child", lambda task: task())
    path = tmp_path / "rows.json"
    assert stages.main(["good"]) == 0
    assert stages.main(["good", "bad", "--output", str(path)]) == 1
    assert list(json.loads(path.read_text())["rows"]) == ["good", "bad"]
    assert "NO" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [path]


def test_memory_is_judged_too():
    """Tests that a task within its time but not within its memory is beyond its limits."""
    row = {"cpu s": 1.0, "MB": 10, "within limits": True, "at most": {"MB": 9}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "in_child", lambda task: task())
        assert stages.measure(lambda: dict(row))["within limits"] is False


def test_the_rival_has_a_process_and_a_memory_of_its_own(monkeypatch):
    """Tests on few jobs that both peaks are told, and that the proof is ours."""
    monkeypatch.setattr(stages, "PATIENCE", 0.5)
    row = stages.measure(partial(stages.against_highs, 4))
    assert row["MB"] > 0
    assert row["HiGHS MB"] > 0
    assert row["proof"] != "none"
    assert "exact" not in row
    assert json.dumps(row)


def test_a_child_reports_its_memory():
    """Tests that a task in a process of its own gives its row with that process's peak."""
    assert in_child(partial(dict, a=1))["MB"] > 10


def test_an_interrupt_comes_after_so_much_cpu():
    """Tests that work without end is interrupted, and short work is not."""
    start = time.process_time()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        while True:
            sum(range(1000))
    assert time.process_time() - start >= 0.2
    with interrupted_after(60.0):
        pass


def test_a_file_is_whole_or_not_there(tmp_path):
    """Tests that what cannot be written as JSON leaves the old file."""
    path = tmp_path / "f.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}


@pytest.mark.parametrize("different", [False, True])
def test_a_full_cluster_is_full(different):
    """Tests that jobs fill the servers in every resource: all rows are tight in stage 2."""
    instance, allocation = full_cluster(6, different=different)
    placed = place(instance, allocation, bisection=True)
    assert placed.split.tight_rows == 3 * 6
    assert placed.split.extra_pieces <= 3 * 5


def test_distances_are_drawn_again_from_their_file(tmp_path, capsys):
    """Tests a small run with file, table and plot, and the same plot from the file."""
    runs, first, second = (tmp_path / name for name in ("d.json", "a.svg", "b.svg"))
    small = ["--sizes", "1", "2", "--seeds", "2"]
    assert distance.main([*small, "--output", str(runs), "--plot", str(first)]) == 0
    assert distance.main(["--from", str(runs), "--plot", str(second)]) == 0
    assert first.read_bytes() == second.read_bytes()
    assert "20:70:10" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        distance.main(["--from", str(first)])
    assert stop.value.code == 2


def test_an_interval_holds_the_mean():
    """Tests mean and interval of numbers, of equal ones, and of one."""
    mean, low, high = distance.interval([0.0, 1.0, 2.0, 3.0])
    assert low < mean == 1.5 < high
    assert distance.interval([2.0, 2.0]) == (2.0, 2.0, 2.0)
    assert distance.interval([0.5]) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("command", "arguments", "says"),
    [
        (packed.main, ["--seeds", "0"], "--seeds: must be at least 1, not 0"),
        (vector_packing.main, ["/no/such/folder"], "/no/such/folder: has no known.csv"),
    ],
)
def test_a_measurement_of_nothing_is_bad_usage(command, arguments, says, capsys, monkeypatch):
    """Tests no seeds and a folder without instances: code 2 and the rule, no empty table."""
    monkeypatch.setattr("sys.argv", ["command", *arguments])
    with pytest.raises(SystemExit) as stop:
        command()
    assert stop.value.code == 2
    assert says in capsys.readouterr().err


def test_no_runs_of_the_speed_benchmark_are_named(capsys):
    """Tests that what is wrong is named, not another option."""
    assert benchmarks(["speed", "--runs", "0"]) == 2
    assert "--runs: must be at least 1, not 0" in capsys.readouterr().err
