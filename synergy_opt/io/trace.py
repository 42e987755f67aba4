"""What the readers of public traces share: lines in any order → a workload and what was left out.

A public trace says when a job came, how long it ran and on how many GPUs, but not how its
throughput depends on cores and memory: which profile a job gets is an assumption, drawn by a seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from synergy_opt.draw import check_split, draw_model
from synergy_opt.errors import InvalidInstance
from synergy_opt.profiling.cache_model import MODELS
from synergy_opt.simulation.workload import TraceJob, Workload

SPLIT = (20, 70, 10)
"""Default weights of image, language and speech models: the paper's for the Philly trace."""


@dataclass(frozen=True, slots=True)
class Line:
    """A job as a public trace states it: times in seconds, from any origin."""

    id: str
    submitted: Fraction
    duration: Fraction
    gpus: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """A workload made of a public trace.

    Parameters
    ----------
    workload
        In order of submission, the first job at 0.
    skipped
        Lines that are no jobs to simulate, by reason: how many.
    """

    workload: Workload
    skipped: Mapping[str, int]

    def __str__(self) -> str:
        left = ", ".join(f"{count} {why}" for why, count in self.skipped.items()) or "none"
        return f"{self.workload.name}: {len(self.workload.jobs)} jobs; left out: {left}"


def imported(
    name: str,
    lines: Iterable[Line | str],
    *,
    path: str,
    split: Sequence[int],
    seed: int,
    most_gpus: int | None,
) -> Imported:
    """Make a workload of lines; a string in place of one is why it was left out.

    Jobs are drawn a model in the order of the file, so that leaving out large jobs does not give
    the others other models.

    Raises
    ------
    InvalidInstance
        When no job is left, or the split breaks its rule.
    """
    check_split(split)
    rng = Random(f"trace {seed}")
    skipped: Counter[str] = Counter()
    kept: list[tuple[Line, str]] = []
    for line in lines:
        if isinstance(line, str):
            skipped[line] += 1
            continue
        model = draw_model(rng, split)
        if most_gpus is not None and line.gpus > most_gpus:
            skipped[f"above {most_gpus} GPUs"] += 1
        else:
            kept.append((line, model))
    if not kept:
        raise InvalidInstance("has no job to simulate", path)
    kept.sort(key=lambda pair: pair[0].submitted)  # stable: ties stay in file order
    first = kept[0][0].submitted
    used = {model for _, model in kept}
    workload = Workload(
        name,
        {key: model.profile() for key, model in MODELS.items() if key in used},
        tuple(
            TraceJob(line.id, line.submitted - first, line.duration, line.gpus, model)
            for line, model in kept
        ),
    )
    return Imported(workload=workload, skipped=dict(skipped))
