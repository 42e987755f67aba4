"""Exact search of a core: all choices of its items, in blocks, but for what bounds rule out.

Takes a core, cuts (prices near the best ones) and the value to beat, and gives a better choice
with whether the search was complete. Bounds are whole numbers that are rounded so that nothing
better is ever ruled out; values are compared as fractions.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from synergy_opt.exact import exact_sum
from synergy_opt.knapsack.core import Core
from synergy_opt.knapsack.table import FloatArray

Ints = npt.NDArray[np.int64]

_BLOCK = 2**13  # states that are extended together
_ROOM = 2**60


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


@dataclass(frozen=True, kw_only=True)
class _Scaled:
    """The core in whole numbers: one row a cut, the last K of them the capacities themselves."""

    scale: int
    exact: bool  # values are exact multiples of 1/scale
    start: list[int]  # what each cut has before any rival is taken, without the value to beat
    priced: npt.NDArray[np.bool_]  # which cuts are about the value
    weights: list[Ints]  # for each group, rivals × cuts
    values: list[Ints]
    steps: list[Ints]  # for each group, rivals × dimensions
    rest: list[list[Ints]]  # for each group and rival, the most that one unit gets after it
    later: list[Ints]  # for each group, the most that all groups after it get
    counts: list[int]


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
    states: int | None = None,
    deadline: float | None = None,
) -> Found:
    """Look for a choice worth more than `beat` that fits.

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
        Partial choices after which the search ends incomplete.
    deadline
        `time.monotonic` at which it does.

    Notes
    -----
    Blocks of at most 2^13 partial choices wait on a stack, so that memory is bounded by rivals ×
    block size × cuts, and good choices come early.
    """
    if not core.groups:
        better = min(core.slack, default=0) >= 0 and core.value > beat
        value = core.value if better else None
        return Found(value=value, taken=[] if better else None, complete=True, states=1)
    scaled = _scale(core, cuts)
    limits = _limits(scaled, core, beat)
    value: Fraction | None = None
    taken: list[list[int]] | None = None
    looked = 0
    stack = [_root(scaled, core)]
    try:
        while stack:
            if (states is not None and looked > states) or (
                deadline is not None and time.monotonic() > deadline
            ):
                return Found(value=value, taken=taken, complete=False, states=looked)
            block = stack.pop()
            if block.group == len(core.groups):
                better = _finish(core, block, scaled, beat)
                if better is not None:
                    value, taken = better
                    beat = value
                    limits = _limits(scaled, core, beat)
                continue
            child = _extend(block, scaled, limits)
            looked += len(child.value)
            for part in _split(child, scaled):
                kept = _priced_out(part, core, scaled, beat)
                if len(kept.value):
                    stack.append(kept)
    except KeyboardInterrupt:
        return Found(value=value, taken=taken, complete=False, states=looked, interrupted=True)
    return Found(value=value, taken=taken, complete=True, states=looked)


def _scale(core: Core, cuts: FloatArray) -> _Scaled:
    """Choose the scale: the largest with which no sum leaves 61 bits, exact where possible."""
    size = len(core.slack)
    spread = sum(
        n * max(abs(g) for g in row) for n, row in zip(core.counts, core.gains, strict=True)
    )
    prices = [[Fraction(float(p)) for p in row] for row in cuts]
    for row in prices:
        cost = sum(
            n * max(sum(p * abs(s) for p, s in zip(row, step, strict=True)) for step in steps)
            for n, steps in zip(core.counts, core.steps, strict=True)
        )
        spread = max(spread, cost)
    largest = max(int(_ROOM / (8 * (spread + 1))), 1)
    lattice = 1
    for row in core.gains:
        for g in row:
            lattice = math.lcm(lattice, g.denominator)
            if lattice > largest:
                break
    exact = lattice <= largest
    scale = largest // lattice * lattice if exact else largest
    price = [[math.floor(p * scale) for p in row] for row in prices]
    units = [[int(r == i) for r in range(size)] for i in range(size)]
    rows = [(1, row) for row in price] + [(0, row) for row in units]
    values = [[math.ceil(g * scale) for g in row] for row in core.gains]
    weights = [
        [
            [a * v - sum(p * s for p, s in zip(row, step, strict=True)) for a, row in rows]
            for v, step in zip(vs, steps, strict=True)
        ]
        for vs, steps in zip(values, core.steps, strict=True)
    ]
    start = [sum(p * s for p, s in zip(row, core.slack, strict=True)) for _, row in rows]
    return _with_rest(core, scale, exact, start, weights, values)


def _with_rest(
    core: Core,
    scale: int,
    exact: bool,
    start: list[int],
    weights: list[list[list[int]]],
    values: list[list[int]],
) -> _Scaled:
    largest = max((abs(w) for rows in weights for row in rows for w in row), default=0)
    total = largest * sum(core.counts)
    kind: type = np.int64 if total < _ROOM else object
    arrays = [np.array(rows, dtype=kind) for rows in weights]
    cuts = len(start)
    zero = np.zeros(cuts, dtype=kind)
    rest, later = [], [zero]
    for rows, count in zip(arrays, core.counts, strict=True):
        after = [zero]
        for row in rows[:0:-1]:
            after.append(np.maximum(after[-1], row))
        rest.append(after[::-1])
        later.append(np.maximum(after[-1], rows[0]) * count)
    tail = [zero]
    for most in later[:0:-1]:
        tail.append(tail[-1] + most)
    tail = tail[::-1]
    size = len(core.slack)
    return _Scaled(
        scale=scale,
        exact=exact,
        start=start,
        priced=np.arange(cuts) < cuts - size,
        weights=arrays,
        values=[np.array(row, dtype=np.int64 if kind is np.int64 else object) for row in values],
        steps=[np.array(row, dtype=_kind(core)).reshape(len(row), size) for row in core.steps],
        rest=rest,
        later=tail[1:],
        counts=core.counts,
    )


def _kind(core: Core) -> type:
    largest = max((abs(s) for rows in core.steps for row in rows for s in row), default=0)
    return np.int64 if largest * sum(core.counts) < _ROOM else object


def _limits(scaled: _Scaled, core: Core, beat: Fraction) -> Ints:
    """Give the least sum with which each cut lets a partial choice pass."""
    # A choice is better where scale·(value − base) is above the target; its sum is at least that.
    target = math.floor(scaled.scale * (beat - core.value)) + 1
    least = [
        (target if priced else 0) - start
        for priced, start in zip(scaled.priced, scaled.start, strict=True)
    ]
    if scaled.later[0].dtype == object:
        return np.array(least, dtype=object)
    return np.clip(np.array(least, dtype=object), -(2**61), 2**61).astype(np.int64)


def _root(scaled: _Scaled, core: Core) -> _Block:
    cuts, size = len(scaled.start), len(core.slack)
    kind = scaled.later[0].dtype
    return _Block(
        group=0,
        item=0,
        sums=np.zeros((1, cuts), dtype=kind),
        value=np.zeros(1, dtype=kind),
        use=np.zeros((1, size), dtype=_kind(core)),
        left=np.array(core.counts[:1] or [0], dtype=np.int64),
        copies=0,
        parent=None,
        origin=np.zeros(1, dtype=np.int64),
        times=np.zeros(1, dtype=np.int64),
    )


def _extend(block: _Block, scaled: _Scaled, limits: Ints) -> _Block:
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
        value=block.value[origin] + times * scaled.values[g][i],
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


def _split(block: _Block, scaled: _Scaled) -> list[_Block]:
    """Drop what a state with the same demand beats; cut into blocks, the most promising last."""
    parent = block.parent
    assert parent is not None
    # The parent's numbers are not needed any more, only where its states come from.
    parent.sums = parent.use = np.empty((0, 0), dtype=np.int64)
    parent.value = parent.left = np.empty(0, dtype=np.int64)
    if block.item == 0:
        if len(block.value) > 1 and block.use.dtype != object and block.value.dtype != object:
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
        return order[first | (value > best - slack)]
    return order[np.concatenate([[True], value[1:] > best[:-1] - slack])]


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
    core: Core, block: _Block, scaled: _Scaled, beat: Fraction
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


_WORTH = 64  # states from which on a linear programme for a block pays


def _priced_out(block: _Block, core: Core, scaled: _Scaled, beat: Fraction) -> _Block:
    """Drop the states that the best prices for the block's mean remaining room rule out."""
    if block.item or block.group == len(core.groups) or len(block.value) < _WORTH:
        return block
    if block.use.dtype == object or block.value.dtype == object:
        return block
    slack = np.array(core.slack, dtype=np.int64)
    weights, price = _tail(core, scaled, block.group, slack - block.use.mean(axis=0))
    bound = block.value + (slack - block.use) @ price + weights
    target = math.floor(scaled.scale * (beat - core.value)) + 1
    return _part(block, np.flatnonzero(bound >= target))


