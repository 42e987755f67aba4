"""The commands on good input: what they print, write and return."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from synergy_opt.cli import COMMANDS, main
from synergy_opt.io import read_instance, read_placement, shipped, shipped_names

FAST = ["--mechanism", "proportional", "--mechanism", "greedy", "--mechanism", "tune"]


def output(capsys: pytest.CaptureFixture[str], argv: list[str], code: int = 0) -> str:
    """Run a command and give what it printed."""
    assert main(argv) == code, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capsys: pytest.CaptureFixture[str], command: str):
    """Tests that the general help names each command and that each has help of its own."""
    assert command in output(capsys, ["--help"])
    assert command in output(capsys, [command, "--help"])


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]):
    """Tests that --version gives the version of the package."""
    from synergy_opt import __version__

    assert output(capsys, ["--version"]) == f"synergy-opt {__version__}\n"


@pytest.mark.parametrize("name", shipped_names())
def test_solve_writes_what_verify_accepts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
):
    """Tests that a placement written by solve is read back and found to keep every rule."""
    path = tmp_path / "placement.json"
    printed = output(capsys, ["solve", name, "--mechanism", "tune", "--output", str(path)])
    assert "certified" in printed
    assert f"written to {path}" in printed
    stated = read_placement(path, shipped(name))
    assert stated.placement.mechanism == "tune"
    assert "keeps every rule" in output(capsys, ["verify", name, str(path)])


def test_verify_names_each_broken_rule_with_its_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Tests that an overfilled server and a wrong total are both named, with exit code 1."""
    path = tmp_path / "placement.json"
    output(capsys, ["solve", "worked-example", "--mechanism", "tune", "--output", str(path)])
    document = json.loads(path.read_text())
    document["throughput"] = "7"
    document["jobs"][0]["demand"]["cpu"] = document["jobs"][0]["pieces"][0]["cpu"] = "21"
    path.write_text(json.dumps(document))
    printed = output(capsys, ["verify", "worked-example", str(path)], code=1)
    assert "capacity: server 0 has 24 cpu, but 25 are taken" in printed
    assert "total-throughput: states 7" in printed
    found = json.loads(output(capsys, ["verify", "worked-example", str(path), "--json"], code=1))
    assert found["valid"] is False
    assert {"capacity", "total-throughput"} <= {each["rule"] for each in found["violations"]}


def test_solve_prints_one_json_document(capsys: pytest.CaptureFixture[str]):
    """Tests that --json gives exact figures and the whole placement."""
    document = json.loads(
        output(capsys, ["solve", "worked-example", "--mechanism", "tune", "--json"])
    )
    assert Fraction(document["throughput"]) == Fraction(17, 3)
    assert document["fair"] is True
    assert document["placement"]["schema"] == "synergy-opt/placement/1"
    assert document["utilisation"] == {"gpus": "1", "cpu": "1", "memory": "1"}


def test_compare_gives_a_row_a_mechanism(capsys: pytest.CaptureFixture[str]):
    """Tests table and JSON of a comparison on two instances."""
    printed = output(capsys, ["compare", "worked-example", "two-groups", *FAST])
    for words in (
        "worked-example: 4 of 4 jobs run",
        "two-groups",
        "proportional",
        "41.67%",
        "0.00%",
    ):
        assert words in printed
    assert "\x1b" not in printed  # no colour when piped
    document = json.loads(output(capsys, ["compare", "worked-example", *FAST, "--json"]))
    (comparison,) = document["comparisons"]
    assert comparison["bound"] == "17/3"
    assert [row["mechanism"] for row in comparison["mechanisms"]] == FAST[1::2]
    assert all(row["violations"] == [] for row in comparison["mechanisms"])


def test_a_mechanism_that_leaves_jobs_out_may_exceed_the_bound_for_all_jobs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Tests that GREEDY above stage 1's bound is set against the bound for skipping."""
    path = tmp_path / "in.json"
    # Two light jobs that need all cores for little, after one that makes much of them.
    path.write_text(
        """{"schema": "synergy-opt/instance/1", "name": "trap",
        "cluster": {"resources": {"cpu": "cores"},
         "servers": [{"type": "n", "count": 1, "gpus": 2, "cpu": 4}]},
        "profiles": {
         "a": {"axes": {"cpu": [2, 4]}, "throughput": [1, 3]},
         "b": {"axes": {"cpu": [2]}, "throughput": [1]}},
        "jobs": [{"id": "a", "gpus": 1, "profile": "a"},
                 {"id": "b", "gpus": 1, "profile": "b", "weight": 0.5}]}"""
    )
    document = json.loads(output(capsys, ["compare", str(path), *FAST, "--json"]))
    (comparison,) = document["comparisons"]
    greedy = comparison["mechanisms"][1]
    assert Fraction(greedy["throughput"]) == 3 > Fraction(comparison["bound"])
    assert greedy["skipping"] is True
    assert Fraction(greedy["bound"]) >= 3
    assert greedy["left_out"] == greedy["below_floor"] == ["b"]
    assert greedy["violations"] == []
    assert "placements that may leave jobs out" in output(capsys, ["compare", str(path), *FAST])


