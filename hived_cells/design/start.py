"""A first design without a solver: takes a share and a history, gives cells by exchanges."""

from hived_cells.design.check import cost_of
from hived_cells.design.demand import History
from hived_cells.hierarchy import Chain

__all__ = ["hosts", "improved", "whole_nodes"]


def whole_nodes(chain: Chain, share: int) -> tuple[int, ...]:
    """Return as many nodes as a share has, the rest as the largest cells; by level from 1 on.

    Examples
    --------
    >>> whole_nodes(Chain(4, (2, 2, 2)), 19)
    (0, 1, 1, 0, 2)
    """
    cells = [0] * (chain.levels + 1)
    for level in range(chain.levels, 0, -1):
        cells[level], share = divmod(share, chain.sizes[level])
    return tuple(cells)


def improved(
    chain: Chain, cells: tuple[int, ...], history: History, unmet_weight: int
) -> tuple[int, ...]:
    """Return cells that no exchange betters: one cell for as many of another level as it holds.

    Exchanges of 1, 2, 4, ... cells at once are tried, the share stays. O(log share x levels² x
    scenarios) evaluations a round; each round lowers the cost, so it ends.

    Examples
    --------
    >>> from hived_cells.design.demand import Scenario
    >>> wanted = History((Scenario(1, (0, 3, 0)),), (0, 1, 0))
    >>> improved(Chain(4, (8,)), (0, 0, 2), wanted, 8)
    (0, 8, 1)
    """
    best = cells
    cost = cost_of(chain, best, history.scenarios).total(unmet_weight)
    better = True
    while better:
        better = False
        for row in _exchanged(chain, best):
            if not hosts(chain, row, history.largest):
                continue
            now = cost_of(chain, row, history.scenarios).total(unmet_weight)
            if now < cost:
                best, cost, better = row, now, True
                break
    return best


def _exchanged(chain: Chain, cells: tuple[int, ...]) -> list[tuple[int, ...]]:
    found = []
    for upper in range(2, chain.levels + 1):
        for lower in range(1, upper):
            ratio = chain.sizes[upper] // chain.sizes[lower]
            for split in (True, False):
                most = cells[upper] if split else cells[lower] // ratio
                step = 1
                while step <= most:
                    row = list(cells)
                    row[upper] += -step if split else step
                    row[lower] += ratio * step if split else -ratio * step
                    found.append(tuple(row))
                    step *= 2
    return found


def hosts(chain: Chain, cells: tuple[int, ...], largest: tuple[int, ...]) -> bool:
    """Return whether the largest jobs fit.

    Examples
    --------
    >>> hosts(Chain(4, (8,)), (0, 8, 1), (0, 3, 2))
    False
    """
    for level in range(1, chain.levels + 1):
        room = sum(
            cells[k] * (chain.sizes[k] // chain.sizes[level])
            for k in range(level, chain.levels + 1)
        )
        if room < largest[level]:
            return False
    return True
