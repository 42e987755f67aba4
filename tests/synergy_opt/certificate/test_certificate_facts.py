"""The definitions as numbers: the consolidation rule's limits, worked out by hand."""

import pytest
from certificate_cases import F

from synergy_opt.certificate.facts import Facts
from synergy_opt.model import Cluster, Instance, Profile, Server


def facts(*groups):
    """Give the facts of a cluster of (count, GPUs, cores, GB) groups without jobs."""
    servers = [
        Server(type=f"t{i}", count=count, gpus=gpus, capacity=capacity)
        for i, (count, gpus, *capacity) in enumerate(groups)
    ]
    cluster = Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=servers)
    profile = Profile(name="p", axes={"cpu": [0], "memory": [0]}, throughput=[[1]])
    return Facts(instance=Instance(name="i", cluster=cluster, profiles=[profile], jobs=[]))


@pytest.mark.parametrize(
    ("gpus", "limits"),
    [
        # One server with the GPUs, of either group, or the fair share on either.
        (1, [(4, 8), (10, 2), (1, 2), (5, 1)]),
        (2, [(4, 8), (10, 2), (2, 4), (10, 2)]),
        # Only the larger server has 3 GPUs; the fair share on the smaller is 3/2 of it.
        (3, [(4, 8), (3, 6), (15, 3)]),
        # 5 and 6 GPUs: two servers, which have at most 20 cores and at most 8 + 2 GB.
        (5, [(20, 10), (5, 10), (25, 5)]),
        (6, [(20, 10), (6, 12), (30, 6)]),
        # 7 and 8 GPUs: all three servers.
        (7, [(24, 12), (7, 14), (35, 7)]),
        (8, [(24, 12), (8, 16), (40, 8)]),
    ],
)
def test_limits(gpus, limits):
    """Tests every limit for jobs that fit on one server and for larger ones, in order."""
    found = facts((1, 4, 4, 8), (2, 2, 10, 2)).limits(gpus)
    assert found == tuple(limits)


@pytest.mark.parametrize(("gpus", "servers"), [(5, 2), (8, 2), (9, 3), (40, 10)])
def test_the_fewest_servers_that_hold_a_job(gpus, servers):
    """Tests the search for n on ten equal servers."""
    whole, share = facts((10, 4, 6, F(5, 3))).limits(gpus)
    assert whole == (6 * servers, F(5, 3) * servers)
    assert share == (F(6, 4) * gpus, F(5, 12) * gpus)
