"""A written specification reads as the chain and the reservation that it was made of."""

from hypothesis import given

from hived_cells import Chain, Reservation, parse_spec
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
