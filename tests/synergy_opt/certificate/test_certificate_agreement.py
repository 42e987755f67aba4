"""The certificate and what it judges, written apart, agree on random instances."""

import pytest
from certificate_cases import instances
from hypothesis import given

from synergy_opt.certificate import bound_value, violations
from synergy_opt.greedy import greedy
from synergy_opt.ideal import ideal_allocation, skipping_bound
from synergy_opt.proportional import proportional
from synergy_opt.runnable import runnable
from synergy_opt.tune import tune


@pytest.mark.parametrize("mechanism", [proportional, greedy, tune])
@given(instance=instances())
def test_the_mechanisms_break_no_rule(mechanism, instance):
    """Tests that every placement of a built-in mechanism is proved to keep all rules."""
    answer = mechanism(instance)
    assert violations(instance, answer, throughput=answer.throughput) == ()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"consolidated": False},
        {"integral": False},
        {"integral": False, "floor": "rows"},
    ],
)
@given(instance=instances())
def test_the_bounds_of_stage_1_are_what_their_multipliers_prove(options, instance):
    """Tests that two evaluations of L(λ), written apart, agree; ours may round down further."""
    bound = ideal_allocation(instance, **options).bound
    jobs, free = runnable(instance), skipping_bound(instance, bound.multipliers)
    assert bound_value(instance, jobs, bound) <= bound.value
    assert bound_value(instance, jobs, free) <= free.value
    if not bound.integral:
        assert bound_value(instance, jobs, bound) == bound.value