def _tail(core: Core, scaled: _Scaled, group: int, room: FloatArray) -> tuple[int, Ints]:
    """Give prices for the groups from this one on with that room, and the most these then get."""
    size, many = len(room), len(core.groups) - group
    gains = np.concatenate([np.array(v, dtype=float) for v in scaled.values[group:]])/scaled.scale
    steps = np.concatenate(scaled.steps[group:]).astype(float)
    sizes = [len(v) for v in scaled.values[group:]]
    counts = np.array(core.counts[group:], dtype=float)
    owner = np.repeat(np.arange(many), sizes)
    unit = np.maximum(np.abs(steps).max(axis=0), 1e-300)
    rows = np.zeros((len(gains), size + many))
    rows[:, :size] = -steps / unit
    rows[np.arange(len(gains)), size + owner] = -1.0
    found = linprog(
        np.concatenate([room / unit, counts]), A_ub=rows, b_ub=-gains, bounds=[(0, 1e6)]*size+[(0,None)]*many, method="highs"
    )
    if found.x is None:
        return 2**60, np.zeros(size, dtype=np.int64)
    price = np.floor(np.maximum(found.x[:size], 0.0) / unit * scaled.scale).astype(np.int64)
    total = 0
    for n, v, s in zip(core.counts[group:], scaled.values[group:], scaled.steps[group:], strict=True):
        total += n * max(int((v - s @ price).max()), 0)
    return total, price
