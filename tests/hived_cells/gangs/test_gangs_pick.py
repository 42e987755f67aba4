"""GPUs inside a node: the lowest common ancestor, then the fullest surroundings, exhaustively."""

from itertools import combinations

import pytest

from hived_cells.gangs.pick import pick, widest

NODES = {
    "2-2-2": (0, 1, 2, 4, 8),
    "4-2": (0, 1, 2, 8),
    "flat": (0, 1, 6),
    "3-1-2": (0, 1, 2, 2, 6),
}


def common(sizes, gpus) -> int:
    """Return the level of the lowest cell around the GPUs."""
    return next(
        level
        for level in range(1, len(sizes))
        if min(gpus) // sizes[level] == max(gpus) // sizes[level]
    )


def members(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


@pytest.mark.parametrize("sizes", NODES.values(), ids=NODES)
def test_the_common_ancestor_is_the_lowest_there_is(sizes):
    """Tests every set of free GPUs and every number against all choices."""
    level = len(sizes) - 1
    for mask in range(1, 1 << sizes[level]):
        free = members(mask)
        for gpus in range(1, len(free) + 1):
            chosen = members(pick(sizes, level, mask, gpus))
            assert len(chosen) == gpus
            assert set(chosen) <= set(free)
            best = min(common(sizes, few) for few in combinations(free, gpus))
            assert common(sizes, chosen) == best, (mask, gpus)


@pytest.mark.parametrize("sizes", NODES.values(), ids=NODES)
def test_the_widest_cell_is_counted(sizes):
    """Tests against a count of each cell's GPUs."""
    level = len(sizes) - 1
    for mask in range(1 << sizes[level]):
        for inner in range(1, level + 1):
            counts: dict[int, int] = {}
            for gpu in members(mask):
                counts[gpu // sizes[inner]] = counts.get(gpu // sizes[inner], 0) + 1
            assert widest(sizes, level, inner, mask) == max(counts.values(), default=0)


def test_one_gpu_goes_beside_one_in_use():
    """Tests that whole switches and sockets are kept: buddy, then socket, then node."""
    sizes = NODES["2-2-2"]
    assert members(pick(sizes, 4, 0b1111_1110, 1)) == [1]
    assert members(pick(sizes, 4, 0b1111_1100, 1)) == [2]
    assert members(pick(sizes, 4, 0b1110_1100, 1)) == [5]
    assert members(pick(sizes, 4, 0b1111_0000, 4)) == [4, 5, 6, 7]


def test_too_few_gpus_are_no_choice():
    """Tests that the callers' duty to count first is checked."""
    with pytest.raises(ValueError, match="2 GPUs are free, 3 are asked for"):
        pick(NODES["2-2-2"], 4, 0b11, 3)
