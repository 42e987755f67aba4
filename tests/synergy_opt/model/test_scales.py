"""Numbers of any size: the same choice at every scale, without an overflow."""

from dataclasses import replace
from fractions import Fraction

import pytest

from synergy_opt.generate import mix, scattered
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Cluster, Instance, Profile

F = Fraction


def scaled(instance, weight, amounts):
    """Multiply all weights, and the amounts of each resource, capacities and axes alike."""

    def times(values):
        return [v * amounts[r % len(amounts)] for r, v in enumerate(values)]

    servers = [replace(s, capacity=times(s.capacity)) for s in instance.cluster.servers]
    factor = dict(zip(instance.cluster.names, times([F(1)] * 9), strict=False))
    profiles = [
        Profile(
            name=p.name,
            axes=[(name, [v * factor[name] for v in axis.tolist()]) for name, axis in p.axes],
            throughput=p.throughput,
            per=p.per,
        )
        for p in instance.profiles
    ]
    return Instance(
        name=instance.name,
        cluster=Cluster(resources=instance.cluster.resources, servers=servers),
        profiles=profiles,
        jobs=[replace(job, weight=weight) for job in instance.jobs],
    )


@pytest.mark.parametrize("weight", [F(1), F(10) ** 99, F(10) ** -99])
@pytest.mark.parametrize("amounts", [[F(1)], [F(10) ** 90, F(10) ** -90], [F(10) ** 250]])
@pytest.mark.parametrize(
    "instance",
    [
        scattered(servers=2, seed=0),
        mix(servers=3, seed=1, split=(33, 33, 34)),
        scattered(servers=2, seed=2, resources=3, monotone=False),
    ],
    ids=lambda instance: instance.name,
)
def test_the_scale_changes_nothing(instance, weight, amounts):
    """Tests the optimum and its proof with weights and amounts that no 64 bits hold."""
    best = ideal_allocation(instance)
    found = ideal_allocation(scaled(instance, weight, amounts))
    assert found.throughput == best.throughput * weight
    assert found.proof in ("multipliers", "core")
