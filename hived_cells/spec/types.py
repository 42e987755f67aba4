"""Reads `cellTypes`: takes the section, gives each type's levels from the top down.

A type that is a child of another and not defined itself is a leaf: one GPU.
"""

from dataclasses import dataclass

from hived_cells.hierarchy import MAX_LEVELS
from hived_cells.spec.entry import Entry

__all__ = ["CellType", "Lineage", "lineage", "read_types"]


@dataclass(frozen=True, slots=True)
class CellType:
    """How a cell of a type is made.

    Examples
    --------
    >>> CellType(child="GPU", number=8, is_node=True).number
    8
    """

    child: str
    number: int
    is_node: bool


@dataclass(frozen=True, slots=True)
class Lineage:
    """The types below a top-level type, itself first, the leaf last.

    Examples
    --------
    >>> Lineage(("NODE", "GPU"), factors=(8,), node_depth=0).level_of("GPU")
    1
    """

    names: tuple[str, ...]
    factors: tuple[int, ...]  # top down
    node_depth: int  # place of the node-level type in `names`, -1 where there is none

    def level_of(self, name: str) -> int:
        """Return the level of a type, 1 for the leaf.

        Examples
        --------
        >>> Lineage(("NODE", "GPU"), factors=(8,), node_depth=0).level_of("NODE")
        2
        """
        return len(self.names) - self.names.index(name)


def read_types(section: Entry) -> dict[str, CellType]:
    """Return the defined types by name.

    Raises
    ------
    InvalidSpec
        A number is not positive, a child is missing, or the types form a cycle.

    Examples
    --------
    >>> from hived_cells.spec.tree import parse_tree
    >>> read_types(parse_tree("N: {childCellType: G, childCellNumber: 0}", "f"))
    Traceback (most recent call last):
    hived_cells.errors.InvalidSpec: f: $.N.childCellNumber (line 1): '0' is not an integer \
of at least 1
    """
    types = {}
    for name, entry in section.mapping().items():
        fields = entry.mapping(
            {"childCellType", "childCellNumber", "isNodeLevel"},
            required=("childCellType", "childCellNumber"),
        )
        if not name:
            raise entry.refuse("a cell type needs a name")
        is_node = fields.get("isNodeLevel")
        types[name] = CellType(
            fields["childCellType"].text(),
            fields["childCellNumber"].integer(least=1),
            is_node is not None and is_node.value is not None and is_node.flag(),
        )
    for name, entry in section.mapping().items():
        _refuse_cycle(types, name, entry)
    return types


def _refuse_cycle(types: dict[str, CellType], name: str, entry: Entry) -> None:
    seen = [name]
    while seen[-1] in types:
        child = types[seen[-1]].child
        if child in seen:
            raise entry.refuse(f"cell types form a cycle: {' > '.join([*seen, child])}")
        seen.append(child)
        if len(seen) > MAX_LEVELS:
            raise entry.refuse(f"more than {MAX_LEVELS} levels")


def lineage(types: dict[str, CellType], name: str, entry: Entry) -> Lineage:
    """Return the levels of a type that `entry` names.

    Raises
    ------
    InvalidSpec
        There is no such type, or two levels of it are node-level.

    Examples
    --------
    >>> from hived_cells.spec.tree import parse_tree
    >>> lineage({"N": CellType("G", 8, is_node=True)}, "N", parse_tree("N", "f"))
    Lineage(names=('N', 'G'), factors=(8,), node_depth=0)
    """
    if name not in types and all(name != known.child for known in types.values()):
        raise entry.refuse(f"cell type {name!r} is not defined; defined are {sorted(types)}")
    names, factors, node_depths = [name], [], []
    while names[-1] in types:
        kind = types[names[-1]]
        if kind.is_node:
            node_depths.append(len(names) - 1)
        names.append(kind.child)
        factors.append(kind.number)
    if len(node_depths) > 1:
        raise entry.refuse(
            f"cell types {[names[depth] for depth in node_depths]} are both node-level; "
            "a physical cell has exactly one node level"
        )
    return Lineage(tuple(names), tuple(factors), node_depths[0] if node_depths else -1)


def require_path(names: list[str], known: Lineage, entry: Entry) -> None:
    """Raise `InvalidSpec` unless the names lead down a lineage one level at a time.

    Examples
    --------
    >>> from hived_cells.spec.tree import parse_tree
    >>> kinds = Lineage(("RACK", "NODE", "GPU"), factors=(4, 8), node_depth=1)
    >>> require_path(["RACK", "GPU"], kinds, parse_tree("RACK.GPU", "f"))
    Traceback (most recent call last):
    hived_cells.errors.InvalidSpec: f: $ (line 1): 'RACK.GPU' skips or reverses levels; \
the levels are RACK.NODE.GPU
    """
    if tuple(names) != known.names[: len(names)]:
        for name in names:
            if name not in known.names:
                raise entry.refuse(
                    f"cell type {name!r} is no level of {known.names[0]!r}; "
                    f"the levels are {'.'.join(known.names)}"
                )
        raise entry.refuse(
            f"{'.'.join(names)!r} skips or reverses levels; the levels are {'.'.join(known.names)}"
        )
