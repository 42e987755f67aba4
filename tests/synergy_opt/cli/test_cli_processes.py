"""The program as a process: start-up, pipes, full disks, garbage, signals."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "synergy_opt"]


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the program to its end."""
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **options,
    )


def processor_time(command: list[str], times: int = 5) -> float:
    """Give the least processor time of several runs, which other work hardly adds to."""
    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


@pytest.mark.parametrize(
    "arguments",
    [["-c", "import synergy_opt"], ["-m", "synergy_opt", "--help"]],
    ids=["import", "help"],
)
def test_start_up_takes_less_than_half_a_second(arguments: list[str]):
    """Tests the start-up figure of import and of --help, as processor time."""
    assert processor_time([sys.executable, *arguments]) < 0.5


@pytest.mark.parametrize("command", [["--help"], ["solve", "--help"], ["compare", "--help"]])
def test_help_loads_nothing_heavy(command: list[str]):
    """Tests that help needs neither NumPy nor a solver nor rich."""
    code = (
        "import sys; from synergy_opt.cli import main; main(sys.argv[1:]);"
        "heavy = {'numpy', 'scipy', 'highspy', 'cvxpy', 'ortools', 'rich', 'matplotlib'};"
        "sys.exit(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or done.stderr.strip() == "[]", done.stderr


def test_both_names_are_the_same_program():
    """Tests that the installed command prints what python -m synergy_opt prints."""
    command = Path(sys.executable).parent / "synergy-opt"
    if not command.exists():
        pytest.skip("the package is not installed as a command here")
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout == run("--help").stdout


@pytest.mark.parametrize("garbage", [b"\x00", b"[", b"1"], ids=["zeros", "brackets", "digits"])
def test_200_mb_of_garbage_are_refused(tmp_path: Path, garbage: bytes):
    """Tests that a huge file of nonsense is one message with exit code 2."""
    path = tmp_path / "huge.json"
    with path.open("wb") as stream:
        for _ in range(200):
            stream.write(garbage * 2**20)
    done = run("solve", path, "--mechanism", "tune")
    path.unlink()
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 1000
    assert str(path) in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_one_message(tmp_path: Path):
    """Tests a full disk behind --output and behind standard output."""
    done = run("solve", "worked-example", "--mechanism", "tune", "--output", "/dev/full")
    assert (done.returncode, done.stderr) == (
        2,
        "synergy-opt: /dev/full: cannot be written: No space left on device\n",
    )
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, "solve", "worked-example", "--mechanism", "tune", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "synergy-opt: standard output: cannot be written: No space left on device\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["generate", "mix", "--servers", "4", "--output"],
        ["solve", "worked-example", "--mechanism", "tune", "--output"],
        ["export", "worked-example", "--stage", "1", "--format", "lp", "--output"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_disk_that_fills_up_leaves_the_old_file(tmp_path: Path, arguments: list[str]):
    """Tests a write that fails in the middle: the old file is whole, and nothing is beside it."""
    (tmp_path / "out").write_text("old")
    done = run(
        *arguments,
        "out",
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "synergy-opt: out: cannot be written: File too large\n"
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("out", "old")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_one_message(tmp_path: Path):
    """Tests an output in a read-only folder."""
    tmp_path.chmod(0o500)
    done = run("generate", "mix", "--servers", 1, "--output", tmp_path / "a.json")
    assert done.returncode == 2
    assert "cannot be written: Permission denied" in done.stderr


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no /proc here")
def test_a_folder_that_takes_no_files_is_one_message():
    """Tests an output in a folder where not even root may make files."""
    done = run("generate", "mix", "--servers", 1, "--output", "/proc/a.json")
    assert done.returncode == 2
    assert done.stderr.startswith("synergy-opt: /proc/a.json: cannot be written: ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_gone_is_no_complaint():
    """Tests that a closed pipe ends the program quietly."""
    with subprocess.Popen(
        [*PROGRAM, "generate", "mix", "--servers", "200"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


SLOW = """
import pathlib, time
def slow(instance):
    pathlib.Path("started").touch()
    time.sleep(60)
"""


def test_ctrl_c_in_a_mechanism_is_one_message_and_no_file(tmp_path: Path):
    """Tests that an interrupt in a solve ends with code 130 and leaves no output."""
    (tmp_path / "users_slow.py").write_text(SLOW)
    argv = ["solve", "worked-example", "--mechanism", "users_slow:slow", "--output", "out.json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    with subprocess.Popen(
        [*PROGRAM, *argv], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        message = process.stderr.read()
        assert process.wait(30) == 130
    assert message == "synergy-opt: interrupted\n"
    assert not list(tmp_path.glob("*out.json*"))


def test_output_is_plain_when_piped_and_when_no_colour_is_wanted():
    """Tests that a pipe and NO_COLOR get no colour."""
    environment = {**os.environ, "NO_COLOR": "1", "FORCE_COLOR": "1"}
    for options in ({}, {"env": environment}):
        done = run("solve", "worked-example", "--mechanism", "tune", **options)
        assert done.returncode == 0
        assert "\x1b[3" not in done.stdout
        assert done.stderr == ""
