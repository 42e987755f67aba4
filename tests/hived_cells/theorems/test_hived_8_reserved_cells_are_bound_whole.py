"""HiveD 8: a reserved cell is bound whole; the reserved shape is the contract."""

import pytest
from hived_builders import rack, start_with

from hived_cells import IllegalRequest, allocate, violations


def test_known_case_the_reserved_shape_is_the_contract():
    """Tests that four GPUs reserved one by one promise no pair, and a node is a whole node."""
    state = start_with(rack(1), A={1: 4}, B={4: 1})
    with pytest.raises(IllegalRequest, match="reserved 0 cells of level 2"):
        allocate(state, "A", 2)
    cells = []
    for _ in range(2):
        state, cell = allocate(state, "A", 1)
        cells.append(str(cell))
    assert cells == ["0/0/0/0/0", "0/0/0/0/1"]
    state, node = allocate(state, "B", 4)
    assert str(node) == "0/1"
    assert violations(state) == ()
