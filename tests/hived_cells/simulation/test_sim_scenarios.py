"""Small runs whose answers were worked out by hand, the paper's sharing anomaly among them."""

import pytest
from sim_builders import jobs_of, nodes_each

from hived_cells import Chain, Reservation
from hived_cells.simulation import SCHEDULERS, WAYS, Fault, Shape, Trace, TraceJob, simulate
from hived_cells.simulation.anomalies import Witness, anomalies, longer
from hived_cells.simulation.comparison import Comparison, compare, report, summary

CAPACITY = SCHEDULERS["capacity"]


def ended(trace, cluster, way, *, scheduler=CAPACITY, **options):
    return list(simulate(trace, *cluster, way=way, scheduler=scheduler, **options).ended)


def test_the_papers_sharing_anomaly():
    """Tests two tenants of 8 GPUs on two nodes: small jobs on both nodes keep A's 1×8 waiting."""
    trace = jobs_of(*[("B", 0, 100, 1, 1)] * 8, ("A", 10, 50, 1, 8))
    cluster = nodes_each(A=1, B=1)
    found = compare(trace, *cluster, scheduler=CAPACITY, lending=False)
    granted = {way: run.granted[8] for way, run in found.runs.items()}
    assert granted == {"private": 10, "quota": 100, "cells": 10}
    assert list(found.runs["quota"].ended) == [100] * 8 + [150]
    (anomaly,) = found.anomalies
    assert (anomaly.job, anomaly.cause, anomaly.excess) == ("j8", "fragmented", 90)
    assert str(anomaly.refusal) == (
        "at 10 s: j8 wants 1×8, A holds 0 of its 8 GPUs, 8 are free; node 0 has 4 free and B 4"
    )
    assert found.longer == ()
    data = summary(found)
    assert data["anomalies"]["in_the_way"] == {"A": {"B": 4}}
    assert data["tenants"]["A"]["excess"] == {"quota": 1.5, "cells": 0.0}


@pytest.mark.parametrize("alone", [0, 1])
def test_never_is_later_than_any_second(alone):
    """Tests a node that never returns: who is never done alone is not done later elsewhere."""
    trace = jobs_of(("A", 0, 100, 1, 8), ("B", 0, 100, 1, 8))
    faults = [Fault(10, alone, leaves=True)]
    found = compare(trace, *nodes_each(A=1, B=1), scheduler=CAPACITY, faults=faults)
    assert found.runs["private"].ended[alone] == -1
    assert [found.runs[way].ended[alone] for way in ("quota", "cells")] == [200, 200]
    assert (found.longer, found.anomalies) == ((), ())
    assert summary(found)["tenants"]["AB"[alone]]["worst_excess"]["quota"] == 0


def test_who_is_never_done_is_an_anomaly():
    """Tests a job that ends alone and never under quota: it comes first, with no minutes."""
    rows = [("A", 0, 9, 1, 8), ("B", 0, 50, 1, 8)]
    private, quota = (
        simulate(jobs_of(*rows), *nodes_each(A=1, B=1), way=way, scheduler=CAPACITY, faults=gone)
        for way, gone in (("private", []), ("quota", [Fault(5, n, leaves=True) for n in (0, 1)]))
    )
    trace = jobs_of(*rows)
    found = anomalies(trace, private, quota, Witness(trace, private))
    assert [(one.job, one.shared, one.excess) for one in found] == [
        ("j0", -1, None),
        ("j1", -1, None),
    ]
    assert len(longer(trace, private, quota)) == 2
    told = report(summary(Comparison(
        trace, *nodes_each(A=1, B=1), "capacity",
        {"private": private, "quota": quota, "cells": private}, found, (),
    )))  # fmt: skip
    assert "  never done: j0 (late)" in told


def test_a_job_behind_a_fragmented_one_is_told_so():
    """Tests that the second job in line names the refusal of the first."""
    rows = [("B", 0, 100, 1, 1)] * 8 + [("A", 10, 50, 1, 8), ("A", 20, 5, 1, 8)]
    found = compare(jobs_of(*rows), *nodes_each(A=1, B=1), scheduler=CAPACITY, lending=False)
    # Private: granted at 10 and 60. Quota: both nodes are free at 100; the quota takes one job.
    assert [(a.job, a.cause, a.private, a.shared) for a in found.anomalies] == [
        ("j8", "fragmented", 60, 150),
        ("j9", "behind", 65, 155),
    ]
    assert found.anomalies[1].refusal.job == "j8"


