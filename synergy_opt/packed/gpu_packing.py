"""Whole jobs on servers by their GPUs alone: a placement, a proof that there is none, or neither.

Takes numbers of jobs by GPUs and of servers by GPUs, and gives how servers are filled. Since the
fair shares of the GPUs on a server fit that server, this alone decides whether whole jobs can be
placed fairly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_NODES = 200_000  # partial placements after which to give up

Filled = tuple[int, tuple[int, ...]]
"""A server's GPUs, and those of the jobs on it, descending."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuPacking:
    """How servers are filled.

    Parameters
    ----------
    servers
        One entry a server that has jobs; None where no placement was found.
    decided
        True: a placement was found, or there is none.
    """

    servers: tuple[Filled, ...] | None
    decided: bool


def gpu_packing(
    jobs: Mapping[int, int], servers: Mapping[int, int], *, nodes: int = _NODES
) -> GpuPacking:
    """Place whole jobs by their GPUs.

    Parameters
    ----------
    jobs
        Number of jobs for each number of GPUs.
    servers
        Number of servers for each number of GPUs that a server has.
    nodes
        Partial placements after which to give up.

    Notes
    -----
    A depth-first search: the largest job that is left goes to a server of some size, which is then
    filled until nothing more fits. What was left on failure is remembered. Where jobs' GPUs
    divide each other and those of the servers the first descent succeeds or nothing does.

    Examples
    --------
    >>> gpu_packing({3: 2, 2: 3}, {6: 2}).servers
    ((6, (3, 3)), (6, (2, 2, 2)))
    >>> gpu_packing({3: 3}, {4: 2, 2: 5})
    GpuPacking(servers=None, decided=True)
    """
    sizes = sorted((g for g, n in jobs.items() if n), reverse=True)
    rooms = sorted(g for g, n in servers.items() if n)
    state = tuple(jobs[g] for g in sizes), tuple(servers[g] for g in rooms)
    failed: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    trail: list[Filled] = []
    stack = [(state, _fillings(sizes, rooms, *state))]
    visited = 0
    while stack:
        (left, free), choices = stack[-1]
        if not any(left):
            return GpuPacking(servers=tuple(trail), decided=True)
        visited += 1
        if visited > nodes:
            return GpuPacking(servers=None, decided=False)
        for room, taken in choices:
            after = (
                tuple(n - taken.count(g) for n, g in zip(left, sizes, strict=True)),
                tuple(n - (g == room) for n, g in zip(free, rooms, strict=True)),
            )
            if after not in failed and _may_fit(sizes, rooms, *after):
                trail.append((room, taken))
                stack.append((after, _fillings(sizes, rooms, *after)))
                break
        else:
            failed.add((left, free))
            stack.pop()
            if trail:
                trail.pop()
    return GpuPacking(servers=None, decided=True)


def _fillings(
    sizes: Sequence[int], rooms: Sequence[int], left: Sequence[int], free: Sequence[int]
) -> Iterator[Filled]:
    """Give the full ways to fill a server that has the largest job left, smallest server first."""
    largest = next((g for g, n in zip(sizes, left, strict=True) if n), None)
    if largest is None:
        return
    counts = dict(zip(sizes, left, strict=True))
    counts[largest] -= 1
    for room, number in zip(rooms, free, strict=True):
        if number and room >= largest:
            for more in _full(sizes, counts, room - largest, 0):
                yield room, (largest, *more)


def _full(
    sizes: Sequence[int], counts: Mapping[int, int], room: int, first: int
) -> Iterator[tuple[int, ...]]:
    """Give the multisets of jobs to which no further job can be added, large jobs first."""
    fits = [i for i in range(first, len(sizes)) if sizes[i] <= room and counts[sizes[i]]]
    if not fits:
        yield ()
    for i in fits:
        gpus = sizes[i]
        fewer = {**counts, gpus: counts[gpus] - 1}
        for j in range(i):
            fewer[sizes[j]] = 0  # those before were passed over
        skipped = min((g for g in sizes[:i] if counts[g] and g <= room), default=None)
        for more in _full(sizes, fewer, room - gpus, i):
            if skipped is None or room - gpus - sum(more) < skipped:
                yield (gpus, *more)


def _may_fit(
    sizes: Sequence[int], rooms: Sequence[int], left: Sequence[int], free: Sequence[int]
) -> bool:
    """Tell whether for each size the larger jobs have no more GPUs than servers can give them."""
    asked = 0
    for size, number in zip(sizes, left, strict=True):
        asked += size * number
        if asked > sum(n * room for room, n in zip(rooms, free, strict=True) if room >= size):
            # Jobs of at least `size` GPUs fit on no smaller server.
            return False
    return True
