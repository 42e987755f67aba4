"""``python -m benchmarks verify-archive``: every bound from its certificate, in exact arithmetic.

Takes an archive and gives nothing, or exit code 1 with each wrong entry and what is wrong with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from benchmarks.archive.certificates import stated
from benchmarks.archive.records import ARCHIVE, Entry, Record, difficulty, read_archive
from benchmarks.instances.catalog import catalog, load
from benchmarks.problems import bounded, solved
from synergy_opt.answer import Placement
from synergy_opt.certificate import Violation
from synergy_opt.errors import InvalidInstance
from synergy_opt.io import StatedPlacement
from synergy_opt.model import Instance


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="instances")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check and say."""
    entries = [
        entry
        for entry in read_archive(options.archive)
        if any(fnmatchcase(entry.instance, pattern) for pattern in options.only)
    ]
    if not entries:
        raise InvalidInstance("fits no entry of the archive", f"--only {' '.join(options.only)}")
    wrong = list(faults(entries, options.archive))
    print("\n".join(wrong) or f"{len(entries)} entries hold: every bound is what it proves")
    return 1 if wrong else 0


def faults(entries: Sequence[Entry], archive: Path) -> Iterator[str]:
    """Give each fault, a line that begins with the entry's name."""
    seen: set[str] = set()
    check = lru_cache(maxsize=4)(_checked)
    for entry in entries:
        if entry.name in seen:
            yield f"{entry.name}: stands twice in the archive"
        seen.add(entry.name)
        if entry.instance not in catalog():
            yield f"{entry.name}: there is no such instance in the catalogue"
            continue
        if entry.sha256 != catalog()[entry.instance].sha256:
            yield f"{entry.name}: the instance's checksum is not that of the catalogue"
            continue
        try:
            instance = _loaded(entry.instance)
        except InvalidInstance as error:
            yield f"{entry.name}: {error}"
            continue
        for side, record in (("lower", entry.lower), ("upper", entry.upper)):
            if record is None:
                continue
            try:
                found, broken = check(archive, record.certificate, record.sha256, entry.instance)
                if broken:
                    first = f"the first: {broken[0]}"
                    rule = f"the certificate breaks {len(broken)} rules, {first}"
                    raise InvalidInstance(rule)
                texts = list(_record(entry, side, record, instance, found.placement))
            except InvalidInstance as error:
                texts = [str(error)]
            yield from (f"{entry.name}: {side}: {text}" for text in texts)
        yield from (f"{entry.name}: {text}" for text in _together(entry))


@lru_cache(maxsize=1)
def _loaded(name: str) -> Instance:
    return load(name)


def _checked(
    archive: Path, certificate: str, digest: str, name: str
) -> tuple[StatedPlacement, tuple[Violation, ...]]:
    found = stated(archive, certificate, digest, _loaded(name))
    return found, found.violations(_loaded(name))


def _record(
    entry: Entry, side: str, record: Record, instance: Instance, placement: Placement
) -> Iterator[str]:
    value = record.exactly
    if side == "lower":
        if placement.throughput != value:
            yield f"states {record.value}, but the certificate's is {placement.throughput}"
        if entry.problem not in solved(instance, placement):
            yield f"the certificate is no answer to the problem {entry.problem!r}"
        return
    if placement.bound is None:
        yield "the certificate proves no upper bound"
        return
    if placement.bound.value != value:
        yield f"states {record.value}, but the certificate proves {placement.bound.value}"
    if entry.problem not in bounded(placement.bound):
        yield f"the certificate's bound is not for the problem {entry.problem!r}"


def _together(entry: Entry) -> Iterator[str]:
    lower, upper = entry.lower, entry.upper
    try:
        if lower is not None and upper is not None and lower.exactly > upper.exactly:
            yield f"the lower bound {lower.value} is above the upper bound {upper.value}"
        right = difficulty(lower, upper)
    except InvalidInstance:
        return  # said already
    if entry.difficulty != right:
        yield f"is called {entry.difficulty}, but its bounds make it {right}"
