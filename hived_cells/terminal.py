"""Prints trees and verdicts: takes plain data, writes to standard output.

Coloured on a terminal; plain text of any width when piped.
"""

import sys
from typing import Any

from hived_cells.report import Branch, tree_lines

__all__ = ["print_trees", "print_verdict"]

_COLOURS = {"free": "green", "bound": "bold", "pinned": "magenta", "split": "dim"}


def print_trees(trees: dict[str, tuple[Branch, ...]]) -> None:
    """Print the cell tree of each pool.

    Examples
    --------
    >>> print_trees({"NODE": (Branch("node7", "free", None, 0, 0, 1, ()),)})
    NODE
      node7  free
    """
    if not sys.stdout.isatty():
        for name, tree in trees.items():
            print(name)
            for line in tree_lines(tree, indent="  "):
                print(line)
        return
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    def grow(stem: Tree, branches: tuple[Branch, ...]) -> None:
        for branch in branches:
            colour = "red" if branch.bad else _COLOURS[branch.status]
            grow(stem.add(Text(branch.text(), style=colour)), branch.parts)

    for name, tree in trees.items():
        root = Tree(Text(name, style="bold blue"))
        grow(root, tree)
        Console().print(root)


def print_verdict(found: dict[str, Any]) -> None:
    """Print whether a specification is feasible, level by level, and who owns what.

    Examples
    --------
    >>> print_verdict({"feasible": True, "pools": [], "tenants": {"A": []}})
    feasible
    A: nothing
    """
    from rich.console import Console
    from rich.table import Table

    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else 200, highlight=False, file=sys.stdout)
    print("feasible" if found["feasible"] else "infeasible")
    for pool in found["pools"]:
        table = Table(title=f"{pool['pool']}: {pool['gpus']} GPUs", title_justify="left")
        if not terminal:
            table.box = None
        for name in ("level", "type", "cells", "GPUs each", "reserved", "pinned", "slack"):
            table.add_column(name, justify="left" if name == "type" else "right")
        for row in pool["levels"]:
            short = pool["short"] and pool["short"]["level"] == row["level"]
            spare = f"short by {pool['short']['by']}" if short else row["slack"]
            cells = [row["level"], row["type"], row["cells"], row["gpus_per_cell"]]
            cells += [row["reserved"], row["pinned"], "-" if spare is None else spare]
            table.add_row(*map(str, cells), style="red" if short else None)
        console.print(table)
    for tenant, owned in found["tenants"].items():
        parts = [
            f"{number} {kind} in {pool['pool']}"
            for pool in owned
            for kind, number in pool["cells"].items()
        ]
        parts += [
            f"pin {pin} ({address}) in {pool['pool']}"
            for pool in owned
            for pin, address in pool["pins"].items()
        ]
        print(f"{tenant}: {', '.join(parts) or 'nothing'}")
