"""Bad input: exit code 2 and one message with file, path and rule, nothing half written."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from synergy_opt.cli import main

GOOD = """{"schema": "synergy-opt/instance/1", "name": "i",
 "cluster": {"resources": {"cpu": "cores", "memory": "GB"},
  "servers": [{"type": "n", "count": 2, "gpus": 8, "cpu": 24, "memory": 500}]},
 "profiles": {"p": {"unit": "items/s", "per": "gpu",
   "axes": {"cpu": [1, 3], "memory": [20, 62.5]}, "throughput": [[1, 2], [3, 4]]}},
 "jobs": [{"id": "a", "gpus": 1, "profile": "p"}, {"id": "b", "gpus": 2, "profile": "p"}]}"""

INSTANCES = [
    # old text, new text, path, words of the rule
    ('"gpus": 1,', '"gpus": 0,', "$.jobs[0].gpus", "at least 1, not 0"),
    ('"gpus": 1,', '"gpus": -3,', "$.jobs[0].gpus", "at least 1, not -3"),
    ('"gpus": 1,', '"gpus": 1.5,', "$.jobs[0].gpus", "whole number, not 1.5"),
    ('"gpus": 1,', '"gpus": "1",', "$.jobs[0].gpus", "whole number, not a string"),
    ('"gpus": 1,', '"gpus": true,', "$.jobs[0].gpus", "whole number, not a boolean"),
    ('"gpus": 1,', '"gpus": 17,', "$.jobs[0].gpus", "cluster has 16 GPUs"),
    ('"gpus": 1,', f'"gpus": {"9" * 5000},', "$.jobs[0].gpus", "whole number"),
    ('"id": "b"', '"id": "a"', "$.jobs[1].id", "'a' is the id of an earlier job"),
    ('"id": "b"', '"id": " "', "$.jobs[1].id", "at least one character"),
    ('"id": "b"', '"id": 7', "$.jobs[1].id", "must be a string, not a number"),
    ('2, "profile": "p"', '2, "profile": "q"', "$.jobs[1].profile", "no profile 'q'"),
    ('2, "profile": "p"', '2, "profile": "p", "x": 1', "$.jobs[1].x", "unknown key"),
    ('"gpus": 1, "profile": "p"', '"gpus": 1', "$.jobs[0]", "'profile' is missing"),
    ('2, "profile": "p"', '2, "profile": "p", "weight": 0', "$.jobs[1].weight", "above 0"),
    ('2, "profile": "p"', '2, "profile": "p", "weight": "x"', "$.jobs[1].weight", "a number"),
    ('"jobs": [', '"jobs": [null, ', "$.jobs[0]", "must be an object, not null"),
    ('"jobs": [', '"jobs": [7, ', "$.jobs[0]", "must be an object, not a number"),
    ('"cpu": [1, 3]', '"gpu": [1, 3]', "$.profiles.p.axes", "'cpu' is missing"),
    ('"cpu": [1, 3]', '"cpu": [1, 3], "net": [1]', "$.profiles.p.axes.net", "unknown key"),
    ('"cpu": [1, 3]', '"cpu": []', "$.profiles.p.axes.cpu", "at least one number"),
    ('"cpu": [1, 3]', '"cpu": [3, 1]', "$.profiles.p.axes.cpu[1]", "increase strictly"),
    ('"cpu": [1, 3]', '"cpu": [1, 1]', "$.profiles.p.axes.cpu[1]", "increase strictly"),
    ('"cpu": [1, 3]', '"cpu": [-1, 3]', "$.profiles.p.axes.cpu", "not be negative"),
    ('"cpu": [1, 3]', '"cpu": [1, NaN]', "", "holds NaN; numbers must be finite"),
    ('"cpu": [1, 3]', '"cpu": [1, "inf"]', "$.profiles.p.axes.cpu[1]", "finite"),
    ('"cpu": [1, 3]', '"cpu": [1, 1e999]', "$.profiles.p.axes.cpu[1]", "100 digits"),
    ('"cpu": [1, 3]', '"cpu": [1, "3/0"]', "$.profiles.p.axes.cpu[1]", "denominator 0"),
    ('"cpu": [1, 3]', '"cpu": [1, null]', "$.profiles.p.axes.cpu[1]", "must be a number"),
    ('"cpu": [1, 3]', '"cpu": {"a": 1}', "$.profiles.p.axes.cpu", "must be a list"),
    ('"cpu": [1, 3]', '"cpu": [4, 5]', "$.jobs[0]", "no configuration inside its fair share"),
    ("[[1, 2], [3, 4]]", "[[1, 2], [3]]", "$.profiles.p.throughput[1]", "ragged"),
    ("[[1, 2], [3, 4]]", "[[1, 2], 3]", "$.profiles.p.throughput[1]", "ragged"),
    ("[[1, 2], [3, 4]]", "[]", "$.profiles.p.throughput", "but the axes are 2 × 2"),
    ("[[1, 2], [3, 4]]", "[[1, 2]]", "$.profiles.p.throughput", "is 1 × 2"),
    ("[[1, 2], [3, 4]]", "[[1, 2], [3, -4]]", "$.profiles.p.throughput", "not be negative"),
    ("[[1, 2], [3, 4]]", "[[1, 2], [3, Infinity]]", "", "holds Infinity"),
    ("[[1, 2], [3, 4]]", "[[0, 0], [0, 0]]", "$.jobs[0]", "throughput 0 everywhere"),
    ("[[1, 2], [3, 4]]", "[[1, 2], [3, {}]]", "$.profiles.p.throughput[1][1]", "a number"),
    ('"per": "gpu"', '"per": "node"', "$.profiles.p.per", "'gpu' or 'job', not 'node'"),
    ('"unit": "items/s"', '"unit": 3', "$.profiles.p.unit", "must be a string"),
    ('"cpu": 24', '"cpu": 0', "$.cluster.servers[0].cpu", "above 0, not 0"),
    ('"cpu": 24', '"cpu": -24', "$.cluster.servers[0].cpu", "above 0, not -24"),
    ('"cpu": 24', '"cores": 24', "$.cluster.servers[0]", "'cpu' is missing"),
    ('"cpu": 24', '"cpu": 24, "disk": 1', "$.cluster.servers[0].disk", "unknown key"),
    ('"count": 2', '"count": 0', "$.cluster.servers[0].count", "at least 1"),
    ('8, "cpu"', '0, "cpu"', "$.cluster.servers[0].gpus", "at least 1"),
    (
        '"cpu": "cores"',
        '"count": "cores"',
        "$.cluster.resources",
        "cannot be the name of a resource",
    ),
    ('{"cpu": "cores", "memory": "GB"}', "{}", "$.cluster.resources", "no resource"),
    ('"name": "i"', '"name": ""', "$.name", "at least one character"),
    ('"name": "i"', '"name": "i", "jbos": []', "$.jbos", "unknown key"),
    ('"name": "i"', '"name": "i", "objective": "best"', "$.objective", "'relative' or"),
    ("instance/1", "instance/2", "$.schema", "'synergy-opt/instance/1'"),
    ('"id": "b"', '"id": "b", "id": "c"', "", "the key 'id' twice"),
]


def check(capsys: pytest.CaptureFixture[str], argv: list[str], *words: str) -> None:
    """Check for exit code 2 and one line on standard error that has all words."""
    code = main(argv)
    captured = capsys.readouterr()
    assert code == 2, captured
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("synergy-opt: ")
    assert "Traceback" not in captured.err
    for word in words:
        assert word in captured.err


@pytest.mark.parametrize(("old", "new", "path", "rule"), INSTANCES)
def test_a_bad_instance_is_refused_with_file_path_and_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, path: str, rule: str
):
    """Tests that each fault of an instance file is named with the file, its place and its rule."""
    assert GOOD.count(old) == 1, old
    file, output = tmp_path / "in.json", tmp_path / "out.json"
    file.write_text(GOOD.replace(old, new))
    argv = ["solve", str(file), "--mechanism", "proportional", "--output", str(output)]
    check(capsys, argv, f"{file}: {path}", rule)
    assert list(tmp_path.iterdir()) == [file]


def test_the_table_starts_from_a_good_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Tests that the file that every row of the table changes is accepted itself."""
    file = tmp_path / "in.json"
    file.write_text(GOOD)
    assert main(["solve", str(file), "--mechanism", "proportional", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["throughput"] == "2"


FILES: list[tuple[bytes, str]] = [
    (b"", "is not JSON"),
    (GOOD[:200].encode(), "is not JSON"),
    (b"hello", "is not JSON"),
    (b"[]", "$: must be an object, not a list"),
    (b"\x80\x81", "is not UTF-8 text"),
    (b"version https://git-lfs.github.com/spec/v1\n", "Git-LFS pointer"),
    (b'{"schema": "synergy-opt/instance/1"}', "$: the key 'name' is missing"),
    (b"\xef\xbb\xbf{}", "is not JSON"),
]


@pytest.mark.parametrize(("data", "rule"), FILES)
@pytest.mark.parametrize(
    "argv",
    [
        ["compare"],
        ["verify", "PLACEMENT"],
        ["export", "--stage", "1", "--format", "mps"],
        ["plot", "sensitivity", "--job", "a", "--output", "x.png"],
    ],
    ids=lambda argv: argv[0],
)
def test_a_file_that_is_no_instance_is_refused_by_every_command(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    argv: list[str],
    data: bytes,
    rule: str,
):
    """Tests that every command says in one line what is wrong with the whole file."""
    file = tmp_path / "in.json"
    file.write_bytes(data)
    first = 2 if argv[0] == "plot" else 1
    check(capsys, [*argv[:first], str(file), *argv[first:]], f"{file}: ", rule)


def _placement(**changes: object) -> dict[str, object]:
    document: dict[str, object] = {
        "schema": "synergy-opt/placement/1",
        "instance": "i",
        "mechanism": "mine",
        "throughput": "2",
        "jobs": [],
    }
    return {key: value for key, value in (document | changes).items() if value is not None}


_JOB = {"id": "a", "demand": {"cpu": "3", "memory": "62.5"}, "throughput": "1", "pieces": []}
_PIECE = {"server": 0, "gpus": "1", "cpu": "3", "memory": "62.5"}
_CERTIFICATE = {"multipliers": {"cpu": "0", "memory": "0"}}

PLACEMENTS: list[tuple[dict[str, object], str, str]] = [
    (_placement(schema="x"), "$.schema", "'synergy-opt/placement/1'"),
    (_placement(instance="other"), "$.instance", "is for 'other', not for 'i'"),
    (_placement(jobs=None), "$", "'jobs' is missing"),
    (_placement(extra=1), "$.extra", "unknown key"),
    (_placement(throughput="two"), "$.throughput", "must be a number"),
    (_placement(jobs={}), "$.jobs", "must be a list"),
    (_placement(jobs=[{**_JOB, "id": 1}]), "$.jobs[0].id", "must be a string"),
    (_placement(jobs=[{**_JOB, "demand": {"cpu": 1}}]), "$.jobs[0].demand", "'memory' is missing"),
    (
        _placement(jobs=[{**_JOB, "pieces": [{**_PIECE, "disk": 1}]}]),
        "$.jobs[0].pieces[0].disk",
        "unknown key",
    ),
    (
        _placement(jobs=[{**_JOB, "pieces": [{**_PIECE, "server": "0"}]}]),
        "$.jobs[0].pieces[0].server",
        "whole number",
    ),
    (
        _placement(jobs=[{**_JOB, "pieces": [{**_PIECE, "cpu": "1/0"}]}]),
        "$.jobs[0].pieces[0].cpu",
        "denominator 0",
    ),
    (_placement(certificate=_CERTIFICATE), "$", "a certificate but no upper_bound"),
    (
        _placement(upper_bound="3", certificate={"multipliers": {"cpu": "0"}}),
        "$.certificate.multipliers",
        "'memory' is missing",
    ),
    (
        _placement(upper_bound="3", certificate={**_CERTIFICATE, "rows": 1}),
        "$.certificate.rows",
        "true or false",
    ),
    (_placement(split={"servers": 1}), "$.split", "is missing"),
    (_placement(proof="sure"), "$.proof", "must be one of 'multipliers'"),
]


@pytest.mark.parametrize(("document", "path", "rule"), PLACEMENTS)
def test_a_bad_placement_is_refused_with_file_path_and_rule(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    document: dict[str, object],
    path: str,
    rule: str,
):
    """Tests that each fault of a placement file is named, a placement of another instance too."""
    instance, placement = tmp_path / "in.json", tmp_path / "placement.json"
    instance.write_text(GOOD)
    placement.write_text(json.dumps(document))
    check(capsys, ["verify", str(instance), str(placement)], f"{placement}: {path}: ", rule)


USAGE: list[tuple[list[str], str]] = [
    ([], "COMMAND"),
    (["no-such"], "invalid choice: 'no-such'"),
    (["solve"], "INSTANCE"),
    (["solve", "worked-example"], "--mechanism"),
    (["solve", "worked-example", "--mechanism", "best"], "no mechanism 'best'"),
    (["solve", "worked-example", "--mechanism", "tune", "--gap", "x"], "must be a number"),
    (["solve", "worked-example", "--mechanism", "tune", "--gap", "1"], "below 1"),
    (["solve", "worked-example", "--mechanism", "tune", "--time-limit", "0"], "above 0 seconds"),
    (["solve", "worked-example", "--mechanism", "tune", "--time-limit", "nan"], "finite"),
    (
        ["solve", "no-such-instance", "--mechanism", "tune"],
        "no-such-instance: no such file, nor a shipped instance",
    ),
    (
        ["compare", "worked-example", "no-such-instance"],
        "no-such-instance: no such file, nor a shipped instance",
    ),
    (["generate", "mix"], "--servers"),
    (["generate", "mix", "--servers", "0"], "at least 1, not 0"),
    (
        ["generate", "mix", "--servers", "1", "--seed", "-1"],
        "--seed: must be a whole number of at least 0",
    ),
    (["generate", "mix", "--servers", "1", "--split", "20:70:10"], "with commas between"),
    (
        ["generate", "mix", "--servers", "1", "--gpu-demands", "1:7,1:3"],
        "each number of GPUs once",
    ),
    (["generate", "mix", "--servers", "1", "--split", "1,2"], "split: must be three weights"),
    (["generate", "mix", "--servers", "1", "--split", "0,0,0"], "not all 0"),
    (["generate", "mix", "--servers", "1", "--split", "a,b,c"], "whole number"),
    (["generate", "mix", "--servers", "1", "--load", "0"], "above 0"),
    (["generate", "mix", "--servers", "1", "--load", "5000"], "at most 1000"),
    (["generate", "mix", "--servers", "1", "--gpu-demands", "0:1"], "at least 1, not 0"),
    (["generate", "mix", "--servers", "1", "--gpu-demands", "1:0"], "a weight above 0"),
    (["generate", "mix", "--servers", "1", "--load", "0.01"], "--load: no job: each demand"),
    (["generate", "mix", "--servers", "1", "--gpu-demands", "9"], "above the 8 GPUs"),
    (["generate", "random", "--servers", "1"], "mix"),
    (["generate", "mix", "--servers", "1", "--resources", "2"], "belongs to the family scattered"),
    (["generate", "scattered", "--servers", "1", "--resources", "4"], "must be 1 to 3, not 4"),
    (["generate", "scattered", "--servers", "1", "--split", "1,1,1"], "belongs to the family mix"),
    (["generate", "mix", "--servers", "1", "--name", ""], "$.name"),
    (["generate", "mix", "--servers", "1", "--output", "/no/such/f"], "/no/such/f: cannot be"),
    (["import", "csv", "a", "b", "c", "--unit", "x"], "--unit: must be RESOURCE=UNIT"),
    (["export", "worked-example", "--stage", "3", "--format", "mps"], "--stage"),
    (["plot", "sensitivity", "worked-example", "--job", "J9", "--output", "x.png"], "'J9'"),
    (["plot", "sensitivity", "worked-example", "--job", "J1", "--output", "x.bmp"], ".png"),
    (["plot", "gap", "worked-example"], "--output"),
]


@pytest.mark.parametrize(("argv", "words"), USAGE, ids=lambda value: str(value)[:60])
def test_bad_usage_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    argv: list[str],
    words: str,
):
    """Tests that wrong arguments end with code 2, one line and no file."""
    monkeypatch.chdir(tmp_path)
    check(capsys, argv, words)
    assert list(tmp_path.iterdir()) == []


def test_an_unexpected_fault_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Tests that a fault of ours is one line with code 1, and a traceback only when asked for."""

    def broken(name: str) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("synergy_opt.cli.common.load", broken)
    argv = ["solve", "worked-example", "--mechanism", "tune"]
    assert main(argv) == 1
    captured = capsys.readouterr()
    assert "unexpected RuntimeError: boom" in captured.err
    assert "Traceback" not in captured.err
    monkeypatch.setenv("SYNERGY_OPT_TRACEBACK", "1")
    assert main(argv) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (lambda e: e.Infeasible("needs 3 more"), 3, "needs 3 more"),
        (lambda e: e.SolverFailed("no basis"), 1, "no basis"),
        (lambda e: e.NotCertified("2 rules"), 1, "2 rules"),
        (lambda _: KeyboardInterrupt(), 130, "interrupted"),
        (lambda _: MemoryError(), 1, "MemoryError"),
    ],
)
def test_every_kind_of_error_has_its_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Callable[[object], BaseException],
    code: int,
    words: str,
):
    """Tests the exit codes of the errors that a command can end with."""
    from synergy_opt import errors

    def fails(name: str) -> None:
        raise error(errors)

    monkeypatch.setattr("synergy_opt.cli.common.load", fails)
    assert main(["solve", "worked-example", "--mechanism", "tune"]) == code
    assert words in capsys.readouterr().err
