"""What a sweep amounts to: figures by policy, mechanism and load, with intervals over the seeds.

Takes the documents of runs and gives rows in plain values, tables and CSV text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.csv_rows import csv_text
from synergy_opt.simulation.metrics import interval
from synergy_opt.sweep.kept import read_run

HOUR = 3600
Document = Mapping[str, Any]

RUN_COLUMNS = (
    "workload", "load", "seed", "policy", "mechanism", "jobs", "mean_s", "median_s", "p95_s",
    "p99_s", "makespan_s", "queueing_s", "fairness", "worst_fairness", "slowest", "moves",
)  # fmt: skip
JOB_COLUMNS = (
    "workload", "load", "seed", "policy", "mechanism", "id", "gpus", "profile", "submitted",
    "duration", "started", "finished", "ran", "moves",
)  # fmt: skip


def read_runs(folder: Path) -> list[Document]:
    """Read the runs that a sweep has kept in a folder, in the order of their files' names.

    Raises
    ------
    InvalidInstance
        When there is none, a file is no document of a run, or the runs are not of one sweep:
        figures over them would mix what is not alike.
    """
    found: list[Document] = [read_run(path) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise InvalidInstance("has no runs: give the folder of simulate --output", f"{folder}")
    _check_alike(found, f"{folder}")
    return found


_VARIED = ("workload", "content", "load", "seed", "policy", "mechanism", "own")  # by a sweep


def _check_alike(documents: Sequence[Document], folder: str) -> None:
    """Refuse runs that differ in more than what one sweep varies."""
    seen: dict[tuple[str, ...], tuple[str, object]] = {}
    for document in documents:
        settings = document["settings"]
        drawn = [f"{settings[name]}" for name in ("workload", "load", "seed")]
        # A line is over one kind of trace: one of a file, or one drawn for each load and seed.
        alike = [(("workload", *drawn[1:]), "the traces")]
        alike += [(("content", *drawn), "the jobs, profiles or servers")]
        alike += [(("own", settings["mechanism"]), f"the file of {settings['mechanism']}")]
        alike += [((name,), name) for name in settings if name not in _VARIED]
        for key, what in alike:
            value = settings[key[0]]
            _, before = seen.setdefault(key, (what, value))
            if before != value:
                rule = f"holds runs of several sweeps: {what} differ"
                told = "" if len(f"{value}") > 60 else f" ({before} and {value})"
                raise InvalidInstance(f"{rule}{told}; give each sweep a folder", folder)


def groups(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """Give a row for each workload family, policy, mechanism and load: means over the seeds.

    The interval is a bootstrap of the mean JCT over seeds (95 %); None for a single run. The
    speed-up is that of each job against the GPU-proportional run of the same policy, load and
    seed, its mean and its largest over all jobs; None where there is no such run.
    """
    found: dict[tuple[Any, ...], list[Document]] = {}
    base: dict[tuple[Any, ...], Document] = {}
    for document in documents:
        settings = document["settings"]
        key = (_family(settings), settings["load"], settings["policy"], settings["mechanism"])
        found.setdefault(key, []).append(document)
        if settings["mechanism"] == "proportional":
            base[_pair(document)] = document
    return [_row(key, runs, base) for key, runs in found.items()]


def _family(settings: Document) -> str | None:
    """Name a trace without its seed; the paper's derived trace goes by its load."""
    if settings["load"] is not None:
        return None
    name: str = settings["workload"]
    return name.removesuffix(f"-{settings['seed']}")


def _pair(document: Document) -> tuple[Any, ...]:
    return tuple(
        str(value)
        for name, value in document["settings"].items()
        if name not in ("mechanism", "own", "version")
    )


