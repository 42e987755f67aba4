"""The catalogue: every benchmark instance by name, with its recipe, source and checksum.

Takes a name and gives an `Instance`: read from `stored/` where it is small, generated where it is
large; either way the SHA-256 of its file text must be the one on record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

from benchmarks.instances import families
from benchmarks.synergy.packed_cases import SPLITS
from synergy_opt.errors import InvalidInstance
from synergy_opt.io import read_instance
from synergy_opt.io.instance_file import instance_text
from synergy_opt.io.text import write_text
from synergy_opt.model import Instance

FOLDER = Path(__file__).parent
STORED = FOLDER / "stored"
RECORD = FOLDER / "catalog.json"
SMALL = 12_000  # bytes of a file that is stored

_PAPER = "Mohan et al., OSDI '22, §5: workload splits of image, language and speech models"
_SOURCES = {
    "mix": _PAPER,
    "different": "every job its own random profile; cache model of Mohan et al., OSDI '22, §3.2",
    "scattered": "random monotone tables on random grids",
    "ties": "gains in thirds; made to have many optima",
    "without-floor": "no smallest fair configuration: theory, stage 1, point 8",
    "widest-gap": "theory, stage 1, point 8: LP 2n − 2, ILP n",
    "resources-3": "min of one curve a resource; storage as in Mohan et al., §6",
    "resources-5": "min of one curve a resource",
    "groups": _PAPER + ", on three kinds of servers",
    "triplets": "Falkenauer, 1996: triplets of bin packing; the optimum is planted",
}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How an instance is made."""

    name: str
    family: str
    servers: int
    seed: int | None
    make: Callable[[str], Instance]
    parameters: dict[str, object] = field(default_factory=dict)

    def instance(self) -> Instance:
        """Make it."""
        return self.make(self.name)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is on record about an instance."""

    name: str
    family: str
    servers: int
    jobs: int
    gpus: int
    seed: int | None
    source: str
    sha256: str
    stored: bool


def recipes() -> Iterator[Recipe]:
    """Give every recipe, small clusters first within a family."""
    for servers, seeds in ((4, 2), (16, 2), (64, 2), (512, 1), (8192, 1)):
        for split in SPLITS:
            for seed in range(seeds):
                yield Recipe(
                    name=f"mix-{split[0]}-{servers}-{seed}",
                    family="mix",
                    servers=servers,
                    seed=seed,
                    make=partial(families.mix, servers=servers, seed=seed, split=split),
                    parameters={"split": list(split)},
                )
    yield from _plain("different", families.different, (2, 8, 64))
    yield from _plain("scattered", families.scattered, (2, 8))
    yield from _plain("ties", families.ties, (4, 16, 64))
    yield from _plain("without-floor", families.without_floor, (4, 16, 64))
    for jobs in (10, 50):
        yield Recipe(
            name=f"widest-gap-{jobs}",
            family="widest-gap",
            servers=1,
            seed=None,
            make=partial(families.widest_gap, jobs=jobs),
        )
    for count in (3, 5):
        for servers in (4, 16):
            for seed in range(2):
                yield Recipe(
                    name=f"resources-{count}-{servers}-{seed}",
                    family=f"resources-{count}",
                    servers=servers,
                    seed=seed,
                    make=partial(families.resources, servers=servers, seed=seed, count=count),
                )
    yield from _plain("groups", families.groups, (4, 16, 64))
    yield from _plain("triplets", families.triplets, (3, 8, 24))


def _plain(family: str, make: Callable[..., Instance], sizes: tuple[int, ...]) -> Iterator[Recipe]:
    for servers in sizes:
        for seed in range(2):
            yield Recipe(
                name=f"{family}-{servers}-{seed}",
                family=family,
                servers=servers,
                seed=seed,
                make=partial(make, servers=servers, seed=seed),
            )


@cache
def catalog() -> dict[str, Entry]:
    """Give every record by name."""
    rows = json.loads(RECORD.read_text("utf-8"))["instances"]
    return {row["name"]: Entry(**row) for row in rows}


def matching(patterns: list[str]) -> list[Entry]:
    """Give the records whose name or family fits one of the patterns, in the catalogue's order.

    Raises
    ------
    InvalidInstance
        When a pattern fits none.
    """
    for pattern in patterns:
        if not any(_fits(entry, pattern) for entry in catalog().values()):
            raise InvalidInstance("fits no instance of the catalogue", pattern)
    return [e for e in catalog().values() if any(_fits(e, pattern) for pattern in patterns)]


def _fits(entry: Entry, pattern: str) -> bool:
    return fnmatchcase(entry.name, pattern) or entry.family == pattern


def load(name: str) -> Instance:
    """Give an instance of the catalogue.

    Raises
    ------
    InvalidInstance
        When there is none of that name, or its text has another checksum than the one on record.
    """
    if name not in catalog():
        raise InvalidInstance("there is no such instance in the catalogue", name)
    entry = catalog()[name]
    if entry.stored:
        path = STORED / f"{name}.json"
        instance, digest = read_instance(path), sha256(path.read_bytes()).hexdigest()
    else:
        instance = _recipe(name).instance()
        digest = checksum(instance)
    if digest != entry.sha256:
        raise InvalidInstance(f"has the checksum {digest}, not {entry.sha256}", name)
    return instance


@cache
def _by_name() -> dict[str, Recipe]:
    return {recipe.name: recipe for recipe in recipes()}


def _recipe(name: str) -> Recipe:
    return _by_name()[name]


def regenerate(name: str) -> Instance:
    """Make an instance from its recipe, stored or not."""
    return _recipe(name).instance()


def checksum(instance: Instance) -> str:
    """Give the SHA-256 of the instance's file text."""
    return sha256(instance_text(instance).encode()).hexdigest()


def write_catalog() -> int:
    """Make all instances anew: store the small ones, record all; give the bytes stored."""
    rows, total = [], 0
    for recipe in recipes():
        instance = recipe.instance()
        text = instance_text(instance)
        stored = len(text.encode()) <= SMALL
        if stored:
            write_text(STORED / f"{recipe.name}.json", text)
            total += len(text.encode())
        row = {
            "name": recipe.name,
            "family": recipe.family,
            "servers": recipe.servers,
            "jobs": len(instance.jobs),
            "gpus": instance.cluster.gpus,
            "seed": recipe.seed,
            "source": _SOURCES[recipe.family],
            "sha256": sha256(text.encode()).hexdigest(),
            "stored": stored,
        }
        rows.append("  " + json.dumps(row, ensure_ascii=False))
    body = ",\n".join(rows)
    write_text(RECORD, f'{{"schema": "synergy-hived/catalog/1", "instances": [\n{body}]}}\n')
    return total
