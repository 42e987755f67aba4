"""Seeded draws by integer weights: GPU demands, classes and models of synthetic jobs.

Takes a generator and weights and gives what was drawn. No float decides, so that no platform
differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from synergy_opt.checks import is_list, is_whole
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import shown
from synergy_opt.profiling.cache_model import MODELS

TASKS = ("image", "language", "speech")
GPU_DEMANDS: Mapping[int, int] = {1: 70, 2: 10, 4: 15, 8: 5}
"""Default weights of GPU demands. Assumed: most jobs of the published traces are small."""

_NAMES = {task: [m.name for m in MODELS.values() if m.task == task] for task in TASKS}
_T = TypeVar("_T")


def draw(rng: Random, weights: Mapping[_T, int]) -> _T:
    """Draw a key by integer weights, of which at least one is above 0.

    Examples
    --------
    >>> draw(Random(1), {"never": 0, "always": 3})
    'always'
    """
    ticket = rng.randrange(sum(weights.values()))
    for key, weight in weights.items():  # noqa: B007  # the key is the answer
        ticket -= weight
        if ticket < 0:
            break
    return key


def draw_model(rng: Random, split: Sequence[int]) -> str:
    """Draw the model of a job: its class by `split`, then uniform within the class.

    Examples
    --------
    >>> [draw_model(Random(seed), (0, 1, 0)) for seed in (1, 2, 3)]
    ['gnmt', 'gnmt', 'transformer']
    """
    task = draw(rng, dict(zip(TASKS, split, strict=True)))
    return _NAMES[task][rng.randrange(len(_NAMES[task]))]


def check_split(split: Sequence[int]) -> None:
    """Check the weights of the classes.

    Raises
    ------
    InvalidInstance
        When they are not three, one is below 0, or all are 0.
    """
    weights = tuple(split) if is_list(split) else ()
    sound = len(weights) == len(TASKS) and all(is_whole(w) and w >= 0 for w in weights)
    if not sound or not any(weights):
        rule = f"must be three weights of at least 0 ({', '.join(TASKS)}), not all 0"
        raise InvalidInstance(f"{rule}, not {shown(split)}", "split")


def check_demands(gpu_demands: Mapping[int, int]) -> None:
    """Check the weights of the GPU demands.

    Raises
    ------
    InvalidInstance
        When a demand is below 1, a weight below 0, or all are 0.
    """
    pairs = gpu_demands.items() if isinstance(gpu_demands, Mapping) else [(gpu_demands, None)]
    for demand, weight in pairs:
        if not (is_whole(demand) and is_whole(weight)) or demand < 1 or weight < 0:
            rule = f"must be demands ≥ 1 with weights ≥ 0, not {shown(demand)}: {shown(weight)}"
            raise InvalidInstance(rule, "gpu_demands")
    if not any(gpu_demands.values()):
        raise InvalidInstance("must have a weight above 0", "gpu_demands")
