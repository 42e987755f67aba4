"""``python -m benchmarks update-archive RESULTS``: better bounds in, never a worse one.

Takes a results file and gives the archive with every bound that a verified certificate improves.
The rows' own words are not believed: throughput, problem and bound come from the answer's file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.archive.certificates import FOLDER, keep
from benchmarks.archive.records import (
    ARCHIVE,
    Entry,
    Record,
    difficulty,
    read_archive,
    write_archive,
)
from benchmarks.instances.catalog import catalog, load
from benchmarks.methods import Problem
from benchmarks.problems import PROBLEMS, bounded, solved
from benchmarks.rows import Row, answer_of, read_results
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import decimal_text
from synergy_opt.io import read_placement


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a row's answer proves, from its file alone."""

    row: Row
    data: bytes
    throughput: Fraction
    solves: tuple[Problem, ...]
    bound: Fraction | None
    bounds: tuple[Problem, ...]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.add_argument("results", type=Path, help="results file, its answers beside it")
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Take what is better."""
    archive: Path = options.archive
    known = {(e.instance, e.problem): e for e in read_archive(archive)} if archive.exists() else {}
    refused: list[str] = []
    changed = improve(known, offers(options.results, refused), archive)
    order = {name: k for k, name in enumerate(catalog())}
    entries = sorted(known.values(), key=lambda e: (order[e.instance], PROBLEMS.index(e.problem)))
    write_archive(entries, archive)
    _sweep(entries, archive)
    print("\n".join([*refused, *changed, f"{len(changed)} bounds improved"]))
    return 1 if refused else 0


def offers(results: Path, refused: list[str]) -> Iterator[Offer]:
    """Give what the certified answers prove; what does not hold is said in `refused`."""
    for row in read_results(results):
        name = str(row["instance"])
        data = answer_of(results, row)
        if data is None or name not in catalog():
            continue
        if row["sha256"] != catalog()[name].sha256:
            refused.append(f"{name}, {row['method']}: the row is of another instance: checksum")
            continue
        instance = load(name)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "placement.json"
            path.write_bytes(data)
            try:
                stated = read_placement(path, instance)
                broken = [str(each) for each in stated.violations(instance)]
            except InvalidInstance as error:
                broken = [error.rule]
        if broken:
            refused.append(f"{name}, {row['method']}: not certified: {broken[0]}")
            continue
        placement = stated.placement
        yield Offer(
            row=row,
            data=data,
            throughput=placement.throughput,
            solves=solved(instance, placement),
            bound=None if placement.bound is None else placement.bound.value,
            bounds=bounded(placement.bound),
        )


def improve(
    known: dict[tuple[str, Problem], Entry], found: Iterable[Offer], archive: Path
) -> list[str]:
    """Put every better bound into `known`; say which."""
    changed = []
    for offer in found:
        name = str(offer.row["instance"])
        for problem in PROBLEMS:
            entry = known.get((name, problem)) or Entry(
                instance=name,
                sha256=catalog()[name].sha256,
                problem=problem,
                difficulty="open",
                lower=None,
                upper=None,
            )
            before = entry
            value = offer.throughput
            if problem in offer.solves and (entry.lower is None or value > entry.lower.exactly):
                entry = replace(entry, lower=_record(offer, value, archive))
                changed.append(f"{entry.name}: lower bound {decimal_text(value)}")
            bound = offer.bound
            if (
                bound is not None
                and problem in offer.bounds
                and (entry.upper is None or bound < entry.upper.exactly)
            ):
                entry = replace(entry, upper=_record(offer, bound, archive))
                changed.append(f"{entry.name}: upper bound {decimal_text(bound)}")
            if entry is not before:
                now = difficulty(entry.lower, entry.upper)
                known[name, problem] = replace(entry, difficulty=now)
    return changed


def _record(offer: Offer, value: Fraction, archive: Path) -> Record:
    row = offer.row
    about = row["environment"]
    assert isinstance(about, dict)
    certificate, digest = keep(archive, str(row["instance"]), offer.data)
    commit = f" ({about['commit']})" if about["commit"] else ""
    return Record(
        value=decimal_text(value),
        date=str(row["date"]),
        method=str(row["method"]),
        version=f"{about['version']}{commit}",
        hardware=str(about["hardware"]),
        seconds=round(float(str(row["cpu_seconds"])), 3),
        certificate=certificate,
        sha256=digest,
    )


def _sweep(entries: Iterable[Entry], archive: Path) -> None:
    """Delete certificates that no bound needs any more."""
    needed = {r.certificate for e in entries for r in (e.lower, e.upper) if r is not None}
    for path in (archive.parent / FOLDER).glob("*.json*"):
        if f"{FOLDER}/{path.name}" not in needed:
            path.unlink()
