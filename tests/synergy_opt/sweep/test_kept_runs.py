"""A kept run that was damaged or is another's is refused in one line, never summed up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synergy_opt.cli import main

ARGUMENTS = ["simulate", "--jobs", "3", "--servers", "1", "--mechanism", "proportional"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> tuple[str, dict]:
    folder = tmp_path_factory.mktemp("kept")
    assert main([*ARGUMENTS, "--output", f"{folder}"]) == 0
    (path,) = folder.glob("*.json")
    return path.name, json.loads(path.read_text())


def _set(*place_and_value):
    *place, last, value = place_and_value

    def damage(document):
        for key in place:
            document = document[key]
        document[last] = value

    return damage


DAMAGE = {
    "no settings": lambda d: d.pop("settings"),
    "no summary": lambda d: d.pop("summary"),
    "settings are a list": _set("settings", []),
    "an unknown key": _set("extra", 1),
    "no jobs": _set("jobs", []),
    "jobs are null": _set("jobs", None),
    "a job less": lambda d: d["jobs"].pop(),
    "a load that is a list": _set("settings", "load", [1]),
    "a load that is no number": _set("settings", "load", "x"),
    "a mean that is text": _set("summary", "mean_s", "x"),
    "a time that is no number": _set("jobs", 0, "finished", "x"),
    "a time that is infinite": _set("jobs", 0, "finished", "inf"),
    "an end before the start": _set("jobs", 0, "finished", "-1"),
    "no utilisation": _set("summary", "utilisation", {}),
    "usage is a number": _set("usage", 3),
    "usage without capacity": _set("usage", "capacity", [0, 0, 0]),
    "a short row of usage": _set("usage", "rows", 0, [1]),
    "another schema": _set("schema", "other"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_run_is_refused_by_name(kept, damage, tmp_path: Path, capsys):
    name, document = kept
    document = json.loads(json.dumps(document))
    damage(document)
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / name).write_text(json.dumps(document))
    commands = [[*ARGUMENTS, "--output", f"{folder}"]]
    commands += [
        ["plot", "runs", f"{folder}", "--what", what, "--output", f"{tmp_path / 'p.png'}"]
        for what in ("cdf", "usage")
    ]
    for command in commands:
        assert main(command) == 2
        error = capsys.readouterr().err
        assert name in error and "is no document of a run" in error
        assert error.count("\n") == 1
    assert not (tmp_path / "p.png").exists()


def test_a_file_that_holds_another_run_is_refused(kept, tmp_path: Path, capsys):
    name, document = kept
    settings = {**document["settings"], "policy": "las"}
    (tmp_path / name).write_text(json.dumps({**document, "settings": settings}))
    assert main([*ARGUMENTS, "--output", f"{tmp_path}"]) == 2
    assert "another run: policy differs" in capsys.readouterr().err


def test_a_whole_run_is_taken_as_it_is(kept, tmp_path: Path):
    name, document = kept
    document["summary"]["rounds"] = 12345  # to tell it from a run done anew
    (tmp_path / name).write_text(json.dumps(document))
    assert main([*ARGUMENTS, "--output", f"{tmp_path}"]) == 0
    assert json.loads((tmp_path / name).read_text())["summary"]["rounds"] == 12345


def test_a_folder_without_a_name_is_refused(tmp_path: Path, monkeypatch, capsys):
    """Tests that "" is not the current folder, as it would be for a shell's unset variable."""
    monkeypatch.chdir(tmp_path)
    assert main([*ARGUMENTS, "--output", ""]) == 2
    assert "--output: the name of a folder is empty" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
