"""The command: exit codes, messages, files, pipes and hostile input."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hived_specs import EVENTS, NODES, SHORT

from hived_cells import cli
from hived_cells.cli import main

MIXED = Path(__file__).parent / "data" / "mixed.yaml"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with a specification and events in it, as the working folder."""
    (tmp_path / "spec.yaml").write_text(NODES)
    (tmp_path / "short.yaml").write_text(SHORT)
    (tmp_path / "events.jsonl").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, **options):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "hived_cells", *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=120, **options,
    )  # fmt: skip


def test_check_answers_feasible_or_not(folder, capsys):
    """Tests exit codes 0 and 3, the short level, by how much, and what each tenant owns."""
    assert main(["check", "spec.yaml"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("feasible\n")
    assert "A: 2 GPU in NODE" in out
    assert main(["check", "short.yaml"]) == 3
    captured = capsys.readouterr()
    assert captured.err == (
        "hived-cells: short.yaml: infeasible: pool 'NODE': level 1 (GPU) is short by 2: "
        "2 cells needed, 0 available\n"
    )
    assert "short by 2" in captured.out
    for command in (["replay", "short.yaml", "events.jsonl"], ["show", "short.yaml"]):
        assert main(command) == 3
        assert "short.yaml: pool 'NODE': level 1 is short" in capsys.readouterr().err
    assert main(["check", "short.yaml", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["pools"][0]["short"]["by"] == 2
    assert main(["check", str(MIXED)]) == 0
    assert "pin bench (h1002/8) in T4-NODE" in capsys.readouterr().out


def test_replay_writes_a_line_for_each_event(folder, capsys):
    """Tests that each line is JSON, and that a file gets the same lines."""
    assert main(["replay", "spec.yaml", "events.jsonl", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["line"] for line in lines][-1] == 12
    assert main(["replay", "spec.yaml", "events.jsonl", "-o", "out.jsonl"]) == 0
    assert (folder / "out.jsonl").read_text().splitlines() == lines
    assert capsys.readouterr().out == ""


def test_a_choice_can_be_named_or_ones_own(folder, capsys):
    """Tests the built-in names, module:function, and names that are neither."""
    (folder / "mine_choice.py").write_text(
        "def last(candidates):\n    return max(c.cell for c in candidates)\nnumber = 3\n"
        "def breaks(candidates):\n    return 1 / 0\n"
    )
    (folder / "events.jsonl").write_text(
        '{"op": "allocate", "id": "a", "tenant": "A", "level": 1}\n'
    )
    (folder / "garbled_choice.py").write_text("def (")
    cells = {}
    for name in ("hived", "lowest-address", "mine_choice:last"):
        assert main(["replay", "spec.yaml", "events.jsonl", "--choose", name]) == 0
        cells[name] = json.loads(capsys.readouterr().out)["cell"]
    assert cells == {"hived": "n1/0", "lowest-address": "n1/0", "mine_choice:last": "n2/1"}
    for name, says in (
        ("best", "none of"),
        ("nowhere:f", "No module"),
        ("mine_choice:f", "no attribute"),
        ("mine_choice:number", "not a function"),
        ("mine_choice:breaks", "raised ZeroDivisionError"),
        ("mine_choice:print", "no attribute"),
        ("garbled_choice:f", "SyntaxError"),
    ):
        assert main(["replay", "spec.yaml", "events.jsonl", "--choose", name]) == 2
        assert says in capsys.readouterr().err


def test_show_draws_the_tree(folder, capsys):
    """Tests the tree before and after events, of one pool, in full and as JSON."""
    assert main(["show", "spec.yaml"]) == 0
    assert capsys.readouterr().out == "NODE\n  n1 .. n2  free, 2 cells\n"
    assert main(["show", "spec.yaml", "events.jsonl", "--pool", "NODE"]) == 0
    assert "n2/0  bound to A" in capsys.readouterr().out
    assert main(["show", "spec.yaml", "--all"]) == 0
    assert capsys.readouterr().out == "NODE\n  n1  free\n  n2  free\n"
    assert main(["show", "spec.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["NODE"][0]["cells"] == 2
    assert main(["show", "spec.yaml", "--pool", "X"]) == 2
    assert "pool 'X' is not one of ['NODE']" in capsys.readouterr().err


def test_pictures_are_complete_or_not_there(folder, capsys):
    """Tests the formats, an ending that is none, and that nothing is left beside."""
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
        assert main(["show", "spec.yaml", "events.jsonl", "--picture", name]) == 0
        assert (folder / name).read_bytes().startswith(start)
    assert main(["show", "spec.yaml", "--picture", "a.xyz"]) == 2
    assert "xyz" in capsys.readouterr().err
    assert main(["show", str(MIXED), "--picture", "b.png"]) == 2
    assert "--pool: which is drawn?" in capsys.readouterr().err
    assert not (folder / "b.png").exists()
    assert not list(folder.glob(".*"))


def test_a_terminal_gets_colours(folder, monkeypatch, capsys):
    """Tests that the rich tree and table are used where the output is a terminal."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert main(["show", "spec.yaml", "events.jsonl"]) == 0
    assert "└── " in capsys.readouterr().out
    assert main(["check", "spec.yaml"]) == 0
    assert "│" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "usage"),
        (["jump"], "invalid choice"),
        (["check"], "required: SPEC"),
        (["check", "none.yaml"], "none.yaml: No such file"),
        (["check", "."], "Is a directory"),
        (["replay", "spec.yaml", "none.jsonl"], "none.jsonl: No such file"),
        (["replay", "spec.yaml", "."], "Is a directory"),
        (["replay", "spec.yaml", "spec.yaml"], "spec.yaml: line 2"),
        (["replay", "spec.yaml", "events.jsonl", "-o", "no/out"], "No such file"),
        (["check", "spec.yaml", "--nonsense"], "unrecognized"),
    ],
)
def test_bad_usage_and_bad_input_are_code_2(folder, capsys, arguments, says):
    """Tests that each is one message on standard error and code 2."""
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


def test_an_event_that_is_none_leaves_no_output_file(folder, capsys):
    """Tests that a replay that fails in the middle neither writes nor overwrites its output."""
    (folder / "out").write_text("old")
    (folder / "events.jsonl").write_text(EVENTS + "garbage\n")
    assert main(["replay", "spec.yaml", "events.jsonl", "-o", "out"]) == 2
    assert "events.jsonl: line 13: " in capsys.readouterr().err
    assert (folder / "out").read_text() == "old"
    assert not list(folder.glob(".*"))


def test_a_link_stays_a_link(folder):
    """Tests that -o on a link replaces what it points to, in that file's own folder."""
    (folder / "there").mkdir()
    (folder / "link").symlink_to(folder / "there" / "out")
    for _ in range(2):  # without a target and with one
        assert main(["replay", "spec.yaml", "events.jsonl", "-o", "link"]) == 0
        assert (folder / "link").is_symlink()
        assert [each.name for each in (folder / "there").iterdir()] == ["out"]
    assert (folder / "there" / "out").read_text().count("\n") == EVENTS.count('"op"')
    (folder / "loop").symlink_to(folder / "loop")
    assert main(["replay", "spec.yaml", "events.jsonl", "-o", "loop"]) in (0, 2)


def test_a_pipe_without_a_reader_is_refused(folder, capsys):
    """Tests that -o on a pipe fails at once where nobody reads, and is written to where one is."""
    os.mkfifo(folder / "pipe")
    assert main(["replay", "spec.yaml", "events.jsonl", "-o", "pipe"]) == 2
    assert capsys.readouterr().err == "hived-cells: pipe: is a pipe that nobody reads\n"
    reader = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main(["replay", "spec.yaml", "events.jsonl", "-o", "pipe"]) == 0
        assert os.read(reader, 1) == b"{"
    finally:
        os.close(reader)
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_our_own_standard_output_is_written_to(folder, name):
    """Tests that -o /dev/stdout adds to a file there and replaces nothing."""
    with (folder / "all").open("wb") as stream:
        stream.write(b"before\n")
        stream.flush()
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "hived_cells",
                "replay",
                "spec.yaml",
                "events.jsonl",
                "-o",
                name,
            ],
            stdout=stream,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (0, "")
    lines = (folder / "all").read_text().splitlines()
    assert lines[0] == "before"
    assert len(lines) == 1 + EVENTS.count('"op"')


def test_a_broken_invariant_is_code_1(folder, capsys, monkeypatch):
    """Tests that replay and show stop at the first broken rule with code 1."""
    monkeypatch.setattr(
        "hived_cells.replay.replay", lambda *_, **__: iter([{"line": 7, "broken": ["slack: x"]}])
    )
    assert main(["replay", "spec.yaml", "events.jsonl"]) == 1
    assert main(["show", "spec.yaml", "events.jsonl"]) == 1
    assert capsys.readouterr().err == "hived-cells: events.jsonl: line 7: slack: x\n" * 2


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return 3", "events.jsonl: line 1: choose returned 3, which is none of the candidates"),
        ("raise SystemExit(7)", "events.jsonl: line 1: --choose: mine:f raised SystemExit(7)"),
        ("1 / 0", "events.jsonl: line 1: --choose: mine:f raised ZeroDivisionError"),
    ],
)
def test_a_choice_that_lies_or_ends_the_process_is_code_2(folder, body, says):
    """Tests that what a choice of one's own does wrong is said with file and line."""
    (folder / "mine.py").write_text(f"def f(_):\n    {body}\n")
    (folder / "events.jsonl").write_text(
        '{"op": "allocate", "id": "c1", "tenant": "A", "level": 1}\n'
    )
    done = run("replay", "spec.yaml", "events.jsonl", "--choose", "mine:f")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    (folder / "mine.py").write_text("raise SystemExit(0)")
    done = run("replay", "spec.yaml", "events.jsonl", "--choose", "mine:f")
    assert done.returncode == 2
    assert "SystemExit" in done.stderr


@pytest.mark.parametrize("path", ["", ".", "picture", "folder/"])
def test_a_picture_needs_an_ending(folder, path, capsys):
    """Tests that a name without an ending is refused as such and nothing is written."""
    before = sorted(folder.iterdir())
    assert main(["show", "spec.yaml", "--picture", path]) == 2
    assert "an ending such as .png" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before


def test_missing_matplotlib_is_said(folder, capsys, monkeypatch):
    """Tests the message where the extra is not installed."""
    monkeypatch.setitem(sys.modules, "hived_cells.plot", None)
    assert main(["show", "spec.yaml", "--picture", "a.png"]) == 2
    assert "extra 'plot'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00",
        b"\x00" * 50,
        b"[" * 20_000,
        b"{" * 20_000,
        b"a: &a [*a, *a]",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        b"physicalCluster: {cellTypes: {A: {childCellType: B, childCellNumber: .inf}}}",
        b"- " * 3000,
        b"%YAML 9.9\n---\na",
        b"!!binary x",
        b"\xef\xbb\xbf",
        b"physicalCluster:\n  cellTypes:\n\tA: 1\n",
    ],
)
def test_hostile_specifications_are_code_2_without_traceback(content, tmp_path, capsys):
    """Tests bytes that are no text, nesting, self-reference, pointers and odd numbers."""
    path = tmp_path / "spec.yaml"
    path.write_bytes(content)
    assert main(["check", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("hived-cells: ")
    assert err.count("\n") == 1


def test_a_huge_file_is_refused_at_once(folder, capsys):
    """Tests that 200 MB are refused after the first 8."""
    with (folder / "huge").open("wb") as file:
        file.truncate(200_000_000)
    before = time.process_time()
    assert main(["check", "huge"]) == 2
    assert main(["replay", "spec.yaml", "huge"]) == 2
    assert time.process_time() - before < 5
    err = capsys.readouterr().err
    assert "longer than 8 MiB" in err
    assert "line 1: longer than 1 MiB" in err


def test_truncated_specifications_are_never_a_traceback(folder, capsys):
    """Tests every prefix of a specification."""
    text = NODES.strip()
    for end in range(0, len(text), 7):
        (folder / "cut.yaml").write_text(text[:end])
        assert main(["check", "cut.yaml"]) in {0, 2, 3}
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_code_2(folder):
    """Tests standard output and an output file on a full device."""
    command = [sys.executable, "-m", "hived_cells", "replay", "spec.yaml", "events.jsonl"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert done.returncode == 2
    assert done.stderr == "hived-cells: output: No space left on device\n"
    done = run("replay", "spec.yaml", "events.jsonl", "-o", "/dev/full")
    assert done.returncode == 2
    assert done.stderr == "hived-cells: output: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("rest", "code", "says"),
    [
        ("check spec.yaml >&-", 2, "hived-cells: output: standard output is closed\n"),
        ("check spec.yaml --json >&-", 2, "hived-cells: output: standard output is closed\n"),
        ("show spec.yaml >&-", 2, "hived-cells: output: standard output is closed\n"),
        (
            "replay spec.yaml events.jsonl >&-",
            2,
            "hived-cells: output: standard output is closed\n",
        ),
        ("replay spec.yaml events.jsonl -o out >&-", 0, ""),
        ("--help >&-", 0, None),
        ("check nowhere 2>&-", 2, ""),
        ("check nowhere >&- 2>&-", 2, ""),
        ("check nowhere 2>/dev/full", 2, ""),
        ("check short.yaml 2>/dev/full", 3, ""),
    ],
)
def test_closed_and_full_streams_change_no_exit_code(folder, rest, code, says):
    """Tests that without standard output or error the code says it and nothing goes astray."""
    command = f'"{sys.executable}" -m hived_cells {rest}'
    done = subprocess.run(
        command, shell=True, capture_output=True, check=False, text=True, timeout=60
    )
    assert done.returncode == code
    assert says is None or done.stderr == says
    assert "nowhere" not in done.stdout
    assert "-o out" not in rest or len((folder / "out").read_text()) > 0


def many_events(folder, count):
    path = folder / "many.jsonl"
    lines = (
        '{"op": "allocate", "id": "a", "tenant": "A", "level": 1}\n{"op": "release", "id": "a"}\n'
    )
    path.write_text(lines * count)
    return path


def test_a_closed_pipe_is_quiet(folder):
    """Tests that a reader that goes away leaves no message."""
    many_events(folder, 5000)
    command = [sys.executable, "-m", "hived_cells", "replay", "spec.yaml", "many.jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_an_interrupt_is_code_130(folder):
    """Tests that Ctrl-C in the middle of a replay leaves no traceback and no output file."""
    many_events(folder, 200_000)
    # A run in the background may have been told to ignore interrupts: listen to them again.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from hived_cells.cli import main\n"
        "sys.exit(main(['replay', 'spec.yaml', 'many.jsonl', '-o', 'out']))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as process:
        while not list(folder.glob(".out.*")):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"hived-cells: interrupted\n"
        assert process.wait(60) == 130
    assert not list(folder.glob("*out*"))
    assert not list(folder.glob(".*"))


def test_the_command_starts_fast_and_lightly():
    """Tests that help imports none of the heavy libraries."""
    code = (
        "import sys, hived_cells.cli as c; c.main(['--help'])\n"
        "heavy = {'numpy', 'scipy', 'networkx', 'matplotlib', 'rich', 'ruamel.yaml'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_names_that_the_terminal_cannot_show(folder):
    """Tests that a name outside the output's encoding is escaped, and JSON stays JSON."""
    (folder / "spec.yaml").write_text(NODES.replace("n1", "nœud"), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = run("show", "spec.yaml", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "n\\u0153ud" in done.stdout
    done = run("show", "spec.yaml", "--json", env=environment)
    assert json.loads(done.stdout)["NODE"][0]["cell"] == "nœud .. n2"


def test_an_unforeseen_recursion_is_said(monkeypatch, capsys):
    """Tests that running out of stack anywhere is bad input, not a traceback."""

    def deep(_):
        raise RecursionError

    monkeypatch.setattr(cli, "_check", deep)
    assert main(["check", "x"]) == 2
    assert "nested too deeply" in capsys.readouterr().err


def test_the_environment_is_clean():
    """Tests that the tests above ran the checkout's own package."""
    assert Path(cli.__file__).is_relative_to(Path(__file__).parents[2]), os.environ.get("PATH")


def test_a_message_that_quotes_the_input_is_one_line(tmp_path, capsys):
    """Tests an operation's name with a line end and an escape in it."""
    events = tmp_path / "e.jsonl"
    events.write_text('{"op": "a\\nb\\u001b[2J", "id": "g"}\n')
    spec = Path(__file__).parent / "data" / "mixed.yaml"
    assert main(["replay", str(spec), str(events)]) == 2
    error = capsys.readouterr().err
    assert (error.count("\n"), "a\\nb\\x1b[2J" in error) == (1, True)
