"""States and verdicts for people and for JSON: takes a state or a specification, gives plain data.

Long runs of untouched cells are one entry, so that a picture of 65,536 GPUs stays readable.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hived_cells import bitset
from hived_cells.hierarchy import Cell
from hived_cells.invariants import slack
from hived_cells.reservation import Shortage, first_short_level
from hived_cells.spec.values import Spec, SpecPool
from hived_cells.state import State, bound_cells, initial_state

__all__ = ["Branch", "cell_tree", "tree_lines", "verdict"]


@dataclass(frozen=True, slots=True)
class Branch:
    """A cell, or a run of untouched free ones, and what is below it.

    Examples
    --------
    >>> Branch("node7", "free", tenant=None, low_priority=0, bad=0, cells=1, parts=()).text()
    'node7  free'
    """

    label: str
    status: str  # free, bound, pinned or split
    tenant: str | None
    low_priority: int  # GPUs
    bad: int  # GPUs
    cells: int  # 1, or the length of a run
    parts: tuple["Branch", ...]
    gangs: tuple[str, ...] = ()  # with GPUs in it; told only where the tree goes no deeper

    def text(self) -> str:
        """Return the branch's own line.

        Examples
        --------
        >>> Branch("0", "bound", tenant="A", low_priority=0, bad=2, cells=1, parts=()).text()
        '0  bound to A, 2 GPUs bad'
        """
        words = {"bound": f"bound to {self.tenant}", "pinned": f"pinned for {self.tenant}"}
        notes = [words.get(self.status, self.status)]
        if self.cells > 1:
            notes.append(f"{self.cells} cells")
        if self.low_priority:
            notes.append(f"{self.low_priority} GPUs low priority")
        if self.bad:
            notes.append(f"{self.bad} GPUs bad")
        if self.gangs:
            notes.append(f"gangs {' '.join(self.gangs)}")
        return f"{self.label}  {', '.join(notes)}"

    def to_data(self) -> dict[str, Any]:
        """Return the branch and all below it as dictionaries and lists.

        Examples
        --------
        >>> Branch("0", "free", None, 0, 0, 4, ()).to_data()["cells"]
        4
        """
        return {
            "cell": self.label,
            "status": self.status,
            "tenant": self.tenant,
            "low_priority": self.low_priority,
            "bad": self.bad,
            "cells": self.cells,
            "gangs": list(self.gangs),
            "parts": [part.to_data() for part in self.parts],
        }


def cell_tree(
    state: State,
    *,
    address: Callable[[Cell], str] = str,
    all_gpus: bool = False,
    gangs: Mapping[int, str] | None = None,
) -> tuple[Branch, ...]:
    r"""Return the top cells with what is below them.

    Parameters
    ----------
    state
        The state to show.
    address
        What to call a cell.
    all_gpus
        Whether untouched cells are listed one by one and free cells with low-priority or bad
        GPUs are opened down to those GPUs.
    gangs
        GPU → the gang that runs on it.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, allocate
    >>> state = initial_state(Chain(3, (2,)), Reservation({"A": {1: 1}}))
    >>> state, _ = allocate(state, "A", 1)
    >>> print(*tree_lines(cell_tree(state)), sep="\n")
    0  split
      0/0  bound to A
      0/1  free
    1 .. 2  free, 2 cells
    """
    owners = {cell: tenant for tenant, cell in bound_cells(state)}
    pins = {pin.cell: pin.tenant for pin in state.reservation.pins}

    def branch(level: int, index: int) -> Branch:
        cell = state.chain.cell(level, index)
        size = state.chain.sizes[level]
        low = bitset.window(state.low, index * size, size).bit_count()
        bad = bitset.window(state.bad, index * size, size).bit_count()
        tenant = owners.get(cell, pins.get(cell))
        if tenant is not None:
            status = "bound" if cell in owners else "pinned"
        else:
            inside = containing_is_free(state, level, index)
            status = "free" if inside else "split"
        opened = status == "split" or (all_gpus and level > 1 and max(low, bad) > 0)
        parts = below(level, index) if opened else ()
        names: dict[str, None] = {}
        if gangs and not parts:
            names = {gangs[g]: None for g in range(index * size, (index + 1) * size) if g in gangs}
        return Branch(address(cell), status, tenant, low, bad, 1, parts, tuple(names))

    def below(level: int, index: int) -> tuple[Branch, ...]:
        factor = state.chain.splits[level]
        found = [branch(level - 1, i) for i in range(index * factor, (index + 1) * factor)]
        return tuple(found if all_gpus else _runs(found))

    tops = [branch(state.chain.levels, index) for index in range(state.chain.top_cells)]
    return tuple(tops if all_gpus else _runs(tops))


def containing_is_free(state: State, level: int, index: int) -> bool:
    """Return whether a cell is on a free list or part of one that is.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation
    >>> containing_is_free(initial_state(Chain(3, (2,)), Reservation({})), 1, 5)
    True
    """
    for upper in range(level, state.chain.levels + 1):
        if bitset.has(state.free[upper], index):
            return True
        if upper < state.chain.levels:
            index //= state.chain.splits[upper + 1]
    return False


def _runs(branches: list[Branch]) -> Iterator[Branch]:
    """Yield the branches with runs of untouched free ones joined."""
    run: list[Branch] = []
    for branch in branches:
        if branch.status == "free" and not branch.low_priority and not branch.bad:
            run.append(branch)
            continue
        yield from _joined(run)
        run = []
        yield branch
    yield from _joined(run)


def _joined(run: list[Branch]) -> Iterator[Branch]:
    if len(run) < 2:
        yield from run
        return
    label = f"{run[0].label} .. {run[-1].label}"
    yield Branch(label, "free", None, 0, 0, len(run), ())


def tree_lines(branches: tuple[Branch, ...], *, indent: str = "") -> Iterator[str]:
    """Yield the tree line by line, each level indented by two spaces.

    Examples
    --------
    >>> list(tree_lines((Branch("0", "free", None, 0, 0, 1, ()),)))
    ['0  free']
    """
    for branch in branches:
        yield indent + branch.text()
        yield from tree_lines(branch.parts, indent=indent + "  ")


def verdict(spec: Spec) -> dict[str, Any]:
    """Return whether a specification is feasible, what is short, and what each tenant owns.

    Keys: `feasible`; `pools`: name, GPUs, `levels` (level, type, cells, reserved, pinned,
    slack where feasible) and `short` (level, type, needed, available, by) or None; `tenants`:
    pool, cells by type and pins of each.

    Examples
    --------
    >>> verdict(Spec(pools=(), tenants=("A",)))
    {'feasible': True, 'pools': [], 'tenants': {'A': []}}
    """
    pools = [_pool_verdict(pool) for pool in spec]
    return {
        "feasible": all(entry["short"] is None for entry in pools),
        "pools": pools,
        "tenants": {tenant: list(_owned(spec, tenant)) for tenant in spec.tenants},
    }


def _pool_verdict(pool: SpecPool) -> dict[str, Any]:
    chain, reservation = pool.pool.chain, pool.pool.reservation
    short: Shortage | None = first_short_level(chain, reservation)
    spare = None if short else slack(initial_state(chain, reservation))
    levels = [
        {
            "level": level,
            "type": pool.types[level],
            "cells": chain.counts[level],
            "gpus_per_cell": chain.sizes[level],
            "reserved": pool.pool.owed_at_start[level],
            "pinned": sum(pin.cell.level == level for pin in reservation.pins),
            "slack": None if spare is None else spare[level - 1],
        }
        for level in range(chain.levels, 0, -1)
    ]
    return {
        "pool": pool.name,
        "gpus": chain.gpus,
        "levels": levels,
        "short": short
        and {
            "level": short.level,
            "type": pool.types[short.level],
            "needed": short.needed,
            "available": short.available,
            "by": short.needed - short.available,
        },
    }


def _owned(spec: Spec, tenant: str) -> Iterator[dict[str, Any]]:
    for pool in spec:
        reservation = pool.pool.reservation
        counts = dict(dict(reservation.cells).get(tenant, ()))
        pins = [pin for pin in reservation.pins if pin.tenant == tenant]
        if counts or pins:
            yield {
                "pool": pool.name,
                "cells": {pool.types[level]: number for level, number in sorted(counts.items())},
                "pins": {pin.name: pool.address(pin.cell) for pin in pins},
            }
