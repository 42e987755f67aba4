"""Which free cell to take: takes the candidates of a level, gives one of them.

A choice is any function from `Candidates` to one candidate's cell. Theorem 1 holds whichever it
is; it decides only how many jobs are preempted and how healthy the hardware is.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from hived_cells import bitset
from hived_cells.bitset import BitSet
from hived_cells.hierarchy import Cell, Chain

__all__ = [
    "HIVED",
    "Candidate",
    "Candidates",
    "Choose",
    "Group",
    "Ranking",
    "fewest_low_priority",
    "healthy_first",
    "in_order",
    "lowest_address",
]


class Candidate(NamedTuple):
    """One cell that may be taken, with what a choice may care about.

    Parameters
    ----------
    cell
        A free cell of the level asked for, or above it.
    low_priority
        GPUs in low-priority use inside.
    bad
        Bad GPUs inside.
    healthy
        Whether a cell of the wanted level without bad GPUs lies inside.

    Examples
    --------
    >>> Candidate(Cell(1, (0,)), low_priority=0, bad=1, healthy=False).healthy
    False
    """

    cell: Cell
    low_priority: int
    bad: int
    healthy: bool


class Group(NamedTuple):
    """Candidates that are alike: same low-priority use, same health.

    Examples
    --------
    >>> Group(0, 0, 1, base=4, members=bitset.from_indices(8, [1, 3])).lowest
    5
    """

    low_priority: int
    bad: int
    healthy_level: int  # highest level with a cell without bad GPUs inside, 0 for none
    base: int  # added to a member to give the cell's number
    members: BitSet

    @property
    def lowest(self) -> int:
        """Number of the member with the lowest address."""
        return self.base + bitset.lowest(self.members)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The free cells of one level from which a cell of level `wanted` is to be taken.

    Iterating gives every `Candidate` in address order, lazily; `groups` gives them without a
    look at each one, which is what makes the built-in choices independent of the pool's size.

    Parameters
    ----------
    chain
        The hardware.
    wanted
        Level of the cell that was asked for.
    level
        Level of the candidates; a higher one means that the chosen cell is split.
    groups
        The candidates, those that are alike together.
    higher
        Gives the candidates of the next higher level from which a detour is safe, or None.

    Examples
    --------
    >>> group = Group(0, 0, 1, base=0, members=bitset.from_indices(4, [1, 3]))
    >>> few = Candidates(Chain(4, ()), wanted=1, level=1, groups=(group,))
    >>> [str(candidate.cell) for candidate in few], len(few), few.lowest()
    (['1', '3'], 2, Cell(level=1, path=(1,)))
    """

    chain: Chain
    wanted: int
    level: int
    groups: tuple[Group, ...]
    higher: Callable[[], "Candidates | None"] | None = field(
        default=None, kw_only=True, repr=False, compare=False
    )

    def __iter__(self) -> Iterator[Candidate]:
        streams = [_numbered(group) for group in self.groups]
        for index, group in heapq.merge(*streams, key=lambda pair: pair[0]):
            healthy = group.healthy_level >= self.wanted
            cell = self.chain.cell(self.level, index)
            yield Candidate(cell, group.low_priority, group.bad, healthy)

    def __len__(self) -> int:
        return sum(bitset.count(group.members) for group in self.groups)

    def holds(self, index: int) -> bool:
        """Return whether the cell of that number is a candidate.

        Examples
        --------
        >>> Candidates(Chain(4, ()), wanted=1, level=1, groups=()).holds(0)
        False
        """
        return any(
            0 <= index - group.base < bitset.BITS * len(group.members[1])
            and bitset.has(group.members, index - group.base)
            for group in self.groups
        )

    def detour(self) -> "Candidates | None":
        """Return the candidates of the next higher level whose splitting breaks no promise.

        Splitting a cell of level l for one of level k while a lower one could serve keeps every
        reservation if and only if S_j >= 1 for all k < j <= l. None where no such level is left.

        Examples
        --------
        >>> Candidates(Chain(4, ()), wanted=1, level=1, groups=()).detour()
        """
        return None if self.higher is None else self.higher()

    def lowest(self) -> Cell:
        """Return the candidate with the lowest address, in O(groups).

        Examples
        --------
        >>> group = Group(0, 0, 1, base=2, members=bitset.from_indices(2, [1]))
        >>> Candidates(Chain(4, ()), wanted=1, level=1, groups=(group,)).lowest()
        Cell(level=1, path=(3,))
        """
        return self.chain.cell(self.level, min(group.lowest for group in self.groups))

    def only(self, groups: Iterable[Group]) -> "Candidates":
        """Return the candidates of the given groups, with the same detours.

        Examples
        --------
        >>> len(Candidates(Chain(4, ()), wanted=1, level=1, groups=()).only(()))
        0
        """
        return Candidates(self.chain, self.wanted, self.level, tuple(groups), higher=self.higher)


