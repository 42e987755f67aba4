"""A written specification reads as the chain, the node and the reservation that it was made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import Chain, InvalidSpec, Pin, Reservation, parse_spec
from hived_cells.spec.write import spec_text
from hived_cells.testing.strategies import chains, pools


@given(pools(pins=2).filter(lambda pool: pool.chain.levels > 1), st.data())
def test_written_and_read_is_the_same(pool, data):
    """Tests chains of two levels and more, nodes at any of them, with and without pins."""
    node = data.draw(st.none() | st.integers(2, pool.chain.levels))
    (found,) = parse_spec(spec_text(pool.chain, pool.reservation, node_level=node))
    assert found.pool.chain == pool.chain
    assert found.node_level == node or (node is None and found.node_level == pool.chain.levels)
    assert found.pool.reservation.pins == pool.reservation.pins
    has = {pin.tenant for pin in pool.reservation.pins}
    rows = [row for row in pool.reservation.cells if row[1] or row[0] in has]
    assert found.pool.reservation.cells == tuple(rows)


@given(chains(), st.text(min_size=1, alphabet=st.characters(exclude_categories=["C", "Z"])))
def test_names_are_quoted(chain, name):
    """Tests tenants and pins of any printed characters."""
    chain = chain if chain.levels > 1 else Chain(2, (2,))
    pins = [Pin(name, name, next(iter(chain.cells(chain.levels))))]
    (found,) = parse_spec(spec_text(chain, Reservation({}, pins=pins))).pools
    assert found.pool.reservation.pins == tuple(pins)


def test_what_the_format_cannot_say_is_refused():
    """Tests GPUs that are nodes: alone, and with more below than there is."""
    with pytest.raises(InvalidSpec, match="a node of level 1 is a GPU"):
        spec_text(Chain(4, ()), Reservation({"A": {1: 1}}))
    with pytest.raises(InvalidSpec, match="level 3"):
        spec_text(Chain(4, (2,)), Reservation({}), node_level=3)
