"""Verdicts on mutants: one line of JSON each, how long one stands, and the table of them.

A verdict stands while neither the mutated module changes nor the tests that it rests on: the one
that killed, or else all that did not.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

Verdict = Mapping[str, str]
"""Keys: mutant, file, verdict ("killed", "cut off", "alive"), source, rests_on, and the test."""


def read(path: Path) -> dict[str, Verdict]:
    """Return the last verdict on each mutant."""
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["mutant"]: line for line in lines}


def write(path: Path, verdict: Verdict) -> None:
    """Add one verdict, at once: a run that is stopped loses none."""
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(verdict) + "\n")


def verdict_on(
    mutant: str, file: str, tests: Iterable[str], *, by: str | None, end: bool
) -> Verdict:
    """Return the verdict on a mutant that was tried.

    Parameters
    ----------
    mutant, file
        Its name and its module.
    tests
        All tests that were chosen for it.
    by
        The test that failed, if any did.
    end
        Whether the tests came to an end.
    """
    found = {"mutant": mutant, "file": file}
    found["verdict"] = "killed" if by else "alive" if end else "cut off"
    if by:
        found["test"] = by
    return found | {"source": digest([file]), "rests_on": rests_on([by] if by else tests)}


def stands(verdict: Verdict, tests: Iterable[str]) -> bool:
    """Say whether a verdict of an earlier run would be the same now, as far as files tell."""
    resting = [verdict["test"]] if "test" in verdict else tests
    try:
        now = digest([verdict["file"]]), rests_on(resting)
    except OSError:  # the test is gone
        return False
    return now == (verdict["source"], verdict["rests_on"])


def digest(files: Iterable[str]) -> str:
    """Return a short digest of the text of files."""
    return sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()[:12]


def rests_on(tests: Iterable[str]) -> str:
    """Return the digest of the files that tests are in."""
    return digest(sorted({test.partition("::")[0] for test in tests}))


def table(verdicts: Iterable[Verdict]) -> list[str]:
    """Return the lines of the table: a row for each file, and one for a folder of several.

    Examples
    --------
    >>> found = [("b/c/d.py", "killed"), ("b/c/d.py", "alive"), ("b/c/e.py", "cut off")]
    >>> for line in table({"file": file, "verdict": verdict} for file, verdict in found):
    ...     print(line)
    | module | mutants | killed | cut off | alive | killed, % |
    |---|--:|--:|--:|--:|--:|
    | `b/c/d.py` | 2 | 1 | 0 | 1 | 50.0 |
    | `b/c/e.py` | 1 | 0 | 1 | 0 | 0.0 |
    | **`b/c`** | 3 | 1 | 1 | 1 | 33.3 |
    """
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        rows[f"`{verdict['file']}`"][verdict["verdict"]] += 1
        folder = "/".join(verdict["file"].split("/")[:2])
        if folder != verdict["file"]:
            folders[f"**`{folder}`**"][verdict["verdict"]] += 1
    lines = ["| module | mutants | killed | cut off | alive | killed, % |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    for name, found in [*rows.items(), *folders.items()]:
        figures = [found.total(), found["killed"], found["cut off"], found["alive"]]
        share = 100 * found["killed"] / found.total()
        lines.append(f"| {name} | {' | '.join(map(str, figures))} | {share:.1f} |")
    return lines
