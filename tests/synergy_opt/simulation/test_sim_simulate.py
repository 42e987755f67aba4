"""A simulation keeps the books, and every job does exactly its work, at the exact moment."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from builders import cluster, wants
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from simulation_cases import HUNGRY, MODEST, settings, workload

from synergy_opt.certificate import violations
from synergy_opt.drf import drf
from synergy_opt.errors import Infeasible, InvalidInstance, NotCertified
from synergy_opt.fair_share import job_throughput
from synergy_opt.greedy import greedy
from synergy_opt.proportional import proportional
from synergy_opt.simulation import POLICIES, Timing, simulate
from synergy_opt.simulation.start import prepared
from synergy_opt.tetris import tetris
from synergy_opt.tune import tune, tune_as_simulated

MECHANISMS = (tune, tune_as_simulated, proportional, greedy, drf, tetris)
TIMINGS = (
    Timing(),
    Timing(round_length=Fraction(70), move_cost=Fraction(10), sticky=True),
    Timing(fluid=True, move_cost=Fraction(1, 3)),
    Timing(profiling_time=Fraction(77)),
)
F = Fraction


def spied(mechanism, seen):
    """Give the mechanism with a record of what it was asked and what it said."""

    def spy(instance):
        placement = mechanism(instance)
        seen.append((instance, placement))
        return placement

    return spy


def test_a_job_ends_inside_a_round_at_that_very_moment():
    """Work 900 s at speed 3/2 takes 600 s; 100 s at speed 1 end after 100 s, the lease at 300."""
    run = simulate(workload((0, 900, 1, HUNGRY), (0, 100, 1, MODEST)), cluster((1, 2, 6)))
    assert [job.finished for job in run.jobs] == [600, 100]
    assert [(u.start, u.end, u.used) for u in run.usage] == [(0, 300, (2, 6)), (300, 600, (1, 5))]


def test_who_arrives_inside_a_round_waits_for_the_next():
    run = simulate(workload((301, 60, 1, MODEST)), cluster((1, 2, 6)))
    assert (run.jobs[0].started, run.jobs[0].finished) == (600, 660)
    assert run.jobs[0].queueing == 299


def test_who_arrives_at_a_round_is_in_it():
    assert simulate(workload((300, 60, 1, MODEST)), cluster((1, 2, 6))).jobs[0].started == 300


def test_the_older_semantics_count_whole_iterations_and_end_with_the_round():
    """At 2 iterations a second, 600 of the 666 2/3 that are wanted fit a round."""
    profile = workload((0, F(1000, 3), 1, HUNGRY))
    exact = simulate(profile, cluster((1, 2, 6)), mechanism=proportional)
    older = simulate(
        profile, cluster((1, 2, 6)), mechanism=proportional, timing=Timing(floor_iterations=True)
    )
    assert (exact.jobs[0].finished, older.jobs[0].finished) == (F(1000, 3), 600)


def test_iterations_are_rounded_down():
    """At 2 iterations a second a round of 1.75 s holds 3 of them: 10 take 4 rounds, not 3."""
    timing = Timing(round_length=F("1.75"), floor_iterations=True)
    run = simulate(workload((0, 5, 1, HUNGRY)), cluster((1, 1, 3)), timing=timing)
    assert run.jobs[0].finished == 4 * F("1.75")
    with pytest.raises(Infeasible, match="does not make one iteration a round"):
        timing = Timing(round_length=F("0.4"), floor_iterations=True)
        simulate(workload((0, 5, 1, HUNGRY)), cluster((1, 1, 3)), timing=timing)


def test_fluid_time_has_no_rounds():
    """The second takes the place of the first at once: 100 s after 100 s."""
    jobs = workload((0, 100, 1, MODEST), (F("0.5"), 100, 1, MODEST))
    run = simulate(jobs, cluster((1, 1, 3)), timing=Timing(fluid=True))
    assert [job.finished for job in run.jobs] == [100, 200]


def test_a_restored_job_pays():
    """LAS takes turns every round; whoever comes back works 10 s less in its round."""
    jobs = workload((0, 600, 1, MODEST), (0, 600, 1, MODEST))
    timing = Timing(move_cost=F(10))
    run = simulate(jobs, cluster((1, 1, 3)), policy=POLICIES["las"], timing=timing)
    free = simulate(jobs, cluster((1, 1, 3)), policy=POLICIES["las"])
    assert [job.finished for job in free.jobs] == [900, 1200]
    assert [job.moves for job in run.jobs] == [2, 2]
    # Two rounds of 300 and 290 s leave 10 s, which cost another restoration.
    assert [job.finished for job in run.jobs] == [1220, 1520]


def test_sticky_names_servers_so_that_jobs_stay():
    """When a ends, first fit would move b to server 0; it is renamed to where b is."""
    place = cluster((2, 1, 3))
    jobs = workload((0, 100, 1, MODEST), (0, 900, 1, MODEST), (300, 900, 1, MODEST))
    moves = {
        sticky: [
            job.moves
            for job in simulate(jobs, place, mechanism=drf, timing=Timing(sticky=sticky)).jobs
        ]
        for sticky in (False, True)
    }
    assert moves == {False: [0, 1, 1], True: [0, 0, 0]}  # c is renamed as well when b ends


def test_profiling_delays_the_entry():
    timing = Timing(profiling_time=F(300))
    assert (
        simulate(workload((1, 60, 1, MODEST)), cluster((1, 1, 3)), timing=timing).jobs[0].started
        == 600
    )


def test_an_empty_workload_is_done_at_once():
    assert simulate(workload(), cluster((1, 1, 3))).rounds == 0


@pytest.mark.parametrize(
    ("lines", "window", "message"),
    [
        ([(0, 60, 9, MODEST)], None, "asks for 9, but the cluster has 2 GPUs"),
        ([(0, 60, 1, MODEST)], (0, 2), "0:2 is no part of 1 jobs"),
        ([(0, 60, 1, MODEST)], (1, 1), "1:1 is no part"),
    ],
)
def test_what_cannot_run_is_refused(lines, window, message):
    with pytest.raises(InvalidInstance, match=message):
        simulate(workload(*lines), cluster((1, 2, 6)), window=window)


@pytest.mark.parametrize("policy", [lambda jobs, _: jobs[1:], lambda jobs, _: [*jobs, jobs[0]]])
def test_a_policy_that_loses_a_job_or_doubles_one_is_refused(policy):
    with pytest.raises(InvalidInstance, match="each job in the system once"):
        simulate(workload((0, 60, 1, MODEST)), cluster((1, 2, 6)), policy=policy)


def test_arguments_of_a_wrong_type_are_named():
    place, jobs = cluster((1, 2, 6)), workload((0, 60, 1, MODEST))
    with pytest.raises(TypeError, match="workload must be a Workload, not list"):
        simulate([], place)
    with pytest.raises(TypeError, match="cluster must be a Cluster, not str"):
        simulate(jobs, "place")
    with pytest.raises(TypeError, match="timing must be a Timing, not int"):
        simulate(jobs, place, timing=300)


def test_a_demand_that_fits_no_empty_cluster_is_told():
    """GREEDY's 2-GPU job wants 3/2 cores a GPU, of which server 0 has but 1."""
    greedy_of = wants("g", (1, F(1, 2)), (2, F(3, 2)))
    with pytest.raises(Infeasible, match=r"1 jobs wait for ever \(a\)"):
        simulate(workload((0, 60, 2, greedy_of)), cluster((1, 1, 1), (1, 1, 2)), mechanism=greedy)


