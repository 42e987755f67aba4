"""Equal jobs placed together lie where they would lie placed one after the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies import clusters, instances

from synergy_opt.packing import Packing, hungriest
from synergy_opt.packing.offers import offers, placed
from synergy_opt.proportional import proportional
from synergy_opt.runnable import runnable
from synergy_opt.tune import tune, tune_as_simulated

MANY = instances(cluster=clusters(max_groups=2, max_count=3, round_amounts=True), max_jobs=24)


@given(MANY, st.sampled_from([tune, tune_as_simulated]))
def test_tune_fills_a_server_at_once_as_it_would_job_by_job(drawn, mechanism):
    """Tests `place_equal` against `place`, which follows the paper job by job."""
    jobs = runnable(drawn)
    ledger, of = offers(drawn, jobs)
    packing = Packing(ledger, len(drawn.cluster.servers))
    if mechanism is tune_as_simulated:
        books = ledger.fresh(gpus_alone=True)
        packing = Packing(books, len(drawn.cluster.servers), giver=hungriest)

    def size(number):
        whole = tuple(units * of[number].gpus for units in of[number].demand.need)
        return whole if mechanism is tune else whole[0]

    for number in sorted(range(len(jobs)), key=size, reverse=True):
        packing.place(number, of[number])
    one_by_one = [
        placed(job, packing.held[i].offer, packing.held[i].pieces) for i, job in enumerate(jobs)
    ]
    assert list(mechanism(drawn).jobs) == one_by_one


@given(MANY)
def test_what_is_kept_between_instances_changes_no_answer(drawn):
    """Tests that a mechanism says the same of an instance made by `with_jobs` as of a new one.

    The shorter instance comes first, so that kinds are met one after the other.
    """
    base = drawn.with_jobs(drawn.jobs)
    for mechanism in (tune, tune_as_simulated, proportional):
        for count in range(len(drawn.jobs) + 1):
            jobs = drawn.jobs[count // 2 : count]
            kept = mechanism(base.with_jobs(jobs))
            new = type(drawn)(
                name=drawn.name,
                cluster=drawn.cluster,
                profiles=drawn.profiles,
                jobs=jobs,
                objective=drawn.objective,
            )
            assert kept == mechanism(new)
            assert base.with_jobs(jobs) == new
