"""HiveD 10: bindings are replayed in order; one that would break an S_k is downgraded."""

from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Bindings,
    IllegalRequest,
    Reservation,
    allocate,
    bitset,
    bound_cells,
    initial_state,
    is_feasible,
    jobs,
    recover,
    slack,
    violations,
)
from hived_cells.reservation import Pool
from hived_cells.testing import pools, reservations


@given(
    pools(max_gpus=24), st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4))), st.data()
)
def test_a_changed_reservation_keeps_every_promise(pool, requests, data):
    """Tests that after a change of reservation no S_k is negative and no GPU is lost."""
    state = initial_state(pool.chain, pool.reservation)
    for tenant, level in requests:
        try:
            state, _ = allocate(state, tenant, level)
        except IllegalRequest:
            continue
    held = data.draw(st.permutations(list(bound_cells(state))))
    changed = Pool(pool.chain, data.draw(reservations(pool.chain)))
    done = recover(changed, Bindings(held))
    assert violations(done.state) == ()
    assert min(slack(done.state)) >= 0
    kept = list(bound_cells(done.state))
    assert sorted([*kept, *done.downgraded]) == sorted(held)
    gpus = sum(len(job.gpus) for job in jobs(done.state)) + bitset.count(done.state.used)
    assert gpus == sum(pool.chain.sizes[cell.level] for _, cell in held)
    first = done.downgraded[0] if done.downgraded else None
    if first is not None:  # the first one refused could not have been kept beside those before it
        before = held[: held.index(first)]
        assert not could_keep(changed, [*(h for h in before if h not in done.downgraded), first])


def could_keep(pool, held):
    """Return whether quota allows these cells and the rest that is owed still fits beside them."""
    for tenant, level in {(tenant, cell.level) for tenant, cell in held}:
        count = sum((t, c.level) == (tenant, level) for t, c in held)
        if count > dict(dict(pool.reservation.cells).get(tenant, ())).get(level, 0):
            return False
    left = {}
    for tenant, counts in pool.reservation.cells:
        left[tenant] = {
            level: count - sum((t, c.level) == (tenant, level) for t, c in held)
            for level, count in counts
        }
    from hived_cells import Pin

    pins = [Pin(str(n), tenant, cell) for n, (tenant, cell) in enumerate(held)]
    return is_feasible(pool.chain, Reservation(left, pins=pins))
