"""`simulate` and `plot runs`: right on good input, one message on bad, no run done twice."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from synergy_opt.cli import main
from synergy_opt.cli import simulate_ as command

SMALL = ["simulate", "--servers", "2", "--jobs", "30", "--load", "6"]
HEAD = "id,submitted,duration,gpus,profile\n"


def said(capsys, argv, code=0):
    """Run a command and give what it wrote to standard output, or to standard error."""
    assert main(argv) == code, capsys.readouterr().err
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return printed.err if code else printed.out


def trace(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "trace.csv"
    path.write_text(HEAD + "".join(f"{line}\n" for line in lines))
    return str(path)


def test_a_table_and_a_document(capsys):
    """Tests that both say the same and that the speed-up is against GPU-proportional."""
    assert "tune" in said(capsys, SMALL)
    found = json.loads(said(capsys, [*SMALL, "--json"]))
    fair, tuned = found["groups"]
    assert (fair["mechanism"], tuned["mechanism"]) == ("proportional", "tune")
    assert fair["speedup"] == 1
    assert tuned["speedup"] > 1
    assert tuned["mean_h"] < fair["mean_h"]
    assert [run["summary"]["slowest"] for run in found["runs"]] == ["1", "1"]


def test_seeds_of_a_static_trace_are_one_group(capsys):
    """Tests that runs with different seeds are averaged, with an interval."""
    argv = [*SMALL[:-2], "--seeds", "3", "--mechanism", "tune", "--json"]
    (row,) = json.loads(said(capsys, argv))["groups"]
    assert (row["workload"], row["load"], row["runs"]) == ("derived-static", None, 3)
    assert row["interval_h"][0] < row["mean_h"] < row["interval_h"][1]


def test_a_trace_from_a_file_by_hand(tmp_path, capsys):
    """Tests a run that is worked out by hand: two jobs of 600 s on one GPU."""
    path = trace(tmp_path, "a,0,600,1,gnmt", "b,1,600,1,gnmt")
    argv = ["simulate", "--trace", path, "--servers", "1", "--gpus", "1", "--cpu", "3"]
    argv += ["--memory", "62.5", "--output", str(tmp_path / "out"), "--mechanism", "proportional"]
    said(capsys, argv)
    rows = (tmp_path / "out" / "jobs.csv").read_text().splitlines()
    assert rows[0].startswith("workload,load,seed,policy,mechanism,id,")
    assert [row.split(",")[-3:-1] for row in rows[1:]] == [["600", "600"], ["1200", "600"]]
    (fluid,) = json.loads(said(capsys, [*argv[:-4], "--mechanism", "tune", "--fluid", "--json"]))[
        "runs"
    ]
    assert fluid["summary"]["mean_s"] == (600 + 1199) / 2


def test_jobs_of_a_public_trace_that_are_left_out_are_counted(tmp_path, capsys):
    """Tests that a job too large, without GPUs or without time is not dropped in silence."""
    path = tmp_path / "philly.csv"
    day, rest = "2017-10-03 00:00:0", ("1,600,1", "2,600,99", "3,600,0", "4,0,1", "5,60,2")
    rows = ["timestamp,duration,num_gpus", *(day + each for each in rest)]
    path.write_text("\r\n".join(rows) + "\r\n")
    argv = ["simulate", "--philly", str(path), "--mechanism", "tune", "--servers", "2", "--json"]
    assert main([*argv, "--seeds", "2"]) == 0
    out, err = capsys.readouterr()
    assert {run["summary"]["jobs"] for run in json.loads(out)["runs"]} == {2}
    reasons = "1 above 16 GPUs, 1 without a GPU, 1 that took no time"
    assert err == f"{path}: philly: 2 jobs; left out: {reasons}\n"
    path.write_text("\n".join([rows[0], rows[1], rows[5]]))
    assert main(argv) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["a,5,60,1,gnmt", "b,4,60,1,gnmt"], "line 3"),
        (["a,-5,60,1,gnmt"], "must not be negative"),
        (["a,,60,1,gnmt"], "line 2"),
        (["a,0,0,1,gnmt"], "must be above 0"),
        (["a,0,-1,1,gnmt"], "must be above 0"),
        (["a,0,60,1,gnmt", "a,0,60,1,gnmt"], "occurs twice"),
        (["a,0,60,17,gnmt"], "the cluster has 16 GPUs"),
        (["a,0,60,0,gnmt"], "gpus"),
        (["a,0,60,1,nobody"], "no profile 'nobody'"),
        (["a,nan,60,1,gnmt"], "line 2"),
        (["a,0,60"], "line 2"),
        (["version https://git-lfs.github.com/spec/v1"], "line 2"),
    ],
)
def test_a_bad_trace_is_one_message(tmp_path, capsys, lines, words):
    """Tests the exit code, the file, the line and the rule; nothing is written."""
    out = tmp_path / "out"
    path = trace(tmp_path, *lines)
    message = said(
        capsys, ["simulate", "--trace", path, "--servers", "2", "--output", str(out)], code=2
    )
    assert path in message
    assert words in message
    assert message.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["--mechanism", "nobody"],
        ["--policy", "nobody"],
        ["--window", "5:40"],
        ["--window", "5"],
        ["--load", "0"],
        ["--round", "0"],
        ["--move-cost", "-1"],
        ["--fluid", "--floor-iterations"],
        ["--trace", "nowhere.csv"],
        ["--instance", "worked-example"],
        ["--split", "1,2"],
        ["--address", "here", "--workers", "2"],
        ["--gpu-demands", "17"],
    ],
)
def test_bad_options_are_one_message(capsys, argv):
    """Tests that nothing raises and nothing runs."""
    assert said(capsys, [*SMALL, *argv], code=2).count("\n") == 1


def test_a_run_is_done_once(tmp_path, capsys, monkeypatch):
    """Tests that a second sweep reads what the first has kept, and does what is missing."""
    argv = [*SMALL, "--output", str(tmp_path), "--json"]
    first = said(capsys, argv)
    monkeypatch.setattr(command, "execute", None)
    assert said(capsys, argv) == first
    kept = sorted(tmp_path.glob("fifo-*.json"))
    before = kept[0].read_bytes()
    kept[0].unlink()
    monkeypatch.undo()
    assert said(capsys, argv) == first
    assert kept[0].read_bytes() == before


def test_other_settings_are_other_runs(tmp_path, capsys):
    """Tests that cluster, seed, trace and timing are all in the name of a run's file."""
    others = "--servers 3,--load 7,--round 60,--sticky,--cpu 25,--jobs 31,--window 0:9,--fluid"
    variants = [[], ["--split", "1,1,1"], *(each.split() for each in others.split(","))]
    for variant in variants:
        base = SMALL[:-2] if "--load" in variant else SMALL
        said(capsys, [*base, *variant, "--mechanism", "greedy", "--output", str(tmp_path)])
    assert len(list(tmp_path.glob("*.json"))) == len(variants)


