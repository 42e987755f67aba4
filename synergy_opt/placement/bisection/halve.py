"""One halving: jobs divided between two halves of the servers, few of them cut.

Takes parts of jobs with their exact total and gives the parts and the total of either half.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from synergy_opt.placement.bisection.guess import guessed
from synergy_opt.placement.bisection.moves import dependency, move, use_slack
from synergy_opt.placement.bisection.parts import Cut, Demand, Part

Side = tuple[list[Part], list[Fraction]]
"""Parts with their exact total."""


def halve(demands: Sequence[Demand], side: Side, servers: int, room: Demand) -> tuple[Side, Side]:
    """Divide parts between the first ⌊s/2⌋ servers and the others, cutting at most q of them."""
    parts, total = side
    half = servers // 2
    share = Fraction(half, servers)
    one, other, candidates = _spread_evenly(demands, parts, half, servers)
    found = guessed(candidates, room) if len(candidates) > len(room) else None
    if found is not None:
        for cut, here in zip(candidates, found, strict=True):
            cut.here = here
    between: list[Cut] = []
    for cut in candidates:
        if cut.here in (0, cut.most):
            (one if cut.here else other).append(Part(cut.job, cut.most))
            continue
        between.append(cut)
        if len(between) > len(room):
            move(between, dependency(between, range(len(room))), one, other)
    used = [share * t for t in total]
    above = [half * most - u for most, u in zip(room, used, strict=True)]
    below = [u - t + (servers - half) * most for most, u, t in zip(room, used, total, strict=True)]
    use_slack(between, above, below, one, other)
    for cut in between:
        one.append(Part(cut.job, cut.here))
        other.append(Part(cut.job, cut.most - cut.here))
    first = [half * most - a for most, a in zip(room, above, strict=True)]
    return (one, first), (other, [t - f for t, f in zip(total, first, strict=True)])


def _spread_evenly(
    demands: Sequence[Demand], parts: Sequence[Part], half: int, servers: int
) -> tuple[list[Part], list[Part], list[Cut]]:
    """Give the first half its share of every demand: of n equal jobs ⌊n λ⌋ whole ones, and a cut.

    Two equal columns are dependent: moving one up and the other down leaves one between 0 and 1.
    """
    equal: dict[Demand, list[Part]] = {}
    one: list[Part] = []
    other: list[Part] = []
    cuts: list[Cut] = []
    whole, share = Fraction(1), Fraction(half, servers)
    for part in parts:
        if part.amount.denominator == 1:
            equal.setdefault(demands[part.job], []).append(part)
        else:
            here = share * part.amount
            cuts.append(Cut(part.job, demands[part.job], part.amount, here))
    for demand, members in equal.items():
        number, rest = divmod(half * len(members), servers)
        one.extend(members[:number])
        if rest:
            here = Fraction(rest, servers) if len(members) > 1 else share
            cuts.append(Cut(members[number].job, demand, whole, here))
            number += 1
        other.extend(members[number:])
    return one, other, cuts
