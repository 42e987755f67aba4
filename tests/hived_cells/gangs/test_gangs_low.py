"""Low-priority gangs: what is kept by block is what a plain look at every node finds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hived_cells import (
    Cell,
    GangPool,
    MustWait,
    NeverFits,
    bitset,
    initial_gangs,
    mark_bad,
    place_gang,
)
from hived_cells.gangs import low
from hived_cells.testing import gangs, pools


def plain(book):
    """Return node → (how far from guaranteed use, its idle GPUs), looking at each GPU."""
    state, level = book.state, book.node_level
    chain, size = state.chain, state.chain.sizes[level]
    found = {}
    for node in range(chain.counts[level]):
        gpus = range(node * size, (node + 1) * size)
        kept = (state.used, state.low, state.bad)
        free = sum(
            1 << n for n, gpu in enumerate(gpus) if not any(bitset.has(b, gpu) for b in kept)
        )
        far = 0
        for upper in range(level, chain.levels + 1):
            wide = chain.sizes[upper]
            start = gpus[0] // wide * wide
            if any(bitset.has(state.used, gpu) for gpu in range(start, start + wide)):
                break
            far = upper
        if free:
            found[node] = far, free
    return found


@given(data=st.data(), block=st.sampled_from([1, 2, 4, 6, 8, 16, 1024]))
@settings(max_examples=80)
def test_idle_nodes_by_block_are_those_of_a_plain_look(data, block):
    """Tests states with guaranteed and low-priority gangs and bad GPUs, blocks of any size."""
    pool = data.draw(pools(max_gpus=32))
    node = data.draw(st.integers(1, pool.chain.levels))
    state = initial_gangs([GangPool("pool", pool, node)])
    for number in range(data.draw(st.integers(0, 6))):
        try:
            state, _ = place_gang(state, data.draw(gangs(f"g{number}", max_pod=3)))
        except (MustWait, NeverFits):
            continue
    if data.draw(st.booleans()):
        top = data.draw(st.integers(0, pool.chain.top_cells - 1))
        cells = mark_bad(state.cells("pool"), Cell(pool.chain.levels, (top,)))
        state = state.with_cells("pool", cells)
    book = state.books["pool"]
    before, low.BLOCK = low.BLOCK, block
    try:
        idle = low._idle(book)
    finally:
        low.BLOCK = before
    assert idle.nodes == plain(book)
    assert list(idle.nodes) == sorted(idle.nodes)
    for kind in idle.kinds:
        members = list(idle.of(kind))
        assert members == sorted(members)
        assert {(idle.nodes[n][0], free.bit_count()) for n, free in members} == {kind}
