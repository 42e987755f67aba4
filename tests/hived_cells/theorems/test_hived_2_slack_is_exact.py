"""HiveD 2: S >= 0 in any state says exactly whether all owed cells can be carved out together."""

from functools import cache

from hived_builders import small_chains
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import Chain, Reservation, first_short_level, is_feasible


def packs(chain, owed, free):
    """Search: can the owed cells be carved out of the free ones? Independent of any formula."""

    @cache
    def search(owed, free):
        level = next((k for k in range(len(owed), 0, -1) if owed[k - 1]), 0)
        if not level:
            return True
        for source in range(level, len(free) + 1):
            if not free[source - 1]:
                continue
            left = list(free)
            left[source - 1] -= 1
            for k in range(source - 1, level - 1, -1):
                left[k - 1] += chain.splits[k + 1] - 1
            less = tuple(n - (k == level) for k, n in enumerate(owed, 1))
            if search(less, tuple(left)):
                return True
        return False

    return search(tuple(owed), tuple(free))


def slack_of(chain, owed, free):
    found, obtainable = [], 0
    for level in range(chain.levels, 0, -1):
        found.append(free[level - 1] + obtainable - owed[level - 1])
        obtainable = chain.splits[level] * found[-1]
    return found


@st.composite
def arbitrary_books(draw):
    """Draw free and owed counts that no sequence of operations need have made."""
    chain = draw(st.sampled_from([Chain(3, (2, 2)), Chain(2, (3, 2)), Chain(2, (2, 1, 2))]))
    counts = st.lists(st.integers(0, 4), min_size=chain.levels, max_size=chain.levels)
    return chain, draw(counts), draw(counts)


@given(arbitrary_books())
def test_slack_decides_as_the_packing_search_does(books):
    """Tests S against a search over all ways to carve, in arbitrary states."""
    chain, owed, free = books
    assert (min(slack_of(chain, owed, free)) >= 0) == packs(chain, owed, free)


@given(st.sampled_from(small_chains(8)), st.data())
def test_feasibility_decides_as_the_packing_search_does(chain, data):
    """Tests the verdict on reservations against the same search."""
    owed = [data.draw(st.integers(0, chain.counts[k])) for k in range(1, chain.levels + 1)]
    free = [0] * (chain.levels - 1) + [chain.top_cells]
    reservation = Reservation({"A": dict(enumerate(owed, 1))})
    assert is_feasible(chain, reservation) == packs(chain, owed, free)
    short = first_short_level(chain, reservation)
    if short is not None:
        upper = [n if k >= short.level else 0 for k, n in enumerate(owed, 1)]
        assert not packs(chain, upper, free)
        upper[short.level - 1] = short.available
        assert short.available < 0 or packs(chain, upper, free)
