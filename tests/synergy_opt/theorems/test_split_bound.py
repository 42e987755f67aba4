"""A vertex of stage 2's LP splits few jobs: pieces − jobs ≤ q(s − κ), at most qs split jobs."""

import pytest
from hypothesis import given
from strategies import clusters, instances

from synergy_opt.generate import scattered
from synergy_opt.ideal import ideal_allocation
from synergy_opt.placement import place

ONE_GROUP = instances(cluster=clusters(max_groups=1))


@given(ONE_GROUP)
def test_extra_pieces(instance):
    """Tests pieces − n ≤ q(s − κ) and ≤ tight rows, and split jobs ≤ qs, for one server group."""
    placed = place(instance, ideal_allocation(instance))
    split = placed.split
    pieces = sum(len(job.pieces) for job in placed.jobs)
    q, s = 1 + len(instance.cluster.names), instance.cluster.server_count
    assert pieces - len(placed.jobs) <= q * (s - split.components)
    assert pieces - len(placed.jobs) <= split.tight_rows
    assert len(placed.split_jobs) <= q * s


@given(ONE_GROUP)
def test_mixtures_obey_it_too(instance):
    """Tests the bound for the totals of the LP, whose jobs may be on mixtures."""
    placed = place(instance, ideal_allocation(instance, integral=False))
    assert placed.split.extra_pieces <= placed.split.limit


@pytest.mark.parametrize("seed", range(4))
def test_bound_on_larger_clusters(seed):
    """Tests the bound with every job its own profile, three resources and full load."""
    instance = scattered(servers=12, seed=seed, resources=3)
    split = place(instance, ideal_allocation(instance)).split
    assert split.extra_pieces <= 4 * (12 - split.components)
