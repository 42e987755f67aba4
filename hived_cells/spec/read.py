"""Reads a whole specification: takes its text, gives a `Spec`.

The sections are read by `types` and `cells`; here the virtual clusters are, and all is joined.
"""

from dataclasses import dataclass
from pathlib import Path

from hived_cells.errors import InvalidSpec, shown
from hived_cells.reservation import Pin, Pool, Reservation
from hived_cells.spec.cells import PinnedPlace, PoolCells, read_cells
from hived_cells.spec.entry import Entry
from hived_cells.spec.tree import parse_tree, read_text
from hived_cells.spec.types import read_types, require_path
from hived_cells.spec.unique import require_unique
from hived_cells.spec.values import Spec, SpecPool

__all__ = ["parse_spec", "read_spec"]

# Keys of the scheduler's own settings: known, and of no meaning here.
_SETTINGS = {
    "kubeApiServerAddress",
    "kubeConfigFilePath",
    "webServerAddress",
    "forcePodBindThreshold",
    "waitingPodSchedulingBlockMilliSec",
}


@dataclass(slots=True)
class _Owned:
    """What the tenants read so far own; it does not leave the reader."""

    counts: dict[str, dict[str, dict[int, int]]]  # pool → tenant → level → cells
    pins: dict[str, list[Pin]]  # by pool
    pin_owner: dict[str, str]


def read_spec(path: str | Path) -> Spec:
    """Return the specification in a file.

    Raises
    ------
    InvalidSpec
        The file cannot be read or breaks a rule; the message names file, place and rule.

    Examples
    --------
    >>> read_spec("/nowhere")
    Traceback (most recent call last):
    hived_cells.errors.InvalidSpec: /nowhere: No such file or directory
    """
    return parse_spec(read_text(Path(path)), source=str(path))


def parse_spec(text: str, *, source: str = "specification") -> Spec:
    """Return the specification in a text.

    Whether the reserved cells fit is not asked here; see `first_short_level`, `initial_cluster`.

    Parameters
    ----------
    text
        YAML with `physicalCluster` and `virtualClusters`.
    source
        Name of the file, for messages.

    Raises
    ------
    InvalidSpec
        The text breaks a rule; the message names source, place (`$.path`, line) and rule.

    Examples
    --------
    >>> spec = parse_spec('''
    ... physicalCluster:
    ...   cellTypes:
    ...     NODE: {childCellType: GPU, childCellNumber: 8, isNodeLevel: true}
    ...   physicalCells:
    ...   - {cellType: NODE, cellAddress: node7}
    ... virtualClusters:
    ...   A: {virtualCells: [{cellType: NODE.GPU, cellNumber: 3}]}
    ... ''')
    >>> spec.pool("NODE").pool
    Pool(chain=Chain(top_cells=1, factors=(8,)), reservation=Reservation({'A': {1: 3}}))
    """
    if not isinstance(text, str):
        raise InvalidSpec(f"{source}: {shown(text)} is no text")
    root = parse_tree(text, source).mapping(
        {"physicalCluster", "virtualClusters", *_SETTINGS}, required=("physicalCluster",)
    )
    physical = root["physicalCluster"].mapping(
        {"cellTypes", "physicalCells", "skuTypes", "gpuTypes"}, required=("cellTypes",)
    )
    types = read_types(physical["cellTypes"])
    cells, places = (
        read_cells(physical["physicalCells"], types) if "physicalCells" in physical else ({}, {})
    )
    owned = _Owned({name: {} for name in cells}, {name: [] for name in cells}, {})
    tenants = root["virtualClusters"].mapping() if "virtualClusters" in root else {}
    for tenant, entry in tenants.items():
        if not tenant:
            raise entry.refuse("a virtual cluster needs a name")
        fields = entry.mapping({"virtualCells", "pinnedCells"})
        if "virtualCells" in fields:
            _read_counts(tenant, fields["virtualCells"], cells, owned)
        if "pinnedCells" in fields:
            _read_pins(tenant, fields["pinnedCells"], cells, places, owned)
    pools = tuple(_joined(name, cells[name], owned, source) for name in sorted(cells))
    require_unique(pools, source)
    return Spec(pools, tuple(sorted(tenants)))


def _read_counts(tenant: str, section: Entry, cells: dict[str, PoolCells], owned: _Owned) -> None:
    """Add a tenant's `virtualCells` to what is owned; entries of one type add up."""
    for wanted in section.sequence():
        keys = wanted.mapping({"cellType", "cellNumber"}, required=("cellType", "cellNumber"))
        number = keys["cellNumber"].integer(least=0)
        names = keys["cellType"].text().split(".")
        if names[0] not in cells:
            raise keys["cellType"].refuse(
                f"cell type {names[0]!r} is no top-level type in physicalCells; "
                f"those are {sorted(cells)}"
            )
        known = cells[names[0]].lineage
        require_path(names, known, keys["cellType"])
        own = owned.counts[names[0]].setdefault(tenant, {})
        level = known.level_of(names[-1])
        own[level] = own.get(level, 0) + number


def _read_pins(
    tenant: str,
    section: Entry,
    cells: dict[str, PoolCells],
    places: dict[str, PinnedPlace],
    owned: _Owned,
) -> None:
    """Add a tenant's `pinnedCells` to what is owned; a pin has one owner."""
    for pin in section.sequence():
        entry = pin.mapping({"pinnedCellId"}, required=("pinnedCellId",))["pinnedCellId"]
        name = entry.text()
        if name not in places:
            raise entry.refuse(
                f"pinned cell {name!r} is not in physicalCells; those are {sorted(places)}"
            )
        if name in owned.pin_owner:
            raise entry.refuse(
                f"pinned cell {name!r} is given twice, to {owned.pin_owner[name]!r} "
                f"and to {tenant!r}"
            )
        owned.pin_owner[name] = tenant
        place = places[name]
        cell = cells[place.pool].chain.cell(place.level, place.index)
        owned.pins[place.pool].append(Pin(name, tenant, cell))


def _joined(name: str, found: PoolCells, owned: _Owned, source: str) -> SpecPool:
    try:
        pool = Pool(found.chain, Reservation(owned.counts[name], pins=owned.pins[name]))
    except InvalidSpec as error:
        raise InvalidSpec(f"{source}: pool {name!r}: {error}") from None
    return SpecPool(
        name,
        pool,
        ("", *reversed(found.lineage.names)),
        found.node_level,
        tuple(found.places),
        tuple((level, index, label) for (level, index), label in sorted(found.own.items())),
    )
