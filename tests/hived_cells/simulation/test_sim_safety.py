"""Sharing safety as a theorem: under cells no job waits longer than in its private cluster."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_builders import clusters, jobs_of, nodes_each, traces

from hived_cells import initial_state, violations
from hived_cells.simulation import SCHEDULERS, Fault, Trace, read_philly, simulate, ways
from hived_cells.simulation.anomalies import longer
from hived_cells.simulation.ground import CellGround
from hived_cells.simulation.schedulers import Capacity, Tiresias

NAMES = sorted(SCHEDULERS)
# Tiresias with thresholds that the small jobs drawn here pass:
QUICK = {**SCHEDULERS, "tiresias": Tiresias(thresholds=(20, 100))}


class CheckedGround(CellGround):
    """Checks after every step that the state is sound and says the same as the floor."""

    made: "list[CheckedGround]" = []  # noqa: RUF012 (filled and read by one test at a time)

    def __init__(self, chain, reservation, *, static):
        super().__init__(chain, reservation, static=static)
        self.first = self.state
        self.made.append(self)

    def check(self):
        assert violations(self.state) == ()
        size = self.state.chain.sizes[-1]
        for node in range(self.state.chain.top_cells):
            shift, area = node * size, (1 << size) - 1
            used = self.state.used[1][0] >> shift & area
            assert used == self.floor.held[node]
            assert self.floor.held_gpus == self.state.used[1][0].bit_count()
        assert self.floor.whole == sum(not bits for bits in self.floor.held)

    def vacate(self, desk, job, pieces):
        super().vacate(desk, job, pieces)
        self.check()

    def lend(self, job, tenant, spots):
        super().lend(job, tenant, spots)
        self.check()
        lent = [bits for row in self.floor.low for bits in row.values()]
        assert self.state.low[1][0].bit_count() == sum(bits.bit_count() for bits in lent)
        assert self.floor.lent_gpus == self.state.low[1][0].bit_count()


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=25)
def test_without_lending_every_job_runs_at_the_same_seconds(name, data):
    """Tests that a tenant's cells and its private cluster are the same to its scheduler."""
    cluster = data.draw(clusters())
    trace = data.draw(traces(*cluster))
    options = {"scheduler": QUICK[name], "lending": False}
    private = simulate(trace, *cluster, way="private", **options)
    for static in (False, True):
        cells = simulate(trace, *cluster, way="cells", static=static, **options)
        assert (cells.granted, cells.ended) == (private.granted, private.ended)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=20)
def test_with_lending_every_job_is_granted_then_and_done_no_later(name, data):
    """Tests each job: same guaranteed start, an end that is no later; the state sound throughout.

    At the end everything has been given back: the state is the first one.
    """
    cluster = data.draw(clusters())
    trace = data.draw(traces(*cluster))
    checkpoint = data.draw(st.integers(1, 30))
    private = simulate(trace, *cluster, way="private", scheduler=QUICK[name])
    static = data.draw(st.booleans())
    CheckedGround.made.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "CellGround", CheckedGround)
        cells = simulate(
            trace, *cluster, way="cells", scheduler=QUICK[name], static=static,
            checkpoint=checkpoint,
        )  # fmt: skip
    assert cells.granted == private.granted
    assert longer(trace, private, cells) == ()
    (ground,) = CheckedGround.made
    assert ground.state == ground.first
    if not static:
        assert ground.state == initial_state(*cluster)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", ["private", "quota", "cells"])
@given(data=st.data())
@settings(max_examples=10)
def test_every_job_is_done_in_the_end_whatever_nodes_do(name, way, data):
    """Tests runs with faults: once all nodes are back nobody waits forever, nothing is lost."""
    cluster = data.draw(clusters())
    trace = data.draw(traces(*cluster))
    nodes = st.integers(0, cluster[0].top_cells - 1)
    faults = data.draw(
        st.lists(st.builds(Fault, st.integers(0, 90), nodes, st.booleans()), max_size=8)
    )
    faults += [Fault(200, node, leaves=False) for node in range(cluster[0].top_cells)]
    run = simulate(trace, *cluster, way=way, scheduler=QUICK[name], faults=faults, checkpoint=10)
    for job, end in zip(trace.jobs, run.ended, strict=True):
        assert end >= job.submit + job.duration


@pytest.fixture(scope="module")
def some_of_philly(reference_data):
    """2,000 jobs of the Philly list."""
    whole = read_philly(reference_data / "philly" / "philly_jobs.csv.gz")
    return Trace(whole.jobs[20_000:22_000])


@pytest.mark.parametrize("name", NAMES)
def test_a_real_trace_is_safe(name, some_of_philly):
    """Tests jobs of the Philly list on a cluster that is too small for comfort."""
    trace = some_of_philly
    largest = dict.fromkeys(trace.tenants, 0)
    for job in trace.jobs:
        largest[job.tenant] = max(largest[job.tenant], job.shape.nodes)
    cluster = nodes_each(**largest)
    private = simulate(trace, *cluster, way="private", scheduler=SCHEDULERS[name])
    cells = simulate(trace, *cluster, way="cells", scheduler=SCHEDULERS[name])
    assert cells.granted == private.granted
    assert longer(trace, private, cells) == ()


class Polite(CellGround):
    """A planted fault: it takes no cell on which somebody runs at low priority."""

    def occupy(self, desk, job, pieces):
        before = self.state
        bad, hit = super().occupy(desk, job, pieces)
        if hit and bad < 0:
            self.vacate(desk, job, pieces)
            assert before.pool == self.state.pool
            return pieces[0][0], hit
        return bad, hit


def test_cells_that_wait_for_low_priority_are_caught(monkeypatch):
    """Tests a planted fault: B's job does not get its own cell because A has borrowed it."""
    trace = jobs_of(("A", 0, 100, 1, 8), ("A", 0, 100, 1, 8), ("B", 50, 10, 1, 8))
    cluster = nodes_each(A=1, B=1)
    private = simulate(trace, *cluster, way="private", scheduler=Capacity())
    monkeypatch.setattr(ways, "CellGround", Polite)
    cells = simulate(trace, *cluster, way="cells", scheduler=Capacity())
    assert {late.job for late in longer(trace, private, cells)} == {"j2"}


@dataclass(frozen=True)
class Peeking(Capacity):
    """A scheduler that looks at more than its view: at how often anybody has asked."""

    asked: list[int] = field(default_factory=list)

    def decide(self, view, ask):
        self.asked.append(ask.job)
        return None if len(set(self.asked)) % 3 == 0 else super().decide(view, ask)


def test_a_scheduler_that_is_no_function_of_its_view_is_caught():
    """Tests a planted fault: such a scheduler may break the promise, and `longer` sees it."""
    trace = jobs_of(*[("A", t, 10, 1, 8) for t in range(0, 90, 3)], ("B", 4, 5, 1, 8))
    cluster = nodes_each(A=1, B=1)
    runs = [
        simulate(trace, *cluster, way=way, scheduler=scheduler, lending=False)
        for way, scheduler in (("private", Capacity()), ("cells", Peeking()))
    ]
    assert longer(trace, *runs)
