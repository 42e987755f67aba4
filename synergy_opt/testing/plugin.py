"""What pytest needs to know of the kit: its options, and the table at the end.

Registered with pytest by the installed package, so it must cost nothing where the kit does not
run; from a clone, ``-p synergy_opt.testing.plugin`` does the same.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

KIT = "synergy_opt.testing.conformance"
DISTANCE = "synergy_opt.distance"
"""Name of the property of a test's report that holds a row of the table."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the kit's options."""
    group = parser.getgroup("conformance", "conformance kits")
    group.addoption(
        "--mechanism",
        metavar="NAME",
        help=f"what {KIT} tests: module:function or file.py:function, from an Instance to a "
        "Placement",
    )
    group.addoption(
        "--allow",
        action="append",
        choices=("skipping", "unfair"),
        default=[],
        help="skipping: the mechanism may leave runnable jobs out; unfair: it may place a job "
        "below its fair share; may be repeated",
    )
    with suppress(ValueError):  # the other kit of this distribution has it too
        group.addoption(
            "--examples",
            type=int,
            metavar="N",
            help="drawn examples a rule (default: as the Hypothesis profile says)",
        )


def pytest_configure(config: pytest.Config) -> None:
    """Look at the options before anything is run."""
    wanted = any(KIT in arg.replace("/", ".") for arg in config.args)
    name: str | None = config.getoption("--mechanism")
    if name is None:
        if wanted:
            raise pytest.UsageError(f"{KIT} needs --mechanism module:function")
        return
    examples: int | None = config.getoption("--examples")
    if examples is not None and examples < 1:
        raise pytest.UsageError(f"--examples {examples}: must be at least 1")
    _check(name)


def _check(name: str) -> None:
    """Import the mechanism once before there are tests, so that a wrong name is one message."""
    from synergy_opt.loading import load  # noqa: PLC0415

    if ":" not in name:
        raise pytest.UsageError(f"--mechanism {name}: must be module:function or file.py:function")
    try:
        found = load(name)
    except (Exception, SystemExit) as error:
        message = f"--mechanism {name}: cannot be imported: {type(error).__name__}: {error}"
        raise pytest.UsageError(message) from None
    if not callable(found):
        raise pytest.UsageError(f"--mechanism {name}: is {type(found).__name__}, not a function")


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Show the table of distances, where there are any."""
    rows = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for key, value in getattr(report, "user_properties", ())
        if key == DISTANCE and getattr(report, "when", "") == "call"
    ]
    if not rows:
        return
    name = config.getoption("--mechanism")
    terminalreporter.section(f"{name}: distance from the best that is possible")
    heads = {key: key.replace("_", " ") for key in rows[0]}
    table = [heads, *sorted(rows, key=lambda row: str(row["instance"]))]
    widths = {key: max(len(row[key]) for row in table) for key in heads}
    for row in table:
        cells = (
            row[key].ljust(width) if key in ("instance", "model") else row[key].rjust(width)
            for key, width in widths.items()
        )
        terminalreporter.write_line("  ".join(cells).rstrip())
    terminalreporter.write_line(
        "gap: (bound − throughput) / throughput, the bound certified for its model; "
        "baseline: throughput over that of proportional sharing"
    )
