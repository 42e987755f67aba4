"""A user's own function as the mechanism: what works, and what each way of failing says."""

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
    (tmp_path / "users_syntax.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("users_own", "users_broken", "users_syntax"):
        sys.modules.pop(name, None)


def solve(name: str) -> int:
    """Run a mechanism on the worked example, writing a placement."""
    return main(["solve", "worked-example", "--mechanism", name, "--output", "out.json"])


@pytest.mark.parametrize("name", ["users_own:mine", "users_own:Kit.mine"])
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
        ("users_own:absent", 2, "cannot be imported: AttributeError"),
        ("users_own:", 2, "cannot be imported"),
        (":mine", 2, "cannot be imported"),
        ("no_such_module:mine", 2, "No module named 'no_such_module'"),
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
    assert captured.err.count("\n") == 1
    assert not (folder / "out.json").exists()


def test_the_place_of_a_users_exception_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """Tests that file and line are in the message, and the traceback where it is asked for."""
    assert solve("users_own:raises") == 2
    message = capsys.readouterr().err
    assert "users_own.py, line 18" in message
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
