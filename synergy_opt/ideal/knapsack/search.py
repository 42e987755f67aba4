"""Exact search of a core: all choices of its items, in blocks, but for what bounds rule out.

Takes a core, cuts (prices near the best ones) and the value to beat, and gives a better choice
with whether the search was complete. Bounds are whole numbers that are rounded so that nothing
better is ever ruled out; values are compared as fractions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from synergy_opt.exact import exact_sum
from synergy_opt.ideal.knapsack.core import Core
from synergy_opt.ideal.knapsack.scaled import Ints, Scaled, least_sums, scale, step_type
from synergy_opt.ideal.knapsack.table import FloatArray
from synergy_opt.ideal.knapsack.tail import is_safe, tail_prices

_BLOCK = 2**13  # states that are extended together
_WORTH = 64  # states from which on a linear programme for a block pays


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a search ends with.

    Parameters
    ----------
    value
        Of the best choice found, None where none beats the value that was given.
    taken
        For each of the core's groups how many of each rival it takes.
    complete
        True: nothing better than `value`, or than the value given, exists in the core.
    states
        Partial choices looked at.
    interrupted
        Ctrl-C ended it.
    """

    value: Fraction | None
    taken: list[list[int]] | None
    complete: bool
    states: int
    interrupted: bool = False


@dataclass(slots=True)
class _Block:
    """Partial choices that have decided the same rivals."""

    group: int
    item: int
    sums: Ints  # states × cuts
    value: Ints
    use: Ints  # states × dimensions
    left: Ints  # units of the group in progress that are still at the base item
    copies: int  # most units that any state has moved
    parent: _Block | None
    origin: Ints
    times: Ints


def search(
    core: Core,
    cuts: FloatArray,
    beat: Fraction,
    *,
    states: int,
    deadline: float | None = None,
) -> Iterator[Found]:
    """Look for a choice worth more than `beat` that fits; give what is known now and then.

    Rivals are decided one after the other. A partial choice is given up when some cut shows that
    no completion is worth more than the best so far, or that none fits; of two with equal demand
    the one worth less is given up.

    Parameters
    ----------
    core
        The items.
    cuts
        Prices ≥ 0 for whole units, one row a cut; any are valid, the best ones should be among
        them, first.
    beat
        A value.
    states
        Partial choices after which the search tells for the first time where it is, incomplete;
        then after half as many more as before, each time.
    deadline
        `time.monotonic` at which it ends incomplete.

    Notes
    -----
    Blocks of at most 2^13 partial choices wait on a stack, so that memory is bounded by rivals ×
    block size × cuts, and good choices come early.
    """
    if not core.groups:
        fits = min(core.slack, default=0) >= 0 and core.value > beat
        value, taken = (core.value, list[list[int]]()) if fits else (None, None)
        yield Found(value=value, taken=taken, complete=True, states=1)
        return
    best = Found(value=None, taken=None, complete=False, states=0)
    try:
        scaled = scale(core, cuts)
        limits = least_sums(scaled, core, beat)
        stack = [_root(scaled, core)]
        while stack:
            if deadline is not None and time.monotonic() > deadline:
                yield best
                return
            if best.states > states:
                states += states // 2
                yield best
            block = stack.pop()
            if block.group == len(core.groups):
                better = _finish(core, block, scaled, beat)
                if better is not None:
                    best = replace(best, value=better[0], taken=better[1])
                    beat = better[0]
                    limits = least_sums(scaled, core, beat)
                continue
            child = _extend(block, scaled, limits)
            best = replace(best, states=best.states + len(child.value))
            for part in _split(child, scaled):
                kept = _priced_out(part, core, scaled, beat)
                if len(kept.value):
                    stack.append(kept)
    except KeyboardInterrupt:
        yield replace(best, interrupted=True)
        return
    yield replace(best, complete=True)


def _root(scaled: Scaled, core: Core) -> _Block:
    cuts, size = len(scaled.start), len(core.slack)
    kind = scaled.later[0].dtype
    return _Block(
        group=0,
        item=0,
        sums=np.zeros((1, cuts), dtype=kind),
        value=np.zeros(1, dtype=kind),
        use=np.zeros((1, size), dtype=step_type(core)),
        left=np.array(core.counts[:1] or [0], dtype=np.int64),
        copies=0,
        parent=None,
        origin=np.zeros(1, dtype=np.int64),
        times=np.zeros(1, dtype=np.int64),
    )


def _extend(block: _Block, scaled: Scaled, limits: Ints) -> _Block:
    """Decide one rival: with each cut a state allows an interval of counts."""
    g, i = block.group, block.item
    weight, rest = scaled.weights[g][i], scaled.rest[g][i]
    spare = block.sums + block.left[:, None] * rest + (scaled.later[g] - limits)
    low, high = _interval(spare, weight - rest, block.left)
    number = np.maximum(high - low + 1, 0)
    origin = np.repeat(np.arange(len(number)), number)
    offset = np.arange(len(origin)) - np.repeat(np.cumsum(number) - number, number)
    times = low[origin] + offset
    last = i + 1 == len(scaled.weights[g])
    left = block.left[origin] - times
    return _Block(
        group=g + last,
        item=0 if last else i + 1,
        sums=block.sums[origin] + times[:, None] * weight,
        value=block.value[origin] + times * scaled.values[g][i : i + 1],  # any width: an array
        use=block.use[origin] + times[:, None] * scaled.steps[g][i],
        left=left,
        copies=block.copies + (int(times.max()) if len(times) else 0),
        parent=block,
        origin=origin,
        times=times,
    )


