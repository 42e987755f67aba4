"""The restricted optima: each restriction is what it says, and more freedom is never worse."""

import pytest

from benchmarks.paper.synergy.case import packed_within_gap
from benchmarks.paper.synergy.restricted import all_or_share, server_by_server
from synergy_opt.demand import best_case_demand, share_demand
from synergy_opt.fair_share import fair_throughput
from synergy_opt.generate import mix
from synergy_opt.packed import packed
from synergy_opt.proportional import proportional
from synergy_opt.simulation.derived import MULTI_GPU, SINGLE_GPU
from synergy_opt.tune import tune, tune_as_simulated

TUNES = (tune, tune_as_simulated)
CASES = [(1, SINGLE_GPU), (2, SINGLE_GPU), (3, MULTI_GPU), (4, MULTI_GPU)]


@pytest.mark.parametrize(("seed", "demands"), CASES)
def test_two_amounts_are_all_that_tune_knows(seed: int, demands: dict[int, int]):
    """Tests that both TUNEs and the shares do on the restricted instance what they do without."""
    whole = mix(servers=2, seed=seed, gpu_demands=demands)
    two = all_or_share(whole)
    for mechanism in (proportional, *TUNES):
        before, after = mechanism(whole), mechanism(two)
        assert [job.pieces for job in before.jobs] == [job.pieces for job in after.jobs]
        assert before.throughput == after.throughput


@pytest.mark.parametrize(("seed", "demands"), CASES)
def test_the_optimum_has_all_or_the_share_and_nothing_between(seed: int, demands: dict[int, int]):
    """Tests what each job of the restricted optimum has, and what that is worth."""
    whole = mix(servers=2, seed=seed, gpu_demands=demands)
    jobs = {job.id: job for job in whole.jobs}
    for entry in packed(all_or_share(whole)).jobs:
        best, share = (of(whole, jobs[entry.id]) for of in (best_case_demand, share_demand))
        is_best = all(has >= a for has, a in zip(entry.demand, best.amounts, strict=True))
        is_share = all(has >= a for has, a in zip(entry.demand, share.amounts, strict=True))
        assert is_best or is_share
        assert entry.throughput == (best.value if is_best else share.value)
    two = all_or_share(whole)
    assert all(fair_throughput(two, job) == 1 for job in two.jobs)


@pytest.mark.parametrize("mechanism", TUNES)
@pytest.mark.parametrize(("seed", "demands"), CASES)
def test_more_freedom_is_never_worse(mechanism, seed: int, demands: dict[int, int]):
    """Tests TUNE ≤ all or share there ≤ any amounts there ≤ the optimum, and the other way up."""
    whole = mix(servers=2, seed=seed, gpu_demands=demands)
    tuned = mechanism(whole)
    there = list(server_by_server(whole, tuned))
    assert sorted(j.id for part in there for j in part.jobs) == sorted(j.id for j in whole.jobs)
    assert sum(part.cluster.gpus for part in there) <= whole.cluster.gpus
    same = sum(packed(all_or_share(part)).throughput for part in there)
    amounts = sum(packed(part).throughput for part in there)
    two, best = packed(all_or_share(whole)).throughput, packed_within_gap(whole)
    assert best.bound is not None
    assert tuned.throughput <= same <= amounts <= best.bound.value
    assert same <= two <= best.bound.value
