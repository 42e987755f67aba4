"""What a search is given and what it knows: the problem, the best so far, the progress.

Takes an instance and gives the frozen `Problem` that every step of the search reads.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from synergy_opt.answer import PatternBound, Split, relative_gap
from synergy_opt.kinds import kinds
from synergy_opt.model import Instance, Job
from synergy_opt.packed.bound import lattice, pattern_bound
from synergy_opt.packed.collector import waiting
from synergy_opt.packed.master import Loan, loans
from synergy_opt.packed.options import Uses, uses
from synergy_opt.packed.pricing import Knapsack, knapsack
from synergy_opt.packed.runs import Runs
from synergy_opt.packed.shapes import Shop, shop
from synergy_opt.solution import Limits

_FEW, _COMPACT = 16, 50_000  # servers, columns up to which the compact programme is in reach


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """What is known at a time.

    Parameters
    ----------
    time
        Seconds since the start.
    incumbent
        Throughput of the best placement so far, None before there is one.
    bound
        Exact upper bound so far.
    """

    time: float
    incumbent: Fraction | None
    bound: Fraction

    @property
    def gap(self) -> Fraction | None:
        """(bound − incumbent) / incumbent, None before there is an incumbent."""
        return None if self.incumbent is None else relative_gap(self.incumbent, self.bound)


@dataclass(frozen=True, kw_only=True)
class State:
    """The best that is known.

    Parameters
    ----------
    runs
        The best placement, None before there is one.
    bound
        The lowest bound.
    searched
        True: our own search decided, in exact arithmetic, that no placement is better.
    """

    runs: Runs | None
    bound: PatternBound
    searched: bool = False

    @property
    def closed(self) -> bool:
        """Tell whether the placement meets the bound."""
        return self.runs is not None and self.runs.value == self.bound.value

    def within(self, gap: Fraction) -> bool:
        """Tell whether the relative gap is at most `gap`."""
        return self.runs is not None and relative_gap(self.runs.value, self.bound.value) <= gap

    def better(self, runs: Runs | None) -> State:
        """Keep the better placement."""
        if runs is None or (self.runs is not None and runs.value <= self.runs.value):
            return self
        return replace(self, runs=runs)

    def tighter(self, bound: PatternBound) -> State:
        """Keep the lower bound."""
        return self if bound.value >= self.bound.value else replace(self, bound=bound)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What does not change during a search.

    Parameters
    ----------
    shop
        The instance in whole numbers.
    jobs
        Number of runnable jobs.
    split
        Whether jobs that fit on one server may be divided.
    uses
        For each kind the slots of its pieces.
    sacks
        For each group its servers as knapsacks.
    loans
        Which slot is next smaller to which.
    limits
        Gap and seed.
    deadline
        Time of the monotonic clock at which to stop, None for none.
    """

    shop: Shop
    jobs: int
    split: Split
    uses: tuple[Uses, ...]
    sacks: tuple[Knapsack, ...]
    loans: tuple[Loan, ...]
    limits: Limits
    deadline: float | None

    @property
    def left(self) -> float | None:
        """Seconds that are left, None for no limit."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)

    @property
    def late(self) -> bool:
        """Tell whether the time is up."""
        return self.left == 0.0

    @cached_property
    def wish_of(self) -> dict[int, int]:
        """Kind of each job."""
        return {job: t for t, use in enumerate(self.uses) for job in use.wish.kind.members}

    @cached_property
    def lattice(self) -> Fraction | None:
        """The largest number of which all fair values are multiples, None where it is tiny."""
        return lattice(self.uses)

    @property
    def few(self) -> bool:
        """Tell whether there are few servers: loads are then a match for patterns."""
        return sum(self.shop.counts) <= _FEW

    @property
    def small(self) -> bool:
        """Tell whether the compact programme is within a solver's reach."""
        size = sum(
            (len(use.wish.kind) if use.wish.pieces else 1) * len(use.wish.configurations)
            for use in self.uses
        )
        servers = sum(self.shop.counts)
        return servers <= _FEW and size * servers <= _COMPACT

    @property
    def copies(self) -> Counter[int]:
        """Most pieces that the jobs can have together, for each number of GPUs."""
        copies: Counter[int] = Counter()
        for wish in self.shop.wishes:
            for gpus in range(1, wish.gpus + 1) if wish.pieces else [wish.gpus]:
                copies[gpus] += len(wish.kind) * (wish.gpus // gpus)
        return copies

    def bound(self, prices: Sequence[Fraction]) -> PatternBound:
        """Give the exact bound of prices, one a slot."""
        return pattern_bound(
            self.shop, self.uses, self.sacks, self.loans, prices=prices, split=self.split
        )


def problem_of(
    instance: Instance, jobs: Sequence[Job], split: Split, limits: Limits, started: float
) -> Problem:
    """Prepare the search for the packed optimum of these jobs of the instance."""
    with waiting():
        found = kinds(instance, jobs)
    goods = shop(instance, jobs, found, split)
    pairs = loans(goods.slots)
    sacks = []
    for h, group in enumerate(instance.cluster.servers):
        places = [i for i, slot in enumerate(goods.slots) if slot.group == h]
        slots = [goods.slots[i] for i in places]
        sacks.append(knapsack(slots, places, group.gpus, goods.capacity[h], pairs))
    return Problem(
        shop=goods,
        jobs=len(jobs),
        split=split,
        uses=tuple(uses(goods, wish) for wish in goods.wishes),
        sacks=tuple(sacks),
        loans=tuple(pairs),
        limits=limits,
        deadline=None if limits.time is None else started + limits.time,
    )
