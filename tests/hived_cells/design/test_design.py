"""Designs of reservations are the best of all, at exact costs, and faulty ones are named."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hived_cells import Chain, Infeasible, InvalidSpec, Reservation
from hived_cells.design import Cost, History, Scenario, cost_of, design, faults_of, history_of
from hived_cells.design.check import served
from hived_cells.design.start import improved, whole_nodes
from hived_cells.errors import HivedError
from hived_cells.simulation import SCHEDULERS, Shape, Trace, TraceJob, simulate

ROOT = Path(__file__).resolve().parents[3]
CHAINS = [Chain(3, (2, 2)), Chain(3, (2,)), Chain(3, (3, 2)), Chain(3, (2, 3)), Chain(3, (4,))]


def counts(chain, most):
    return st.tuples(st.just(0), *[st.integers(0, most)] * chain.levels)


def by_hand(chain, cells, groups):
    """Return the most GPUs served, then the most in cells of their size, by trying everything."""
    sizes = chain.sizes
    order = [level for level in range(chain.levels, 0, -1) for _ in range(groups[level])]

    @cache
    def go(place, state):
        if place == len(order):
            return 0, 0
        level = order[place]
        best = go(place + 1, state)
        for cell in set(state):
            kind, free = cell
            if free >= sizes[level]:
                rest = list(state)
                rest.remove(cell)
                rest.append((kind, free - sizes[level]))
                done, fitting = go(place + 1, tuple(sorted(rest)))
                own = sizes[level] if kind == level else 0
                best = max(best, (done + sizes[level], fitting + own))
        return best

    start = [(k, sizes[k]) for k in range(1, chain.levels + 1) for _ in range(cells[k])]
    return go(0, tuple(sorted(start)))


@given(data=st.data())
def test_what_cells_serve_agrees_with_trying_everything(data):
    """Tests the exact evaluation against a search over all ways to put groups into cells."""
    chain = data.draw(st.sampled_from(CHAINS))
    cells, groups = data.draw(counts(chain, 2)), data.draw(counts(chain, 3))
    assert served(chain, cells, groups) == by_hand(chain, cells, groups)


def all_cells(chain, share):
    """Return every way to divide a share into cells."""
    ranges = [range(share // chain.sizes[k] + 1) for k in range(1, chain.levels + 1)]
    return [
        (0, *row)
        for row in product(*ranges)
        if sum(n * size for n, size in zip(row, chain.sizes[1:], strict=True)) == share
    ]


@st.composite
def histories(draw, chain, share):
    """Draw scenarios, and a largest job that fits in the share as whole nodes."""
    groups = counts(chain, max(1, share // 2))
    scenarios = draw(
        st.lists(st.builds(Scenario, st.integers(1, 5), groups), min_size=1, max_size=4)
    )
    level = draw(st.integers(1, chain.levels))
    nodes = min(1, share // chain.sizes[level])
    largest = [0] + [nodes if k <= level else 0 for k in range(1, chain.levels + 1)]
    return History(tuple(scenarios), tuple(largest))


@given(data=st.data())
@settings(max_examples=25)
def test_the_design_is_the_best_of_all_and_passes_its_check(data):
    """Tests proved designs against the least cost over every way to divide the share."""
    chain = data.draw(st.sampled_from(CHAINS))
    share = data.draw(st.integers(1, chain.gpus))
    history = data.draw(histories(chain, share))
    weight = data.draw(st.integers(2, 9))
    found = design(chain, {"A": share}, {"A": history}, unmet_weight=weight)
    assert faults_of(found, chain, {"A": share}, {"A": history}) == ()
    assert found.stopped == ()

    def hosts(row):
        return all(
            sum(row[k] * (chain.sizes[k] // chain.sizes[low]) for k in range(low, len(row)))
            >= history.largest[low]
            for low in range(1, len(row))
        )

    least = min(
        cost_of(chain, row, history.scenarios).total(weight)
        for row in all_cells(chain, share)
        if hosts(row)
    )
    assert found.costs["A"].total(weight) == least == found.bounds["A"]


@given(data=st.data())
def test_exchanges_never_make_it_worse(data):
    """Tests that the start keeps the share and costs no more than whole nodes."""
    chain = data.draw(st.sampled_from(CHAINS))
    share = data.draw(st.integers(1, chain.gpus))
    history = data.draw(histories(chain, share))
    first = whole_nodes(chain, share)
    better = improved(chain, first, history, 8)
    assert sum(map(int.__mul__, better, chain.sizes)) == share
    costs = [cost_of(chain, row, history.scenarios).total(8) for row in (first, better)]
    assert costs[1] <= costs[0]


WANTED = History((Scenario(1, (0, 3, 0)), Scenario(1, (0, 1, 1))), (0, 1, 1))


def planted():
    """Yield faulty designs with what the check must say of them."""
    chain, shares = Chain(4, (8,)), {"A": 16}
    good = design(chain, shares, {"A": WANTED})
    yield "sound", good, None
    yield "too many", replace(good, reservation=Reservation({"A": {2: 5}})), "level 2 is short"
    more = replace(good, reservation=Reservation({"A": {1: 9, 2: 1}}))
    yield "share", more, "A: 17 GPUs reserved, its share is 16"
    small = replace(good, reservation=Reservation({"A": {1: 16}}))
    yield "largest", small, "its largest job wants 1 groups of level 2, its cells have 0"
    whole = replace(good, reservation=Reservation({"A": {2: 2}}))
    yield "cost", whole, "stated cost"
    yield "claimed", replace(good, costs={"A": Cost(Fraction(0), Fraction(1))}), "stated cost"
    yield "bound above", replace(good, bounds={"A": Fraction(1)}), "is below its bound"
    yield "no proof", replace(good, bounds={"A": None}), "is said to be least"
    stranger = replace(good, reservation=Reservation({"A": {1: 8, 2: 1}, "B": {1: 1}}))
    yield "stranger", stranger, "B: 1 GPUs reserved, its share is 0"


@pytest.mark.parametrize(("name", "found", "message"), list(planted()), ids=lambda v: str(v)[:12])
def test_a_faulty_design_is_named(name, found, message):
    """Tests planted faults: cells, shares, costs and bounds that are wrong."""
    broken = faults_of(found, Chain(4, (8,)), {"A": 16}, {"A": WANTED})
    assert (broken == ()) if message is None else any(message in fault for fault in broken)


def test_what_cannot_be_designed_is_refused():
    """Tests shares beyond the cluster, a largest job beyond its share, and bad arguments."""
    chain = Chain(4, (8,))
    with pytest.raises(Infeasible, match="the shares are 40 GPUs, the cluster has 32"):
        design(chain, {"A": 40}, {})
    with pytest.raises(Infeasible, match="its largest job does not fit in 7 GPUs"):
        design(chain, {"A": 7}, {"A": WANTED})
    with pytest.raises(InvalidSpec, match="has a history and no share"):
        design(chain, {}, {"A": WANTED})
    with pytest.raises(InvalidSpec, match="unmet weight 1"):
        design(chain, {"A": 16}, {"A": WANTED}, unmet_weight=1)


def test_checking_loads_no_solver():
    """Tests that what judges a design can be had without HiGHS."""
    code = "import sys, hived_cells.design.check; sys.exit('highspy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_a_tenant_without_history_gets_whole_nodes():
    """Tests that a share of which nothing is known is left as large as it can be."""
    found = design(Chain(4, (2, 4)), {"A": 19}, {})
    assert found.reservation == Reservation({"A": {3: 2, 2: 0, 1: 3}})


def test_the_history_counts_what_runs_at_the_same_time():
    """Tests moments by hand: a job that ends at a moment is not there any more."""
    trace = Trace(
        [
            TraceJob("a", "A", 0, 20, Shape(1, 3)),
            TraceJob("b", "A", 5, 5, Shape(2, 8)),
            TraceJob("c", "A", 30, 1, Shape(1, 1)),
        ]
    )
    history = history_of(trace, Chain(4, (2, 2, 2)), every=10)["A"]
    # Moments 0, 10, 20 and 30; b is between two of them.
    assert history.scenarios == (
        Scenario(1, (0, 0, 0, 0, 0)), Scenario(1, (0, 1, 0, 0, 0)), Scenario(2, (0, 0, 0, 1, 0)),
    )  # fmt: skip
    assert history.largest == (0, 2, 2, 2, 2)
    with pytest.raises(InvalidSpec, match="9 GPUs together"):
        history_of(Trace([TraceJob("a", "A", 0, 20, Shape(1, 9))]), Chain(4, (8,)))


@given(data=st.data())
@settings(max_examples=30)
def test_soft_jobs_of_any_size_are_designed_for(data):
    """Tests that a design hosts what the simulator runs: soft jobs need GPUs, no shape."""
    chain = Chain(4, (2, 2, 2))
    share = data.draw(st.integers(1, 24))
    jobs = []
    for number in range(data.draw(st.integers(1, 5))):
        nodes = data.draw(st.integers(1, min(3, share)))
        shape = Shape(nodes, data.draw(st.integers(1, share // nodes)), soft=True)
        jobs.append(TraceJob(f"j{number}", "A", data.draw(st.integers(0, 20)), 30, shape))
    trace = Trace(jobs)
    histories = history_of(trace, chain, every=10)
    found = design(chain, {"A": share}, histories, time_limit=5.0)
    assert faults_of(found, chain, {"A": share}, histories) == ()
    scheduler = SCHEDULERS["capacity"]
    run = simulate(trace, chain, found.reservation, way="cells", scheduler=scheduler)
    assert min(run.ended) > 0


@given(
    nodes=st.integers(1, 4),
    gpus=st.integers(1, 40),
    chain=st.sampled_from([Chain(9, (2, 2, 2)), Chain(9, (3, 2)), Chain(9, (8,))]),
)
def test_a_soft_job_wants_its_gpus_as_close_together_as_a_node_allows(nodes, gpus, chain):
    """Tests the groups of one job: whole nodes, then one group of the rest for each of its own."""
    trace = Trace([TraceJob("j", "A", 0, 10, Shape(nodes, gpus, soft=True))])
    history = history_of(trace, chain)["A"]
    whole, rest = divmod(gpus, chain.sizes[-1])
    groups = history.scenarios[0].groups
    assert sum(groups) == nodes * (whole + (rest > 0))
    assert groups[-1] >= nodes * whole
    wanted = sum(map(int.__mul__, groups, chain.sizes))
    assert nodes * gpus <= wanted < nodes * gpus + nodes * chain.sizes[-1]
    assert history.largest == (0, nodes * gpus, *[0] * (chain.levels - 1))


@given(data=st.data())
def test_fewer_scenarios_stand_for_all_moments(data):
    """Tests that weights add up to the moments whatever the number of scenarios."""
    jobs = data.draw(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 50)), min_size=1))
    trace = Trace(
        TraceJob(f"j{n}", "A", t, d, Shape(1, 1 + n % 8)) for n, (t, d) in enumerate(jobs)
    )
    most = data.draw(st.integers(1, 20))
    history = history_of(trace, Chain(4, (2, 2, 2)), every=7, most=most)["A"]
    assert len(history.scenarios) <= most
    assert sum(scenario.weight for scenario in history.scenarios) == trace.end // 7 + 1


@pytest.mark.parametrize("cells", [(0, 0, 2), (0, 16, -1), (0, 8, 0)])
def test_cells_of_the_solver_that_break_its_rows_are_refused(monkeypatch, cells):
    """Tests planted faults of the solver: not the share, fewer than no cells, no room."""
    monkeypatch.setattr("hived_cells.design.highs.solved", lambda *_: cells)
    with pytest.raises(HivedError, match="that break its rows"):
        design(Chain(1, (8,)), {"A": 8}, {"A": History((Scenario(1, (0, 0, 1)),), (0, 1, 1))})


def test_a_solver_that_finds_nothing_changes_no_cost(monkeypatch):
    """Tests that proofs need no solver: from whole nodes alone the same costs are proved."""
    chain, shares = Chain(4, (2, 2, 2)), {"A": 24}
    wanted = History((Scenario(3, (0, 5, 2, 1, 1)), Scenario(1, (0, 1, 0, 3, 2))), (0, 1, 1, 1, 1))
    first = design(chain, shares, {"A": wanted})
    monkeypatch.setattr("hived_cells.design.highs.solved", lambda *_: None)
    second = design(chain, shares, {"A": wanted})
    assert first.stopped == second.stopped == ()
    assert first.costs["A"].total(8) == second.costs["A"].total(8) == first.bounds["A"]
