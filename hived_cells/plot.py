"""Pictures of the cell tree: takes a state, gives a matplotlib figure (extra `plot`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hived_cells import bitset
from hived_cells.errors import InvalidSpec
from hived_cells.hierarchy import Cell
from hived_cells.state import State, bound_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MAX_GPUS_DRAWN", "draw"]

MAX_GPUS_DRAWN = 2048  # below one pixel a GPU nothing can be seen
_FREE, _SPLIT, _LOW, _BAD = "#f2f2f2", "white", "#8c8c8c", "#c00000"


def draw(state: State, *, title: str = "", gangs: Mapping[int, str] | None = None) -> "Figure":
    """Return a picture: a row a level, top level above, each cell as wide as its GPUs.

    Held cells have their tenant's colour, pinned ones not in use its outline, free ones are
    grey, split ones white. Below the lowest row stand the GPUs in low-priority use (grey) and
    the bad ones (red), and which gang runs on which GPUs.

    Parameters
    ----------
    state
        What to draw.
    title
        Written above the picture.
    gangs
        GPU → the gang that runs on it.

    Raises
    ------
    InvalidSpec
        The pool has more than `MAX_GPUS_DRAWN` GPUs.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> figure = draw(initial_state(Chain(2, (2, 2)), Reservation({"A": {1: 1}})))
    >>> figure.axes[0].get_ylabel()
    'level'
    """
    if state.chain.gpus > MAX_GPUS_DRAWN:
        raise InvalidSpec(
            f"picture: the pool has {state.chain.gpus} GPUs; at most {MAX_GPUS_DRAWN} can be drawn"
        )
    from matplotlib.figure import Figure  # noqa: PLC0415 (heavy: only where it is used)

    chain = state.chain
    width = min(24.0, max(6.0, chain.gpus * 0.16))
    figure = Figure(figsize=(width, 1.2 + 0.55 * (chain.levels + 1)), layout="constrained")
    axes = figure.add_subplot()
    owners = {cell: tenant for tenant, cell in bound_cells(state)}
    pins = {pin.cell: pin.tenant for pin in state.reservation.pins}
    for level in range(1, chain.levels + 1):
        for index in range(chain.counts[level]):
            style = _style(state, chain.cell(level, index), owners, pins)
            if style:
                _box(axes, index * chain.sizes[level], level, chain.sizes[level], style)
    for bits, colour, depth in ((state.low, _LOW, 0.3), (state.bad, _BAD, -0.25)):
        for gpu in bitset.indices(bits):
            style = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.3}
            _box(axes, gpu, depth, 1, style, height=0.4)
    axes.set_xlim(0, chain.gpus)
    axes.set_ylim(-0.6, chain.levels + 0.6)
    axes.set_yticks(
        [-0.25, 0.3, *range(1, chain.levels + 1)],
        ["bad", "low priority", *map(str, range(1, chain.levels + 1))],
    )
    axes.set_xlabel("GPU")
    axes.set_ylabel("level")
    axes.set_title(title)
    if gangs:
        _gang_row(axes, gangs)
    _legend(figure, state)
    return figure


def _gang_row(axes: "Axes", gangs: Mapping[int, str]) -> None:
    """Draw the gangs' names on their GPUs below everything else."""
    runs: list[tuple[str, int, int]] = []  # name, first GPU, GPUs side by side
    for gpu, name in sorted(gangs.items()):
        if runs and runs[-1][0] == name and sum(runs[-1][1:]) == gpu:
            runs[-1] = (name, runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((name, gpu, 1))
    for name, first, gpus in runs:
        style = {"facecolor": "white", "edgecolor": "black", "linewidth": 0.6}
        _box(axes, first, -0.8, gpus, style, height=0.4)
        axes.text(first + gpus / 2, -0.8, name, ha="center", va="center", fontsize="x-small")
    axes.set_ylim(bottom=-1.15)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    axes.set_yticks([-0.8, *axes.get_yticks()], ["gang", *labels])


def _style(
    state: State, cell: Cell, owners: dict[Cell, str], pins: dict[Cell, str]
) -> dict[str, Any]:
    """Return how to draw a cell; nothing for one inside a free or held cell."""
    line = {"edgecolor": "black", "linewidth": 0.6}
    if cell in owners:
        return {**line, "facecolor": _colour(state, owners[cell])}
    if cell in pins:
        colour = _colour(state, pins[cell])
        return {"facecolor": "white", "edgecolor": colour, "linewidth": 1.5, "hatch": "///"}
    index = state.chain.index(cell)
    if bitset.has(state.free[cell.level], index):
        return {**line, "facecolor": _FREE}
    for upper in range(cell.level + 1, state.chain.levels + 1):
        outer = state.chain.at(cell.path[: state.chain.levels - upper + 1])
        free = bitset.has(state.free[upper], state.chain.index(outer))
        if free or outer in owners or outer in pins:
            return {}
    return {**line, "facecolor": _SPLIT, "linestyle": ":"}


def _colour(state: State, tenant: str) -> str:
    return f"C{state.pool.tenant_number(tenant) % 10}"


def _box(
    axes: "Axes",
    left: float,
    middle: float,
    width: float,
    style: dict[str, Any],
    *,
    height: float = 0.8,
) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    axes.add_patch(Rectangle((left, middle - height / 2), width, height, **style))


def _legend(figure: "Figure", state: State) -> None:
    from matplotlib.patches import Patch  # noqa: PLC0415

    entries = [
        Patch(facecolor=_colour(state, tenant), edgecolor="black", label=f"held by {tenant}")
        for tenant in state.reservation.tenants[:10]
    ]
    entries += [
        Patch(facecolor=_FREE, edgecolor="black", label="free"),
        Patch(facecolor=_SPLIT, edgecolor="black", linestyle=":", label="split"),
        Patch(facecolor=_LOW, label="low priority"),
        Patch(facecolor=_BAD, label="bad"),
    ]
    figure.legend(handles=entries, loc="outside right upper", fontsize="small")
