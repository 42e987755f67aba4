"""A slow simulator with plain lists, and `place_gang`, agree with the event-driven simulator."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_builders import clusters, nodes_each, traces

from hived_cells import (
    Chain,
    Gang,
    GangPool,
    GangState,
    MustWait,
    NeverFits,
    Pool,
    Reservation,
    RunningGang,
    gang_violations,
    initial_gangs,
    place_gang,
    remove_gang,
)
from hived_cells.gangs.desk import Desk
from hived_cells.gangs.state import EMPTY
from hived_cells.simulation import SCHEDULERS, WAYS, Trace, TraceJob, View, simulate
from hived_cells.simulation.trace import Shape
from hived_cells.simulation.view import Ask
from hived_cells.simulation.ways import reserved_gpus


def tightest(free, shape):
    """Return GPUs by bin for a shape: least room that is enough first, lowest number first."""
    found, groups = {}, shape.nodes
    for room, place in sorted((room, place) for place, room in enumerate(free)):
        fits = min(groups, room // shape.gpus)
        if fits:
            found[place] = fits * shape.gpus
            groups -= fits
        if not groups:
            return found
    if not shape.soft or sum(free) < shape.total:
        return None
    found, missing = {}, shape.total
    for room, place in sorted((-room, place) for place, room in enumerate(free)):
        part = min(missing, -room)
        if part:
            found[place] = part
            missing -= part
    return found


def slow(jobs, free, quota):
    """Return when each job starts: every second, waiting jobs are tried one by one."""
    free, started, running, now = list(free), {}, [], 0
    while len(started) < len(jobs):
        for end, number, place in list(running):
            if end == now:
                running.remove((end, number, place))
                for spot, gpus in place.items():
                    free[spot] += gpus
        tried = set()
        while True:
            waiting = [
                n for n, job in enumerate(jobs)
                if job.submit <= now and n not in started and n not in tried
            ]  # fmt: skip
            if not waiting:
                break

            def used(tenant):
                return sum(jobs[n].shape.total for _, n, _ in running if jobs[n].tenant == tenant)

            def order(n):
                tenant = jobs[n].tenant
                return used(tenant) * 1_000_000 // quota[tenant], n

            number = min(waiting, key=order)
            job = jobs[number]
            tried.add(number)
            place = tightest(free, job.shape)
            if place is None or used(job.tenant) + job.shape.total > quota[job.tenant]:
                continue
            for spot, gpus in place.items():
                free[spot] -= gpus
            started[number] = now
            running.append((now + job.duration, number, place))
        now += 1
    return [started[n] for n in range(len(jobs))]


@given(data=st.data())
@settings(max_examples=40)
def test_private_and_quota_agree_with_second_by_second(data):
    """Tests start times of the capacity scheduler with best fit, alone and under quota."""
    cluster = data.draw(clusters())
    trace = data.draw(traces(*cluster))
    chain, reservation = cluster
    options = {"scheduler": SCHEDULERS["capacity-tightest"], "lending": False}
    quota = reserved_gpus(chain, reservation)
    run = simulate(trace, *cluster, way="quota", **options)
    nodes = [chain.sizes[-1]] * chain.top_cells
    assert list(run.granted) == slow(trace.jobs, nodes, quota)
    run = simulate(trace, *cluster, way="private", **options)
    for tenant, counts in reservation.cells:
        own = [n for n, job in enumerate(trace.jobs) if job.tenant == tenant]
        bins = [chain.sizes[level] for level, count in counts for _ in range(count)]
        starts = slow([trace.jobs[n] for n in own], bins, quota)
        assert [run.granted[n] for n in own] == starts


@given(data=st.data())
def test_the_view_counts_what_its_jobs_hold(data):
    """Tests rooms, use and free GPUs after random steps against plain sums; searches, too."""
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=6))
    view = View(sizes, {"A": 99, "B": 99}, queues=3)
    for job in range(data.draw(st.integers(0, 12))):
        shape = Shape(data.draw(st.integers(1, 2)), data.draw(st.integers(1, 8)))
        ask = Ask(job, data.draw(st.sampled_from("AB")), shape, data.draw(st.integers(0, 2)))
        pieces = view.fit(shape)
        if pieces is not None:
            assert sum(gpus for _, gpus in pieces) == shape.total
            view.enter(ask, pieces)
        if view.running and data.draw(st.booleans()):
            chosen = data.draw(st.sampled_from(sorted(view.running)))
            if view.running[chosen].ask.queue < 2 and data.draw(st.booleans()):
                view.sink(chosen)
            else:
                view.leave(chosen)
        number = data.draw(st.integers(0, len(sizes) - 1))
        if data.draw(st.booleans()):
            view.switch(number, up=not view.is_up(number))
    for queue in range(3):
        for number, size in enumerate(sizes):
            held = sum(
                gpus
                for run in view.running.values()
                for place, gpus in run.pieces
                if place == number and run.ask.queue <= queue
            )
            assert view.room[queue][number] == size - held
        for gpus in range(1, 9):
            fits = any(view.is_up(n) and view.room[queue][n] >= gpus for n in range(len(sizes)))
            assert (view.fit(Shape(1, gpus), queue) is not None) == fits
    assert view.free_gpus == sum(view.room[2][n] for n in range(len(sizes)) if view.is_up(n))


class Watched:
    """A scheduler whose every decision is compared with what `place_gang` does in that state."""

    def __init__(self, chain: Chain) -> None:
        self.inner = SCHEDULERS["capacity-tightest"]
        self.name, self.thresholds = self.inner.name, self.inner.thresholds
        self.chain = chain
        self.seen = set()

    def rank(self, view, ask):
        return self.inner.rank(view, ask)

    def decide(self, view, ask):
        decision = self.inner.decide(view, ask)
        state = gangs_in(view, self.chain)
        assert gang_violations(state) == ()
        shape = view.fit(ask.shape)
        expected = None if shape is None else taken_of(view, shape)
        assert taken(state, view, (ask.shape.gpus, ask.shape.nodes)) == expected
        if ask.shape.soft and shape is None:
            # Any GPUs will do: a gang of single ones has room where the soft job has.
            singles = taken(state, view, (1, ask.shape.total))
            assert (singles is None) == (decision is None)
        else:
            assert (shape is None) == (decision is None)
        self.seen.add((decision is None, ask.shape.soft, ask.shape.nodes > 1))
        return decision


def gangs_in(view, chain):
    """Return the state in which one tenant's cells are the view's bins, with its jobs in them."""
    levels = {size: level for level, size in enumerate(chain.sizes) if level}
    counts = Counter(levels[size] for size in view.sizes)
    pool = Pool(chain, Reservation({"all": dict(counts)}))
    state = initial_gangs([GangPool("V100", pool, node_level=chain.levels)])
    desk = Desk(state.books["V100"], "all", None)
    running = {}
    for number, size in enumerate(view.sizes):
        start = 0
        if view.holders[number]:
            level = levels[size]
            start = desk.bind(level) * size
        for job, gpus in view.holders[number].items():
            pod = tuple(range(start, start + gpus))
            start += gpus
            desk.occupy(pod)
            running.setdefault(job, []).append(pod)
    gangs = {
        f"j{job}": RunningGang(
            Gang(f"j{job}", "all", [(len(pod), 1) for pod in pods]), "V100", tuple(pods), False
        )
        for job, pods in running.items()
    }
    return GangState({"V100": desk.freeze()}, gangs)


def taken_of(view, pieces):
    """Return what pieces take: (GPUs free in a bin before, GPUs taken), sorted."""
    return sorted((view.room[-1][number], gpus) for number, gpus in pieces)


def taken(state, view, pod):
    """Return what `place_gang` takes for pods of one size, packed, or None where it must wait."""
    before = state.books["V100"].views.get(("all", ""), EMPTY).free
    sizes = state.cells("V100").chain.sizes
    try:
        after, placed = place_gang(state, Gang("new", "all", (pod,), gather=False))
    except (MustWait, NeverFits) as refusal:
        assert isinstance(refusal, NeverFits) or refusal.exact
        return None
    assert placed.exact
    now = after.books["V100"].views["all", ""].free
    found = []
    for unit, mask in now.items():
        free = before[unit].bit_count() if unit in before else sizes[unit[0]]
        if free != mask.bit_count():
            found.append((free, free - mask.bit_count()))
    assert sum(gpus for _, gpus in found) == pod[0] * pod[1]
    return sorted(found)


@given(data=st.data(), way=st.sampled_from(WAYS))
@settings(max_examples=60)
def test_each_decision_of_a_run_is_what_place_gang_does_there(data, way):
    """Tests jobs of several groups, cells of all levels, hard and soft, in states that runs reach.

    Whether there is room, and how many GPUs are taken from bins with how much room, agree.
    """
    cluster = data.draw(clusters())
    trace = data.draw(traces(*cluster))
    simulate(trace, *cluster, way=way, scheduler=Watched(cluster[0]), lending=False)


def test_the_decisions_compared_are_of_all_kinds():
    """Tests that a fixed run has the comparison see every kind of answer.

    A soft job within its quota always finds GPUs: as many are free in the cluster.
    """
    jobs = []
    for number in range(60):
        nodes, gpus = (1, 4) if number % 3 else (2, 3)
        shape = Shape(nodes, gpus, soft=number % 2 == 0)
        jobs.append(TraceJob(f"j{number}", "AB"[number % 2], number // 4, 5 + number % 7, shape))
    chain, reservation = nodes_each(A=1, B=2)
    watched = Watched(chain)
    simulate(Trace(jobs), chain, reservation, way="quota", scheduler=watched, lending=False)
    refused = {(True, False, many) for many in (True, False)}
    assert watched.seen == refused | set(product((False,), (True, False), (True, False)))


class Loosest(View):
    """A faulty view: the first bin instead of that with the least room."""

    def fit(self, shape, queue=None):  # noqa: ARG002 (as a view has it)
        return ((0, shape.total),)


def test_a_desk_that_packs_otherwise_is_caught():
    """Tests a planted fault."""
    view = View([8, 4], {"A": 12})
    watched = Watched(Chain(2, (2, 2, 2)))
    watched.decide(view, Ask(0, "A", Shape(1, 4), 0))
    with pytest.raises(AssertionError):
        watched.decide(Loosest([8, 4], {"A": 12}), Ask(0, "A", Shape(1, 4), 0))


@given(data=st.data())
@settings(max_examples=20)
def test_gangs_of_whole_nodes_are_placed_when_the_run_grants_them(data):
    """Tests that `place_gang` has room, in the tenants' cells, at each moment a job is granted."""
    nodes = {tenant: data.draw(st.integers(1, 3)) for tenant in "AB"}
    chain, reservation = nodes_each(**nodes)
    jobs = []
    for number in range(data.draw(st.integers(1, 12))):
        tenant = data.draw(st.sampled_from("AB"))
        shape = Shape(data.draw(st.integers(1, nodes[tenant])), 8)
        submit, duration = data.draw(st.integers(0, 20)), data.draw(st.integers(1, 20))
        jobs.append(TraceJob(f"j{number}", tenant, submit, duration, shape))
    trace = Trace(jobs)
    run = simulate(
        trace, chain, reservation, way="cells", scheduler=SCHEDULERS["capacity"], lending=False
    )
    state = initial_gangs([GangPool("V100", Pool(chain, reservation), node_level=4)])
    # At one second those that end go before those that start.
    steps = sorted(
        [(end, 0, n) for n, end in enumerate(run.ended)]
        + [(start, 1, n) for n, start in enumerate(run.granted)]
    )
    for _, starts, number in steps:
        job = trace.jobs[number]
        if starts:
            state, _ = place_gang(state, Gang(job.name, job.tenant, ((8, job.shape.nodes),)))
        else:
            state = remove_gang(state, job.name)
    assert gang_violations(state) == ()
