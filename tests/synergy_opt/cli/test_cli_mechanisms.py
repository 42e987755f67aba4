"""A user's own function as the mechanism: what works, and what each way of failing says."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from synergy_opt.cli import main

MODULE = '''
from dataclasses import replace
from synergy_opt import Infeasible, proportional, tune

def mine(instance):
    return replace(tune(instance), mechanism="mine")

def boasts(instance):
    return replace(proportional(instance), proof="core")

def greedy_for_one(instance):
    """Give the first job everything: unfair to the others."""
    placement = proportional(instance)
    first, *rest = placement.jobs
    return replace(placement, jobs=(replace(first, throughput=first.throughput * 2), *rest))

def nothing(instance):
    pass

def raises(instance):
    return 1 / 0

def leaves(instance):
    raise SystemExit(0)

def cannot(instance):
    raise Infeasible("too small")

def interrupted(instance):
    raise KeyboardInterrupt

number = 7

class Kit:
    mine = staticmethod(mine)
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run in a folder with the user's modules."""
    (tmp_path / "users_own.py").write_text(MODULE)
    (tmp_path / "users_broken.py").write_text("raise RuntimeError('at import')\n")
    (tmp_path / "users_asks.py").write_text("import no_such_module\n")
    (tmp_path / "users_syntax.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("own", "broken", "syntax", "asks"):
        sys.modules.pop(f"users_{name}", None)
        sys.modules.pop(f"_users_users_{name}", None)


def solve(name: str) -> int:
    """Run a mechanism on the worked example, writing a placement."""
    return main(["solve", "worked-example", "--mechanism", name, "--output", "out.json"])


@pytest.mark.parametrize("name", ["users_own:mine", "users_own:Kit.mine", "users_own.py:mine"])
def test_a_users_function_works_like_a_built_in_one(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
):
    """Tests that a function of the current directory is run, certified, written and compared."""
    assert solve(name) == 0
    assert main(["verify", "worked-example", "out.json"]) == 0
    assert main(["compare", "worked-example", "--mechanism", "tune", "--mechanism", name]) == 0
    assert "users_own" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("users_own:nothing", 2, "users_own:nothing: must return a Placement, not NoneType"),
        ("users_own:raises", 2, "raised: ZeroDivisionError: division by zero"),
        ("users_own:leaves", 2, "raised: SystemExit"),
        ("users_own:number", 2, "users_own:number: is int, not a function"),
        ("users_own:absent", 2, "users_own:absent: there is no 'absent' in users_own"),
        ("users_own:", 2, "there is no '' in users_own"),
        (":mine", 2, "cannot be imported"),
        ("no_such_module:mine", 2, "no no_such_module.py in "),
        ("no_such.module:mine", 2, "no no_such.py in "),
        ("no_such_file.py:mine", 2, "no no_such_file.py in "),
        ("users_asks.py:mine", 2, "No module named 'no_such_module'"),
        ("users_asks:mine", 2, "No module named 'no_such_module'"),
        ("users_own.py:nothing", 2, "users_own.py:nothing: must return a Placement"),
        ("users_broken:mine", 2, "RuntimeError: at import"),
        ("users_syntax:f", 2, "SyntaxError"),
        ("users_own:cannot", 3, "too small"),
        ("users_own:interrupted", 130, "interrupted"),
        ("users_own:greedy_for_one", 1, "the placement breaks"),
    ],
)
def test_each_fault_of_a_users_function_is_one_message(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, code: int, words: str
):
    """Tests that every way of failing names the function, in one line, and writes no file."""
    assert solve(name) == code
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.count("\n") == (2 if code == 1 else 1)  # each broken rule has its line
    assert not (folder / "out.json").exists()


def test_a_failing_mechanism_has_its_reason_and_the_others_their_rows(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    """Tests that compare goes on, and ends with the code of the failure."""
    argv = ["compare", "worked-example", "--mechanism", "users_own:raises", "--mechanism", "tune"]
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert "0.00%" in captured.out
    assert "worked-example: users_own:raises: raised: ZeroDivisionError" in captured.out
    assert captured.err == "synergy-opt: worked-example: users_own:raises gave no placement\n"
    assert main(["plot", "gap", *argv[1:], "--output", "out.png"]) == 2
    assert not (folder / "out.png").exists()


def test_the_place_of_a_users_exception_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """Tests that file and line are in the message, and the traceback where it is asked for."""
    assert solve("users_own:raises") == 2
    message = capsys.readouterr().err
    assert "users_own.py, line 21" in message
    assert "SYNERGY_OPT_TRACEBACK=1" in message
    monkeypatch.setenv("SYNERGY_OPT_TRACEBACK", "1")
    assert solve("users_own:raises") == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["compare", "plot gap", "plot utilisation"])
def test_a_wrong_placement_is_marked_and_makes_code_1(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str
):
    """Tests that comparison and pictures name the mechanism and the rule that it breaks."""
    output = [] if kind == "compare" else ["--output", "out.png"]
    argv = [*kind.split(), "worked-example", "--mechanism", "users_own:greedy_for_one", *output]
    assert main(argv) == 1
    captured = capsys.readouterr()
    assert "users_own:greedy_for_one" in captured.err
    assert "throughput" in captured.err
    assert ("✗" in captured.out) == (kind == "compare")
    assert not (folder / "out.png").exists()


def test_a_users_claim_of_a_proof_is_not_believed(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    """Tests that solve states no proof that a function of the user's only claims."""
    argv = ["solve", "worked-example", "--mechanism", "users_own:boasts", "--bound", "--json"]
    assert main(argv) == 0
    assert json.loads(capsys.readouterr().out)["proof"] is None
