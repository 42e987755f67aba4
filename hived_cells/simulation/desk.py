"""Where a scheduler's jobs wait: takes asks, gives the scheduler's decisions one by one.

A desk is one scheduler with one view: a tenant's own, or one for all tenants under quota.
"""

import heapq
from collections.abc import Callable, Iterator

from hived_cells.simulation.judge import judged
from hived_cells.simulation.policy import Decision, Scheduler
from hived_cells.simulation.trace import Shape
from hived_cells.simulation.view import Ask, View

__all__ = ["Desk", "Refused"]

# Told of each job that its quota allows and that waits nevertheless, and when (seconds).
Refused = Callable[[View, Ask, int], None]

Key = tuple[str, Shape, int]  # tenant, shape, queue


class Desk:
    """A scheduler, its view and who waits there.

    Jobs of one tenant, shape and queue stand in one line. A line whose first job was refused is
    left alone until something is given back (by its own tenant, where its quota was in the way),
    for until then the answer is the same.

    Parameters
    ----------
    scheduler
        The policy.
    view
        What it sees.
    refused
        Called with each job that is within its tenant's quota and is refused nevertheless.

    Examples
    --------
    >>> from hived_cells.simulation.schedulers import Capacity
    >>> desk = Desk(Capacity(), View([8], {"A": 8}))
    >>> desk.submit(Ask(0, "A", Shape(1, 2), 0))
    >>> [decision.pieces for _, decision in desk.decisions(0)]
    [((0, 2),)]
    """

    __slots__ = ("_blocked", "_lines", "_new", "_over", "_refused", "scheduler", "view")

    def __init__(
        self, scheduler: Scheduler, view: View, *, refused: Refused | None = None
    ) -> None:
        self.scheduler = scheduler
        self.view = view
        self._lines: dict[Key, list[int]] = {}
        self._blocked: set[Key] = set()  # found no place
        self._over: dict[str, set[Key]] = {}  # tenant → lines that its quota does not allow
        self._new: list[Key] = []  # lines that have got a new first job while decisions run
        self._refused = refused

    def submit(self, ask: Ask) -> None:
        """Let a job wait."""
        key = (ask.tenant, ask.shape, ask.queue)
        line = self._lines.setdefault(key, [])
        heapq.heappush(line, ask.job)
        if line[0] == ask.job:
            self._new.append(key)

    def given_back(self, tenant: str | None = None) -> None:
        """Say that a tenant's job left or fell to a later queue, or (None) that a bin came up."""
        self._blocked.clear()
        if tenant is not None:
            self._over.pop(tenant, None)

    def waiting(self) -> Iterator[int]:
        """Yield the jobs that wait."""
        for line in self._lines.values():
            yield from line

    def decisions(self, now: int) -> Iterator[tuple[Ask, Decision]]:
        """Yield who starts and how, until nobody does; each is to be carried out at once.

        O(lines x log lines) calls of the scheduler in a round without stops and moves.
        """
        self._new.clear()
        heads = [self._head(key) for key in self._lines if not self._held_up(key)]
        heapq.heapify(heads)
        started = False
        while heads:
            rank, _, key = heapq.heappop(heads)
            line = self._lines.get(key)
            if not line or self._held_up(key):
                continue
            ask = Ask(line[0], *key)
            # Once something has started, its tenant may have got more meanwhile.
            if started and self.scheduler.rank(self.view, ask) > rank:
                heapq.heappush(heads, self._head(key))
                continue
            decision = self._decision(ask, key, now)
            if decision is None:
                continue
            started = True
            heapq.heappop(line)
            if not line:
                del self._lines[key]
            yield ask, decision
            if decision.stop or decision.move:
                self._blocked.clear()
                again = list(self._lines)
            else:
                again = [*self._new, *([key] if key in self._lines else [])]
            self._new.clear()
            for other in again:
                heapq.heappush(heads, self._head(other))

    def _head(self, key: Key) -> tuple[tuple[int, ...], int, Key]:
        first = self._lines[key][0]
        return self.scheduler.rank(self.view, Ask(first, *key)), first, key

    def _held_up(self, key: Key) -> bool:
        return key in self._blocked or key in self._over.get(key[0], ())

    def _decision(self, ask: Ask, key: Key, now: int) -> Decision | None:
        if not self.view.within_quota(ask):
            self._over.setdefault(ask.tenant, set()).add(key)
            return None
        decision = self.scheduler.decide(self.view, ask)
        if decision is None:
            self._blocked.add(key)
            if self._refused is not None:
                self._refused(self.view, ask, now)
            return None
        return judged(self.view, ask, decision)