def test_generate_and_import_write_instances(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Tests that a generated file is read back, and that standard output has the same bytes."""
    path = tmp_path / "mix.json"
    argv = ["generate", "mix", "--servers", "2", "--seed", "5", "--split", "50,0,50"]
    printed = output(capsys, [*argv, "--output", str(path)])
    assert "2 servers, 16 gpus" in printed
    assert output(capsys, argv) == path.read_text(encoding="utf-8")
    assert json.loads(output(capsys, [*argv, "--output", str(path), "--json"]))["gpus"] == 16
    assert read_instance(path).name == "mix-2-5"
    argv = ["generate", "scattered", "--servers", "1", "--resources", "3", "--name", "mine"]
    argv += ["--gpu-demands", "1:1,2", "--load", "0.5"]
    output(capsys, [*argv, "--output", str(path)])
    assert read_instance(path).name == "mine"
    assert sum(job.gpus for job in read_instance(path).jobs) == 4


def test_import_csv_takes_units(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Tests that the command makes an instance of three files, with the unit that was given."""
    (tmp_path / "p.csv").write_text("profile,unit,per,net,throughput\np,x,gpu,1,5\n")
    (tmp_path / "j.csv").write_text("id,gpus,profile\na,1,p\n")
    (tmp_path / "s.csv").write_text("type,count,gpus,net\nn,1,8,16\n")
    files = [str(tmp_path / f"{name}.csv") for name in "pjs"]
    printed = output(capsys, ["import", "csv", *files, "--unit", "net=Gbit/s", "--name", "n"])
    assert json.loads(printed)["cluster"]["resources"] == {"net": "Gbit/s"}
    assert main(["import", "csv", *files, "--unit", "foo=bar"]) == 2
    message = "synergy-opt: --unit: there is no resource 'foo'; there are net\n"
    assert capsys.readouterr().err == message


def test_import_openb_runs_through(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reference_data: Path
):
    """Tests the main job on the published trace: import, then TUNE, certified."""
    folder, path = reference_data / "openb", tmp_path / "g2.json"
    nodes, pods = folder / "openb_node_list_gpu_node.csv", folder / "openb_pod_list_default.csv"
    argv = ["import", "openb", str(nodes), str(pods), "--model", "G2", "--output", str(path)]
    assert "549 servers, 4392 gpus, 3986 jobs" in output(capsys, argv)
    document = json.loads(output(capsys, ["compare", str(path), "--mechanism", "tune", "--json"]))
    (row,) = document["comparisons"][0]["mechanisms"]
    assert row["violations"] == []
    assert Fraction(row["gap"]) < Fraction(1, 10)
    drawn = json.loads(output(capsys, [*argv, "--profile", "models", "--limit", "9", "--json"]))
    assert drawn["jobs"] == 9


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot_writes_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str):
    """Tests that each kind of picture is written in each format, the same bytes twice."""
    for kind, options in {
        "sensitivity": ["--job", "J1"],
        "utilisation": FAST,
        "gap": FAST[:2],
    }.items():
        path, again = tmp_path / f"{kind}.{ending}", tmp_path / f"{kind}-2.{ending}"
        argv = ["plot", kind, "worked-example", *options, "--output"]
        assert f"written to {path}" in output(capsys, [*argv, str(path)])
        document = json.loads(output(capsys, [*argv, str(again), "--json"]))
        assert document == {"output": str(again)}
        assert path.stat().st_size > 1000
        assert path.read_bytes() == again.read_bytes()


def test_a_file_wins_over_a_shipped_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Tests that a shipped name is only looked up where there is no file of that name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two-groups").write_text("{}")
    assert main(["compare", "two-groups"]) == 2
    assert "two-groups: $" in capsys.readouterr().err


