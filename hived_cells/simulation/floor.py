"""The physical GPUs as low priority sees them: takes who holds which, gives idle ones.

One bit a GPU and node: held by guaranteed jobs (or by a cell that is bound), lent, or idle.
"""

from functools import lru_cache

__all__ = ["Floor", "Spots"]

Spots = tuple[tuple[int, int], ...]  # (node, bits of its GPUs)


class Floor:
    """Which GPUs are held, lent and idle, node by node.

    Parameters
    ----------
    nodes
        Number of nodes.
    size
        GPUs of each.
    factors
        How a node splits, from the top down: which GPUs are close to each other.

    Examples
    --------
    >>> floor = Floor(2, 4, (2, 2))
    >>> floor.hold(0, 0b0001), floor.find(1, 2), floor.whole
    ([], ((1, 3),), 1)
    """

    __slots__ = (
        "_factors",
        "_groups",
        "_up",
        "held",
        "held_gpus",
        "lent",
        "lent_gpus",
        "low",
        "nodes",
        "size",
        "whole",
    )

    def __init__(self, nodes: int, size: int, factors: tuple[int, ...]) -> None:
        self.nodes = nodes
        self.size = size
        self.held = [0] * nodes
        self.lent: dict[int, Spots] = {}  # job → its GPUs
        self.low: list[dict[int, int]] = [{} for _ in range(nodes)]  # node → job → its bits there
        self.held_gpus = 0
        self.lent_gpus = 0
        self.whole = nodes  # nodes of which no GPU is held
        self._up = [True] * nodes
        self._factors = factors
        # Nodes that are up, by (GPUs held, GPUs idle), one integer's bits each:
        self._groups = [[0] * (size + 1) for _ in range(size + 1)]
        self._groups[0][size] = (1 << nodes) - 1

    def hold(self, node: int, bits: int) -> list[int]:
        """Let GPUs be held; return the jobs at low priority that are on them (still lent)."""
        self._flip(node)
        if not self.held[node]:
            self.whole -= 1
        self.held[node] |= bits
        self.held_gpus += bits.bit_count()
        self._flip(node)
        return [job for job, own in self.low[node].items() if own & bits]

    def free(self, node: int, bits: int) -> None:
        """Let held GPUs be idle again."""
        self._flip(node)
        self.held[node] &= ~bits
        if not self.held[node]:
            self.whole += 1
        self.held_gpus -= bits.bit_count()
        self._flip(node)

    def switch(self, node: int, *, up: bool) -> list[int]:
        """Let a node leave or return; return the jobs at low priority on it (still lent)."""
        if self._up[node] != up:
            self._flip(node)
            self._up[node] = up
            self._flip(node)
        return list(self.low[node])

    def find(self, count: int, gpus: int) -> Spots | None:
        """Return idle GPUs for a job of low priority, None where there are not enough.

        Nodes of which the fewest GPUs are held come first, then those with the fewest idle GPUs
        that are enough; within a node the GPUs farthest from held ones.
        """
        found: list[tuple[int, int]] = []
        for by_idle in self._groups:
            for idle in range(gpus, len(by_idle)):
                mask = by_idle[idle]
                while mask:
                    low = mask & -mask
                    node = low.bit_length() - 1
                    groups = min(count, idle // gpus)
                    held, free = self.held[node], self._idle(node)
                    found.append((node, farthest(held, free, groups * gpus, self._factors)))
                    count -= groups
                    if not count:
                        return tuple(found)
                    mask ^= low
        return None

    def lend(self, job: int, spots: Spots) -> None:
        """Let a job run at low priority."""
        self.lent[job] = spots
        for node, bits in spots:
            self._flip(node)
            self.low[node][job] = bits
            self.lent_gpus += bits.bit_count()
            self._flip(node)

    def take_back(self, job: int) -> None:
        """Let a job at low priority give its GPUs back."""
        for node, bits in self.lent.pop(job):
            self._flip(node)
            del self.low[node][job]
            self.lent_gpus -= bits.bit_count()
            self._flip(node)

    def _idle(self, node: int) -> int:
        busy = self.held[node]
        for bits in self.low[node].values():
            busy |= bits
        return ((1 << self.size) - 1) & ~busy

    def _flip(self, node: int) -> None:
        """Take a node out of its group, or put it into the one where it belongs now."""
        if self._up[node]:
            held, idle = self.held[node].bit_count(), self._idle(node).bit_count()
            self._groups[held][idle] ^= 1 << node


@lru_cache(maxsize=1 << 16)
def farthest(held: int, idle: int, gpus: int, factors: tuple[int, ...]) -> int:
    """Return the bits of that many idle GPUs of a node, the farthest from held ones first.

    A GPU is the farther the larger the part of the node around it is of which nothing is held.

    Examples
    --------
    >>> bin(farthest(0b0001, 0b1110, 2, (2, 2)))
    '0b1100'
    """
    size = 1
    for factor in factors:
        size *= factor
    order = sorted(
        (place for place in range(size) if idle >> place & 1),
        key=lambda place: (-_clear_part(held, place, size, factors), place),
    )
    return sum(1 << place for place in order[:gpus])


def _clear_part(held: int, place: int, size: int, factors: tuple[int, ...]) -> int:
    """Return the GPUs of the largest part around a GPU of which nothing is held."""
    for factor in (1, *factors):
        size //= factor
        begin = place - place % size
        if not held >> begin & ((1 << size) - 1):
            return size
    return 0
