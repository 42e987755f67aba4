"""The search for the fewest servers, against looking at every set of servers."""

from __future__ import annotations

from itertools import combinations

from builders import cluster
from hypothesis import given
from hypothesis import strategies as st
from strategies import clusters

from synergy_opt.packing.fewest_servers import Search
from synergy_opt.packing.ledger import Ledger


@given(data=st.data(), place=clusters(max_groups=2, max_count=3), first=st.booleans())
def test_the_fewest_servers_are_found_while_the_books_change(data, place, first):
    """Tests that the answer holds the job on as few servers as any set, or none does."""
    ledger = Ledger(place)
    shares = [ledger.need(group.per_gpu, 1) for group in place.servers]
    need = data.draw(st.sampled_from(shares))
    gpus = data.draw(st.integers(1, place.gpus))
    group = data.draw(st.sampled_from([None, *range(len(place.servers))]))
    search = Search(ledger, need, gpus, group=group, first=first)
    inside = [s for s in range(len(ledger)) if group in (None, place.group_of_server[s])]
    booked = []
    for _ in range(data.draw(st.integers(1, 6))):
        pieces = search.fewest()
        assert pieces == search.fewest()  # looking changes nothing
        held = {s: ledger.holds(s, need) for s in inside}
        sizes = (
            n
            for n in range(1, len(inside) + 1)
            if any(sum(held[s] for s in some) >= gpus for some in combinations(inside, n))
        )
        fewest = next(sizes, None)
        assert (pieces is None) == (fewest is None)
        if pieces is not None:
            assert len(pieces) == len(dict(pieces)) == fewest
            assert sum(dict(pieces).values()) == gpus
            assert all(0 < count <= held[server] for server, count in pieces)
            assert list(pieces) == sorted(pieces)
        if booked and data.draw(st.booleans()):
            ledger.give(*booked.pop())
        else:
            server = data.draw(st.integers(0, len(ledger) - 1))
            booked.append((server, data.draw(st.sampled_from(shares)), 1))
            ledger.take(*booked[-1])


def test_the_server_with_least_free_resources_that_fits_is_taken():
    """Tests that a job goes where least is left, not to the first or the emptiest server."""
    ledger = Ledger(cluster((4, 8, 24)))
    for server, gpus in ((0, 2), (2, 5), (3, 7)):
        ledger.take(server, (1, 3), gpus)
    assert Search(ledger, (1, 3), 3).fewest() == ((2, 3),)
    assert Search(ledger, (1, 3), 3, first=True).fewest() == ((0, 3),)


def test_fewest_servers_means_the_ones_with_most_free_gpus():
    """Tests that a split job does not collect the crumbs of many servers."""
    ledger = Ledger(cluster((4, 8, 24)))
    for server in (0, 1, 2):
        ledger.take(server, (1, 3), 6)
    assert Search(ledger, (1, 3), 10).fewest() == ((0, 2), (3, 8))


def test_the_rest_of_a_split_job_goes_where_it_fits_best():
    """Tests that the last piece takes the server that holds least of those that hold it."""
    ledger = Ledger(cluster((3, 8, 24)))
    ledger.take(1, (1, 3), 5)
    assert Search(ledger, (1, 3), 10).fewest() == ((0, 8), (1, 2))


def test_a_server_that_changed_back_is_not_taken_twice():
    """Tests that an entry of an earlier state of a server does not count again."""
    ledger = Ledger(cluster((2, 2, 2)))
    search = Search(ledger, (1, 1), 4)
    ledger.take(0, (1, 1), 1)
    assert search.fewest() is None
    ledger.give(0, (1, 1), 1)
    assert search.fewest() == ((0, 2), (1, 2))


def test_changes_outside_the_group_are_no_matter():
    """Tests that a search over one group passes over the others' changes."""
    ledger = Ledger(cluster((1, 2, 2), (1, 2, 2)))
    search = Search(ledger, (1, 1), 2, group=1)
    ledger.take(0, (1, 1), 1)
    assert search.fewest() == ((1, 2),)
