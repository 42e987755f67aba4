"""GPUs inside one node: takes which are free, gives those that sit closest together.

Works on integers with one bit a GPU.
"""

from functools import lru_cache

__all__ = ["pick", "widest"]


@lru_cache(maxsize=1 << 16)  # a node of 8 GPUs has 255 masks: a table in practice
def pick(sizes: tuple[int, ...], level: int, mask: int, gpus: int) -> int:
    """Return that many of the GPUs in the mask, with the lowest common ancestor.

    Among the cells of the lowest level that has enough, the fullest one whose surroundings are
    fullest, then the lowest address. O(cells in the node x levels), a look-up when asked again.

    Parameters
    ----------
    sizes
        GPUs a cell by level, as in `Chain.sizes`.
    level
        Level of the node.
    mask
        The free GPUs, at least as many as asked for.
    gpus
        How many.

    Examples
    --------
    >>> sizes = (0, 1, 2, 4, 8)
    >>> bin(pick(sizes, 4, 0b1111_0110, 2)), bin(pick(sizes, 4, 0b1111_0110, 1))
    ('0b110000', '0b10')
    >>> bin(pick(sizes, 4, 0b0111_0110, 5))
    '0b1110110'
    """
    for lower in range(1, level + 1):
        size = sizes[lower]
        if size < gpus:
            continue
        best: tuple[tuple[int, ...], int] | None = None
        for at in range(0, sizes[level], size):
            if (mask >> at & ((1 << size) - 1)).bit_count() < gpus:
                continue
            key = tuple(_around(sizes, upper, mask, at) for upper in range(lower, level + 1))
            if best is None or key < best[0]:
                best = key, at
        if best is not None:
            at = best[1]
            return _spread(sizes, lower, mask >> at & ((1 << size) - 1), gpus) << at
    raise ValueError(f"{mask.bit_count()} GPUs are free, {gpus} are asked for")


def _around(sizes: tuple[int, ...], level: int, mask: int, at: int) -> int:
    """Return how many GPUs are free in the cell of a level around a GPU."""
    size = sizes[level]
    return (mask >> (at - at % size) & ((1 << size) - 1)).bit_count()


def _spread(sizes: tuple[int, ...], level: int, mask: int, gpus: int) -> int:
    """Take GPUs from a cell none of whose parts has enough: whole parts, then some of one."""
    if mask.bit_count() == gpus:
        return mask
    size = sizes[level - 1]
    parts = [mask >> at & ((1 << size) - 1) for at in range(0, sizes[level], size)]
    taken = 0
    for number in sorted(range(len(parts)), key=lambda part: -parts[part].bit_count()):
        if parts[number].bit_count() <= gpus:
            taken |= parts[number] << (number * size)
            gpus -= parts[number].bit_count()
            parts[number] = 0
    if gpus:
        rest = sum(part << (number * size) for number, part in enumerate(parts))
        taken |= pick(sizes, level, rest, gpus)
    return taken


def widest(sizes: tuple[int, ...], level: int, inner: int, mask: int) -> int:
    """Return the most GPUs of the mask in one cell of level `inner` of a node.

    Examples
    --------
    >>> widest((0, 1, 2, 4, 8), 4, 3, 0b0110_1110)
    3
    """
    if inner >= level:
        return mask.bit_count()
    size = sizes[inner]
    area = (1 << size) - 1
    return max([(mask >> at & area).bit_count() for at in range(0, sizes[level], size)])
