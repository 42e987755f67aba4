"""The kits as users run them: pytest in another process, in an empty folder."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from hived_cells.cli import main
from hived_cells.testing.plugin import ALLOCATOR, named

ROOT = Path(__file__).resolve().parents[2]
KIT = "hived_cells.testing.conformance"
AS_FOUND = """from hypothesis import Phase, settings
settings.register_profile("as found", phases=[Phase.generate])
settings.load_profile("as found")
"""  # to shrink takes longest; that it is done is Hypothesis' word
RULES = {"no quota check": "quota", "lost child": "conservation"}


def run(folder, *arguments, kit=KIT):
    """Run the kit in a folder; give the exit code and all that is printed."""
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    plugins = ["-p", "hived_cells.testing.plugin", "-p", "synergy_opt.testing.plugin"]
    done = subprocess.run(
        [*command, *plugins, "--pyargs", kit, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("fault", "name"), [("no quota check", "mine:Mine"), ("lost child", "mine.py:Mine")]
)
def test_a_faulty_allocator_is_named_and_its_run_saved(fault, name, tmp_path, capsys):
    """Tests one sentence that names the rule, and files that our own replay carries out."""
    (tmp_path / "mine.py").write_text(
        f"{AS_FOUND}from hived_cells.testing.planted import ListAllocator\n"
        f"class Mine(ListAllocator):\n    def __init__(self): super().__init__({fault!r})\n"
    )
    code, printed = run(tmp_path, "--allocator", name, "--examples", "100")
    assert code == 1, printed
    assert f"\n{RULES[fault]}: " in printed
    assert "Traceback" not in printed
    cluster = tmp_path / "conformance" / "allocator-cluster.yaml"
    events = tmp_path / "conformance" / "allocator-events.jsonl"
    assert f"cluster: {cluster}" in printed
    assert f"events: {events}" in printed
    assert main(["replay", str(cluster), str(events)]) == 0
    outcomes = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    refused = [each["outcome"] == "refused" for each in outcomes]
    assert refused[-1] == (fault == "no quota check")


def test_a_sound_allocator_passes(tmp_path):
    """Tests exit code 0, and that nothing is left behind."""
    name = "hived_cells.testing.planted:ListAllocator"
    code, printed = run(tmp_path, "--allocator", name, "--examples", "10")
    assert code == 0, printed
    assert not (tmp_path / "conformance").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], f"{KIT} needs --allocator module:Name"),
        (["--allocator", "hived_cells"], "TypeError: must be module:Name"),
        (["--allocator", "fractions:Fraction"], "TypeError: has no function 'initial'"),
        (["--allocator", "no_such:Name"], "No module named 'no_such'"),
        (["--allocator", "no_such.py:Name"], "FileNotFoundError: no no_such.py in "),
    ],
)
def test_a_wrong_name_is_one_message(arguments, says, tmp_path):
    """Tests usage errors: exit code 4 of pytest, one line, no traceback."""
    code, printed = run(tmp_path, *arguments)
    assert code == 4
    assert says in printed
    assert "Traceback" not in printed


def test_objects_and_classes_are_allocators():
    """Tests that a class is called, and an object taken as it is."""
    assert named("hived_cells.testing.planted:ListAllocator", ALLOCATOR).fault == ""


def test_a_file_is_run_once_and_imports_its_neighbours(tmp_path, monkeypatch):
    """Tests that a file is found by its path, is one module, and pickles what it defines."""
    folder = tmp_path / "mypackage"
    folder.mkdir()
    (folder / "random.py").write_text(  # the name of a module that is imported already
        "from neighbour import ListAllocator\nclass Mine(ListAllocator): ...\n"
    )
    (folder / "neighbour.py").write_text("from hived_cells.testing.planted import ListAllocator\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    found = named("mypackage/random.py:Mine", ALLOCATOR)
    assert type(found) is type(named("mypackage/random.py:Mine", ALLOCATOR))
    assert type(pickle.loads(pickle.dumps(found))) is type(found)
    assert sys.modules.pop("_tested_random") and sys.modules.pop("neighbour")


GANG_KIT = "hived_cells.testing.gang_conformance"
HASTY = f"""{AS_FOUND}
from dataclasses import replace
from hived_cells.testing.planted_gangs import FirstFit

class Mine(FirstFit):
    asks = ("within",)
    def place(self, board, gang):
        after = super().place(board, gang)
        *others, (last, pods) = after.gangs
        return replace(after, gangs=(*others, (last, pods[:-1])))
"""


def test_a_faulty_gang_scheduler_is_named_and_its_run_saved(tmp_path, capsys):
    """Tests one sentence that names the rule, and files that our own replay carries out."""
    (tmp_path / "mine.py").write_text(HASTY)  # forgets a pod
    code, printed = run(tmp_path, "--gangs", "mine:Mine", "--examples", "10", kit=GANG_KIT)
    assert code == 1, printed
    assert "\nall or nothing: g" in printed
    assert "Traceback" not in printed
    cluster = tmp_path / "conformance" / "gangs-cluster.yaml"
    events = tmp_path / "conformance" / "gangs-events.jsonl"
    assert f"cluster: {cluster}" in printed
    assert f"events: {events}" in printed
    assert main(["replay", str(cluster), str(events)]) == 0
    outcomes = [json.loads(line)["outcome"] for line in capsys.readouterr().out.splitlines()]
    assert outcomes[-1] == "done"


def test_a_sound_gang_scheduler_passes(tmp_path):
    """Tests exit code 0, and that nothing is left behind."""
    name = "hived_cells.testing.planted_gangs:FirstFit"
    code, printed = run(tmp_path, "--gangs", name, "--examples", "5", kit=GANG_KIT)
    assert code == 0, printed
    assert not (tmp_path / "conformance").exists()


def test_the_gang_kit_needs_its_name(tmp_path):
    """Tests that the kits' options are not mistaken for each other."""
    code, printed = run(tmp_path, "--allocator", "fractions:Fraction", kit=GANG_KIT)
    assert code == 4
    assert "has no function 'initial'" in printed
    code, printed = run(tmp_path, kit=GANG_KIT)
    assert code == 4
    assert f"{GANG_KIT} needs --gangs module:Name" in printed
