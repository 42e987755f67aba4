"""Each of the paper's experiments runs, at tiny settings, and its rows can be printed."""

import json
from dataclasses import replace

import pytest

from benchmarks.paper.hived import __main__ as command
from benchmarks.paper.hived import page, setting
from benchmarks.paper.hived import philly as on_philly
from benchmarks.paper.hived.fragmentation import nodes_needed
from hived_cells import Chain, Reservation
from hived_cells.simulation import SCHEDULERS, ProductionOptions, Shape, Trace, TraceJob, simulate

TINY = replace(ProductionOptions(), days=2, jobs=150, longest=1)
LIST = """timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:01:55,66.0,12,792.0,a
2017-10-09 07:02:55,600.0,1,600.0,a
2017-10-09 07:02:56,600.0,8,4800.0,b
"""


@pytest.mark.parametrize("name", command.EXPERIMENTS)
def test_each_experiment_runs(name, tmp_path, monkeypatch, capsys):
    """Tests the command from end to end: table, and figures in a file that is JSON."""
    monkeypatch.setattr(command, "generated", lambda _, seed: setting._setting(TINY, seed))
    small = tmp_path / "philly.csv"
    small.write_text(LIST)
    monkeypatch.setattr(on_philly, "DATA", small)
    target = tmp_path / "found.json"
    assert command.main([name, "--json", str(target)]) == 0
    data = json.loads(target.read_text())
    printed = capsys.readouterr().out
    assert data["title"] in printed
    assert data["rows"]
    assert all(f"| {row['what']} | {row['published']} | {row['ours']} |" in printed
               for row in data["rows"])  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(command.EXPERIMENTS) - {"speed"}))
def test_an_experiment_in_which_safety_fails_ends_with_exit_code_1(name, tmp_path, monkeypatch):
    """Tests a planted fault in each that runs cells: a comparison that calls one job late."""
    small = tmp_path / "philly.csv"
    small.write_text(LIST)
    monkeypatch.setattr(on_philly, "DATA", small)
    monkeypatch.setattr(setting, "longer", lambda *_: ("late",))
    with pytest.raises(SystemExit, match="sharing safety is broken, 1 times; first: late"):
        command.EXPERIMENTS[name](setting._setting(TINY, 0))


def test_the_page_is_made_of_the_saved_results(tmp_path, monkeypatch):
    """Tests that the page in the documentation is what its command writes."""
    before = page.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", tmp_path / "paper.md")
    assert page.main() == 0
    assert page.PAGE.read_text(encoding="utf-8") == before


def test_no_cells_and_no_scheduler_need_fewer_nodes():
    """Tests the bound that the design is measured against: by hand, and in each kind of run."""
    jobs = [("a", "A", 0, 6), ("b", "A", 0, 3), ("c", "B", 3600, 6), ("d", "B", 7200, 8)]
    trace = Trace(TraceJob(n, t, at, 10_000, Shape(1, gpus)) for n, t, at, gpus in jobs)
    cluster = Chain(5, (8,)), Reservation({"A": {2: 2}, "B": {2: 3}})
    for way in ("cells", "quota"):
        run = simulate(trace, *cluster, way=way, scheduler=SCHEDULERS["capacity"], lending=False)
        # At 0 s A's 9 GPUs; at 3600 s B's 6 beside them: 15 GPUs fill two nodes, apart three.
        assert nodes_needed(trace, run, 8) == (2.0, 2.5)
        used = [5 - sample.whole for sample in run.samples]
        assert sum(used) / len(used) >= 2.0
