"""Chains and addresses: arithmetic, round trips, refusals."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Cell,
    Chain,
    InvalidSpec,
    Reservation,
    heal,
    holder,
    initial_state,
    is_bad,
    mark_bad,
    victims,
)
from hived_cells.testing import chains


@given(chains(max_gpus=64), st.data())
def test_index_and_cell_are_inverse(chain, data):
    """Tests that a cell's number and its path lead to each other at every level."""
    level = data.draw(st.integers(1, chain.levels))
    index = data.draw(st.integers(0, chain.counts[level] - 1))
    cell = chain.cell(level, index)
    assert chain.index(cell) == index
    assert chain.parse(str(cell)) == chain.at(cell.path) == cell


@given(chains(max_gpus=64))
def test_cells_of_a_level_are_in_address_order_and_all(chain):
    """Tests that iteration gives every cell of a level once, in order of its path."""
    for level in range(1, chain.levels + 1):
        cells = list(chain.cells(level))
        assert len(cells) == chain.counts[level] == len(set(cells))
        assert cells == sorted(cells)
        assert chain.counts[level] * chain.sizes[level] == chain.gpus


@pytest.mark.parametrize(
    ("top_cells", "factors"),
    [
        (0, ()),
        (-1, (2,)),
        (True, (2,)),
        (2.0, (2,)),
        (2, (0,)),
        (2, (2, -2)),
        (2, ("2",)),
        (1 << 24, (2,)),
        (1, (1,) * 64),
        (2, None),
        (2, 3),
    ],
)
def test_impossible_chains_are_refused(top_cells, factors):
    """Tests that zero, negative, fractional and oversized hierarchies are refused."""
    with pytest.raises(InvalidSpec, match="chain"):
        Chain(top_cells, factors)


@pytest.mark.parametrize(
    "text", ["", None, "x", "0/", "/0", "2", "0/2", "0/0/0", "-1", "0/٣", "9" * 30]
)
def test_addresses_that_lead_nowhere_are_refused(text):
    """Tests that a text that is no address of the chain is refused."""
    with pytest.raises(InvalidSpec, match="cell"):
        Chain(2, (2,)).parse(text)


@pytest.mark.parametrize(
    "cell", [Cell(0, (0,)), Cell(3, (0,)), Cell(1, (0,)), Cell(2, (2,)), Cell(1, (0, True))]
)
def test_cells_of_another_chain_are_refused(cell):
    """Tests that level and path must fit the chain and each other."""
    with pytest.raises(InvalidSpec):
        Chain(2, (2,)).index(cell)


@pytest.mark.parametrize("path", [None, (), (0, 0, 0), [0], (5,)])
def test_paths_that_lead_nowhere_are_refused(path):
    """Tests that a path is a tuple of child numbers that exist."""
    with pytest.raises(InvalidSpec):
        Chain(2, (2,)).at(path)


@pytest.mark.parametrize("call", [is_bad, mark_bad, heal, holder, victims])
@pytest.mark.parametrize("cell", [None, "0/0", (1, (0, 0)), Cell(1, None), Cell(None, (0, 0))])
def test_what_is_no_cell_is_refused_everywhere(call, cell):
    """Tests that every function that takes a cell refuses anything else by the same rule."""
    with pytest.raises(InvalidSpec):
        call(initial_state(Chain(2, (2,)), Reservation({})), cell)


@pytest.mark.parametrize(("level", "index"), [(0, 0), (3, 0), ("1", 0), (1, -1), (1, 4)])
def test_numbers_outside_the_level_are_refused(level, index):
    """Tests that there is no cell beyond the counts."""
    with pytest.raises(InvalidSpec):
        Chain(2, (2,)).cell(level, index)


def test_chains_are_values():
    """Tests that chains compare, hash and pickle by content and take any sequence of factors."""
    chain = Chain(3, [2, 2])
    assert chain == Chain(3, (2, 2)) == pickle.loads(pickle.dumps(chain))
    assert hash(chain) == hash(Chain(3, (2, 2)))
    with pytest.raises(AttributeError):
        chain.top_cells = 4
