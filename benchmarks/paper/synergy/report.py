"""An outcome as a table on the screen, Markdown, a picture and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.paper.synergy.entry import FULL, SMALL, Entry, Outcome, Panel, Row, Settings
from benchmarks.paper.synergy.registry import ENTRIES
from synergy_opt.io.text import write_text
from synergy_opt.plot.canvas import clean, colour, new_figure, save

_HEAD = """# The Synergy paper's evaluation

Written by `python -m benchmarks.paper.synergy ENTRY … --output docs/evaluation/synergy`; the JSON
file of an entry has its settings and every run. Published figures are those of Mohan et al., OSDI
'22. Model profiles are [ours](../../model-profiles.md): compare ratios and orders, and hours only
roughly. `--full` takes the paper's steady state, jobs 4,000 to 4,999 of a trace. Small settings
measure jobs 800 to 1,099, where queues have only begun to grow: what TUNE gains while the cluster
fills is a larger part of a completion time there, and what it gains by shorter queues a smaller.

`tune` is TUNE as the paper's text has it; `tune-simulated` is TUNE with the choices of the
authors' simulator, from which the published figures are. Numbers in brackets are 95 % bootstrap
intervals over paired traces, one a seed: with two or three seeds they are a rough guide. "Holds"
says whether the paper's statement held here; a dash where there is none to hold, or where the
intervals leave it open.
"""
_LOCAL = ("workers", "runs", "trace")  # nothing that a figure depends on, or a path
_MARKS = "osD^v"
_MANY = 60  # points beyond which a line needs no marks


def shown(entry: Entry, outcome: Outcome) -> None:
    """Print the table."""
    table = Table(title=f"{entry.name}: {entry.title}", title_justify="left")
    for name in ("what", "published", "ours", "holds"):
        table.add_column(name)
    for row in outcome.rows:
        table.add_row(row.what, row.published, row.ours, _holds(row))
    console = Console()
    console.print(table)
    if entry.hardware:
        console.print(f"Not reproduced: {entry.hardware}.")


def write_json(path: Path, entry: Entry, outcome: Outcome, settings: Settings) -> None:
    """Write everything that the entry gave, with its settings."""
    value = {
        "schema": "synergy-opt/paper/1",
        "entry": entry.name,
        "title": entry.title,
        "not_reproduced": entry.hardware,
        "settings": {k: v for k, v in asdict(settings).items() if k not in _LOCAL},
        "rows": [asdict(row) for row in outcome.rows],
        "data": outcome.data,
    }
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_page(folder: Path) -> None:
    """Write ``README.md`` of all entries whose JSON is in the folder."""
    write_text(folder / "README.md", page(folder))


def page(folder: Path) -> str:
    """Give the page of all entries whose JSON is in the folder, in the registry's order."""
    found = [
        json.loads((folder / f"{name}.json").read_text("utf-8"))
        for name in ENTRIES
        if (folder / f"{name}.json").exists()
    ]
    sections = [
        _section(value, (folder / "images" / f"{value['entry']}.png").exists()) for value in found
    ]
    return "\n".join([_HEAD, *sections])


def _section(value: Mapping[str, Any], pictured: bool) -> str:
    name, size = value["entry"], value["settings"]
    lines = [f"## {name}: {ENTRIES[name].title}", ""]
    if ENTRIES[name].hardware:
        lines += [f"Not reproduced: {ENTRIES[name].hardware}.", ""]
    lines += ["| what | published | ours | holds |", "|---|---|---|---|"]
    for row in value["rows"]:
        cells = (row["what"], row["published"], row["ours"], _holds(Row(**row)))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += [*_measured(value["data"]), *_never_slower(value["data"])]
    if ENTRIES[name].note:
        lines += ["", ENTRIES[name].note]
    if pictured:
        lines += ["", f"![{ENTRIES[name].title}](images/{name}.png)"]
    words = " --full" if size["full"] else ""
    seeds = len(size["seeds"])
    if seeds != len((FULL if size["full"] else SMALL).seeds):
        words += f" --seeds {seeds}"
    trace = value["data"].get("trace", "")
    if ".csv" in trace:
        words += f" --trace {trace}"
    return "\n".join([*lines, "", f"`python -m benchmarks.paper.synergy {name}{words}`", ""])


def _measured(data: Mapping[str, Any]) -> list[str]:
    """Say which jobs of how many traces were measured, where all runs of an entry say the same."""
    runs = [run for run in data.get("runs", ()) if "first" in run]
    windows = {(run["first"], run["last"], run["jobs"]) for run in runs}
    if len(windows) != 1:
        return []
    ((first, last, jobs),) = windows
    traces = len({run["seed"] for run in runs})
    many = "1 trace" if traces == 1 else f"{traces} traces"
    return ["", f"Measured: jobs {first:,} to {last - 1:,} of {jobs:,}, {many}."]


def _never_slower(data: Mapping[str, Any]) -> list[str]:
    """Say how slow a job of TUNE's runs ever was, where runs were kept with that."""
    slowest = [
        run["slowest"]
        for run in data.get("runs", ())
        if "slowest" in run and run["mechanism"] in ("tune", "tune-simulated")
    ]
    if not slowest:
        return []
    return [
        "",
        f"TUNE never worse than the share: lowest throughput of a job, over that of its share, in "
        f"any round of the {len(slowest)} runs under either TUNE: {min(slowest):.4g}.",
    ]


def write_picture(path: Path, panels: Sequence[Panel]) -> None:
    """Draw the panels side by side, two a row."""
    wide = len(panels) if len(panels) < 4 else 2
    high = -(-len(panels) // wide)
    figure = new_figure(1.2 + 4.4 * wide, 0.4 + 3.1 * high)
    grid = figure.subplots(high, wide, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid, panels, strict=False):
        for k, line in enumerate(panel.lines):
            plain = len(line.x) > _MANY or panel.kind == "steps" or line.label.startswith("truth")
            mark = "" if plain else _MARKS[k % len(_MARKS)]
            alone = line.label in ("measured", "published")  # single points, nothing between
            under = line.label.startswith("truth")
            axes.plot(
                line.x,
                line.y,
                color=colour(k),
                label=line.label,
                marker=mark,
                markersize=7 if alone else 4,
                linewidth=0 if alone else 5 if under else 1.5,
                linestyle="--" if line.label.endswith("tune-simulated") else "-",  # over tune
                alpha=0.4 if under else 1,
                markerfacecolor="none" if alone else colour(k),
                drawstyle="steps-post" if panel.kind == "steps" else "default",
            )
        axes.set_title(panel.title, loc="left", fontsize=10)
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        axes.set_ylim(0, 1.08 * max(max(line.y) for line in panel.lines))
        if len(panel.lines) > 1:
            axes.legend(fontsize=8, frameon=False)
        clean(axes)
    save(figure, path)


def _holds(row: Row) -> str:
    return "–" if row.holds is None else "yes" if row.holds else "**no**"