def _row(
    key: tuple[Any, ...], runs: Sequence[Document], base: Mapping[tuple[Any, ...], Document]
) -> dict[str, Any]:
    family, load, policy, mechanism = key
    means = [run["summary"]["mean_s"] / HOUR for run in runs]
    ratios = [
        ratio
        for run in runs
        if (other := base.get(_pair(run))) is not None
        for ratio in job_speedups(other, run)
    ]
    row: dict[str, Any] = {
        "workload": family,
        "load": load,
        "policy": policy,
        "mechanism": mechanism,
        "runs": len(runs),
        "mean_h": float(np.mean(means)),
        "interval_h": list(interval(means)) if len(means) > 1 else None,
    }
    for name in ("median_s", "p95_s", "p99_s", "makespan_s", "queueing_s"):
        row[f"{name[:-2]}_h"] = float(np.mean([run["summary"][name] for run in runs])) / HOUR
    row["fairness"] = float(np.mean([run["summary"]["fairness"] for run in runs]))
    row["worst_fairness"] = max(run["summary"]["worst_fairness"] for run in runs)
    row["utilisation"] = {
        name: float(np.mean([run["summary"]["utilisation"][name] for run in runs]))
        for name in runs[0]["summary"]["utilisation"]
    }
    row["speedup"] = float(np.mean(ratios)) if ratios else None
    row["largest_speedup"] = max(ratios) if ratios else None
    return row


def job_speedups(base: Document, other: Document) -> list[float]:
    """Give for each measured job its completion time in `base` over that in `other`."""
    return [
        float(completion(a) / completion(b))
        for a, b in zip(base["jobs"], other["jobs"], strict=True)
    ]


def completion(job: Document) -> Fraction:
    """Give a job's completion time in seconds."""
    return Fraction(job["finished"]) - Fraction(job["submitted"])


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Draw the rows for people: times in hours, at most 100 columns wide.

    A load, or the trace's name, that all rows share is in the title and not in each row.
    """
    loads = [row["load"] or row["workload"] for row in rows]
    shared = len(set(loads)) == 1
    where = f"{'load' if rows[0]['load'] else 'trace'} {loads[0]}; " if shared else ""
    drawn = Table(title=f"{where}times in hours", title_justify="left", box=SIMPLE_HEAD)
    drawn.show_edge, drawn.padding = False, 0
    heads = ("mean\nJCT", "95 %\ninterval", "median", "p95", "p99", "make-\nspan", "queue-\ning",
             "ρ", "GPUs", "speed-\nup")  # fmt: skip
    for head in ("policy", "mechanism", *(() if shared else ("load",))):
        drawn.add_column(head)
    for head in heads:
        drawn.add_column(head, justify="right", no_wrap=True)
    for row, load in zip(rows, loads, strict=True):
        low_high = row["interval_h"]
        drawn.add_row(
            row["policy"],
            row["mechanism"],
            *(() if shared else (load,)),
            f"{row['mean_h']:.3f}",
            f"{low_high[0]:.2f}–{low_high[1]:.2f}" if low_high else "–",
            *(f"{row[f'{name}_h']:.2f}" for name in ("median", "p95", "p99", "makespan")),
            f"{row['queueing_h']:.2f}",
            f"{row['fairness']:.2f}",
            f"{row['utilisation']['gpus']:.0%}",
            "–" if row["speedup"] is None else f"{row['speedup']:.2f}",
        )
    return drawn


def runs_csv(documents: Iterable[Document]) -> str:
    """Give a line a run: settings and figures, times in seconds."""
    return csv_text(RUN_COLUMNS, [_line(d, d["summary"], RUN_COLUMNS) for d in documents])


def jobs_csv(documents: Iterable[Document]) -> str:
    """Give a line a measured job of each run, times in exact seconds."""
    rows = [_line(d, job, JOB_COLUMNS) for d in documents for job in d["jobs"]]
    return csv_text(JOB_COLUMNS, rows)


def _line(document: Document, values: Document, columns: Sequence[str]) -> tuple[str, ...]:
    merged = {**document["settings"], **values}
    return tuple("" if merged[name] is None else str(merged[name]) for name in columns)
