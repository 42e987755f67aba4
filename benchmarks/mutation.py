"""What mutation testing found: reads mutmut's results, prints a row for each module, or names.

`python -m benchmarks.mutation` prints the table of docs/mutation.md; with `--every 8 PREFIX` it
prints the names of every eighth mutant of the modules PREFIX..., to be given to `mutmut run`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

RESULTS = Path("mutants")
KILLED = 1  # what pytest returns where a test fails
SURVIVED = 0
UNTESTED = 33  # no test of the selection calls the function
CUT_OFF = (-24, 24, 36, 152, 255)  # stopped at the limit of time


def modules(results: Path) -> Iterator[tuple[str, dict[str, int | None]]]:
    """Yield (module file, exit code by mutant) of what mutmut made, by file."""
    for meta in sorted(results.rglob("*.py.meta")):
        codes = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
        if codes:
            yield str(meta.relative_to(results))[: -len(".meta")], codes


def row(name: str, codes: Mapping[str, int | None]) -> str:
    """Return a line of the table; a mutant cut off at its time counts as not killed.

    Examples
    --------
    >>> row("a.py", {"x_1": 1, "x_2": 1, "x_3": 0, "x_4": None})
    '| a.py | 4 | 3 | 2 | 0 | 1 | 66.7 |'
    """
    found = Counter(codes.values())
    run = len(codes) - found[None]
    cut = sum(found[code] for code in CUT_OFF)
    alive = run - cut - found[KILLED]
    share = f"{100 * found[KILLED] / run:.1f}" if run else "–"
    return f"| {name} | {len(codes)} | {run} | {found[KILLED]} | {cut} | {alive} | {share} |"


def sample(codes: Iterable[str], every: int) -> list[str]:
    """Return every n-th mutant, beginning with the first.

    Examples
    --------
    >>> sample("abcde", 2)
    ['a', 'c', 'e']
    """
    return list(codes)[::every]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, or the names of a sample; 2 where mutmut has not run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("prefix", nargs="*", default=[""], help="modules, as their files begin")
    parser.add_argument("--every", type=int, metavar="N", help="print every N-th mutant's name")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder that mutmut made")
    options = parser.parse_args(argv)
    chosen = [
        (name, codes)
        for name, codes in modules(options.results)
        if name.startswith(tuple(options.prefix))
    ]
    if not chosen or (options.every is not None and options.every < 1):
        parser.error(f"{options.results}: no results of mutmut there, or --every is below 1")
    if options.every is not None:
        for _, codes in chosen:
            print(*sample(codes, options.every), sep="\n")
        return 0
    print("| module | mutants | run | killed | cut off | alive | killed of run, % |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, codes in chosen:
        print(row(name, codes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
