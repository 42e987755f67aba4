"""What a search over loads branches on: jobs in a configuration, pairs of kinds, single loads.

Takes loads, one by one or listed, and gives what each counts of a mark; a `Cut` limits the sum.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from synergy_opt.packed.loads import Listed, Load
from synergy_opt.packed.pricing import Index

Mark = Load | tuple[int, ...]
"""(group, kind, configuration): its jobs; (kind, kind): loads with both, or two; a load itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """The sum over loads of what they count of a mark is at most, or at least, the limit."""

    mark: Mark
    limit: int
    most: bool

    def weight(self, load: Load) -> int:
        """Give what the load counts."""
        return marks(load)[_level(self.mark)].get(self.mark, 0)


def signed(cut: Cut, price: int) -> int:
    """Give the price, 0 where its sign would make no bound."""
    return max(price, 0) if cut.most else min(price, 0)


def marks(load: Load) -> tuple[dict[Mark, int], dict[Mark, int], dict[Mark, int]]:
    """Give what is branched on: jobs by configuration, then pairs of kinds, then the load."""
    kinds: Counter[int] = Counter()
    for kind, _, number in load.jobs:
        kinds[kind] += number
    pairs: dict[Mark, int] = dict.fromkeys(combinations(sorted(kinds), 2), 1)
    pairs |= {(kind, kind): 1 for kind, number in kinds.items() if number > 1}
    return {(load.group, kind, c): n for kind, c, n in load.jobs}, pairs, {load: 1}


def _level(mark: Mark) -> int:
    return 2 if isinstance(mark, Load) else 0 if isinstance(mark, tuple) and len(mark) == 3 else 1


def counted(listed: Listed, mark: Mark) -> Index:
    """Give what each listed load counts of a mark."""
    level, size = _level(mark), len(listed.numbers)
    gains = np.zeros(size, dtype=np.int64)
    if level == 0 and isinstance(mark, tuple):
        for j, (kind, c) in enumerate(listed.numbers):
            gains[j] = (listed.group, kind, c) == mark
        return listed.sums(gains)
    if isinstance(mark, Load):
        rows = range(len(listed)) if mark.group == listed.group else ()
        needed = np.zeros(len(listed), dtype=np.int64)
        if not rows:
            return needed
        full = np.ones(len(listed), dtype=bool)
        jobs = np.zeros(len(listed), dtype=np.int64)
        for kind, c, number in mark.jobs:
            one = np.array([pair == (kind, c) for pair in listed.numbers], dtype=np.int64)
            found = listed.sums(one)
            full &= found == number
            jobs += found
        same: Index = (full & (jobs == (listed.taken >= 0).sum(axis=1))).astype(np.int64)
        return same
    assert isinstance(mark, tuple)
    first, second = (
        listed.sums(np.array([kind == some for kind, _ in listed.numbers], dtype=np.int64))
        for some in mark
    )
    if mark[0] == mark[1]:
        two: Index = (first > 1).astype(np.int64)
        return two
    both: Index = ((first > 0) & (second > 0)).astype(np.int64)
    return both