def test_processes_give_the_same_bytes(tmp_path, capsys):
    """Tests one process against four on two seeds."""
    argv = [*SMALL, "--seeds", "2", "--policy", "srtf", "--policy", "las"]
    texts = []
    for workers in ("1", "4"):
        folder = tmp_path / workers
        texts.append(
            said(capsys, [*argv, "--workers", workers, "--output", str(folder), "--json"])
        )
    assert texts[0] == texts[1]
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / w).iterdir()} for w in ("1", "4"))
    assert one == two
    assert len(one) == 8 + 2


def test_the_table_fits_a_hundred_columns(capsys):
    """Tests the widest case, two loads, and that no line ends in blanks."""
    lines = said(capsys, [*SMALL, "--load", "9", "--mechanism", "tune-simulated"]).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines == [line.rstrip() for line in lines]


def test_jobs_of_a_run_are_counted_on_a_terminal_alone(capsys, monkeypatch):
    """Tests that the bar is told of every end within a run; silent when piped."""
    assert main(SMALL) == 0
    assert capsys.readouterr().err == ""
    scenario = next(iter(command._cases(_options()).values()))
    told = []
    command.execute(scenario, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (30, 30)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with command._progress(2, here=False, quiet=False) as (_, inside):
        assert inside is None
    with command._progress(2, here=True, quiet=False) as (show, inside):
        inside(3, 30)
        show(1)


def _options():
    """Give the options of a small sweep as the command line has them."""
    parser = argparse.ArgumentParser()
    command.add(parser)
    return parser.parse_args(SMALL[1:])


def test_a_mechanism_of_the_users(tmp_path, capsys, monkeypatch):
    """Tests that a user's function runs like a built-in, certified, and a wrong one is caught."""
    (tmp_path / "mine.py").write_text(
        "from dataclasses import replace\n"
        "from synergy_opt import tune\n"
        "def good(instance):\n"
        "    print('hello')\n"
        "    return replace(tune(instance), mechanism='mine')\n"
        "def wrong(instance):\n"
        "    answer = tune(instance)\n"
        "    jobs = [replace(j, throughput=j.throughput * 2) for j in answer.jobs]\n"
        "    return replace(answer, jobs=tuple(jobs))\n"
        "def nothing(instance):\n"
        "    left = [replace(j, demand=(0 * j.demand[0],) * 2, throughput=0 * j.throughput,\n"
        "                    pieces=()) for j in tune(instance).jobs]\n"
        "    return replace(tune(instance), jobs=tuple(left))\n"
    )
    monkeypatch.chdir(tmp_path)
    argv = [*SMALL, "--json"]
    for name in ("proportional", "mine.py:good", "tune"):
        argv += ["--mechanism", name]
    _, mine, tuned = json.loads(said(capsys, argv))["groups"]
    assert mine["mean_h"] == tuned["mean_h"]
    assert mine["speedup"] == tuned["speedup"] > 1
    assert "breaks a rule" in said(capsys, [*SMALL, "--mechanism", "mine.py:wrong"], code=1)
    assert "wait for ever" in said(capsys, [*SMALL, "--mechanism", "mine.py:nothing"], code=3)


def test_an_edited_mechanism_is_run_again(tmp_path, capsys, monkeypatch):
    """Tests that runs kept of a user's function are not taken for those of its next version."""
    monkeypatch.chdir(tmp_path)
    source = "import synergy_opt\nplace = synergy_opt.{}\n"
    argv = [*SMALL, "--mechanism", "mine.py:place", "--output", "runs", "--json"]
    means = []
    for name in ("proportional", "tune"):
        (tmp_path / "mine.py").write_text(source.format(name))
        (row,) = json.loads(said(capsys, argv))["groups"]
        means.append(row["mean_h"])
    assert means[1] < means[0]
    assert len(list((tmp_path / "runs").glob("*.json"))) == 2
    message = said(capsys, ["plot", "runs", "runs", "--output", "a.png"], code=2)
    assert "the file of mine.py:place differ" in message


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (["--round", "60"], "round differ (300 and 60)"),
        (["--jobs", "31"], "the jobs, profiles or servers differ"),
        (["--cpu", "25"], "the jobs, profiles or servers differ"),
        (["--window", "0:9"], "window differ"),
    ],
)
def test_pictures_mix_no_sweeps(tmp_path, capsys, other, words):
    """Tests that no mean is taken over runs of two sweeps that were kept in one folder."""
    for argv in ([], other):
        said(capsys, [*SMALL, *argv, "--mechanism", "greedy", "--output", str(tmp_path)])
    picture = tmp_path / "a.png"
    message = said(capsys, ["plot", "runs", str(tmp_path), "--output", str(picture)], code=2)
    assert words in message or words.replace("300 and 60", "60 and 300") in message
    assert not picture.exists()


