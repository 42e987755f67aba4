"""Tries every mutant of the modules that `[tool.mutmut]` of pyproject.toml names; prints a table.

Each verdict is written down as soon as it is known, so that a run may be stopped and taken up
again; a mutant is tried anew when its module or the tests that its verdict rests on change.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

VERDICTS = Path(".mutants.jsonl")


def main(argv: Sequence[str] | None = None) -> int:
    """Try the mutants and print the table; 1 if a test fails without any, 2 for a bad prefix."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("prefix", nargs="*", help="only modules whose files begin so")
    parser.add_argument("--alive", action="store_true", help="show the mutants not killed, too")
    options = parser.parse_args(argv)
    os.environ["HYPOTHESIS_PROFILE"] = "mutation"
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads is not to be forked
    os.environ["MUTANT_UNDER_TEST"] = ""
    # Only now: these import mutmut, an extra of its own, and what the line above has to precede.
    import pytest  # noqa: PLC0415
    from mutmut.configuration import config  # noqa: PLC0415
    from mutmut.utils.file_utils import walk_mutatable_files  # noqa: PLC0415

    from benchmarks.mutation.made import Mutated  # noqa: PLC0415
    from benchmarks.mutation.run import Runner  # noqa: PLC0415
    from benchmarks.mutation.verdicts import table  # noqa: PLC0415

    files = sorted(str(file) for file in walk_mutatable_files())
    chosen = [file for file in files if file.startswith(tuple(options.prefix) or "")]
    if not chosen:
        parser.error(f"no module of [tool.mutmut] begins with {' or '.join(options.prefix)}")
    made = Mutated(chosen)
    runner = Runner(made.mutants, VERDICTS)
    tests = config().pytest_add_cli_args_test_selection
    arguments = [*tests, *config().pytest_add_cli_args, "-qq", "-s", "--tb=native"]
    code = int(pytest.main(arguments, plugins=[runner]))
    if not code:
        print(*table(runner.found), sep="\n")
    for verdict in runner.found if options.alive else ():
        if verdict["verdict"] != "killed":
            print(
                "",
                f"{verdict['mutant']}: {verdict['verdict']}",
                *made.change(verdict["mutant"]),
                sep="\n",
            )
    return code


if __name__ == "__main__":
    raise SystemExit(main())
