"""The pages under docs/: every Python block and every console block is run."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import hived_cells.cli
import synergy_opt.cli
from synergy_opt import compare, optimal, read_instance, tune
from synergy_opt.io import shipped_path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(page for folder in ("tutorials", "how-to") for page in (DOCS / folder).glob("*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = {"synergy-opt": synergy_opt.cli.main, "hived-cells": hived_cells.cli.main}
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def blocks(page: Path, kind: str) -> list[str]:
    """Give the blocks of one kind, in order."""
    return [text for name, text in BLOCK.findall(page.read_text("utf-8")) if name == kind]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_blocks_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Tests that the Python blocks of a page, run as one session, print what stands there."""
    monkeypatch.chdir(tmp_path)
    text = "\n".join(blocks(page, "python"))
    assert ">>>" in text
    parser = doctest.DocTestParser()
    test = parser.get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_console_blocks_print_what_the_page_says(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """Tests that the commands of a page succeed, print what stands there and draw its pictures."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(DOCS)  # commands are for the folder of the clone
    for block in blocks(page, "console"):
        for command, expected in COMMAND.findall(block):
            words = shlex.split(command)
            lines = len(expected.splitlines()) if "|" in words else None
            words = words[: words.index("|")] if "|" in words else words
            if words[0] == "pytest":
                _check_kit(words[1:], expected, tmp_path)
            elif words[0] == "python":
                _check_program(words[1:], expected, tmp_path)
            else:
                assert PROGRAMS[words[0]](words[1:]) == 0, command
                printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
                assert printed[:lines] == expected.splitlines()
    for picture in re.findall(r"!\[[^]]+\]\(images/(.*?)\)", page.read_text("utf-8")):
        assert (tmp_path / picture).stat().st_size > 0
        assert (page.parent / "images" / picture).exists()


def _check_kit(arguments: list[str], expected: str, folder: Path) -> None:
    """Run the conformance kit; what the page shows must be printed, in that order."""
    kits = ("synergy_opt.testing.plugin", "hived_cells.testing.plugin", "no:cacheprovider")
    plugins = [word for kit in kits for word in ("-p", kit)]
    done = _python(["-W", "error", "-m", "pytest", *plugins, *arguments], folder)
    printed = done.stdout
    for line in expected.splitlines():
        assert line in printed, done.stdout + done.stderr
        printed = printed[printed.index(line) + len(line) :]


def _check_program(arguments: list[str], expected: str, folder: Path) -> None:
    """Run a module of the clone; it prints what the page shows, on lines of 200 characters."""
    done = _python(arguments, folder, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert [line.rstrip() for line in done.stdout.splitlines()] == expected.splitlines()


def _python(
    arguments: list[str], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(DOCS.parent), "CI": "true", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_commands_for_the_packed_optimum_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Tests that each command of the page ends well, in order, and proves what it says."""
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(DOCS / "packed-optimum.md", "console")
    for command in block.splitlines():
        program, *words = shlex.split(command)
        assert program == "synergy-opt"
        assert synergy_opt.cli.main(words) == 0, capsys.readouterr().err
    assert "proof: patterns" in capsys.readouterr().out


def test_the_example_on_the_page_is_the_file_beside_it():
    """Tests that compare-your-heuristic.md shows the function that first_fit.py has."""
    page = DOCS / "tutorials" / "compare-your-heuristic.md"
    parsed = doctest.DocTestParser().get_examples("\n".join(blocks(page, "python")))
    (shown,) = (each.source for each in parsed if each.source.startswith("def first_fit"))
    assert shown.strip() in (DOCS / "tutorials" / "first_fit.py").read_text("utf-8")


def test_the_tutorials_exercise_comes_out_as_it_says(tmp_path: Path):
    """Tests "Try it": with the page's numbers TUNE puts J1 on its share, and optimal does not."""
    page = (DOCS / "tutorials" / "worked-example.md").read_text("utf-8")
    found = re.search(r"and the row\s+`(\[434.*?\])`", page)
    assert found is not None
    document = json.loads(shipped_path("worked-example").read_text("utf-8"))
    profile = document["profiles"]["resnet18"]
    profile["axes"]["cpu"].insert(5, 6)
    profile["throughput"].insert(5, json.loads(found.group(1)))
    (tmp_path / "mine.json").write_text(json.dumps(document))
    compared = compare(read_instance(tmp_path / "mine.json"), {"tune": tune, "optimal": optimal})
    assert [row.placement.jobs[0].demand for row in compared.rows] == [(12, 250), (20, 420)]


def test_the_pages_link_to_files_that_exist():
    """Tests the relative links of README and docs."""
    for page in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), (page.name, link)
