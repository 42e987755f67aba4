"""Few servers and whole jobs: dives into the relaxation over loads, then an exact search.

Takes the prices of the relaxation over patterns and gives better states, the last one with a proof
where the search was decided: every load whose reduced cost is within the difference of bound and
placement is listed, and every combination of these is decided in exact arithmetic.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from synergy_opt.packed.dive import dives
from synergy_opt.packed.load_master import LoadMaster
from synergy_opt.packed.load_search import LoadSearch
from synergy_opt.packed.loads import Bay, Listed, Load, bays, loads_above
from synergy_opt.packed.problem import Problem, State
from synergy_opt.packed.runs import Run, Runs
from synergy_opt.packed.shapes import Shop
from synergy_opt.program import FloatArray

_STEPS = 2**40  # of prices in a unit
_MOST = 400_000  # partial loads at a step of the enumeration
_ROUNDS = 100  # of pricing at the root
_DIVES = 0.5  # part of the time that is left
_IDLE = 6  # dives without a better end after which to stop
_LARGEST = 2**12  # values above, in units: too unlike for the integers of the search


def by_loads(problem: Problem, prices: FloatArray, unit: float, state: State) -> Iterator[State]:
    """Give better and better states; nothing where jobs are divided.

    Parameters
    ----------
    prices
        Of kinds, then of servers.
    unit
        Of values on a solver, a power of two.
    """
    shop = problem.shop
    servers = bays(shop)
    largest = max((float(wish.values.max()) for wish in shop.wishes), default=0.0)
    if servers is None or not shop.wishes or largest > _LARGEST * unit:
        return
    left = problem.left
    until = None if left is None else left * (1 - _DIVES)
    master = LoadMaster(shop, servers, unit, lambda: _late(problem, until))
    master.start(prices)
    master.generate(master.solve(), rounds=_ROUNDS, thorough=False)
    floor = -math.inf if state.runs is None else float(state.runs.value)
    idle, trials = 0, dives(master, floor)
    found = next(trials, None)
    while idle < _IDLE and not state.within(problem.limits.gap):
        idle += 1
        if found is not None:
            runs = runs_of_loads(shop, found)
            if state.runs is None or runs.value > state.runs.value:
                idle = 0
            state = state.better(runs)
            yield state
        if _late(problem, until):
            break
        try:
            floor = -math.inf if state.runs is None else float(state.runs.value)
            found = trials.send(floor)
        except StopIteration:
            break
    trials.close()
    if state.runs is not None and not state.within(problem.limits.gap):
        yield from _decided(problem, master, prices, unit, state)


def _late(problem: Problem, until: float | None) -> bool:
    left = problem.left
    return left is not None and (left == 0.0 or left < (until or 0.0))


def _decided(
    problem: Problem, master: LoadMaster, prices: FloatArray, unit: float, state: State
) -> Iterator[State]:
    """List the loads that a better placement may use, and search them."""
    listed = _loads(problem, master.bays, prices, unit, state)
    if listed is None:
        return
    search = LoadSearch(master, listed, problem.lattice, lambda: problem.late)
    assert state.runs is not None
    outcome = search.run(state.runs.value)
    if outcome.loads is not None:
        state = state.better(runs_of_loads(problem.shop, outcome.loads))
    yield replace(state, searched=outcome.decided)


def _loads(
    problem: Problem, servers: Sequence[Bay], prices: FloatArray, unit: float, state: State
) -> list[Listed] | None:
    """Give every load that a better placement may use; None where they are too many.

    With π the prices of kinds and σ_h the most that a load is worth above them, a placement of
    value > v has Σ (σ_h − worth) < Σ n π + Σ s σ − v over its servers, and no summand is negative.
    """
    assert state.runs is not None
    shop, step = problem.shop, Fraction(unit) / _STEPS
    kinds = len(shop.wishes)
    whole = [round(p / unit * _STEPS) for p in prices[:kinds].tolist()]
    worth = [
        [
            np.array(
                [
                    # Rounded up, so that no load is worth more than it seems.
                    math.ceil(shop.wishes[i.kind].configurations.value[c] / step) - whole[i.kind]
                    for c in i.configurations
                ],
                dtype=np.int64,
            )
            for i in bay.items
        ]
        for bay in servers
    ]
    to_beat = math.floor(state.runs.value / step)
    to_beat -= sum(n * len(w.kind) for n, w in zip(whole, shop.wishes, strict=True))
    highest = [round(p / unit * _STEPS) for p in prices[kinds:].tolist()]
    for _ in range(3):
        total = sum(n * s for n, s in zip(shop.counts, highest, strict=True))
        within = max(total - to_beat, 0)
        listed: list[Listed] = []
        seen = []
        for bay, gains, high in zip(servers, worth, highest, strict=True):
            found = loads_above(bay, gains, high - within, most=_MOST, late=lambda: problem.late)
            if not found.complete:
                return None
            listed.append(found)
            seen.append(int(found.worth.max(initial=0)))
        if all(s <= h for s, h in zip(seen, highest, strict=True)):
            return listed
        # The prices of servers were a little low, as doubles are.
        highest = [max(s, h) for s, h in zip(seen, highest, strict=True)]
    return None


def runs_of_loads(shop: Shop, loads: Sequence[Load]) -> Runs:
    """Put the jobs on servers; of equal jobs the one of highest priority gets the best."""
    first = [0]
    for count in shop.counts:
        first.append(first[-1] + count)
    given: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for load in sorted(loads):
        for kind, configuration, number in load.jobs:
            given[kind] += [(configuration, first[load.group])] * number
        first[load.group] += 1
    runs: dict[int, Run] = {}
    for t, wish in enumerate(shop.wishes):
        values = wish.configurations.value.numerators
        best_first = sorted(given[t], key=lambda pair: (-values[pair[0]], pair))
        for job, (configuration, server) in zip(wish.kind.members, best_first, strict=True):
            pieces = ((server, wish.gpus),)
            runs[job] = Run(wish=t, configuration=configuration, pieces=pieces)
    found = Runs.of(shop, (runs[job] for job in sorted(runs)))
    found.check()
    return found
