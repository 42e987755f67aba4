"""Persistent sets of small integers: takes a set and a change, gives a new set.

A set of numbers below N is a summary integer and a tuple of 1,024-bit words; a change copies one
word and the tuple of N / 1,024 pointers, so versions share all other words.
"""

from collections.abc import Iterable, Iterator

__all__ = [
    "BitSet",
    "count",
    "empty",
    "flip",
    "from_indices",
    "full",
    "has",
    "indices",
    "lowest",
    "window",
    "write",
]

SHIFT = 10  # 1,024-bit words: at 65,536 members a change copies 64 pointers and one word
BITS = 1 << SHIFT
MASK = BITS - 1

# (which words are not zero, the words): equal sets of one capacity are equal tuples.
BitSet = tuple[int, tuple[int, ...]]


def empty(capacity: int) -> BitSet:
    """Return the set that can hold 0 .. capacity - 1 and holds none.

    Examples
    --------
    >>> empty(1500)
    (0, (0, 0))
    """
    return 0, (0,) * -(-capacity // BITS)


def full(capacity: int) -> BitSet:
    """Return the set of all of 0 .. capacity - 1.

    Examples
    --------
    >>> count(full(600))
    600
    """
    whole, rest = divmod(capacity, BITS)
    words = ((1 << BITS) - 1,) * whole + (((1 << rest) - 1,) if rest else ())
    return (1 << len(words)) - 1, words


def from_indices(capacity: int, members: Iterable[int]) -> BitSet:
    """Return the set of the given members.

    Examples
    --------
    >>> list(indices(from_indices(600, [3, 599])))
    [3, 599]
    """
    words = [0] * -(-capacity // BITS)
    for member in members:
        words[member >> SHIFT] |= 1 << (member & MASK)
    return sum(1 << q for q, word in enumerate(words) if word), tuple(words)


def has(bits: BitSet, index: int) -> bool:
    """Return whether the set holds the index, in O(1)."""
    return bits[1][index >> SHIFT] >> (index & MASK) & 1 == 1


def flip(bits: BitSet, index: int) -> BitSet:
    """Return the set with the index added if it was not in, removed if it was.

    Examples
    --------
    >>> flip(flip(empty(8), 3), 3) == empty(8)
    True
    """
    summary, words = bits
    q = index >> SHIFT
    old = words[q]
    new = old ^ (1 << (index & MASK))
    if not old or not new:
        summary ^= 1 << q
    changed = list(words)  # measured: faster than joining slices
    changed[q] = new
    return summary, tuple(changed)


def lowest(bits: BitSet) -> int:
    """Return the least member, -1 for the empty set.

    Examples
    --------
    >>> lowest(from_indices(600, [520, 599])), lowest(empty(600))
    (520, -1)
    """
    summary, words = bits
    if not summary:
        return -1
    q = (summary & -summary).bit_length() - 1
    word = words[q]
    return (q << SHIFT) + (word & -word).bit_length() - 1


def window(bits: BitSet, start: int, width: int) -> int:
    """Return members start .. start + width - 1 as an integer, bit 0 for `start`.

    Examples
    --------
    >>> bin(window(from_indices(600, [510, 513]), 510, 4))
    '0b1001'
    """
    words = bits[1]
    q, r = start >> SHIFT, start & MASK
    if r + width <= BITS:
        return words[q] >> r & ((1 << width) - 1)
    value = words[q] >> r
    for position in range(BITS - r, width, BITS):
        q += 1
        value |= words[q] << position
    return value & ((1 << width) - 1)


def write(bits: BitSet, start: int, width: int, value: int) -> BitSet:
    """Return the set whose members in start .. start + width - 1 are those of `value`.

    Examples
    --------
    >>> list(indices(write(full(6), 1, 4, 0b0010)))
    [0, 2, 5]
    """
    summary, words = bits
    first, last = start >> SHIFT, (start + width - 1) >> SHIFT
    if first == last:
        at = start & MASK
        word = words[first] & ~(((1 << width) - 1) << at) | value << at
        changed = list(words)
        changed[first] = word
        bit = 1 << first
        return summary | bit if word else summary & ~bit, tuple(changed)
    base = first << SHIFT
    span = (last - first + 1) << SHIFT
    area = ((1 << width) - 1) << (start - base)
    merged = window(bits, base, span) & ~area | value << (start - base)
    part = tuple(merged >> (i << SHIFT) & ((1 << BITS) - 1) for i in range(last - first + 1))
    summary &= ~(((1 << (last - first + 1)) - 1) << first)
    for i, word in enumerate(part):
        if word:
            summary |= 1 << (first + i)
    return summary, (*words[:first], *part, *words[last + 1 :])


def count(bits: BitSet) -> int:
    """Return the number of members, in O(capacity / 1024)."""
    return sum(word.bit_count() for word in bits[1])


def indices(bits: BitSet) -> Iterator[int]:
    """Yield the members in ascending order, lazily."""
    summary, words = bits
    while summary:
        q = (summary & -summary).bit_length() - 1
        summary &= summary - 1
        base = q << SHIFT
        word = words[q]
        while word:
            yield base + (word & -word).bit_length() - 1
            word &= word - 1
