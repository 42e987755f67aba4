"""Loads of servers: listed completely, searched exactly, whatever the solver's prices were."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from builders import cluster, wants
from hypothesis import given, settings
from hypothesis import strategies as st
from packed_model import assignment_optimum

from synergy_opt.certificate import verify
from synergy_opt.errors import Infeasible, Stopped
from synergy_opt.generate import mix, scattered
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.packed import packed
from synergy_opt.packed.gpu_packing import gpu_packing
from synergy_opt.packed.load_master import LoadMaster
from synergy_opt.packed.loads import Bay, Item, loads_above
from synergy_opt.solution import Limits
from synergy_opt.tune import tune

COUNTS = st.dictionaries(st.integers(1, 7), st.integers(0, 3), max_size=3)


def fits(items, free):
    """Tell whether the items fit, by trying all servers for each."""
    if not items:
        return True
    first, *rest = items
    for place, room in enumerate(free):
        if room >= first and room not in free[:place]:
            left = [*free[:place], room - first, *free[place + 1 :]]
            if fits(rest, left):
                return True
    return False


@given(jobs=COUNTS, servers=COUNTS)
def test_whole_jobs_are_placed_by_their_gpus_where_that_is_possible(jobs, servers):
    """Tests the search for GPUs against all placements, and what it places."""
    found = gpu_packing(jobs, servers)
    items = sorted((g for g, n in jobs.items() for _ in range(n)), reverse=True)
    assert found.decided
    assert (found.servers is not None) == fits(
        items, [g for g, n in servers.items() for _ in range(n)]
    )
    if found.servers is not None:
        assert sorted((g for _, taken in found.servers for g in taken), reverse=True) == items
        assert all(sum(taken) <= room for room, taken in found.servers)
        for room in servers:
            assert sum(r == room for r, _ in found.servers) <= servers[room]


def test_a_search_for_gpus_that_is_given_up_says_so():
    """Tests that few nodes decide nothing."""
    assert not gpu_packing({3: 9, 2: 5}, {4: 12, 5: 2}, nodes=2).decided


KINDS = st.lists(
    st.tuples(
        st.integers(1, 3),  # copies
        st.integers(1, 3),  # GPUs
        st.lists(st.tuples(st.integers(0, 9), st.integers(-4, 9)), min_size=1, max_size=2),
    ),
    min_size=1,
    max_size=3,
)


@given(
    kinds=KINDS,
    gpus=st.integers(1, 4),
    room=st.integers(0, 15),
    least=st.integers(-3, 20),
    cell=st.integers(1, 5),
)
def test_all_loads_above_a_limit_are_listed(kinds, gpus, room, least, cell):
    """Tests the bounded enumeration against all multisets, with any cells of the bounds."""
    items = tuple(
        Item(
            kind=t,
            copies=copies,
            configurations=tuple(range(len(some))),
            sizes=np.array([[weight, size] for size, _ in some], dtype=np.int64),
        )
        for t, (copies, weight, some) in enumerate(kinds)
    )
    worth = [np.array([gain for _, gain in some], dtype=np.int64) for _, _, some in kinds]
    bay = Bay(group=0, room=(gpus, room), items=items, cells=(1, cell))
    found = loads_above(bay, worth, least, most=10**6)
    assert found.complete
    pairs = [(t, c) for t, (_, _, some) in enumerate(kinds) for c in range(len(some))]
    expected = {}
    for counts in product(range(4), repeat=len(pairs)):
        used = [(t, c, n) for (t, c), n in zip(pairs, counts, strict=True) if n]
        if any(sum(n for u, _, n in used if u == t) > kinds[t][0] for t in range(len(kinds))):
            continue
        if sum(n * kinds[t][1] for t, _, n in used) > gpus:
            continue
        if sum(n * kinds[t][2][c][0] for t, c, n in used) > room:
            continue
        total = sum(n * kinds[t][2][c][1] for t, c, n in used)
        if total >= least:
            expected[tuple(used)] = total
    listed = {found.load(i).jobs: int(found.worth[i]) for i in range(len(found))}
    assert listed == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
def test_false_prices_of_a_solver_never_prove_a_falsehood(monkeypatch, noise):
    """Tests that with wrong prices the search is undecided or right: a planted fault."""
    rng = np.random.default_rng(1)
    honest = LoadMaster.duals

    def false(self):
        return honest(self) * noise + rng.normal(size=self.rows) * (noise != 0.3)

    for seed in range(2):
        instance = scattered(servers=2, seed=seed)
        best = assignment_optimum(instance, split="never")
        with monkeypatch.context() as patch:
            patch.setattr(LoadMaster, "duals", false)
            found = packed(instance, limits=Limits(time=1))
        assert found.throughput <= best <= found.bound.value
        if found.proof != "none":
            assert found.throughput == best
        verify(instance, found)


@pytest.mark.parametrize(("servers", "seed"), [(1, 3), (2, 5), (2, 11), (3, 4)])
def test_loads_prove_what_the_assignment_model_finds(servers, seed):
    """Tests the search over loads on jobs with grids of their own, whose relaxation has a gap."""
    instance = scattered(servers=servers, seed=seed)
    found = packed(instance, limits=Limits(time=60))
    assert found.proof in ("patterns", "loads")
    assert found.throughput == assignment_optimum(instance, split="never")
    verify(instance, found)


@given(seed=st.integers(0, 10**6), servers=st.integers(1, 2), heavy=st.sampled_from([3, 10**5]))
@settings(max_examples=8)
def test_two_groups_and_weights_agree_with_the_assignment_model(seed, servers, heavy):
    """Tests the way by loads with a second group of servers and weighted jobs."""
    base = mix(servers=servers, seed=seed, gpu_demands={1: 3, 2: 2, 3: 1, 5: 1})
    groups = [*base.cluster.servers, Server(type="small", count=1, gpus=4, capacity=(20, 200))]
    jobs = [
        Job(id=j.id, gpus=j.gpus, profile=j.profile, weight=heavy if i % 3 == 0 else 1)
        for i, j in enumerate(base.jobs)
    ]
    place = Cluster(resources=dict(base.cluster.resources), servers=groups)
    instance = Instance(name="two", cluster=place, profiles=base.profiles, jobs=jobs)
    best = assignment_optimum(instance, split="never", seconds=5)
    try:
        found = packed(instance, limits=Limits(time=20))
    except Infeasible:
        assert best is None
        return
    verify(instance, found)
    if best is not None:
        assert found.throughput <= best <= found.bound.value
        assert found.proof == "none" or found.throughput == best


def together(weights=(1, 1)):
    """Give the case in which the larger job, taken first, left the smaller one no server."""
    profile = Profile(name="p", axes={"cpu": [1, 2, 3]}, throughput=[1, 2, 3], per="gpu")
    jobs = [
        Job(id=name, gpus=gpus, profile="p", weight=weight)
        for name, gpus, weight in zip("xy", (5, 3), weights, strict=True)
    ]
    place = cluster((2, 3, 9), (1, 2, 2))
    return Instance(name="together", cluster=place, profiles=[profile], jobs=jobs)


@pytest.mark.parametrize("split", ["never", "allowed"])
@pytest.mark.parametrize("seconds", [0, 5])
def test_a_divided_job_leaves_whole_ones_a_server(split, seconds):
    """Tests that jobs of 5 and 3 GPUs find 2 servers of 3 and one of 2, as with TUNE."""
    found = packed(together(), split=split, limits=Limits(time=seconds))
    verify(together(), found)
    assert found.throughput >= tune(together()).throughput


@pytest.mark.parametrize("weights", [(10**8, Fraction(2, 7)), (Fraction(1, 10**6), 10**12)])
@pytest.mark.parametrize("split", ["never", "allowed"])
def test_weights_of_very_unlike_size(weights, split):
    """Tests that a solver's tolerances do not end the search, nor hide what TUNE finds."""
    for seed in range(2):
        base = scattered(servers=2, seed=seed, gpu_demands={1: 5, 2: 3, 12: 1})
        jobs = [
            Job(id=j.id, gpus=j.gpus, profile=j.profile, weight=weights[i % 2])
            for i, j in enumerate(base.jobs)
        ]
        instance = Instance(name="unlike", cluster=base.cluster, profiles=base.profiles, jobs=jobs)
        found, heuristic = packed(instance, split=split, limits=Limits(time=1)), tune(instance)
        verify(instance, found)
        if split == "allowed" or not heuristic.split_jobs:
            assert found.throughput >= heuristic.throughput


def test_infeasible_is_said_only_where_it_is_shown(monkeypatch):
    """Tests that a search that was given up is not taken for a proof."""
    profile = wants("p", (1, 1))
    jobs = [Job(id=f"j{i}", gpus=3, profile="p") for i in range(3)]
    place = cluster((2, 4, 8), (1, 2, 4))
    instance = Instance(name="three", cluster=place, profiles=[profile], jobs=jobs)
    with pytest.raises(Infeasible, match="exact search"):
        packed(instance)
    start = import_module("synergy_opt.packed.start")
    given_up = start.gpu_packing({3: 3, 1: 1}, {4: 2, 5: 1}, nodes=0)
    monkeypatch.setattr(start, "gpu_packing", lambda *_: given_up)
    with pytest.raises(Stopped, match="may be one"):
        packed(instance)