def _interval(spare: Ints, slope: Ints, left: Ints) -> tuple[Ints, Ints]:
    """Give for each state the least and the most c with spare + c · slope ≥ 0 in every cut."""
    low, high = np.zeros(len(left), dtype=np.int64), left
    for m in range(len(slope)):
        column, step = spare[:, m], slope[m]
        if step < 0:
            high = np.minimum(high, column // -step)
        elif step > 0:
            low = np.maximum(low, -(column // step))
        else:
            high = np.where(column < 0, -1, high)
    # Outside of 0..left the interval is empty; both ends then fit in 64 bits.
    low, high = np.minimum(low, left + 1), np.maximum(high, -1)
    return low.astype(np.int64), high.astype(np.int64)


def _split(block: _Block, scaled: Scaled) -> list[_Block]:
    """Drop what a state with the same demand beats; cut into blocks, the most promising last."""
    parent = block.parent
    assert parent is not None
    # The parent's numbers are not needed any more, only where its states come from.
    parent.sums = parent.use = np.empty((0, 0), dtype=np.int64)
    parent.value = parent.left = np.empty(0, dtype=np.int64)
    if block.item == 0:
        if len(block.value) > 1 and object not in (block.use.dtype, block.value.dtype):
            block = _part(block, _undominated(block, slack=0 if scaled.exact else block.copies))
        if block.group < len(scaled.counts):
            block.left = np.full(len(block.value), scaled.counts[block.group], dtype=np.int64)
    many = len(block.value)
    if many <= _BLOCK:
        return [block] if many else []
    order = np.argsort(block.sums[:, 0], kind="stable")
    ends = range(many % _BLOCK or _BLOCK, many + 1, _BLOCK)
    return [_part(block, order[max(end - _BLOCK, 0) : end]) for end in ends]


def _undominated(block: _Block, *, slack: int) -> Ints:
    """Give the states that no other with the same demand, or less in one dimension, beats.

    `slack` is the most by which rounding up may have raised a value.
    """
    use, dimensions = block.use, block.use.shape[1]
    order = np.lexsort((-block.value, *(use[:, r] for r in range(dimensions - 1, -1, -1))))
    value = block.value[order]
    if dimensions == 1:
        best = np.maximum.accumulate(value)
    else:
        same = (use[order][1:] == use[order][:-1]).all(axis=1)
        starts = np.flatnonzero(np.concatenate([[True], ~same]))
        best = np.repeat(value[starts], np.diff(np.append(starts, len(value))))
        first = np.zeros(len(value), dtype=bool)
        first[starts] = True
        return np.asarray(order[first | (value > best - slack)])
    return np.asarray(order[np.concatenate([[True], value[1:] > best[:-1] - slack])])


def _part(block: _Block, chosen: Ints) -> _Block:
    return replace(
        block,
        sums=block.sums[chosen],
        value=block.value[chosen],
        use=block.use[chosen],
        left=block.left[chosen],
        origin=block.origin[chosen],
        times=block.times[chosen],
    )


def _finish(
    core: Core, block: _Block, scaled: Scaled, beat: Fraction
) -> tuple[Fraction, list[list[int]]] | None:
    """Give the best of complete choices, which all fit, where one is worth more than `beat`."""
    best = None
    for state in np.argsort(-block.value, kind="stable").tolist():
        if int(block.value[state]) <= scaled.scale * (beat - core.value):
            break
        taken = _trace(core, block, state)
        pairs = zip(taken, core.gains, strict=True)
        value = core.value + exact_sum(
            n * g for row, gains in pairs for n, g in zip(row, gains, strict=True) if n
        )
        if value > beat:
            best = value, taken
            beat = value
        if scaled.exact:
            break
    return best


def _trace(core: Core, block: _Block, state: int) -> list[list[int]]:
    """Walk back from a complete choice to its counts."""
    taken = [[0] * len(row) for row in core.items]
    here: _Block | None = block
    while here is not None and here.parent is not None:
        taken[here.parent.group][here.parent.item] = int(here.times[state])
        state = int(here.origin[state])
        here = here.parent
    return taken


def _priced_out(block: _Block, core: Core, scaled: Scaled, beat: Fraction) -> _Block:
    """Drop the states that the best prices for the block's mean remaining room rule out."""
    if block.item or block.group == len(core.groups) or len(block.value) < _WORTH:
        return block
    if object in (block.use.dtype, block.value.dtype):
        return block
    room = np.array(core.slack, dtype=np.int64) - block.use
    priced = tail_prices(scaled, block.group, room.mean(axis=0))
    if priced is None or not is_safe(room, priced[1]):
        return block
    most, prices = priced
    # scale · (value − beat) is at most this; a whole number above the target is better.
    target = math.floor(scaled.scale * (beat - core.value)) + 1 - most
    bound = block.value + room @ np.array(prices, dtype=np.int64)
    return _part(block, np.flatnonzero(bound >= target))
