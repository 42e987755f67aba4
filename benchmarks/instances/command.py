"""``python -m benchmarks instances``: list the catalogue, write an instance, check checksums.

Takes patterns and gives a table, a file, or exit code 1 with the instances that differ.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.instances.catalog import (
    STORED,
    Entry,
    checksum,
    load,
    matching,
    regenerate,
    write_catalog,
)
from synergy_opt.errors import InvalidInstance
from synergy_opt.io import write_instance
from synergy_opt.io.instance_file import instance_text
from synergy_opt.io.text import read_text


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.add_argument("pattern", nargs="*", default=["*"], help="names, families or patterns")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--output", type=Path, help="write the one instance that fits to a file")
    what.add_argument("--check", action="store_true", help="make them anew, compare checksums")
    what.add_argument("--write", action="store_true", help="make the whole catalogue anew")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Do what is asked."""
    if options.write:
        print(f"{write_catalog()} bytes stored")
        return 0
    found = matching(options.pattern)
    if options.check:
        wrong = [text for entry in found if (text := fault(entry))]
        print("\n".join(wrong) or f"{len(found)} instances have the checksums on record")
        return 1 if wrong else 0
    if options.output:
        if len(found) != 1:
            raise InvalidInstance(f"fits {len(found)} instances, not one", options.pattern[0])
        write_instance(load(found[0].name), options.output)
        return 0
    table = Table("name", "servers", "jobs", "stored", "SHA-256")
    for entry in found:
        stored = "file" if entry.stored else "generated"
        table.add_row(entry.name, str(entry.servers), str(entry.jobs), stored, entry.sha256[:12])
    Console().print(table)
    return 0


def fault(entry: Entry) -> str | None:
    """Say how an instance differs from its record, None where it does not."""
    instance = regenerate(entry.name)
    digest = checksum(instance)
    if digest != entry.sha256:
        return f"{entry.name}: generated with the checksum {digest}, not {entry.sha256}"
    if entry.stored and read_text(STORED / f"{entry.name}.json") != instance_text(instance):
        return f"{entry.name}: the stored file is not what the recipe gives"
    return None
