"""What a user's function does to its surroundings or puts into its answer reaches no figure."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from synergy_opt import compare, shipped, tune
from synergy_opt.answer import Placement
from synergy_opt.comparison import judge, own_copy

PROGRAM = [sys.executable, "-m", "synergy_opt"]
ROOT = Path(__file__).resolve().parents[3]
MODULE = """
import os, sys
from dataclasses import replace
from fractions import Fraction
from synergy_opt import Placement, tune

print("loading")

def loud(instance):
    print("hello")
    print("again", file=sys.__stdout__)
    os.system("echo child")
    return tune(instance)

def wanders(instance):
    os.chdir("/")
    return tune(instance)

def closes(instance):
    os.close(1)
    return tune(instance)

def poisons(instance):
    placement = tune(instance)
    placement.__dict__["throughput"] = Fraction(10**6)
    placement.__dict__["split_jobs"] = ("J1",)
    return placement

def forces(instance):
    object.__setattr__(instance.jobs[0], "weight", Fraction(1000))
    return tune(instance)

def no_jobs(instance):
    return replace(tune(instance), jobs=None)

def no_proof(instance):
    return replace(tune(instance), proof="certainly")

class Own(Placement):
    throughput = property(lambda self: Fraction(1))

def own_kind(instance):
    return Own(instance=instance.name, mechanism="own", jobs=tune(instance).jobs)

class Mute(Exception):
    def __str__(self):
        raise RuntimeError

def mute(instance):
    raise Mute

def huge(instance):
    placement = tune(instance)
    jobs = [replace(job, throughput=Fraction(10**5000)) for job in placement.jobs]
    return replace(placement, jobs=tuple(jobs))

def renamed(instance):
    return replace(tune(instance), mechanism="caf\\u00e9 \\u2717 \\U0001f600")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with the user's module."""
    (tmp_path / "users_tricks.py").write_text(MODULE)
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program there."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def solve(folder: Path, function: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Solve the worked example with one of the user's functions."""
    argv = ["solve", "worked-example", "--mechanism", f"users_tricks:{function}"]
    return run(folder, *argv, "--json", "--output", "out.json", **environment)


@pytest.mark.parametrize("function", ["loud", "wanders", "closes", "poisons", "renamed"])
def test_a_noisy_function_spoils_no_document(folder: Path, function: str):
    """Tests that what is printed, closed, left or planted leaves the answer what it is."""
    done = solve(folder, function)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["throughput"] == "17/3"
    assert json.loads(done.stdout)["split_jobs"] == []
    assert "loading" in done.stderr
    heard = [word in done.stderr for word in ("hello", "again", "child")]
    assert all(heard) if function == "loud" else not any(heard)
    assert run(folder, "verify", "worked-example", "out.json").returncode == 0


@pytest.mark.parametrize(
    ("function", "code", "words"),
    [
        ("forces", 1, "$.jobs[0].throughput: throughput: "),
        ("no_jobs", 2, "users_tricks:no_jobs: returned a malformed Placement: $.jobs must be a"),
        ("no_proof", 2, "users_tricks:no_proof: returned a malformed Placement: $.proof must be"),
        ("own_kind", 2, "users_tricks:own_kind: must return a Placement, not Own"),
        ("mute", 2, "users_tricks:mute: raised: Mute: its message cannot be shown"),
        ("huge", 1, "states about 1e+5000, but"),
    ],
)
def test_a_dishonest_function_is_found_out(folder: Path, function: str, code: int, words: str):
    """Tests that forced, malformed and unreadable answers are named for what they are."""
    done = solve(folder, function)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "fault of synergy-opt" not in done.stderr
    assert done.stdout == ""
    assert not (folder / "out.json").exists()


def test_a_document_is_the_same_on_a_terminal_of_few_letters(folder: Path):
    """Tests that JSON stays JSON where standard output has only ASCII."""
    done = solve(folder, "renamed", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["placement"]["mechanism"] == "café ✗ 😀"


def test_judge_gives_a_placement_without_memories():
    """Tests that whoever shows a row shows figures that follow from the jobs."""
    instance = shipped("worked-example")
    placement = tune(instance)
    placement.__dict__["throughput"] = 10**6
    row = judge(instance, "tune", placement)
    assert row.placement == placement
    assert row.throughput == tune(instance).throughput


def test_mechanisms_get_a_copy_each():
    """Tests that compare's instance is out of reach of the functions that it calls."""
    instance = shipped("worked-example")
    seen = []

    def forces(given) -> Placement:
        seen.append(given)
        object.__setattr__(given.jobs[0], "weight", 1000)
        return tune(given)

    found = compare(instance, {"forces": forces, "tune": tune})
    assert instance == own_copy(instance) == shipped("worked-example")
    assert seen[0] != instance
    assert [bool(row.broken) for row in found.rows] == [True, False]