def test_a_long_list_of_jobs_is_cut_and_optimal_states_its_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Tests the summary of a placement with a bound, and that only the table is cut."""
    path = tmp_path / "mix.json"
    argv = ["generate", "mix", "--servers", "8", "--gpu-demands", "1", "--output", str(path)]
    output(capsys, argv)
    printed = output(capsys, ["solve", str(path), "--mechanism", "optimal-rounded"])
    assert "… and 54 more jobs" in printed
    assert "bound " in printed
    printed = output(capsys, ["solve", "worked-example", "--mechanism", "optimal"])
    assert "(gap 0.00%, proof: multipliers)" in printed


def test_what_is_not_proved_is_code_4(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    """Tests that a solver stopped at a limit gives what it had, with exit code 4."""
    from dataclasses import replace

    import synergy_opt.comparison
    from synergy_opt import ideal_allocation, optimal

    def stopped(instance, **options):
        return replace(optimal(instance, **options), proof="none")

    monkeypatch.setattr("synergy_opt.cli.mechanisms._optimal", lambda: stopped)
    argv = ["solve", "three-resources", "--mechanism", "optimal", "--output"]
    # A gap of 0 is a proof whatever the solver says; an absolute objective is not needed here.
    assert main([*argv, str(tmp_path / "p.json")]) == 0
    capsys.readouterr()
    argv[1] = "two-groups"
    assert main([*argv, str(tmp_path / "p.json")]) == 4
    assert "ended without a proof" in capsys.readouterr().err
    assert (tmp_path / "p.json").exists()
    assert main([*argv, str(tmp_path / "p.json"), "--gap", "0.01"]) == 0

    def cut(instance, **options):
        return replace(ideal_allocation(instance, **options), proof="none")

    monkeypatch.setattr(synergy_opt.comparison, "ideal_allocation", cut)
    assert main(["compare", "two-groups", "--mechanism", "tune"]) == 4
    assert "its bound holds all the same" in capsys.readouterr().err


def test_a_mechanism_without_a_placement_is_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Tests that the other mechanisms are compared all the same."""
    (tmp_path / "users_cannot.py").write_text(
        "from synergy_opt import Infeasible\ndef f(i):\n    raise Infeasible('too small')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    argv = ["compare", "worked-example", "--mechanism", "users_cannot:f", "--mechanism", "tune"]
    printed = output(capsys, argv, code=3)
    assert "users_cannot:f finds no placement: too small" in printed
    assert "0.00%" in printed


def test_stage_2_is_exported(capsys: pytest.CaptureFixture[str]):
    """Tests that the second stage's programme is printed as LP."""
    printed = output(capsys, ["export", "worked-example", "--stage", "2", "--format", "lp"])
    assert "Maximize" in printed


@pytest.mark.parametrize("name", shipped_names())
@pytest.mark.parametrize("mechanism", ["proportional", "greedy", "tune"])
def test_solve_stores_the_bound_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, mechanism: str
):
    """Tests that --bound puts a bound with its certificate into the file, and verify shows it."""
    path = tmp_path / "placement.json"
    argv = ["solve", name, "--mechanism", mechanism, "--output", str(path)]
    output(capsys, argv)
    assert "certificate" not in json.loads(path.read_text())
    assert "bound " in output(capsys, [*argv, "--bound"])
    stored = json.loads(path.read_text())
    left_out = any(not job["pieces"] for job in stored["jobs"])
    assert stored["certificate"]["skipping"] is left_out
    printed = output(capsys, ["verify", name, str(path)])
    assert "gap " in printed
    assert ("placements that may leave jobs out" in printed) is left_out
    found = json.loads(output(capsys, ["verify", name, str(path), "--json"]))
    assert found["certificate"] == stored["certificate"]
    total = Fraction(found["throughput"])
    assert Fraction(found["gap"]) == Fraction(found["bound"]) / total - 1
    assert found["whole_gpus"] is True


def test_solve_and_verify_say_that_gpus_are_fractional(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Tests the words and the JSON for stage 2's vertex, and the fewest splits."""
    path = tmp_path / "placement.json"
    argv = ["solve", "two-groups", "--mechanism", "optimal", "--output", str(path)]
    words = "fractional GPUs, stage 2's vertex"
    assert words in output(capsys, argv)
    assert words in output(capsys, ["verify", "two-groups", str(path)])
    found = json.loads(output(capsys, ["verify", "two-groups", str(path), "--json"]))
    assert found["whole_gpus"] is False
    document = json.loads(output(capsys, [*argv, "--fewest-splits", "--json"]))
    assert document["placement"]["split"]["fewest"] <= len(document["split_jobs"])
    argv[3] = "optimal-rounded"
    document = json.loads(output(capsys, [*argv, "--fewest-splits", "--json"]))
    assert document["whole_gpus"] is True
    assert document["placement"]["mechanism"] == "optimal-rounded"
    assert main(["solve", "two-groups", "--mechanism", "tune", "--fewest-splits"]) == 2
    assert "--fewest-splits: is for optimal" in capsys.readouterr().err


def test_the_condition_of_the_bound_is_in_help_and_table(capsys: pytest.CaptureFixture[str]):
    """Tests that help and output of compare say for which placements the bound holds."""
    for argv in (["compare", "--help"], ["compare", "worked-example", *FAST]):
        words = " ".join(output(capsys, argv).split())
        assert "that of the fewest servers that hold it, or its fair share" in words
    assert "a heuristic" in output(capsys, ["solve", "--help"])


def test_shipped_names_in_the_help_are_those_that_ship(capsys: pytest.CaptureFixture[str]):
    """Tests that the help lists the shipped instances without loading them."""
    words = "".join(output(capsys, ["solve", "--help"]).split())  # lines may break at a hyphen
    assert ",".join(shipped_names()) in words