def _numbered(group: Group) -> Iterator[tuple[int, Group]]:
    return ((group.base + member, group) for member in bitset.indices(group.members))


class Choose(Protocol):
    """What `allocate` needs: a function from the candidates to the cell of one of them.

    It is called once for the free list and once for each split, then with the parts of the
    cell that is being split. It must return a candidate's cell, or one of `detour()`'s.

    Examples
    --------
    >>> def highest_address(candidates: Candidates) -> Cell:
    ...     return max(candidate.cell for candidate in candidates)
    >>> from hived_cells import Chain, Reservation, allocate, initial_state
    >>> state = initial_state(Chain(2, (2,)), Reservation({"A": {1: 1}}))
    >>> print(allocate(state, "A", 1, choose=highest_address)[1])
    1/1
    """

    def __call__(self, candidates: Candidates, /) -> Cell:
        """Return the cell of one of the candidates."""
        ...


@dataclass(frozen=True, slots=True)
class Ranking:
    """A choice made of steps, each of which narrows the candidates; the lowest address is left.

    Parameters
    ----------
    steps
        Functions from candidates to fewer (never none) of them.

    Examples
    --------
    >>> group = Group(3, 0, 1, base=0, members=bitset.from_indices(4, [1]))
    >>> other = Group(0, 0, 1, base=0, members=bitset.from_indices(4, [2]))
    >>> both = Candidates(Chain(4, ()), wanted=1, level=1, groups=(group, other))
    >>> print(lowest_address(both), fewest_low_priority(both))
    1 2
    """

    steps: tuple[Callable[[Candidates], Candidates], ...]

    def __call__(self, candidates: Candidates, /) -> Cell:
        """Return the lowest address among the candidates that every step keeps."""
        return self.narrow(candidates).lowest()

    def narrow(self, candidates: Candidates) -> Candidates:
        """Return the candidates that every step keeps, for a choice of one's own among them.

        Examples
        --------
        >>> group = Group(0, 0, 1, base=0, members=bitset.from_indices(4, [1]))
        >>> few = Candidates(Chain(4, ()), wanted=1, level=1, groups=(group,))
        >>> len(HIVED.narrow(few))
        1
        """
        for step in self.steps:
            candidates = step(candidates)
        return candidates


def _least_low_priority(candidates: Candidates) -> Candidates:
    groups = candidates.groups
    if len(groups) == 1:
        return candidates
    least = min([group.low_priority for group in groups])
    return candidates.only([group for group in groups if group.low_priority == least])


def _healthy(candidates: Candidates) -> Candidates:
    probe: Candidates | None = candidates
    while probe is not None:
        wanted = probe.wanted
        groups = probe.groups
        sound = [group for group in groups if group.healthy_level >= wanted]
        if sound:
            return probe if len(sound) == len(groups) else probe.only(sound)
        probe = probe.detour()
    least = min([group.bad for group in candidates.groups])
    return candidates.only([group for group in candidates.groups if group.bad == least])


lowest_address = Ranking(())
"""The free cell with the lowest address."""

fewest_low_priority = Ranking((_least_low_priority,))
"""The free cell with the fewest GPUs in low-priority use (HiveD, Section 3), then lowest address.

Fewest means: fewest jobs' GPUs are taken from them. Asked again at every split.
"""

healthy_first = Ranking((_healthy,))
"""A cell with a healthy cell of the wanted level inside, then lowest address.

Takes a detour to a higher level where the lowest has none and the detour is safe; where there
is none at all, the one with the fewest bad GPUs.
"""


def in_order(*rankings: Ranking) -> Ranking:
    """Return the ranking that narrows by the first, then by the second, and so on.

    Examples
    --------
    >>> in_order(healthy_first, fewest_low_priority) == HIVED
    True
    """
    return Ranking(tuple(step for ranking in rankings for step in ranking.steps))


HIVED = in_order(healthy_first, fewest_low_priority)
"""The paper's choice: healthy first, then fewest low-priority GPUs, then lowest address."""
