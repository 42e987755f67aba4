"""HiveD 7: pins are carved out first, then S is tested; what is left is a pool like any other."""

from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    InvalidSpec,
    Pin,
    Pool,
    Reservation,
    allocate,
    allocate_pin,
    first_short_level,
    initial_state,
    release,
    violations,
)
from hived_cells.testing import chains


@given(chains(max_gpus=16), st.data())
def test_pins_and_reserved_cells_are_all_had_at_once(chain, data):
    """Tests that a feasible reservation with pins is granted whole, pins before or after."""
    cells = st.integers(1, chain.levels).flatmap(
        lambda level: st.integers(0, chain.counts[level] - 1).map(lambda i: chain.cell(level, i))
    )
    drawn = data.draw(st.lists(cells, max_size=3, unique=True))
    pins = [Pin(f"p{n}", "A", cell) for n, cell in enumerate(drawn)]
    counts = {k: data.draw(st.integers(0, chain.counts[k])) for k in range(1, chain.levels + 1)}
    reservation = Reservation({"B": counts}, pins=pins)
    try:
        Pool(chain, reservation)
    except InvalidSpec:
        return  # the pins overlap
    if first_short_level(chain, reservation) is not None:
        return
    first = state = initial_state(chain, reservation)
    early = data.draw(st.booleans())
    for pin in pins if early else []:
        state, _ = allocate_pin(state, "A", pin.name)
    held = []
    for level, count in counts.items():
        for _ in range(count):
            state, cell = allocate(state, "B", level)
            held.append(("B", cell))
    for pin in [] if early else pins:
        state, _ = allocate_pin(state, "A", pin.name)
    assert violations(state) == ()
    for owner, cell in [*held, *(("A", pin.cell) for pin in pins)]:
        state = release(state, owner, cell)
    assert state == first