def test_a_mechanism_that_places_nothing_is_told():
    def nothing(instance):
        answer = greedy(instance)
        return type(answer)(instance=instance.name, mechanism="nothing", jobs=())

    with pytest.raises(Infeasible, match=r"1 jobs wait for ever \(a\)"):
        simulate(workload((0, 60, 1, MODEST)), cluster((1, 2, 6)), mechanism=nothing)


@pytest.mark.parametrize("fault", ["more", "twice", "stranger", "sum"])
def test_books_that_do_not_add_up_are_refused(fault):
    """Faults planted in a placement are caught whatever the mechanism claims."""

    def wrong(instance):
        answer = proportional(instance)
        first = answer.jobs[0]
        piece = first.pieces[0]
        if fault == "more":
            bigger = replace(piece, amounts=(F(7),))
            bad = (replace(first, demand=(F(7),), pieces=(bigger,)),)
        elif fault == "twice":
            bad = (first, first)
        elif fault == "stranger":
            bad = (replace(first, id="z"),)
        else:
            bad = (replace(first, demand=(F(2),)),)
        return replace(answer, jobs=bad)

    with pytest.raises(NotCertified):
        simulate(workload((0, 60, 1, MODEST)), cluster((1, 2, 6)), mechanism=wrong)


@limits(max_examples=25)
@given(settings(), st.sampled_from(MECHANISMS), st.sampled_from(sorted(POLICIES)),
       st.sampled_from(TIMINGS))  # fmt: skip
