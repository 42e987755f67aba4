"""What no single placement shows: whether a mechanism is a function of its argument alone.

Takes an instance and a mechanism and gives the breach of determinism or of purity, or None.
"""

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.comparison import Mechanism, own_copy
from synergy_opt.exact import decimal_text
from synergy_opt.io import instance_text
from synergy_opt.model import Instance
from synergy_opt.testing.answers import Breach, answer, placement_text

Elsewhere = Callable[[Instance], Placement | Breach]
"""The mechanism in another process."""


def repeated(instance: Instance, mechanism: Mechanism) -> Breach | None:
    """Call twice, and compare the placements byte by byte.

    Examples
    --------
    >>> import synergy_opt
    >>> repeated(synergy_opt.shipped("worked-example"), synergy_opt.tune) is None
    True
    """
    first, again = answer(mechanism, instance), answer(mechanism, instance)
    difference = _difference(instance, first, again)
    if difference is None:
        return None
    return _breach(f"called twice on the same instance, it gives {difference}", again)


def same_elsewhere(
    instance: Instance, mechanism: Mechanism, elsewhere: Elsewhere
) -> Breach | None:
    """Compare with another process, whose hash seed and whose order of calls are others.

    Here the instance comes first, then the same with its jobs in reverse order; there the other
    way round. Whatever is kept between calls, or hangs on the order of a set, shows.
    """
    reverse = replace(instance, jobs=instance.jobs[::-1])
    here, here_reverse = answer(mechanism, instance), answer(mechanism, reverse)
    there_reverse, there = elsewhere(reverse), elsewhere(instance)
    say = "in another process, with another PYTHONHASHSEED and another order of calls, it gives"
    difference = _difference(instance, here, there)
    if difference is not None:
        return _breach(f"{say} {difference}", there)
    difference = _difference(reverse, here_reverse, there_reverse)
    if difference is not None:
        return _breach(f"with the jobs in reverse order, {say} {difference}", here)
    return None


def pure(instance: Instance, mechanism: Mechanism) -> Breach | None:
    """Look whether a call changes the instance, or what the whole process shares.

    Shared are the generators of `random` and `numpy.random`, the environment and the current
    directory.

    Examples
    --------
    >>> import synergy_opt
    >>> pure(synergy_opt.shipped("worked-example"), synergy_opt.tune) is None
    True
    >>> print(pure(synergy_opt.shipped("worked-example"), lambda _: random.seed(0)))
    pure: a call changes the state of Python's random generator
    """
    given, before = own_copy(instance), _shared()
    found = answer(lambda _: mechanism(given), instance)
    after = _shared()
    for what, value in before.items():
        if after[what] != value:
            return _breach(f"a call changes {what}", found, rule="pure")
    old, new = instance_text(instance).splitlines(), _text(given).splitlines()
    for was, now in zip_longest(old, new, fillvalue="nothing"):
        if was != now:
            say = f"a call changes the instance that it is given: {was.strip()} is then"
            return _breach(f"{say} {now.strip()}", found, rule="pure")
    return None


def _text(instance: Instance) -> str:
    try:
        return instance_text(instance)
    except Exception as error:  # whatever the mechanism has made of it
        return f"no instance any more ({type(error).__name__})"


def _shared() -> Mapping[str, object]:
    shared = np.random.get_state(legacy=False)  # noqa: NPY002  # the one that all share
    return {
        "the state of Python's random generator": random.getstate(),
        "the state of NumPy's random generator": pickle.dumps(shared),
        "the environment": dict(os.environ),
        "the current directory": Path.cwd(),
    }


def _breach(sentence: str, given: Placement | Breach, rule: str = "deterministic") -> Breach:
    placement = given if isinstance(given, Placement) else None
    return Breach(rule=rule, sentence=sentence, placement=placement)


def _difference(
    instance: Instance, one: Placement | Breach, other: Placement | Breach
) -> str | None:
    """Say how two answers differ, if they do."""
    if isinstance(one, Breach) and isinstance(other, Breach):
        return None  # no placement at all: a matter of "answers" or "placed"
    if isinstance(one, Breach) or isinstance(other, Breach):
        shown = [each if isinstance(each, Breach) else "a placement" for each in (one, other)]
        return f"{shown[0]}, then {shown[1]}"
    if placement_text(instance, one) == placement_text(instance, other):
        return None
    for left, right in zip_longest(one.jobs, other.jobs):
        if left != right:
            return f"first {_entry(left)}, then {_entry(right)}"
    return "the same jobs with other statements about them"


def _entry(job: PlacedJob | None) -> str:
    if job is None:
        return "no further job"
    amounts = ", ".join(map(decimal_text, job.demand))
    where = [f"{decimal_text(piece.gpus)} on server {piece.server}" for piece in job.pieces]
    place = f"GPUs {', '.join(where)}" if where else "no place"
    return f"job {job.id!r} {place} with ({amounts}) and {decimal_text(job.throughput)}"
