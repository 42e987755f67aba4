"""Runs that a sweep has kept: a file → its document, or what is wrong with it.

Takes a path and gives plain values whose shape is checked, so that whoever sums them up need not.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import exact
from synergy_opt.io.plain_json import read_plain
from synergy_opt.sweep.scenario import SCHEMA

_EXACT = ("submitted", "duration", "started", "finished", "ran")  # of a job: numbers as strings


class _Settings(msgspec.Struct, forbid_unknown_fields=True):
    version: str
    code: str
    workload: str
    content: str
    servers: int
    gpus: int
    load: str | None
    seed: int | None
    policy: str
    mechanism: str
    own: str | None
    round: str | None
    sticky: bool
    move_cost: str
    profiling_time: str
    floor_iterations: bool
    window: tuple[int, int] | None


class _Summary(msgspec.Struct, forbid_unknown_fields=True):
    jobs: int
    mean_s: float
    median_s: float
    p95_s: float
    p99_s: float
    makespan_s: float
    queueing_s: float
    fairness: float
    worst_fairness: float
    slowest: str | None
    moves: int
    utilisation: dict[str, float]
    rounds: int
    decisions: int


class _Job(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    gpus: int
    profile: str
    submitted: str
    duration: str
    started: str
    finished: str
    ran: str
    moves: int


class _Usage(msgspec.Struct, forbid_unknown_fields=True):
    columns: list[str]
    capacity: list[float]
    rows: list[list[float]]


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    schema: str
    settings: _Settings
    summary: _Summary
    jobs: list[_Job]
    usage: _Usage


def read_run(path: Path, settings: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Read the document of a run.

    Parameters
    ----------
    path
        The file.
    settings
        Those that the run must have had; None takes any.

    Raises
    ------
    InvalidInstance
        When the file cannot be read, is no document of a run, or is that of another run; file,
        place and rule are named.
    """
    document: dict[str, Any] = read_plain(path)
    if document.get("schema") != SCHEMA:
        raise InvalidInstance(f"is no document of a run ({SCHEMA})", f"{path}")
    try:
        checked = msgspec.convert(document, _Document)
    except msgspec.ValidationError as error:
        _refuse(path, f"{error}")
    _check_numbers(path, checked)
    for name, value in (settings or {}).items():
        if document["settings"][name] != value:
            rule = f"is the document of another run: {name} differs; move it away to run anew"
            raise InvalidInstance(rule, f"{path}")
    return document


def _check_numbers(path: Path, document: _Document) -> None:
    if not document.jobs or len(document.jobs) != document.summary.jobs:
        _refuse(path, f"{len(document.jobs)} jobs, but the summary is of {document.summary.jobs}")
    for k, job in enumerate(document.jobs):
        for name in _EXACT:
            _check_exact(path, f"jobs[{k}].{name}", getattr(job, name))
        if not exact(job.submitted) < exact(job.finished):
            _refuse(path, f"jobs[{k}] ends before it is submitted")
    if document.settings.load is not None:
        _check_exact(path, "settings.load", document.settings.load)
    usage = document.usage
    names = usage.columns[2:-2]
    if names[:1] != ["gpus"] or set(names) != set(document.summary.utilisation):
        _refuse(path, "the columns of usage are not those of the summary's utilisation")
    if len(usage.capacity) != len(names) or min(usage.capacity) <= 0:
        _refuse(path, "usage has no capacity above 0 for each resource")
    for k, row in enumerate(usage.rows):
        if len(row) != len(usage.columns):
            _refuse(path, f"usage.rows[{k}] is not as long as its columns")


def _check_exact(path: Path, where: str, text: str) -> None:
    try:
        exact(text)
    except InvalidInstance as error:
        _refuse(path, f"{where} {error.rule}")


def _refuse(path: Path, why: str) -> NoReturn:
    raise InvalidInstance(f"is no document of a run: {why}; move it away to run anew", f"{path}")
