"""The commands `generate`, `simulate` and `design`: outputs, exit codes, one line on errors."""

import importlib.metadata
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hived_cells import cli_simulate
from hived_cells.cli import _parser, main
from hived_cells.cli_simulate import _OPTIONS
from hived_cells.simulation import ProductionOptions, production_trace
from hived_cells.simulation.faults_file import read_faults

ROOT = Path(__file__).resolve().parents[3]
SMALL = ["--nodes", "30", "--jobs", "400", "--days", "2", "--load", "90", "--longest", "1"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small generated trace and its cluster."""
    folder = tmp_path_factory.mktemp("cluster")
    trace, spec = folder / "t.csv", folder / "s.yaml"
    assert main(["generate", str(trace), str(spec), *SMALL]) == 0
    return spec, trace


def test_generate_says_what_it_wrote(tmp_path, capsys):
    """Tests the one line, on standard error so that a file may be standard output."""
    assert main(["generate", str(tmp_path / "t.csv"), str(tmp_path / "s.yaml"), *SMALL]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    jobs = len((tmp_path / "t.csv").read_text().splitlines()) - 1
    assert line.startswith(f"hived-cells: wrote {jobs} jobs of ")
    assert str(tmp_path / "t.csv") in line
    assert str(tmp_path / "s.yaml") in line


def test_the_defaults_in_the_help_are_those_of_the_generator():
    """Tests what `generate --help` says of each option against the option."""
    published = ProductionOptions()
    for name, (_, default) in _OPTIONS.items():
        assert getattr(published, name) == default


@pytest.mark.parametrize(
    "command", ["", "check", "replay", "show", "generate", "simulate", "design"]
)
def test_the_help_has_exit_codes_examples_and_defaults(command, capsys):
    """Tests that each command's help has an example that its parser takes, and defaults."""
    assert main([*command.split(), "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    if not command:
        assert "exit codes: 0 done; 1 a check failed" in text
        return
    example = shlex.split(text.split("example: hived-cells ")[1])
    assert example[0] == command
    options = _parser().parse_args(example)
    for word in ("--scheduler", "--checkpoint", "--seed", "--time-limit", "--choose", "--jobs"):
        if f"[{word} " in text:
            described = text.split("options:")[1].split(f" {word} ")[1].split(" --")[0]
            assert "(default " in described, word
    assert options.run


def test_the_version_is_printed(capsys, monkeypatch):
    """Tests `--version`, also from a checkout that is not installed."""
    assert main(["--version"]) == 0
    assert re.fullmatch(r"hived-cells \S.*\n", capsys.readouterr().out)

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "hived-cells not installed\n"


def test_generate_is_the_same_for_the_same_seed(files, tmp_path):
    """Tests that a second file has the same bytes, and another seed others."""
    spec, trace = files
    for seed, same in (("0", True), ("1", False)):
        paths = [str(tmp_path / f"t{seed}.csv"), str(tmp_path / f"s{seed}.yaml")]
        assert main(["generate", *paths, "--seed", seed, *SMALL]) == 0
        assert ((tmp_path / f"t{seed}.csv").read_bytes() == trace.read_bytes()) is same
        assert (tmp_path / f"s{seed}.yaml").read_bytes() == spec.read_bytes()
    assert main(["check", str(spec)]) == 0


@pytest.mark.parametrize("scheduler", ["capacity", "capacity-tightest", "gandiva", "tiresias"])
def test_simulate_prints_json_and_safety(files, capsys, scheduler):
    """Tests the figures' form for each scheduler, and that nothing is shown on standard error."""
    arguments = ["simulate", *map(str, files), "--scheduler", scheduler, "--json"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    data = json.loads(printed.out)
    assert printed.err == ""
    assert (data["safe"], data["longer_under_cells"], data["jobs"]) == (True, 0, 400)
    for row in data["tenants"].values():
        assert row["delay"]["cells"] <= row["delay"]["private"]


def test_simulate_prints_a_table(files, capsys):
    """Tests the text: a line a tenant and the verdict; without low priority cells are private."""
    assert main(["simulate", *map(str, files), "--no-low-priority"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "under cells no job is granted or done later than in its private cluster"
    for line in lines[2:13]:
        private, _, cells, _ = map(float, line.split()[3:])
        assert private == cells


def test_simulate_with_faults(files, tmp_path, capsys):
    """Tests that nodes leave and return, and that a late job is no failed check then."""
    faults = tmp_path / "faults.csv"
    faults.write_text("time,node,event\n40000,3,leaves\n\n90000,3,returns\n")
    assert main(["simulate", *map(str, files), "--faults", str(faults), "--json"]) == 0
    ways = json.loads(capsys.readouterr().out)["ways"]
    assert all(way["unfinished"] == 0 for way in ways.values())


def test_simulate_when_every_node_is_gone(files, tmp_path, capsys):
    """Tests that jobs that nobody can run are told as such, and no mean is made of them."""
    faults = tmp_path / "faults.csv"
    faults.write_text("time,node,event\n" + "".join(f"0,{n},leaves\n" for n in range(30)))
    assert main(["simulate", *map(str, files), "--faults", str(faults)]) == 0
    lines = capsys.readouterr().out.splitlines()
    promise = "under cells no job is granted or done later than in its private cluster"
    assert lines[-1] == f"{promise}, where 400 jobs are never done"
    rows = [line.split() for line in lines[2:13]]
    assert sum(int(row[2]) for row in rows) == 400
    assert all(row[3:6] == ["-", "-", "-"] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("generate", "no/t.csv", "s.yaml"), "no/t.csv"),
        (("generate", "new.csv", "no/s.yaml"), "no/s.yaml"),
        (("design", "s.yaml", "t.csv", "-o", "no/d.yaml"), "no/d.yaml"),
    ],
)
def test_a_file_that_cannot_be_written_is_named(files, monkeypatch, capsys, arguments, path):
    """Tests that the message has the path and the reason, no option that was not given."""
    monkeypatch.chdir(files[0].parent)
    small = SMALL if arguments[0] == "generate" else ()
    assert main([*arguments, *small]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"hived-cells: {path}: No such file or directory\n"
    assert not printed.out


def test_a_broken_promise_is_exit_code_1(files, monkeypatch, capsys):
    """Tests a planted fault: a private cluster that is faster than it can be."""
    from hived_cells.simulation import comparison

    true = comparison.simulate

    def hasty(*arguments, **options):
        run = true(*arguments, **options)
        if options["way"] == "private":
            run.ended[7] = 0  # not below: that would be never
        return run

    monkeypatch.setattr(comparison, "simulate", hasty)
    assert main(["simulate", *map(str, files)]) == 1
    assert "under cells, at" in capsys.readouterr().err


def test_design_writes_a_specification_that_is_feasible(files, tmp_path, capsys):
    """Tests the written design: same shares, proved, and a simulation of it is safe."""
    target = tmp_path / "d.yaml"
    assert main(["design", *map(str, files), "-o", str(target), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["tenants"]
    assert all(row["proved"] and row["cost"] == row["bound"] for row in rows.values())
    assert main(["check", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["feasible"]
    assert main(["simulate", str(target), str(files[1])]) == 0
    capsys.readouterr()
    assert main(["design", *map(str, files)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 12


def test_a_design_that_is_not_proved_is_exit_code_4(files, monkeypatch, capsys):
    """Tests that a search stopped at its limit says so and still gives what it has."""
    from hived_cells.design import solve

    monkeypatch.setattr(solve, "least", lambda _, cells, *__, **___: (cells, 0))
    assert main(["design", *map(str, files)]) == 4
    assert "not proved" in capsys.readouterr().out


BAD = {
    "no-file": (["simulate", "{spec}", "/nowhere.csv"], 2, "/nowhere.csv: No such file"),
    "option": (["generate", "{out}", "{out}2", "--jobs", "0"], 2, "jobs is 0"),
    "days": (["generate", "{out}", "{out}2", "--days", "115741"], 2, "it is at most 115740"),
    "longest": (["generate", "{out}", "{out}2", "--longest", "9999999"], 2, "at most 115740"),
    "device": (["simulate", "{spec}", "/dev/zero"], 2, "/dev/zero: is a device, not a file"),
    "exponent": (["generate", "{out}", "{out}2", "--moods", "1001"], 2, "it is at most 1000"),
    "same": (["generate", "{out}", "{out}"], 2, "are the same file"),
    "no-folder": (["generate", "{out}", "/nowhere/s.yaml", *SMALL], 2, "/nowhere/s.yaml: No such"),
    "full": (["generate", "{out}", "/dev/full", *SMALL], 2, "No space left on device"),
    "few": (["generate", "{out}", "{out}2", "--nodes", "3"], 2, "3 nodes are too few"),
    "checkpoint": (["simulate", "{spec}", "{trace}", "--checkpoint", "0"], 2, "checkpoint"),
    "weight": (["design", "{spec}", "{trace}", "--unmet-weight", "1"], 2, "unmet weight 1"),
    "limit": (["design", "{spec}", "{trace}", "--time-limit", "nan"], 2, "time limit nan"),
    "philly": (["simulate", "{spec}", "{trace}", "--philly"], 2, "line 1: columns are"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(files, tmp_path, capsys, arguments, code, message):
    """Tests exit code, one line that names what is wrong, and that no file is left behind."""
    names = {"{spec}": str(files[0]), "{trace}": str(files[1]), "{out}": str(tmp_path / "x")}
    names["{out}2"] = str(tmp_path / "y")
    assert main([names.get(word, word) for word in arguments]) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_never_fits_is_named(files, tmp_path, capsys):
    """Tests a job larger than its tenant's cells, and a tenant that reserved nothing."""
    head = "job,tenant,submit,duration,nodes,gpus_per_node,affinity\n"
    for row, message in (
        ("big,res-e,0,1,9,8,hard\n", "job 'big': 9×8 GPUs never fit in what tenant 'res-e'"),
        ("who,nobody,0,1,1,1,hard\n", "job 'who': tenant 'nobody' reserved nothing"),
    ):
        path = tmp_path / "t.csv"
        path.write_text(head + row)
        assert main(["simulate", str(files[0]), str(path)]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,node\n", r"line 1: columns are \['time', 'node'\]; time,node,event are needed"),
        ("time,node,event\n1,2\n", "line 2: 2 fields, 3 are needed"),
        ("time,node,event\n1,2,dies\n", "line 2: event 'dies'"),
        ("time,node,event\n1,9,leaves\n", "line 2: there is no node 9"),
        ("time,node,event\nx,1,leaves\n", "line 2: time is 'x'"),
        ('time,node,event\n1,"2,leaves\n', "line 2: unexpected end of data"),
        ('time,node,event\n1,"2\n3",leaves\n', r"line 3: node is '2\\n3'"),  # never node 23
        ("time,node,event\n\n1,2,leaves\nx,1,leaves\n", "line 4: time is 'x'"),
        (f"time,node,event\n1,2,{'a' * 200_000}\n", "line 2: field larger than"),
    ],
)
def test_bad_faults_are_refused_with_their_line(tmp_path, text, message):
    """Tests the rules of the faults' file."""
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(Exception, match=message):
        read_faults(path, 4)


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    """Tests both: quiet when piped, something on a terminal."""
    with cli_simulate._progress("jobs", 2) as advance:
        advance(1)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with cli_simulate._progress("jobs", 2) as advance:
        advance(1)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "jobs" in printed.err


LOADING = """
import os, signal, sys
import hived_cells.__main__ as command

module = sys.argv[1]

class Interrupts:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.modules.pop(module, None)
sys.meta_path.insert(0, Interrupts())
sys.argv = ["hived-cells", "generate", sys.argv[2], sys.argv[2] + "2"]
sys.exit(command.program())
"""


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("hived_cells.cli", b""),
        ("hived_cells.simulation.production", b"hived-cells: interrupted\n"),
    ],
)
def test_an_interrupt_while_the_command_loads_is_no_traceback(module, says, tmp_path):
    """Tests Ctrl-C while modules are imported, before the command and within it."""
    arguments = [sys.executable, "-c", LOADING, module, str(tmp_path / "x")]
    ended = subprocess.run(arguments, capture_output=True, check=False, cwd=ROOT)
    assert (ended.returncode, ended.stderr) == (130, says)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["spread", "growth", "moods", "load", "weekend", "batch"])
def test_the_largest_options_still_give_a_trace(name):
    """Tests that what is allowed has no durations or rates that overflow."""
    most = 1000 if name in ("spread", "growth", "moods") else 10**7
    chosen = ProductionOptions(nodes=40, jobs=300, days=20, **{name: most})
    for seed in range(3):
        assert len(production_trace(chosen, seed=seed).jobs) == 300
