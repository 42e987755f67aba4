"""A simulator that goes second by second with plain lists agrees with the event-driven one."""

from hypothesis import given, settings
from hypothesis import strategies as st
from sim_builders import clusters, nodes_each, traces

from hived_cells import (
    Gang,
    GangPool,
    Pool,
    gang_violations,
    initial_gangs,
    place_gang,
    remove_gang,
)
from hived_cells.simulation import SCHEDULERS, Trace, TraceJob, View, simulate
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
