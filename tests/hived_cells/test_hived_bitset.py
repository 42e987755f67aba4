"""Persistent sets agree with Python's own sets."""

from hypothesis import given
from hypothesis import strategies as st

from hived_cells import bitset

CAPACITY = 3000  # three words
members = st.sets(st.integers(0, CAPACITY - 1), max_size=40)


@given(members, st.integers(0, CAPACITY - 1))
def test_flip_has_and_order_agree_with_sets(chosen, index):
    """Tests that membership, size, minimum and order are the set's, after a flip too."""
    bits = bitset.from_indices(CAPACITY, chosen)
    flipped = bitset.flip(bits, index)
    for found, expected in ((bits, chosen), (flipped, chosen ^ {index})):
        assert list(bitset.indices(found)) == sorted(expected)
        assert bitset.count(found) == len(expected)
        assert bitset.lowest(found) == min(expected, default=-1)
        assert bitset.has(found, index) == (index in expected)
    assert bitset.flip(flipped, index) == bits


@given(members, st.integers(0, CAPACITY - 1), st.integers(1, CAPACITY), st.integers(0))
def test_window_and_write_agree_with_sets(chosen, start, width, value):
    """Tests that a window reads and writes exactly its own members, across words too."""
    width = min(width, CAPACITY - start)
    value &= (1 << width) - 1
    bits = bitset.from_indices(CAPACITY, chosen)
    inside = {index - start for index in chosen if start <= index < start + width}
    assert bitset.window(bits, start, width) == sum(1 << place for place in inside)
    written = {start + place for place in range(width) if value >> place & 1}
    outside = {index for index in chosen if not start <= index < start + width}
    expected = bitset.from_indices(CAPACITY, written | outside)
    assert bitset.write(bits, start, width, value) == expected


def test_equal_sets_are_equal_tuples():
    """Tests that the way to a set leaves no trace in it."""
    assert bitset.full(70) == bitset.from_indices(70, range(70))
    assert bitset.write(bitset.full(2100), 0, 2100, 0) == bitset.empty(2100)
    assert bitset.full(1024) == bitset.write(bitset.empty(1024), 0, 1024, (1 << 1024) - 1)
