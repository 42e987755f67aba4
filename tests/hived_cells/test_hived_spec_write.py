"""A written specification reads as the chain and the reservation that it was made of."""

import pytest
from hypothesis import given

from hived_cells import Chain, InvalidSpec, Reservation, parse_spec
from hived_cells.spec.write import spec_text
from hived_cells.testing.strategies import pools


@given(pools())
def test_written_and_read_is_the_same(pool):
    """Tests chains of two levels and more without pins."""
    chain = pool.chain if pool.chain.levels > 1 else Chain(2, (2,))
    reservation = Reservation(
        {
            tenant: {level: n for level, n in counts if level <= chain.levels}
            for tenant, counts in pool.reservation.cells
        }
    )
    (found,) = parse_spec(spec_text(chain, reservation))
    assert found.pool.chain == chain
    assert found.pool.reservation.cells == tuple(row for row in reservation.cells if row[1])


def test_what_the_format_cannot_say_is_refused():
    """Tests a chain of single GPUs, which has no node."""
    with pytest.raises(InvalidSpec, match="one level only, or pins"):
        spec_text(Chain(4, ()), Reservation({"A": {1: 1}}))
