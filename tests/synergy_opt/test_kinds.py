"""Kinds hold the jobs that are equal by value, ascending, in order of first appearance."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.kinds import kinds
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

CLUSTER = Cluster(
    resources={"cpu": "cores"}, servers=[Server(type="n", count=4, gpus=4, capacity=(8,))]
)
PROFILES = [Profile(name=name, axes={"cpu": [1]}, throughput=[1]) for name in "pq"]
ROWS = st.lists(st.tuples(st.sampled_from("pq"), st.integers(1, 2), st.integers(1, 2)), max_size=8)


@given(ROWS)
def test_equal_jobs_are_one_kind_whatever_objects_their_weights_are(rows):
    jobs = [
        Job(id=str(i), gpus=gpus, profile=profile, weight=Fraction(weight))
        for i, (profile, gpus, weight) in enumerate(rows)
    ]
    found = kinds(Instance(name="i", cluster=CLUSTER, profiles=PROFILES, jobs=jobs), jobs)
    kept = dict.fromkeys(rows)
    expected = [tuple(i for i, row in enumerate(rows) if row == one) for one in kept]
    assert [kind.members for kind in found] == expected
