"""Whole loads by diving: fix the load that the relaxation uses most, price what is left, repeat.

Takes a relaxation over loads and gives a load for each server, or none where jobs are left.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from synergy_opt.packed.load_master import LoadMaster
from synergy_opt.packed.loads import Load
from synergy_opt.program import FloatArray

_WHOLE = 1e-6
_ROUNDS = 6  # of pricing after each step


@dataclass(frozen=True, kw_only=True, slots=True)
class Dive:
    """The choices of a dive: at a step, which of the most used loads is fixed; 0 elsewhere."""

    turns: tuple[tuple[int, int], ...] = ()


def dives(master: LoadMaster, floor: float) -> Generator[list[Load] | None, float, None]:
    """Give what dives lead to, first the plain one, then those with one and two turns aside.

    Parameters
    ----------
    master
        Its relaxation solved; left as it was.
    floor
        Value that a dive has to exceed: where its relaxation does not, it is given up. May be
        raised by `send`.
    """
    jobs, servers = list(master.jobs), list(master.servers)
    steps = sum(servers)
    plans = [Dive()]
    plans += [Dive(turns=((i, 1),)) for i in range(min(steps, 8))]
    plans += [Dive(turns=((i, 2),)) for i in range(min(steps, 4))]
    plans += [
        Dive(turns=((i, 1), (j, 1)))
        for i in range(min(steps, 6))
        for j in range(i + 1, min(steps, 6))
    ]
    for plan in plans:
        found = _dive(master, floor, plan)
        master.leave(jobs, servers)
        master.solve()
        higher = yield found
        floor = max(floor, higher)


def _dive(master: LoadMaster, floor: float, plan: Dive) -> list[Load] | None:
    turns, fixed, gained = dict(plan.turns), [], 0.0
    step = 0
    while any(master.jobs):
        if master.late():
            return None
        counts = master.counts()
        if gained + master.objective <= floor:
            return None
        some = _chosen(counts, turns.get(step, 0))
        if some is None:
            return None
        jobs, servers = list(master.jobs), list(master.servers)
        for column, number in some:
            load = master.loads[column]
            fixed += [load] * number
            gained += number * master.value[column]
            servers[load.group] -= number
            for kind, n in master.needs[column].items():
                jobs[kind] -= n * number
        if min(servers) < 0 or min(jobs) < 0:
            return None
        master.leave(jobs, servers)
        master.generate(master.solve(), rounds=_ROUNDS, thorough=False)
        step += 1
    return fixed


def _chosen(counts: FloatArray, turn: int) -> list[tuple[int, int]] | None:
    """Give the columns to fix with how often: those used at least once, else the most used."""
    whole = np.floor(counts + _WHOLE).astype(int)
    if whole.any():
        return [(int(j), int(whole[j])) for j in np.flatnonzero(whole)]
    order: Sequence[int] = np.argsort(-counts, kind="stable").tolist()
    if turn >= len(order) or counts[order[turn]] <= _WHOLE:
        return None
    return [(order[turn], 1)]
