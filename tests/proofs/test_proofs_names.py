"""The names in the tables of `proofs/README.md` and `docs/theory` are those of the tree."""

import importlib
import re

import pytest
from proof_traces import PROOFS

ROOT = PROOFS.parent
PAGES = [PROOFS / "README.md", *sorted((ROOT / "docs" / "theory").glob("*.md"))]
STATED = {
    name
    for page in PROOFS.glob("*.v")
    for name in re.findall(r"^ *(?:Theorem|Lemma|Example) +(\w+)", page.read_text(), re.MULTILINE)
}
REPORTED = {
    name
    for page in PROOFS.glob("Statements*.v")
    for name in re.findall(r"^Print Assumptions (\w+)\.", page.read_text(), re.MULTILINE)
}


def rows(page: str) -> list[list[list[str]]]:
    """Return what stands in backticks in each cell of the rows of the tables."""
    lines = [line for line in page.splitlines() if line.startswith("| ") and "`" in line]
    return [[re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:-1]] for line in lines]


def exists(name: str) -> bool:
    """Tell whether a dotted name is a module or in one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part, None)
        return found is not None
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_tables_exist(page):
    """Tests Coq names, Python names (".x" after a name is its neighbour's) and test files."""
    for cells in rows(page.read_text()):
        package = "synergy_opt"
        for name in (name for cell in cells for name in cell):
            if name.endswith((".py", ".v", "/")) or "/" in name:
                places = (PROOFS, ROOT, *(ROOT / "tests").glob("*"))
                assert any((place / name).exists() for place in places), name
            elif name.startswith(("hived_cells", "synergy_opt")):
                package = name.split(".")[0]
                assert exists(name), name
            elif name.startswith("."):
                assert exists(package + name), name
            elif name.startswith("certificate."):
                assert exists("synergy_opt." + name), name
            elif "_" in name:
                assert name in STATED or exists(f"hived_cells.{name}"), name


def test_every_reported_statement_is_in_the_readme():
    """Tests that the reviewer's table and its text miss none of the statements."""
    text = (PROOFS / "README.md").read_text()
    assert [name for name in sorted(REPORTED) if f"`{name}`" not in text] == []