def test_only_what_comes_after_the_private_start_explains():
    """Tests that a refusal at which the job would wait alone, too, is none to blame others for.

    A's two jobs of 4 GPUs stand on two nodes until 50, so its 1×8 job waits until then anyway.
    Under quota B's single GPUs stand on all three nodes until 100: what counts is seen at 50.
    """
    rows = [("A", 0, 50, 1, 4)] * 2 + [("B", 0, 100, 1, 1)] * 3 + [("A", 10, 5, 1, 8)]
    found = compare(jobs_of(*rows), *nodes_each(A=2, B=1), scheduler=CAPACITY, lending=False)
    assert (found.runs["private"].granted[5], found.runs["quota"].granted[5]) == (50, 100)
    (anomaly,) = found.anomalies
    assert (anomaly.refusal.time, anomaly.refusal.free) == (50, 21)


def test_best_fit_packs_the_small_jobs():
    """Tests that with the tightest fit the same eight jobs share a node, and nobody waits."""
    trace = jobs_of(*[("B", 0, 100, 1, 1)] * 8, ("A", 10, 50, 1, 8))
    scheduler = SCHEDULERS["capacity-tightest"]
    assert ended(trace, nodes_each(A=1, B=1), "quota", scheduler=scheduler)[8] == 60


def test_quota_bounds_a_tenant_though_gpus_are_free():
    """Tests that without lending a tenant runs no more than its quota under quota."""
    trace = jobs_of(("A", 0, 100, 1, 8), ("A", 0, 100, 1, 8))
    for way in WAYS:
        assert ended(trace, nodes_each(A=1, B=1), way, lending=False) == [100, 200]


def test_low_priority_runs_ahead_and_gives_way():
    """Tests what is kept and lost: A's second job runs ahead on B's node until B comes.

    It runs from 0 to 60, keeps 50 of it (checkpoints every 25), waits until B is done at 70, runs
    ahead again until its guaranteed start at 100 with 80 of 100 done, and ends at 120.
    """
    trace = jobs_of(("A", 0, 100, 1, 8), ("A", 0, 100, 1, 8), ("B", 60, 10, 1, 8))
    run = simulate(trace, *nodes_each(A=1, B=1), way="cells", scheduler=CAPACITY, checkpoint=25)
    assert (list(run.ended), list(run.granted)) == ([100, 120, 70], [0, 100, 60])
    assert (run.preempted, run.preemptions, run.lost) == (8, 1, 80)
    # Until the last submission at 60: both nodes busy, one of them at low priority.
    assert (run.seconds, run.guaranteed, run.lent) == (60, 480, 480)
    assert run.whole == 60  # what is lent is not held: B's node is whole


def test_a_job_done_early_changes_no_decision():
    """Tests that a job done at low priority keeps its place, so that those after it do not move.

    A's 2nd job is done ahead at 50 on B's node. Its place runs from 100 to 150, so the third,
    which needs both of A's GPUs... is granted when it would be alone: at 150.
    """
    trace = jobs_of(("A", 0, 100, 1, 8), ("A", 0, 50, 1, 8), ("A", 0, 70, 1, 8))
    private = simulate(trace, *nodes_each(A=1, B=1), way="private", scheduler=CAPACITY)
    cells = simulate(trace, *nodes_each(A=1, B=1), way="cells", scheduler=CAPACITY)
    assert list(private.granted) == list(cells.granted) == [0, 100, 150]
    # The third starts on B's node at 50, moves to A's own at 100 (A's place is idle): done at 120.
    assert list(cells.ended) == [100, 50, 120]


def test_an_early_end_may_make_a_later_job_wait_longer():
    """Tests why lending must not free places early: Graham's anomaly, with backfill, alone.

    Two jobs of 4 GPUs end at 12, then the 1×8 job starts. If the first ends at 5 instead, the
    small job that comes at 11 fits beside the second, and the 1×8 job waits for it until 111.
    """
    for duration, granted in ((12, 12), (5, 111)):
        trace = jobs_of(
            ("A", 0, duration, 1, 4), ("A", 0, 12, 1, 4), ("A", 1, 10, 1, 8), ("A", 11, 100, 1, 4)
        )
        run = simulate(trace, *nodes_each(A=1), way="private", scheduler=CAPACITY)
        assert run.granted[2] == granted


def test_migration_makes_room():
    """Tests Gandiva: a node emptied by moving two GPUs, which pause for a minute."""
    # Jobs 0 and 1 (2 GPUs each) start on nodes 0 and 1; the 1×8 job needs one of them emptied.
    trace = jobs_of(("A", 0, 1000, 1, 2), ("A", 0, 1000, 1, 2), ("A", 10, 100, 1, 8))
    run = simulate(trace, *nodes_each(A=2), way="private", scheduler=SCHEDULERS["gandiva"])
    assert (run.moved, run.moved_others) == (2, 0)
    assert (list(run.granted), list(run.ended)) == ([0, 0, 10], [1060, 1000, 110])
    plain = simulate(trace, *nodes_each(A=2), way="private", scheduler=CAPACITY)
    assert list(plain.ended) == [1000, 1000, 1100]


