"""The pages under docs/hived: every example in them is run."""

import doctest
import shlex
from pathlib import Path

import pytest

from hived_cells.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs" / "hived"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_python_examples_give_what_the_page_says(page):
    """Tests every interactive example of a page, in order, in one namespace."""
    text = "\n".join(
        "" if line.startswith("```") else line for line in page.read_text().split("\n")
    )
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def console_examples():
    """Yield each command of the pages with the output that follows it."""
    for page in sorted(DOCS.glob("*.md")):
        for block in page.read_text().split("```console\n")[1:]:
            command, _, output = block.split("```")[0].partition("\n")
            yield pytest.param(command, output, id=command)


@pytest.mark.parametrize(("command", "output"), list(console_examples()))
def test_commands_print_what_the_page_says(command, output, monkeypatch, capsys):
    """Tests a command line of a page, run where its files are."""
    monkeypatch.chdir(DOCS)
    prompt, program, *arguments = shlex.split(command)
    assert (prompt, program) == ("$", "hived-cells")
    assert main(arguments) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == output.rstrip().splitlines()


def test_every_theorem_of_the_page_has_its_tests():
    """Tests that the facts are numbered as the files of tests are."""
    facts = [
        int(line.split(".")[0])
        for line in (DOCS / "theory.md").read_text().splitlines()
        if line.split(".")[0].isdigit()
    ]
    files = Path(__file__).parent.glob("theorems/test_hived_*.py")
    assert facts == sorted(int(path.name.split("_")[2]) for path in files)
