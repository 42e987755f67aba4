"""With fixing, a vertex of stage 1's LP has at most K fractional jobs; what rounding loses."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, clusters, instances

from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Cluster, Instance, Job, Profile, Server


@given(instances())
def test_at_most_k_fractional_jobs(instance):
    """Tests that at most one job a resource is on a mixture of configurations."""
    found = ideal_allocation(instance, integral=False)
    fractional = [job for job in found.jobs if len(job.mixture) > 1]
    assert len(fractional) <= len(instance.cluster.names)


@st.composite
def floored(draw):
    """Instances whose profiles are W = min over resources of rising functions, with floors."""
    cluster = draw(clusters())
    width = len(cluster.names)
    profiles = []
    for p in range(draw(st.integers(1, 3))):
        axes, curves = {}, []
        for name, share in zip(NAMES[:width], cluster.share_of_a_gpu, strict=True):
            axes[name] = [share * Fraction(f, 4) for f in (1, 2, 4, 6, 8)]
            steps = [draw(st.integers(0, 3)) for _ in range(5)]
            curves.append([1 + sum(steps[: i + 1]) for i in range(5)])
        profiles.append(Profile(name=f"p{p}", axes=axes, throughput=least(curves)))
    sizes = st.integers(1, max(1, cluster.gpus // 2))
    jobs = [
        Job(id=f"j{i}", gpus=draw(sizes), profile=draw(st.sampled_from(profiles)).name)
        for i in range(draw(st.integers(1, 6)))
    ]
    return Instance(name="floored", cluster=cluster, profiles=profiles, jobs=jobs)


def least(curves, lowest=10**9):
    """Nest the table of the least of one value a curve."""
    if not curves:
        return lowest
    return [least(curves[1:], min(lowest, value)) for value in curves[0]]


@given(floored())
def test_rounding_loss_with_floors(instance):
    """Tests LP − ILP ≤ K · max_j (W_j^max − W_j^f) where every job has a least fair point."""
    linear = ideal_allocation(instance, integral=False).throughput
    integral = ideal_allocation(instance).throughput
    gains = [
        max(p for p in instance.profile_of[job.profile].throughput.tolist())
        / instance.profile_of[job.profile].best_within(
            tuple(job.gpus * a for a in instance.cluster.share_of_a_gpu), job.gpus
        )
        - 1
        for job in instance.jobs
    ]
    assert linear - integral <= len(instance.cluster.names) * max(gains)


@pytest.mark.parametrize("n", [4, 8, 20])
def test_without_floors_the_loss_is_not_bounded_by_the_gains(n):
    """Tests the counterexample: every gain is at most 1, and the LP is n − 2 above the ILP."""
    epsilon = Fraction(1, 2 * (n - 2))
    cluster = Cluster(
        resources={"cpu": "cores", "memory": "GB"},
        servers=[Server(type="n", count=1, gpus=n, capacity=(n, n))],
    )
    one, more, half = Fraction(1), 1 + epsilon, Fraction(1, 2)
    gain = Profile(name="gain", axes={"cpu": [one], "memory": [one, more]}, throughput=[[1, 2]])
    saver = Profile(
        name="saver", axes={"cpu": [half, one], "memory": [one, 2]}, throughput=[[1, 1], [1, 1]]
    )
    # (1,1), (0,2) and (2,0) → 1, all else on its grid → 0. Its fair point is (1,1).
    either = Profile(
        name="either",
        axes={"cpu": [0, 1, 2], "memory": [0, 1, 2]},
        throughput=[[0, 0, 1], [0, 1, 1], [1, 1, 1]],
    )
    jobs = [Job(id=f"g{i}", gpus=1, profile="gain") for i in range(n - 2)]
    jobs += [Job(id="s", gpus=1, profile="saver"), Job(id="e", gpus=1, profile="either")]
    instance = Instance(
        name="no-floor", cluster=cluster, profiles=[gain, saver, either], jobs=jobs
    )
    linear = ideal_allocation(instance, integral=False).throughput
    integral = ideal_allocation(instance).throughput
    assert (linear, integral) == (2 * n - 2, n)