def test_tiresias_stops_long_jobs_for_short_ones():
    """Tests a job that has sunk to queue 1: it is stopped, waits, and keeps what it has done.

    8 GPUs reach one GPU-hour after 450 s; the small job of 100 s comes at 500.
    """
    trace = jobs_of(("A", 0, 1000, 1, 8), ("A", 500, 100, 1, 1))
    run = simulate(trace, *nodes_each(A=1), way="private", scheduler=SCHEDULERS["tiresias"])
    assert (run.stopped, list(run.granted), list(run.ended)) == (1, [0, 500], [1100, 600])
    early = jobs_of(("A", 0, 1000, 1, 8), ("A", 449, 100, 1, 1))
    run = simulate(early, *nodes_each(A=1), way="private", scheduler=SCHEDULERS["tiresias"])
    # It waits one second, until the other has sunk; that has 550 s left at 550.
    assert list(run.ended) == [1100, 550]


def test_a_node_leaves_and_returns():
    """Tests a fault: under cells the job is bound elsewhere at once, alone it waits for the node.

    100 s on node 0, which leaves at 30; checkpoints every 20; the node is back at 50.
    """
    trace = jobs_of(("A", 0, 100, 1, 8), ("A", 200, 1, 1, 1))
    cluster = Chain(2, (2, 2, 2)), Reservation({"A": {4: 1}})
    faults = [Fault(30, 0, leaves=True), Fault(50, 0, leaves=False)]
    options = {"faults": faults, "checkpoint": 20}
    assert ended(trace, cluster, "cells", **options)[0] == 110
    assert ended(trace, cluster, "private", **options)[0] == 130
    assert ended(trace, cluster, "quota", **options)[0] == 110


@pytest.mark.parametrize("way", WAYS)
def test_a_node_that_is_back_in_the_same_second_is_back(way):
    """Tests leaving and returning at 30: the job loses its work and starts again; none waits."""
    trace = jobs_of(("A", 0, 100, 1, 8), ("A", 200, 1, 1, 1))
    faults = [Fault(30, 0, leaves=True), Fault(30, 0, leaves=False)]
    cluster = Chain(1, (2, 2, 2)), Reservation({"A": {4: 1}})
    assert ended(trace, cluster, way, faults=faults, checkpoint=1000) == [130, 201]


def test_a_report_counts_the_jobs_that_are_never_done():
    """Tests that a node gone for good does not pass for a delay of nothing."""
    trace = jobs_of(("A", 0, 100, 1, 8), ("A", 200, 1, 1, 1))
    cluster = Chain(1, (2, 2, 2)), Reservation({"A": {4: 1}})
    faults = [Fault(30, 0, leaves=True)]
    found = compare(trace, *cluster, scheduler=CAPACITY, faults=faults)
    told = report(summary(found)).splitlines()
    assert len([line for line in told if "2 jobs never done, not in the means" in line]) == 3


def test_a_cell_with_no_healthy_node_left_goes_down_until_one_returns():
    """Tests two tenants, two nodes, one leaves: its tenant waits, nobody else is disturbed.

    With lending it goes on at low priority on the other node as soon as that is idle.
    """
    trace = jobs_of(("A", 0, 100, 1, 8), ("B", 0, 100, 1, 8))
    faults = [Fault(30, 0, leaves=True), Fault(500, 0, leaves=False)]
    for lending, end in ((False, 570), (True, 170)):
        options = {"lending": lending, "faults": faults, "checkpoint": 1}
        assert ended(trace, nodes_each(A=1, B=1), "cells", **options) == [end, 100]


def test_a_soft_job_takes_any_gpus():
    """Tests a 1×8 job on two half-free nodes: soft it starts, hard it waits."""
    rows = [TraceJob(f"s{n}", "A", 0, 100, Shape(1, 4)) for n in range(2)]
    for soft, granted in ((True, 0), (False, 100)):
        trace = Trace([*rows, TraceJob("j", "A", 0, 10, Shape(1, 8, soft))])
        run = simulate(trace, *nodes_each(A=2), way="private", scheduler=CAPACITY)
        assert run.granted[2] == granted


def test_nothing_to_do():
    """Tests an empty trace in every way."""
    for way in WAYS:
        assert ended(Trace([]), nodes_each(A=1), way) == []


@pytest.mark.parametrize("name", sorted(SCHEDULERS))
def test_samples_are_hourly_and_add_up(name):
    """Tests the hourly samples of one job of three hours on one of two nodes."""
    trace = jobs_of(("A", 1, 3 * 3600, 1, 4), ("A", 4 * 3600, 1, 1, 1))
    run = simulate(trace, *nodes_each(A=2), way="cells", scheduler=SCHEDULERS[name])
    assert [(s.time // 3600, s.guaranteed, s.whole) for s in run.samples] == [
        (0, 0, 2), (1, 4, 1), (2, 4, 1), (3, 4, 1),
    ]  # fmt: skip
    assert run.guaranteed == 4 * 3 * 3600
