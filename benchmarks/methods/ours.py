"""Our own exact methods and the rounded optimum, under the run's limits.

Takes an instance and limits and gives a `Placement` with its bound.
"""

from __future__ import annotations

from synergy_opt.answer import Placement
from synergy_opt.model import Instance
from synergy_opt.optimal import optimal
from synergy_opt.packed import packed
from synergy_opt.solution import Limits


def whole(instance: Instance, *, limits: Limits) -> Placement:
    """Give the packed optimum with jobs whole."""
    return packed(instance, limits=limits)


def split(instance: Instance, *, limits: Limits) -> Placement:
    """Give the packed optimum with jobs that may be divided."""
    return packed(instance, split="allowed", limits=limits)


def ideal(instance: Instance, *, limits: Limits) -> Placement:
    """Give Synergy-OPT: stage 1 by its core, stage 2 by bisection."""
    return optimal(instance, limits=limits)


def rounded(instance: Instance, *, limits: Limits) -> Placement:
    """Give Synergy-OPT rounded to whole GPUs."""
    return optimal(instance, whole_gpus=True, limits=limits)
