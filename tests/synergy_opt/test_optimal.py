"""Both stages in one call."""

import json
from fractions import Fraction

import pytest

from synergy_opt.answer import Placement
from synergy_opt.certificate import violations
from synergy_opt.errors import Infeasible
from synergy_opt.io import read_instance
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.optimal import optimal


@pytest.mark.parametrize("name", ["mix-4", "mix-16", "single-16", "big-16"])
@pytest.mark.parametrize("solver", ["highs", "cpsat", "scipy"])
def test_reference_optima(reference_data, name, solver):
    """Tests that both stages give exactly the known stage-1 optima, certified."""
    folder = reference_data / "synergy-reference"
    expected = json.loads((folder / "expected.json").read_text())[name]
    instance = read_instance(folder / f"{name}.json")
    placed = optimal(instance, solver=solver)
    assert isinstance(placed, Placement)
    assert placed.throughput == Fraction(str(expected["optimum"]))
    stated = {"throughput": placed.throughput, "upper_bound": placed.bound.value}
    assert violations(instance, placed, **stated) == ()
    assert placed.proof == "multipliers"


def test_totals_that_fit_no_groups_are_still_realized():
    """Tests that unequal groups make the fractional optimum infeasible, never the whole one."""
    cluster = Cluster(
        resources={"cpu": "cores"},
        servers=[
            Server(type="rich", count=1, gpus=1, capacity=(9,)),
            Server(type="poor", count=1, gpus=9, capacity=(9,)),
        ],
    )
    profile = Profile(name="p", axes={"cpu": [1, 2]}, throughput=[1, 2])
    jobs = [Job(id=f"j{i}", gpus=1, profile="p") for i in range(9)]
    instance = Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs)
    with pytest.raises(Infeasible):
        optimal(instance)
    placed = optimal(instance, whole_gpus=True)
    assert violations(instance, placed, throughput=placed.throughput) == ()
    assert 9 < placed.throughput < placed.bound.value == 18
