"""Runs of the evaluation: cases in, figures out, each kept; and intervals over seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.paper.synergy.case import Case, Figures, run
from benchmarks.paper.synergy.entry import Settings
from benchmarks.paper.synergy.source import code_digest
from synergy_opt.errors import InvalidInstance
from synergy_opt.sweep import sweep


def run_all(cases: Sequence[Case], settings: Settings) -> dict[Case, Figures]:
    """Run cases that are not done yet; the order of the answer is that of the cases.

    A run is kept, where a folder is given, under a name that says its whole case and the code
    that decides it, so that a killed evaluation goes on where it stopped and nothing old is taken
    for new.
    """
    folder = None if settings.runs is None else Path(settings.runs)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    named = {_name(case): case for case in cases}
    documents = sweep(named, _document, folder=folder, workers=settings.workers)
    found = zip(named.values(), documents, strict=True)
    return {case: msgspec.convert(document, Figures) for case, document in found}


def _document(case: Case) -> dict[str, object]:
    return asdict(run(case))


def _name(case: Case) -> str:
    """Name a case's file: its settings, the code that decides a run, what the trace holds."""
    trace = None if case.trace is None else _content(case.trace)
    decided = code_digest("benchmarks.paper.synergy.case")
    text = f"{decided} {sorted((asdict(case) | {'trace': trace}).items())}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{case.policy}-{case.mechanism}-{case.load}-{case.seed}-{digest}"


@cache
def _content(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise InvalidInstance(f"cannot be read: {error.strerror}", path) from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """An estimate and a 95 % interval; both ends equal the estimate where one seed was run."""

    value: float
    low: float
    high: float
    seeds: int

    def __str__(self) -> str:
        if self.seeds < 2:
            return f"{self.value:.3g} (one seed)"
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


def ratio(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Give mean(above) / mean(below) over paired seeds, with a bootstrap interval.

    Seeds are drawn anew 9,999 times, both figures of a seed together; the interval is the middle
    95 % (percentile bootstrap). With few seeds it is too narrow, and says how few.
    """
    pairs = np.array([above, below], dtype=np.float64)
    value = float(pairs[0].mean() / pairs[1].mean())
    n = pairs.shape[1]
    drawn = pairs[:, np.random.default_rng(0).integers(n, size=(9999, n))].mean(axis=2)
    low, high = np.percentile(drawn[0] / drawn[1], [2.5, 97.5])
    return Interval(value=value, low=float(low), high=float(high), seeds=n)


def above(of: Interval, value: float) -> bool | None:
    """Tell whether a ratio is above a value; None where its interval leaves it open."""
    if of.seeds < 2:
        return None
    return True if of.low > value else False if of.high < value else None


def is_one(of: Interval) -> bool:
    """Tell whether a ratio is 1 within 5 %, the whole interval."""
    return 0.95 <= of.low <= of.high <= 1.05


def inverse(of: Interval) -> Interval:
    """Give the ratio the other way round."""
    return Interval(value=1 / of.value, low=1 / of.high, high=1 / of.low, seeds=of.seeds)
