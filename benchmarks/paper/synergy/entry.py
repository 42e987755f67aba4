"""What an entry of the registry is, takes and gives.

Takes nothing and gives frozen values: `Settings` in, `Outcome` out, which `report` writes down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How large a run is.

    Parameters
    ----------
    jobs, first, last
        Length of a trace and the window of measured jobs, positions in the trace.
    static_jobs
        Length of a static trace.
    seeds
        Traces, by seed.
    gpus, mixes
        Sizes of the clusters that are divided once, and how many mixes of jobs on each.
    full
        The paper's sizes.
    workers
        Processes.
    trace
        The public Philly trace, a CSV file, for Fig. 6; None draws a trace like it.
    runs
        A folder that keeps every run; None keeps nothing.
    """

    jobs: int
    first: int
    last: int
    static_jobs: int
    seeds: tuple[int, ...]
    gpus: tuple[int, ...]
    mixes: int
    full: bool
    workers: int = 1
    trace: str | None = None
    runs: str | None = None


SMALL = Settings(
    jobs=1400,
    first=800,
    last=1100,
    static_jobs=100,
    seeds=(1, 2, 3),
    gpus=(16, 64, 128, 256),
    mixes=5,
    full=False,
)
"""Minutes on one core: shorter traces, so queues are shorter than the paper's."""
FULL = Settings(
    jobs=5600,
    first=4000,
    last=5000,
    static_jobs=100,
    seeds=tuple(range(1, 11)),
    gpus=(16, 64, 128, 512, 2048),
    mixes=20,
    full=True,
)
"""The paper's steady state: jobs 4,000 to 4,999 of a trace that goes on behind them."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One published statement and what came out here.

    Parameters
    ----------
    what
        The quantity.
    published, ours
        In words and numbers; published is ``"–"`` where the paper gives none.
    holds
        Whether the statement holds here; None where there is none to hold.
    """

    what: str
    published: str
    ours: str
    holds: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a panel."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A panel of a figure; `kind` is how its lines are drawn."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    kind: str = "points"  # or "steps"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an entry gives: rows for the table, panels for the picture, numbers for the file."""

    rows: tuple[Row, ...]
    panels: tuple[Panel, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One figure or table of the paper.

    Parameters
    ----------
    name
        Of the command: ``"fig9"``.
    title
        What it shows, with the paper's section.
    hardware
        What of it cannot be reproduced without the paper's hardware; empty where nothing.
    note
        Why figures here are what they are, where that was found out; empty where nothing.
    run
        Does the work.
    """

    name: str
    title: str
    hardware: str
    run: Callable[[Settings], Outcome]
    note: str = ""
