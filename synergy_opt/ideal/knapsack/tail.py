"""Prices for what a block of partial choices has left: the linear programme of the other groups.

Takes the scaled core, the next group and the remaining room and gives whole prices with the most
that the groups from there on get at them. Any prices are valid, so that doubles may find them.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from synergy_opt.ideal.knapsack.scaled import ROOM, Ints, Scaled
from synergy_opt.ideal.knapsack.table import FloatArray


def tail_prices(scaled: Scaled, group: int, room: FloatArray) -> tuple[int, list[int]] | None:
    """Give Σ_t n_t max(0, v − λ·d) over the groups from `group` on, with λ; None where none is.

    min λ·room + Σ n_t μ_t subject to μ_t ≥ v_k − λ·d_k for each rival k, λ ≥ 0, μ ≥ 0.
    """
    size, counts = len(room), scaled.counts[group:]
    gains = np.concatenate(scaled.values[group:]) / scaled.scale
    steps = np.concatenate(scaled.steps[group:]).astype(np.float64)
    owner = np.repeat(np.arange(len(counts)), [len(row) for row in scaled.values[group:]])
    unit = np.maximum(np.abs(steps).max(axis=0), 1e-300)
    rows = np.zeros((len(gains), size + len(counts)))
    rows[:, :size] = -steps / unit
    rows[np.arange(len(gains)), size + owner] = -1.0
    found = linprog(
        np.concatenate([room / unit, counts]),
        A_ub=rows,
        b_ub=-gains,
        bounds=(0, None),
        method="highs",
    )
    if found.x is None:
        return None
    prices = [int(p) for p in np.floor(np.maximum(found.x[:size], 0.0) / unit * scaled.scale)]
    most = sum(
        n * max(0, *(int(v) - _cost(step, prices) for v, step in zip(values, steps_, strict=True)))
        for n, values, steps_ in zip(
            counts, scaled.values[group:], scaled.steps[group:], strict=True
        )
    )
    return most, prices


def _cost(step: Ints, prices: list[int]) -> int:
    return sum(int(s) * p for s, p in zip(step, prices, strict=True))


def is_safe(amounts: Ints, prices: list[int]) -> bool:
    """Say whether amounts · prices stays within int64."""
    largest = np.abs(amounts).max(axis=0, initial=0)
    return sum(int(a) * p for a, p in zip(largest, prices, strict=True)) < ROOM
