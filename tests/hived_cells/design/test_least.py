"""The bound of a design is exact: enumeration agrees, and cut off it is below every cost."""

from itertools import chain as chain_of
from itertools import product, repeat
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from hived_cells import Chain
from hived_cells.design import History, Scenario, cost_of
from hived_cells.design.highs import solved
from hived_cells.design.least import least
from hived_cells.design.program import program_of
from hived_cells.design.start import hosts, improved, whole_nodes

CHAINS = [Chain(5, (2, 2, 2)), Chain(6, (3, 2)), Chain(6, (2, 3)), Chain(9, (4,)), Chain(20, ())]


@st.composite
def problems(draw):
    """Draw a chain, a share, a history whose largest job fits, and a weight."""
    chain = draw(st.sampled_from(CHAINS))
    share = draw(st.integers(1, chain.gpus))
    groups = st.tuples(st.just(0), *[st.integers(0, 1 + share // w) for w in chain.sizes[1:]])
    scenarios = st.lists(st.builds(Scenario, st.integers(1, 9), groups), min_size=1, max_size=5)
    start = whole_nodes(chain, share)
    row = [0, *[draw(st.integers(0, share // w)) for w in chain.sizes[1:]]]
    largest = tuple(row if hosts(chain, start, tuple(row)) else [0] * len(row))
    return chain, share, History(tuple(draw(scenarios)), largest), draw(st.integers(1, 9))


def divisions(chain, share, largest):
    """Yield every way to divide a share into cells in which the largest job fits."""
    for row in product(*[range(share // w + 1) for w in chain.sizes[2:]]):
        left = share - sum(map(int.__mul__, row, chain.sizes[2:]))
        if left >= 0 and hosts(chain, (0, left, *row), largest):
            yield (0, left, *row)


@given(problem=problems())
@settings(max_examples=60)
def test_the_least_cost_is_that_of_enumeration(problem):
    """Tests cells and bound against the costs of all ways to divide the share."""
    chain, share, history, unmet = problem
    moments = sum(scenario.weight for scenario in history.scenarios)
    start = whole_nodes(chain, share)
    found, bound = least(chain, start, history, unmet=unmet, time_limit=60)
    costs = {
        row: cost_of(chain, row, history.scenarios).total(unmet) * moments
        for row in divisions(chain, share, history.largest)
    }
    assert costs[found] == bound == min(costs.values())


@given(problem=problems())
@settings(max_examples=30)
def test_the_solver_finds_the_same(problem):
    """Tests HiGHS' cells against the proved cost."""
    chain, share, history, unmet = problem
    unmet = max(2, unmet)
    start = improved(chain, whole_nodes(chain, share), history, unmet)
    x = solved(program_of(chain, share, history, unmet=unmet), start, 60)
    _, bound = least(chain, start, history, unmet=unmet, time_limit=60)
    moments = sum(scenario.weight for scenario in history.scenarios)
    assert x is not None
    assert cost_of(chain, x, history.scenarios).total(unmet) * moments == bound


@given(problem=problems(), rounds=st.integers(0, 3))
@settings(max_examples=30)
def test_a_search_that_is_cut_off_gives_a_bound_below_every_cost(problem, rounds):
    """Tests the bound after so many rounds of the search: no division costs less."""
    chain, share, history, unmet = problem
    moments = sum(scenario.weight for scenario in history.scenarios)
    start = whole_nodes(chain, share)
    clock = chain_of([0.0] * (1 + rounds), repeat(2.0))
    with patch("hived_cells.design.least.time.monotonic", lambda: next(clock)):
        found, bound = least(chain, start, history, unmet=unmet, time_limit=1.0)
    for row in divisions(chain, share, history.largest):
        assert cost_of(chain, row, history.scenarios).total(unmet) * moments >= bound
    assert hosts(chain, found, history.largest)


def test_numbers_beyond_64_bits_are_exact():
    """Tests weights of 2^80 moments: the proof takes Python's own numbers."""
    chain, weight = Chain(2, (2, 2)), 2**80
    history = History((Scenario(weight, (0, 3, 1, 0)), Scenario(1, (0, 0, 0, 2))), (0, 1, 0, 0))
    found, bound = least(chain, whole_nodes(chain, 8), history, unmet=8, time_limit=60)
    costs = [
        cost_of(chain, row, history.scenarios).total(8) * (weight + 1)
        for row in divisions(chain, 8, history.largest)
    ]
    assert bound == min(costs) == cost_of(chain, found, history.scenarios).total(8) * (weight + 1)
