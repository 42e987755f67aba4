"""Equal jobs placed together lie where they would lie placed one after the other."""

from __future__ import annotations

from hypothesis import given
from strategies import clusters, instances

from synergy_opt.offers import offers, placed
from synergy_opt.packing import Packing
from synergy_opt.proportional import proportional
from synergy_opt.runnable import runnable
from synergy_opt.tune import tune

MANY = instances(cluster=clusters(max_groups=2, max_count=3, round_amounts=True), max_jobs=24)


@given(MANY)
def test_tune_fills_a_server_at_once_as_it_would_job_by_job(drawn):
    """Tests `place_equal` against `place`, which follows the paper job by job."""
    jobs = runnable(drawn)
    ledger, of = offers(drawn, jobs)
    packing = Packing(ledger, len(drawn.cluster.servers))

    def size(number):
        return tuple(units * of[number].gpus for units in of[number].demand.need)

    for number in sorted(range(len(jobs)), key=size, reverse=True):
        packing.place(number, of[number])
    one_by_one = [
        placed(job, packing.held[i].offer, packing.held[i].pieces) for i, job in enumerate(jobs)
    ]
    assert list(tune(drawn).jobs) == one_by_one


@given(MANY)
def test_what_is_kept_between_instances_changes_no_answer(drawn):
    """Tests that a mechanism says the same of an instance made by `with_jobs` as of a new one.

    The shorter instance comes first, so that kinds are met one after the other.
    """
    base = drawn.with_jobs(drawn.jobs)
    for mechanism in (tune, proportional):
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
