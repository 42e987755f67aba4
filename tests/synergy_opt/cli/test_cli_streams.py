"""Standard streams that are closed, full, or of few letters, and interrupts at bad moments."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from synergy_opt.cli import main
from synergy_opt.cli.interrupts import interrupted

PROGRAM = f"{sys.executable} -m synergy_opt"
ROOT = Path(__file__).resolve().parents[3]
SOLVE = "solve worked-example --mechanism tune"
COMPARE = "compare worked-example"
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


def shell(
    arguments: str, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the program in a shell, which opens and closes streams."""
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {PROGRAM} {arguments}"],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (f"{SOLVE} >&-", 141),
        (f"{SOLVE} --json >&-", 141),
        ("--help >&-", 141),
        (f"{SOLVE} >&- 2>&-", 141),
        (f"{SOLVE} <&- >/dev/null", 0),
        (f"{SOLVE} 2>&- >/dev/null", 0),
        ("solve no_such_file --mechanism tune 2>&-", 2),
        pytest.param("solve no_such_file --mechanism tune 2>/dev/full", 2, marks=needs_full),
    ],
)
def test_a_closed_stream_is_no_fault(arguments: str, code: int):
    """Tests that a lost message changes no exit code, and that lost output has no reader: 141."""
    done = shell(arguments)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments", ["--help", SOLVE, f"{SOLVE} --json", "compare worked-example"]
)
def test_a_reader_that_has_gone_is_told_nothing(arguments: str, unbuffered: str):
    """Tests 141 for text, tables and JSON, whoever finds out that the pipe is broken."""
    done = shell(f"{arguments} | true", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (141, "")


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", ["--help", "solve --help", "--version"])
def test_help_on_a_full_disk_is_one_message(arguments: str, unbuffered: str):
    """Tests that help that was not written does not count as given."""
    done = shell(f"{arguments} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr.startswith("synergy-opt: standard output: cannot be written")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", ["compare --help", "generate --help", "compare worked-example"]
)
def test_a_terminal_of_few_letters_is_served(arguments: str):
    """Tests that help and tables come in ASCII where nothing else can be shown."""
    done = shell(arguments, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()


def test_a_file_does_not_take_the_place_of_a_closed_stream(tmp_path: Path):
    """Tests that what is printed to a closed stream does not end up in the output file."""
    done = shell(f"{SOLVE} --output out.json >&- 2>&- <&-", tmp_path)
    assert done.returncode == 141
    assert shell("verify worked-example out.json", tmp_path).returncode == 0


def in_disguise() -> ImportError:
    """Give what a library makes of Ctrl-C while it starts."""
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise RuntimeError from error
    except RuntimeError:
        try:
            raise ImportError("numpy")
        except ImportError as error:
            return error


def test_an_interrupt_is_known_in_disguise():
    """Tests that causes and contexts are searched, in circles too."""
    assert interrupted(in_disguise())
    assert interrupted(KeyboardInterrupt())
    plain = ValueError()
    plain.__context__ = TypeError()
    plain.__context__.__cause__ = plain
    assert not interrupted(plain)


def test_an_interrupt_in_disguise_ends_like_any_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Tests that main gives 130 for whatever a library makes of Ctrl-C."""

    def fails(_: object) -> int:
        raise in_disguise()

    monkeypatch.setattr("synergy_opt.cli._run", fails)
    assert main([]) == 130
    assert capsys.readouterr().err == "synergy-opt: interrupted\n"


MODULE = """
import os, signal
def twice():
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)

def hurried(instance):
    try:
        twice()
    finally:
        twice()

class Dies:
    def __del__(self):
        twice()

def in_a_destructor(instance):
    Dies()
    while True:
        pass
"""


@pytest.mark.parametrize("function", ["hurried", "in_a_destructor"])
def test_ctrl_c_may_be_pressed_again(tmp_path: Path, function: str):
    """Tests that a second one while the first is obeyed, or one in a destructor, is quiet."""
    (tmp_path / "users_hurry.py").write_text(MODULE)
    argv = f"solve worked-example --mechanism users_hurry:{function} --output out.json"
    done = shell(argv, tmp_path)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "synergy-opt: interrupted\n"
    assert not list(tmp_path.glob("*out.json*"))


def test_ctrl_c_during_an_import_is_quiet(tmp_path: Path):
    """Tests that an interrupt while a module is loaded cannot be turned into something else."""
    lines = MODULE + "try:\n    twice()\nexcept BaseException:\n    raise ImportError\n"
    (tmp_path / "users_load.py").write_text(lines)
    done = shell("solve worked-example --mechanism users_load:hurried", tmp_path)
    assert (done.returncode, done.stderr) == (130, "synergy-opt: interrupted\n")


def test_a_job_in_the_background_is_left_alone():
    """Tests that an interrupt that is ignored when we start is ignored by us."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which children inherit
    try:
        job = subprocess.Popen(
            [*PROGRAM.split(), *SOLVE.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    finally:
        signal.signal(signal.SIGINT, before)
    for _ in range(10):
        time.sleep(0.1)
        job.send_signal(signal.SIGINT)
    assert job.communicate(timeout=60)[1] == b""
    assert job.returncode == 0


@pytest.mark.parametrize("delay", [0.1, 0.25, 0.4])
def test_ctrl_c_at_any_moment_is_quiet(delay: float):
    """Tests that no traceback is shown wherever an interrupt comes once we have started."""
    code = (
        "import sys; from synergy_opt.__main__ import program;"
        "sys.argv[1:] = ['solve', 'worked-example', '--mechanism', 'optimal'];"
        "sys.stderr.write('.'); sys.stderr.flush(); sys.exit(program())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stderr is not None
        assert process.stderr.read(1) == b"."
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[1]
        assert process.returncode in (0, 4, 130)
        assert b"Traceback" not in rest
