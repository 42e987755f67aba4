"""A policy, mechanism or window of the wrong kind is refused by name, not deep inside a run."""

from __future__ import annotations

import pytest

from synergy_opt import Cluster, InvalidInstance, Server, derived_workload
from synergy_opt.simulation import simulate

WORKLOAD = derived_workload(jobs=3, seed=0, load=2)
CLUSTER = Cluster(
    resources={"cpu": "cores", "memory": "GB"},
    servers=[Server(type="s", count=1, gpus=8, capacity=(24, 500))],
)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"policy": 3}, TypeError, "policy must be a function, not int"),
        ({"mechanism": None}, TypeError, "mechanism must be a function, not NoneType"),
        ({"policy": lambda _jobs, _now: None}, InvalidInstance, "in order, not NoneType"),
        ({"policy": lambda jobs, _now: jobs[:0]}, InvalidInstance, "each job in the system once"),
        ({"mechanism": lambda _: None}, InvalidInstance, "a Placement, not NoneType"),
        ({"mechanism": lambda _: 3}, InvalidInstance, "a Placement, not int"),
        ({"window": (0, 1.5)}, InvalidInstance, "two whole numbers"),
        ({"window": "ab"}, InvalidInstance, "two whole numbers"),
        ({"window": (0,)}, InvalidInstance, "two whole numbers"),
        ({"shown": "all"}, InvalidInstance, "queue or runnable"),
    ],
)
def test_the_argument_is_named(options, error, message):
    with pytest.raises(error, match=message):
        simulate(WORKLOAD, CLUSTER, **options)