def test_every_job_does_its_work_and_every_placement_is_certified(
    drawn, mechanism, policy, timing
):
    """Every mechanism under every policy: certified, all jobs end, nobody ends before it can."""
    place, jobs = drawn
    seen = []
    spy = spied(mechanism, seen)
    try:
        run = simulate(jobs, place, mechanism=spy, policy=POLICIES[policy], timing=timing)
    except Infeasible:
        # A fixed demand, split over unlike servers, may fit none of them even when all are empty.
        assert mechanism in (greedy, drf, tetris)
        assert len(place.servers) > 1
        return
    for instance, placement in seen:
        assert not violations(instance, placement)
    for job in run.jobs:
        fastest = max(
            (
                job_throughput(
                    instance, next(j for j in instance.jobs if j.id == job.id), e.demand
                )
                for instance, placement in seen
                for e in placement.jobs
                if e.id == job.id
            )
        )
        assert job.submitted <= job.started <= job.finished
        assert job.duration / fastest <= job.ran <= job.duration / job.slowest
        assert job.ran <= job.finished - job.started
    whole = (place.gpus, *place.capacity)
    ends = [usage.end for usage in run.usage]
    assert [usage.start for usage in run.usage] == [0, *ends[:-1]]
    assert all(u <= w for usage in run.usage for u, w in zip(usage.used, whole, strict=True))


@limits(max_examples=25)
@given(settings(), st.sampled_from(sorted(POLICIES)), st.sampled_from([F(300), F(70)]))
def test_work_is_the_sum_of_throughput_times_time(drawn, policy, length):
    """Recounted from the placements alone, round by round, without the simulator's books."""
    place, jobs = drawn
    timing = Timing(round_length=length)
    clock = prepared(jobs, place, timing, None).clock
    rounds = []

    def watched(queue, now):
        rounds.append([clock.seconds(now), rounds[-1][1] if rounds else None])
        return POLICIES[policy](queue, now)

    def spy(instance):
        rounds[-1][1] = (instance, tune(instance))
        return rounds[-1][1][1]

    run = simulate(jobs, place, policy=watched, mechanism=spy, shown="queue", timing=timing)
    work = {job.id: F(0) for job in run.jobs}
    end = {job.id: job.finished for job in run.jobs}
    for start, (instance, placement) in rounds:
        by_id = {job.id: job for job in instance.jobs}
        for entry in placement.jobs:
            until = min(start + length, end[entry.id])
            if entry.pieces and until > start:
                speed = job_throughput(instance, by_id[entry.id], entry.demand)
                work[entry.id] += speed * (until - start)
    assert work == {job.id: job.duration for job in run.jobs}


@limits(max_examples=40)
@given(settings(), st.sampled_from([tune, tune_as_simulated]), st.sampled_from(sorted(POLICIES)),
       st.sampled_from(TIMINGS))  # fmt: skip
def test_tune_is_never_below_the_share_in_any_round(drawn, mechanism, policy, timing):
    """No job ever runs below its GPU-proportional throughput."""
    place, jobs = drawn
    run = simulate(jobs, place, mechanism=mechanism, policy=POLICIES[policy], timing=timing)
    assert all(job.slowest >= 1 for job in run.jobs)


@limits(max_examples=25)
@given(settings(), st.sampled_from(sorted(POLICIES)))
def test_what_is_not_shown_changes_nothing_for_who_does_not_look(drawn, policy):
    """TUNE of the whole queue is TUNE of its runnable jobs."""
    place, jobs = drawn
    runs = [
        simulate(jobs, place, policy=POLICIES[policy], shown=shown).jobs
        for shown in ("runnable", "queue")
    ]
    assert runs[0] == runs[1]


@limits(max_examples=25)
@given(settings())
def test_rounds_passed_over_are_rounds_in_which_nothing_happens(drawn):
    """FIFO as another function, which is asked every round, gives the same times and usage."""
    place, jobs = drawn
    steady = simulate(jobs, place)
    asked = simulate(jobs, place, policy=partial(POLICIES["fifo"]))
    assert (steady.jobs, steady.usage, steady.rounds) == (asked.jobs, asked.usage, asked.rounds)
