"""A walk over a few servers finds the server that the heaps find."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies import clusters

from synergy_opt.packing.fewest_servers import Search
from synergy_opt.packing.ledger import Ledger
from synergy_opt.packing.rooms import Rooms

STEPS = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 3), st.booleans(), st.integers(0, 9)), max_size=12
)


@given(clusters(max_groups=2, max_count=5, resources=1), STEPS)
def test_the_fullest_server_is_the_one_that_a_search_takes(place, steps):
    """Pieces are taken and given back; both are asked for every need at every step."""
    ledger = Ledger(place)
    unit = max(1, int(ledger.capacity[1].min()) // 6)
    rooms, taken = Rooms(ledger), []
    for gpus, amount, back, which in steps:
        need = (1, amount * unit)
        server = rooms.fullest(need, gpus)
        found = Search(ledger, need, gpus).fewest()
        assert server == (found[0][0] if found and len(found) == 1 else None)
        for group in range(len(place.servers)):
            found = Search(ledger, need, gpus, group=group).fewest()
            expected = found[0][0] if found and len(found) == 1 else None
            assert rooms.fullest(need, gpus, group) == expected
        if back and taken:
            ledger.give(*taken.pop(which % len(taken)))
        elif server is not None:
            ledger.take(server, need, gpus)
            taken.append((server, need, gpus))
