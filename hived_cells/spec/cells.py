"""Reads `physicalCells`: takes the section and the types, gives each pool's top cells and names.

What is left out is inferred as the public format documents it; what is listed must be as the
types say, child for child.
"""

from dataclasses import dataclass, field

from hived_cells.errors import InvalidSpec
from hived_cells.hierarchy import Chain
from hived_cells.spec.entry import Entry
from hived_cells.spec.types import CellType, Lineage, lineage

__all__ = ["PinnedPlace", "PoolCells", "read_cells"]


@dataclass(frozen=True, slots=True)
class PinnedPlace:
    """Where a `pinnedCellId` stands.

    Examples
    --------
    >>> PinnedPlace("NODE", level=1, index=7).index
    7
    """

    pool: str
    level: int
    index: int


@dataclass(slots=True)
class PoolCells:
    """What is known of a pool so far; it does not leave the reader.

    Examples
    --------
    >>> PoolCells(Lineage(("N", "G"), factors=(8,), node_depth=0), places=[0, 1]).chain
    Chain(top_cells=2, factors=(8,))
    """

    lineage: Lineage
    places: list[int] = field(default_factory=list)
    own: dict[tuple[int, int], str] = field(default_factory=dict)

    @property
    def chain(self) -> Chain:
        """The hardware found."""
        return Chain(len(self.places), self.lineage.factors)

    @property
    def node_level(self) -> int:
        """Level of the node-level type, 0 where there is none."""
        depth = self.lineage.node_depth
        return len(self.lineage.names) - depth if depth >= 0 else 0


def read_cells(
    section: Entry, types: dict[str, CellType]
) -> tuple[dict[str, PoolCells], dict[str, PinnedPlace]]:
    """Return the pools by top-level type and the pinned cells by id.

    Raises
    ------
    InvalidSpec
        A type is unknown, listed children are not as many as declared, an address or a pin's id
        stands twice, or a pool is too large.

    Examples
    --------
    >>> from hived_cells.spec.tree import parse_tree
    >>> tree = parse_tree("[{cellType: N, cellAddress: node7}]", "f")
    >>> pools, pins = read_cells(tree, {"N": CellType("G", 8, is_node=True)})
    >>> pools["N"].own, pools["N"].chain
    ({(2, 0): 'node7'}, Chain(top_cells=1, factors=(8,)))
    """
    reader = _Reader()
    for place, entry in enumerate(section.sequence()):
        fields = _fields(entry)
        kind = fields.get("cellType")
        if kind is None or kind.value is None:
            raise entry.refuse("key 'cellType' is missing")
        name = kind.text()
        if name not in reader.pools:
            reader.pools[name] = PoolCells(lineage(types, name, kind))
        pool = reader.pools[name]
        pool.places.append(place)
        if len(pool.places) == 1:
            _require_size(pool, kind)
        reader.visit(pool, entry, 0, len(pool.places) - 1)
    return reader.pools, reader.pins


class _Reader:
    """Collects names and pins and refuses what stands twice."""

    __slots__ = ("_nodes", "pins", "pools")

    def __init__(self) -> None:
        self.pools: dict[str, PoolCells] = {}
        self.pins: dict[str, PinnedPlace] = {}
        self._nodes: dict[tuple[str, str], Entry] = {}  # (leaf type, node address)

    def visit(self, pool: PoolCells, entry: Entry, depth: int, index: int) -> None:
        names = pool.lineage.names
        level = len(names) - depth
        fields = _fields(entry)
        _require_type(fields, names[depth])
        address = fields.get("cellAddress")
        if address is not None and not address.is_blank():
            self._name(pool, level, index, address)
        pin = fields.get("pinnedCellId")
        if pin is not None and not pin.is_blank():
            if pin.text() in self.pins:
                raise pin.refuse(f"pinned cell {pin.text()!r} stands here twice")
            self.pins[pin.text()] = PinnedPlace(names[0], level, index)
        children = fields["cellChildren"].sequence() if "cellChildren" in fields else []
        if not children:
            return
        declared = pool.lineage.factors[depth] if level > 1 else 0
        if len(children) != declared:
            raise fields["cellChildren"].refuse(
                f"{len(children)} children are listed, cell type {names[depth]!r} declares "
                f"{declared}"
            )
        for child, inner in enumerate(children):
            self.visit(pool, inner, depth + 1, index * declared + child)

    def _name(self, pool: PoolCells, level: int, index: int, entry: Entry) -> None:
        address = entry.text()
        if "/" in address:
            raise entry.refuse(f"address {address!r} has a '/', which separates levels")
        pool.own[level, index] = address
        if level == pool.node_level:
            key = (pool.lineage.names[-1], address)
            if key in self._nodes:
                raise entry.refuse(
                    f"node {address!r} is listed twice with leaf type {key[0]!r}; "
                    f"first at {self._nodes[key].where}"
                )
            self._nodes[key] = entry


def _require_size(pool: PoolCells, kind: Entry) -> None:
    """Refuse too large a pool before anything of it is listed."""
    try:
        _ = pool.chain
    except InvalidSpec as error:
        raise kind.refuse(str(error)) from None


def _fields(entry: Entry) -> dict[str, Entry]:
    return entry.mapping({"cellType", "cellAddress", "pinnedCellId", "cellChildren"})


def _require_type(fields: dict[str, Entry], expected: str) -> None:
    kind = fields.get("cellType")
    if kind is not None and kind.value is not None and kind.text() != expected:
        raise kind.refuse(f"cell type {kind.text()!r} stands where {expected!r} belongs")