def test_pictures_mix_no_traces(tmp_path, capsys):
    """Tests two files of jobs whose runs lie in one folder: no line is over both."""
    argv = ["simulate", "--servers", "1", "--mechanism", "greedy", "--output", f"{tmp_path}/runs"]
    for name in ("one", "two"):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"{HEAD}a,0,60,1,gnmt\n")
        said(capsys, [*argv, "--trace", str(path)])
    argv = ["plot", "runs", f"{tmp_path}/runs", "--output", f"{tmp_path}/a.png"]
    assert "the traces differ (" in said(capsys, argv, code=2)


@pytest.mark.parametrize("mechanism", ["optimal", "optimal-rounded", "packed"])
def test_the_optimum_can_be_simulated(capsys, mechanism):
    """Tests that mechanisms with solvers, also with fractional GPUs, keep the books."""
    argv = ["simulate", "--servers", "2", "--jobs", "8", "--load", "9", "--mechanism", mechanism]
    (row,) = json.loads(said(capsys, [*argv, "--json"]))["groups"]
    assert row["mean_h"] > 0


@pytest.mark.parametrize("what", ["jct", "cdf", "usage"])
def test_pictures_of_runs(tmp_path, capsys, what):
    """Tests that each kind is drawn from the kept files alone, the same bytes twice."""
    pytest.importorskip("matplotlib")
    said(capsys, [*SMALL, "--load", "9", "--output", str(tmp_path / "runs")])
    pictures = [tmp_path / "a.png", tmp_path / "b.png"]
    for picture in pictures:
        said(capsys, ["plot", "runs", str(tmp_path / "runs"), "--what", what, "--output",
                      str(picture)])  # fmt: skip
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_pictures_of_nothing(tmp_path, capsys):
    """Tests that an empty folder, a strange file and a missing load are named."""
    pytest.importorskip("matplotlib")
    argv = ["plot", "runs", str(tmp_path), "--output", str(tmp_path / "a.png")]
    assert "has no runs" in said(capsys, argv, code=2)
    (tmp_path / "x.json").write_text("{}")
    assert "x.json: is no document of a run" in said(capsys, argv, code=2)
    (tmp_path / "x.json").unlink()
    said(capsys, [*SMALL[:-2], "--output", str(tmp_path)])
    assert "has no load" in said(capsys, [*argv, "--what", "jct"], code=2)


def test_a_dask_cluster_gives_the_same_document(capsys):
    """Tests two workers of a local Dask cluster, by its address, against this process."""
    distributed = pytest.importorskip("distributed")
    argv = [*SMALL, "--json"]
    here = said(capsys, argv)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        there = said(capsys, [*argv, "--workers", "2", "--backend", "dask", "--address", address])
    assert there == here
