"""Judges a design: takes cells, shares and histories, gives its exact cost and broken rules.

Solves nothing and imports no solver: what it says can be believed without believing one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from hived_cells.design.demand import History, Scenario
from hived_cells.hierarchy import Chain
from hived_cells.reservation import Reservation, first_short_level
from hived_cells.simulation.ways import reserved_gpus

__all__ = ["Cost", "Design", "cost_of", "faults_of", "served"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a tenant's cells leave to be desired, on average over its history (GPUs).

    Parameters
    ----------
    unmet
        GPUs wanted, and in no cell.
    misfit
        GPUs in a larger cell than wanted: what it leaves of that cell fits less.

    Examples
    --------
    >>> Cost(unmet=Fraction(1, 2), misfit=Fraction(3)).total(8)
    Fraction(7, 1)
    """

    unmet: Fraction
    misfit: Fraction

    def total(self, unmet_weight: int) -> Fraction:
        """Return misfit GPUs plus unmet ones, each of which counts as so many misfit ones."""
        return self.unmet * unmet_weight + self.misfit


@dataclass(frozen=True, slots=True)
class Design:
    """A reservation with what is claimed of it.

    Parameters
    ----------
    reservation
        Cells of each level for each tenant.
    costs
        Tenant → cost of its cells over its history.
    bounds
        Tenant → no design of the same shares costs less; None: no history.
    unmet_weight
        What an unmet GPU counts, a misfit one counting 1.
    stopped
        Tenants whose search stopped at its limit.

    Examples
    --------
    >>> Design(Reservation({}), {}, {}, 8).unmet_weight
    8
    """

    reservation: Reservation
    costs: Mapping[str, Cost]
    bounds: Mapping[str, Fraction | None]
    unmet_weight: int
    stopped: tuple[str, ...] = field(default=())


def served(chain: Chain, cells: Sequence[int], groups: Sequence[int]) -> tuple[int, int]:
    """Return the GPUs that find a place in the cells, and those of them in cells of their size.

    Groups fit into cells if and only if, at each level k, the cells of levels ≥ k have as many
    GPUs as the groups of levels ≥ k. Large groups first serves as many GPUs as possible, for
    sizes divide each other; as many as there are cells of a level can have one of their own size
    without anybody losing a place. Exact, O(levels).

    Parameters
    ----------
    chain
        The hardware.
    cells, groups
        By level, entry 0 unused.

    Examples
    --------
    >>> served(Chain(2, (8,)), (0, 0, 1), (0, 3, 0))     # three single GPUs in a node's cell
    (3, 0)
    >>> served(Chain(2, (8,)), (0, 2, 1), (0, 3, 1))     # two in cells of their own, one left over
    (10, 10)
    """
    room = done = fitting = 0  # room: GPUs of cells of this level and above that no group has
    for level in range(chain.levels, 0, -1):
        size = chain.sizes[level]
        room += size * cells[level]
        gpus = size * min(groups[level], room // size)
        room -= gpus
        done += gpus
        fitting += size * min(groups[level], cells[level])
    return done, fitting


def cost_of(chain: Chain, cells: Sequence[int], scenarios: Sequence[Scenario]) -> Cost:
    """Return the exact mean cost of a tenant's cells over its scenarios.

    Parameters
    ----------
    chain
        Levels and split factors.
    cells
        Reserved cells of each level, index = level (index 0 unused).
    scenarios
        The tenant's history.

    Examples
    --------
    >>> cost_of(Chain(2, (8,)), (0, 0, 1), [Scenario(1, (0, 3, 0)), Scenario(1, (0, 0, 2))])
    Cost(unmet=Fraction(4, 1), misfit=Fraction(3, 2))
    """
    unmet = misfit = weight = 0
    for scenario in scenarios:
        wanted = sum(map(int.__mul__, scenario.groups, chain.sizes))
        done, fitting = served(chain, cells, scenario.groups)
        unmet += scenario.weight * (wanted - done)
        misfit += scenario.weight * (done - fitting)
        weight += scenario.weight
    return Cost(Fraction(unmet, max(1, weight)), Fraction(misfit, max(1, weight)))


def cells_of(chain: Chain, reservation: Reservation, tenant: str) -> tuple[int, ...]:
    """Return a tenant's cells by level, entry 0 unused.

    Examples
    --------
    >>> cells_of(Chain(2, (8,)), Reservation({"A": {2: 1}}), "A")
    (0, 0, 1)
    """
    counts = dict(dict(reservation.cells).get(tenant, ()))
    return tuple(counts.get(level, 0) for level in range(chain.levels + 1))


def faults_of(
    design: Design,
    chain: Chain,
    shares: Mapping[str, int],
    histories: Mapping[str, History],
) -> tuple[str, ...]:
    """Return every rule that a design breaks, none for a good one: its certificate, checked.

    All reserved cells fit (every S_k ≥ 0); each tenant gets exactly its share; its largest job
    fits; the stated costs are the exact ones; no cost is below the stated bound, and none that
    was not stopped at a limit is above it.

    Parameters
    ----------
    design
        The design.
    chain
        The hardware.
    shares
        Tenant → GPUs.
    histories
        Tenant → what it wanted.

    Examples
    --------
    >>> design = Design(Reservation({"A": {2: 3}}), {}, {}, 8)
    >>> for fault in faults_of(design, Chain(2, (8,)), {"A": 8}, {}):
    ...     print(fault)
    level 2 is short: 3 cells needed, 2 available
    A: 24 GPUs reserved, its share is 8
    """
    reservation = design.reservation
    broken = []
    short = first_short_level(chain, reservation)
    if short is not None:
        needed = f"{short.needed} cells needed, {short.available} available"
        broken.append(f"level {short.level} is short: {needed}")
    gpus = reserved_gpus(chain, reservation)
    broken += [
        f"{tenant}: {gpus.get(tenant, 0)} GPUs reserved, its share is {shares.get(tenant, 0)}"
        for tenant in sorted({*shares, *gpus})
        if gpus.get(tenant, 0) != shares.get(tenant, 0)
    ]
    for tenant, history in sorted(histories.items()):
        cells = cells_of(chain, reservation, tenant)
        for level in range(1, chain.levels + 1):
            groups = sum(
                cells[upper] * (chain.sizes[upper] // chain.sizes[level])
                for upper in range(level, chain.levels + 1)
            )
            if groups < history.largest[level]:
                broken.append(
                    f"{tenant}: its largest job wants {history.largest[level]} groups of level "
                    f"{level}, its cells have {groups}"
                )
        cost = cost_of(chain, cells, history.scenarios)
        stated = design.costs.get(tenant)
        if stated != cost:
            broken.append(f"{tenant}: stated cost {stated}, it is {cost}")
        bound = design.bounds.get(tenant)
        total = cost.total(design.unmet_weight)
        if bound is not None and total < bound:
            broken.append(f"{tenant}: cost {total} is below its bound {bound}")
        if tenant not in design.stopped and bound != total:
            broken.append(f"{tenant}: cost {total} is said to be least, its bound is {bound}")
    return tuple(broken)
