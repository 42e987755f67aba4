"""What tenants want at the same time: takes a trace, gives weighted scenarios for each tenant."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from hived_cells.errors import InvalidSpec
from hived_cells.hierarchy import Chain
from hived_cells.simulation.trace import Shape, Trace

__all__ = ["History", "Scenario", "history_of"]

Counts = tuple[int, ...]  # by level, entry 0 unused


@dataclass(frozen=True, slots=True)
class Scenario:
    """How many groups of GPUs of each level's size a tenant wants at the same time.

    Parameters
    ----------
    weight
        Moments of the history that are like this.
    groups
        Groups of each level's size wanted at that time, index = level (index 0 unused).

    Examples
    --------
    >>> Scenario(weight=3, groups=(0, 4, 0, 0, 2)).groups[4]
    2
    """

    weight: int
    groups: Counts


@dataclass(frozen=True, slots=True)
class History:
    """What a tenant wanted.

    Parameters
    ----------
    scenarios
        Moments that are alike together.
    largest
        What the largest jobs must have: level → groups of one job, at this level or above. A soft
        job must have no shape, so it is so many groups of one GPU.

    Examples
    --------
    >>> History((Scenario(1, (0, 1)),), (0, 1)).largest
    (0, 1)
    """

    scenarios: tuple[Scenario, ...]
    largest: Counts


def history_of(
    trace: Trace, chain: Chain, *, every: int = 3600, most: int = 96
) -> dict[str, History]:
    """Return each tenant's scenarios, one moment after another as if every job ran at once.

    A group of GPUs counts at the lowest level whose cells have as many. A soft job counts in the
    shape that it prefers; a soft group larger than a node as whole nodes and the rest, for that
    is as close together as it can be. Moments that are alike
    are one scenario; where more than `most` differ, they are ordered by GPUs and cut into parts
    of as many moments, the middle one of which stands for its part.

    Parameters
    ----------
    trace
        The history.
    chain
        The hardware; its top level is the node.
    every
        Seconds from one moment to the next.
    most
        Scenarios a tenant.

    Raises
    ------
    InvalidSpec
        A hard job wants groups larger than a node.

    Examples
    --------
    >>> from hived_cells.simulation.trace import TraceJob
    >>> first = TraceJob("a", "A", submit=0, duration=7200, shape=Shape(1, 3))
    >>> second = TraceJob("b", "A", submit=3600, duration=60, shape=Shape(2, 8))
    >>> history = history_of(Trace([first, second]), Chain(4, (2, 2, 2)))["A"]
    >>> [scenario.groups for scenario in history.scenarios], history.largest
    ([(0, 0, 0, 1, 0), (0, 0, 0, 1, 2)], (0, 2, 2, 2, 2))
    >>> soft = TraceJob("c", "A", submit=0, duration=60, shape=Shape(1, 12, soft=True))
    >>> history = history_of(Trace([soft]), Chain(4, (2, 2, 2)))["A"]
    >>> history.scenarios[0].groups, history.largest
    ((0, 0, 0, 1, 1), (0, 12, 0, 0, 0))
    """
    changes: dict[str, list[tuple[int, int, int]]] = {tenant: [] for tenant in trace.tenants}
    largest = {tenant: [0] * (chain.levels + 1) for tenant in trace.tenants}
    for job in trace.jobs:
        groups = _groups(chain, job.name, job.shape)
        for level, number in groups.items():
            changes[job.tenant].append((job.submit, level, number))
            changes[job.tenant].append((job.submit + job.duration, level, -number))
        row = largest[job.tenant]
        if job.shape.soft:
            row[1] = max(row[1], job.shape.total)
        else:
            (level,) = groups
            for lower in range(1, level + 1):
                row[lower] = max(row[lower], job.shape.nodes)
    moments = range(0, trace.end + 1, every)
    return {
        tenant: History(
            _scenarios(_counted(sorted(rows), moments, chain), chain, most),
            tuple(largest[tenant]),
        )
        for tenant, rows in changes.items()
    }


def _groups(chain: Chain, name: str, shape: Shape) -> dict[int, int]:
    """Return level → groups of a job."""
    node = chain.sizes[-1]
    whole, rest = divmod(shape.gpus, node)
    if whole and (whole > 1 or rest) and not shape.soft:
        raise InvalidSpec(f"job {name!r}: {shape.gpus} GPUs together; a node has {node}")
    found = {chain.levels: whole * shape.nodes} if whole else {}
    if rest:
        level = next(level for level in range(1, chain.levels + 1) if chain.sizes[level] >= rest)
        found[level] = found.get(level, 0) + shape.nodes
    return found


def _counted(
    rows: list[tuple[int, int, int]], moments: range, chain: Chain
) -> Mapping[Counts, int]:
    """Return how many moments see each combination of groups."""
    now = [0] * (chain.levels + 1)
    seen: dict[Counts, int] = {}
    place = 0
    for moment in moments:
        while place < len(rows) and rows[place][0] <= moment:
            _, level, change = rows[place]
            now[level] += change
            place += 1
        groups = tuple(now)
        seen[groups] = seen.get(groups, 0) + 1
    return seen


def _scenarios(seen: Mapping[Counts, int], chain: Chain, most: int) -> tuple[Scenario, ...]:
    order = sorted(seen, key=lambda groups: (sum(map(int.__mul__, groups, chain.sizes)), groups))
    if len(order) <= most:
        return tuple(Scenario(seen[groups], groups) for groups in order)
    each = [groups for groups in order for _ in range(seen[groups])]
    cuts = [len(each) * part // most for part in range(most + 1)]
    return tuple(
        Scenario(end - begin, each[(begin + end) // 2])
        for begin, end in pairwise(cuts)
        if end > begin
    )
