"""Runs as columns say the same as runs one by one, and a placement has what they say."""

from fractions import Fraction

import pytest

from synergy_opt.answer import Piece, PlacedJob
from synergy_opt.errors import SolverFailed
from synergy_opt.kinds import kinds
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.packed.bound import free_bound
from synergy_opt.packed.frozen import from_columns
from synergy_opt.packed.options import uses
from synergy_opt.packed.runs import Run, Runs, placement_of
from synergy_opt.packed.shapes import shop

PROFILE = Profile(name="p", axes={"cpu": [1, 2, 4]}, throughput=[1, 2, 3])
CLUSTER = Cluster(
    resources={"cpu": "cores"}, servers=[Server(type="n", count=2, gpus=4, capacity=(8,))]
)
JOBS = [Job(id=f"j{i}", gpus=gpus, profile="p") for i, gpus in enumerate((2, 6))]
INSTANCE = Instance(name="i", cluster=CLUSTER, profiles=[PROFILE], jobs=JOBS)
GOODS = shop(INSTANCE, JOBS, kinds(INSTANCE, JOBS), "allowed")
LISTED = [Run(0, 0, ((0, 2),)), Run(1, 0, ((0, 2), (1, 4)))]


def test_columns_give_the_runs_back():
    assert Runs.of(GOODS, LISTED).runs == LISTED
    assert Runs.of(GOODS, []).runs == []
    assert Runs.of(GOODS, []).value == 0


def test_a_placement_has_the_pieces_of_the_runs():
    bound = free_bound(GOODS, tuple(uses(GOODS, wish) for wish in GOODS.wishes), "allowed")
    runs = Runs.of(GOODS, LISTED)
    runs.check()
    found = placement_of(runs, JOBS, bound, "none", stopped=False)
    assert found.throughput == runs.value
    assert [job.id for job in found.jobs] == ["j0", "j1"]
    assert [[(p.server, p.gpus) for p in job.pieces] for job in found.jobs] == [
        [(0, 2)],
        [(0, 2), (1, 4)],
    ]
    for job in found.jobs:
        assert job.demand == (sum(piece.amounts[0] for piece in job.pieces),)


def test_a_server_with_too_much_is_refused():
    with pytest.raises(SolverFailed, match="overfills"):
        Runs.of(GOODS, [LISTED[0], Run(1, 0, ((0, 4), (1, 2)))]).check()


def test_values_from_columns_are_those_of_their_constructor():
    piece = Piece(server=3, gpus=Fraction(2), amounts=(Fraction(1),))
    assert from_columns(Piece, 1, ([3], [Fraction(2)], [(Fraction(1),)])) == [piece]
    job = PlacedJob(id="j", demand=(), throughput=Fraction(1), pieces=(piece,))
    assert from_columns(PlacedJob, 1, (["j"], [()], [Fraction(1)], [(piece,)])) == [job]
    assert hash(from_columns(PlacedJob, 1, (["j"], [()], [Fraction(1)], [(piece,)]))[0]) == hash(
        job
    )
