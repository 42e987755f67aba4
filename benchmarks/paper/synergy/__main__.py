"""``python -m benchmarks.paper.synergy ENTRY``: run entries of the registry, write them down."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.paper.synergy.entry import FULL, SMALL, Settings
from benchmarks.paper.synergy.registry import ENTRIES
from benchmarks.paper.synergy.report import shown, write_json, write_page, write_picture
from synergy_opt.errors import SynergyError


def main(arguments: list[str] | None = None) -> int:
    """Run the entries; 0 done, 2 bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper.synergy", description=__doc__
    )
    names = ", ".join(ENTRIES)
    parser.add_argument(
        "entry",
        nargs="+",
        metavar="ENTRY",
        help=f"{names}, or all; page: write the page anew from the JSON files in DIR",
    )
    parser.add_argument("--full", action="store_true", help="the paper's sizes")
    parser.add_argument("--seeds", type=int, metavar="N", help="number of traces")
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes (default 1)"
    )
    parser.add_argument("--trace", metavar="F", help="fig6: the Philly trace, a CSV file")
    parser.add_argument("--runs", metavar="DIR", help="keep every run here, and go on from there")
    parser.add_argument("--output", metavar="DIR", help="write JSON, pictures and a page here")
    options = parser.parse_args(arguments)
    if options.entry == ["page"]:
        if options.output is None:
            parser.error("page needs --output")
        write_page(Path(options.output))
        return 0
    wanted = list(ENTRIES) if options.entry == ["all"] else options.entry
    for name in wanted:
        if name not in ENTRIES:
            parser.error(f"there is no entry {name!r}; there are {names}")
    if options.seeds is not None and options.seeds < 1:
        parser.error("--seeds must be at least 1")
    settings = replace(
        FULL if options.full else SMALL,
        workers=options.workers,
        trace=options.trace,
        runs=options.runs,
    )
    if options.seeds is not None:
        settings = replace(settings, seeds=tuple(range(1, options.seeds + 1)))
    try:
        for name in wanted:
            _run(name, settings, options.output)
    except SynergyError as error:
        print(f"benchmarks.paper.synergy: {error}", file=sys.stderr)
        return 2
    return 0


def _run(name: str, settings: Settings, output: str | None) -> None:
    entry = ENTRIES[name]
    start = time.process_time()
    outcome = entry.run(settings)
    shown(entry, outcome)
    print(f"{time.process_time() - start:.1f} s of processor time", file=sys.stderr)
    if output is None:
        return
    folder = Path(output)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    write_json(folder / f"{name}.json", entry, outcome, settings)
    if outcome.panels:
        write_picture(folder / "images" / f"{name}.png", outcome.panels)
    write_page(folder)


if __name__ == "__main__":
    sys.exit(main())
