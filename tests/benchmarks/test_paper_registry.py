"""The registry of the paper's evaluation: complete, runnable small, and honest about intervals."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.paper.synergy.__main__ import main
from benchmarks.paper.synergy.beyond import within_tenth
from benchmarks.paper.synergy.case import Case, packed_within_gap, run
from benchmarks.paper.synergy.entry import SMALL
from benchmarks.paper.synergy.profiles import lru_hits
from benchmarks.paper.synergy.registry import ENTRIES
from benchmarks.paper.synergy.report import page
from benchmarks.paper.synergy.runs import Interval, ratio
from benchmarks.paper.synergy.sweeps import Sweep, swept
from synergy_opt.model import Cluster, Server
from synergy_opt.simulation.derived import derived_workload
from synergy_opt.simulation.simulate import simulate

TINY = replace(SMALL, jobs=40, first=10, last=30, static_jobs=10, seeds=(1,), gpus=(8,), mixes=1)
positive = st.lists(st.floats(0.1, 100), min_size=2, max_size=8)


def test_every_figure_and_table_has_an_entry():
    """Tests that nothing of the paper's evaluation was forgotten."""
    figures = {"fig1", "fig5a", "fig5b", *(f"fig{i}" for i in range(6, 14))}
    assert set(ENTRIES) == figures | {"tables1-3", "table5", "opt", "beyond", "moves"}
    assert all(entry.name == name for name, entry in ENTRIES.items())


def test_entries_without_a_simulation_hold_what_the_paper_says():
    """Tests that no published statement fails in the worked example and the profiler."""
    for name in ("tables1-3", "fig5a", "fig5b"):
        rows = ENTRIES[name].run(SMALL).rows
        assert any(row.holds for row in rows)
        assert all(row.holds is not False for row in rows), name


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_run_on_a_tiny_trace(name: str):
    """Tests that each entry gives rows and plain values; 40 jobs show nothing about the paper."""
    outcome = ENTRIES[name].run(TINY)
    assert len(outcome.rows) >= 3
    assert all(line.x and len(line.x) == len(line.y) for p in outcome.panels for line in p.lines)
    json.dumps(outcome.data)


def test_the_page_is_what_the_json_gives(tmp_path: Path):
    """Tests that nobody edited the committed page: one command gives it back."""
    folder = Path(__file__).parents[2] / "docs" / "evaluation" / "synergy"
    assert (folder / "README.md").read_text("utf-8") == page(folder)
    (tmp_path / "fig5b.json").write_bytes((folder / "fig5b.json").read_bytes())
    assert main(["page", "--output", str(tmp_path)]) == 0
    assert (tmp_path / "README.md").read_text("utf-8") == page(tmp_path) != page(folder)


def test_the_baseline_is_the_same_at_every_ratio():
    """Tests what Fig. 12 rests on: work is counted at the share, whatever cores that is."""
    case = Case(load=9.0, seed=1, mechanism="proportional", jobs=60, first=20, last=40)
    assert run(case).completion == run(replace(case, cores_a_gpu=6)).completion


def test_a_run_writes_json_a_picture_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Tests the command: what it writes, and that pages grow entry by entry."""
    assert main(["tables1-3", "fig5a", "--output", str(tmp_path)]) == 0
    assert "within 3 %" in capsys.readouterr().out.replace("\n", " ")
    value = json.loads((tmp_path / "fig5a.json").read_text("utf-8"))
    assert value["schema"] == "synergy-opt/paper/1"
    assert value["settings"]["seeds"] == [1, 2, 3]
    assert (tmp_path / "images" / "fig5a.png").stat().st_size > 10_000
    page = (tmp_path / "README.md").read_text("utf-8")
    assert page.index("## tables1-3") < page.index("## fig5a") < page.index("images/fig5a.png")


def test_wrong_arguments_are_usage_errors(capsys: pytest.CaptureFixture):
    """Tests exit code 2 and a message for an unknown entry, no seeds, and a missing trace."""
    for arguments in (["fig99"], ["fig9", "--seeds", "0"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    assert main(["fig6", "--trace", "nowhere.csv"]) == 2
    assert "cannot be read" in capsys.readouterr().err


@given(above=positive, factor=st.floats(0.5, 2))
def test_a_constant_ratio_has_no_spread(above: list[float], factor: float):
    """Tests pairing: seeds that agree on the ratio leave no doubt about it."""
    found = ratio([factor * x for x in above], above)
    assert found.low == pytest.approx(factor)
    assert found.high == pytest.approx(factor)
    assert found.value == pytest.approx(factor)


@given(above=positive, data=st.data())
def test_the_interval_lies_within_the_seeds(above: list[float], data: st.DataObject):
    """Tests that estimate and interval lie within the seeds' ratios."""
    below = data.draw(st.lists(st.floats(0.1, 100), min_size=len(above), max_size=len(above)))
    found = ratio(above, below)
    ratios = [a / b for a, b in zip(above, below, strict=True)]
    assert min(ratios) * 0.999 <= found.low <= found.high <= max(ratios) * 1.001
    assert min(ratios) * 0.999 <= found.value <= max(ratios) * 1.001


def test_the_same_case_gives_the_same_figures_and_mechanisms_share_their_trace():
    """Tests that runs are functions of the case, and that paired runs measure the same jobs."""
    case = Case(load=9.0, seed=3, mechanism="tune", jobs=60, first=20, last=40)
    assert run.__wrapped__(case) == run(case)
    found = swept(
        Sweep(title="t", loads=(9.0,), mechanisms=("proportional", "tune")),
        replace(TINY, seeds=(3,)),
    )
    base, tune = (found.figures[9.0, m, 3] for m in ("proportional", "tune"))
    # With GPUs to spare nobody waits: no job is slower than at its share.
    assert all(t <= b for b, t in zip(base.completion, tune.completion, strict=True))


def test_the_page_caches_hits_are_fewer_than_its_part():
    """Tests both ends and the middle of the formula."""
    assert lru_hits(0.0) == 0
    assert lru_hits(1.0) == 1
    assert 0.15 < lru_hits(0.5) < 0.16


def test_the_optimum_need_not_see_who_waits():
    """Tests that asking only when the runnable jobs change gives the run of asking at each change.

    The load fills the server, so that jobs do wait.
    """
    workload = derived_workload(jobs=16, seed=2, load=4)
    cluster = Cluster(
        resources={"cpu": "cores", "memory": "GB"},
        servers=[Server(type="8xGPU", count=1, gpus=8, capacity=(24, 500))],
    )
    seldom, often = (
        simulate(workload, cluster, mechanism=packed_within_gap, shown=shown)
        for shown in ("runnable", "queue")
    )
    assert max(usage.waiting for usage in seldom.usage) > 0
    assert seldom.decisions < often.decisions
    assert [job.finished for job in seldom.jobs] == [job.finished for job in often.jobs]


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(1.01, 1.09, True), (1.02, 1.31, None), (1.11, 1.3, False)]
)
def test_within_ten_per_cent_is_left_open_where_the_interval_straddles_it(
    low: float, high: float, expected: bool | None
):
    """Tests that a statement is neither held nor refuted by an interval that has both."""
    found = Interval(value=(low + high) / 2, low=low, high=high, seeds=3)
    assert within_tenth(found) is expected
