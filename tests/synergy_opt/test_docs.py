"""The pages under docs/: every Python block and every console block is run."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from synergy_opt.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.glob("tutorials/*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def blocks(page: Path, kind: str) -> list[str]:
    """Give the blocks of one kind, in order."""
    return [text for name, text in BLOCK.findall(page.read_text("utf-8")) if name == kind]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_blocks_print_what_the_page_says(page: Path):
    """Tests that the Python blocks of a page, run as one session, print what stands there."""
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
    for block in blocks(page, "console"):
        for command, expected in COMMAND.findall(block):
            words = shlex.split(command)
            lines = len(expected.splitlines()) if "|" in words else None
            words = words[: words.index("|")] if "|" in words else words
            assert words[0] == "synergy-opt"
            assert main(words[1:]) == 0, command
            assert capsys.readouterr().out.splitlines()[:lines] == expected.splitlines()
    for picture in re.findall(r"!\[[^]]+\]\(images/(.*?)\)", page.read_text("utf-8")):
        assert (tmp_path / picture).stat().st_size > 0
        assert (page.parent / "images" / picture).exists()
