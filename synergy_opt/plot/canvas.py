"""An empty figure, the style of all pictures, and the file that a figure becomes.

Takes sizes and values and gives a matplotlib `Figure`, or writes one; no window is opened and no
global state of matplotlib is touched. Needs the extra ``plot``.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.text import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which most colour-blind readers tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")
GREY = "#888888"
_FORMATS = (".png", ".svg", ".pdf")
MISSING = (
    "pictures need matplotlib, the extra `plot`: pip install '.[plot]' in the clone, or pip "
    "install 'synergy-hived[plot]'"
)


def new_figure(width: float, height: float) -> Figure:
    """Give an empty figure of that many inches.

    Raises
    ------
    InvalidInstance
        When matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - 0.3 s to import, and an extra
    except ImportError:
        raise InvalidInstance(MISSING) from None
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of `path`; whole or not at all.

    Raises
    ------
    InvalidInstance
        When the ending is another one, or the file cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        rule = f"a picture's file ends in {', '.join(_FORMATS)}, not in {ending or 'nothing'}"
        raise InvalidInstance(rule, f"{path}")
    stream = BytesIO()
    # Without dates and with a fixed salt the same picture gives the same bytes.
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    from matplotlib import rc_context  # noqa: PLC0415

    with rc_context({"svg.hashsalt": "synergy_opt"}):
        figure.savefig(stream, format=ending[1:], dpi=150, metadata=metadata[ending])
    write_bytes(path, stream.getvalue())


def colour(number: int) -> str:
    """Give the colour of the number-th line or bar."""
    return COLOURS[number % len(COLOURS)]


def labelled(name: str, unit: str) -> str:
    """Give the text of an axis: what, and its unit where it has one."""
    return f"{name}, {unit}" if unit else name


def clean(axes: Axes) -> None:
    """Leave only what carries the eye: no box, faint lines behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
