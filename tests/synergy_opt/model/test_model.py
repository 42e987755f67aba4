"""Values check themselves: every rule of the model, with the path of what breaks it."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from synergy_opt.errors import InvalidInstance
from synergy_opt.io import shipped
from synergy_opt.model import Cluster, Instance, Job, Profile, Server


def server(**changes: object) -> Server:
    """Give a server of 8 GPUs, 24 cores and 500 GB."""
    values: dict[str, object] = {"type": "n", "count": 2, "gpus": 8, "capacity": (24, 500)}
    return Server(**{**values, **changes})  # type: ignore[arg-type]


def cluster(**changes: object) -> Cluster:
    """Give two such servers."""
    values: dict[str, object] = {
        "resources": {"cpu": "cores", "memory": "GB"},
        "servers": [server()],
    }
    return Cluster(**{**values, **changes})  # type: ignore[arg-type]


def profile(**changes: object) -> Profile:
    """Give a profile on a grid of 2 × 1."""
    values: dict[str, object] = {
        "name": "p",
        "axes": {"cpu": [1, 3], "memory": [20]},
        "throughput": [[1], [2]],
    }
    return Profile(**{**values, **changes})  # type: ignore[arg-type]


def instance(**changes: object) -> Instance:
    """Give an instance with one job."""
    values: dict[str, object] = {
        "name": "i",
        "cluster": cluster(),
        "profiles": [profile()],
        "jobs": [Job(id="a", gpus=1, profile="p")],
    }
    return Instance(**{**values, **changes})  # type: ignore[arg-type]


FAULTS: list[tuple[Callable[[], object], str, str]] = [
    (lambda: server(type=""), ".type", "at least one character"),
    (lambda: server(count=True), ".count", "at least 1"),
    (lambda: server(gpus=2.0), ".gpus", "at least 1"),
    (lambda: server(capacity="24"), ".capacity", "must be a list"),
    (lambda: server(capacity=24), ".capacity", "must be a list"),
    (lambda: server(capacity={24, 5}), ".capacity", "must be a list"),
    (lambda: server(count=10**12), ".count", "must be at most"),
    (lambda: server(type="a\nb"), ".type", "cannot be printed"),
    (lambda: Cluster(resources={"cpu": 5}, servers=[server()]), ".resources.cpu", "a string"),
    (lambda: server(capacity=(24, -1)), ".capacity", "not be negative"),
    (lambda: server(capacity=(24, "x")), ".capacity", "must be a number"),
    (lambda: cluster(resources={}), ".resources", "no resource"),
    (lambda: cluster(resources=[("cpu", ""), ("cpu", "")]), ".resources", "occurs 2 times"),
    (lambda: cluster(resources=[("cpu", ""), (" ", "")]), ".resources", "one character"),
    (lambda: cluster(resources={"server": "", "b": ""}), ".resources", "cannot be the name"),
    (
        lambda: cluster(resources=dict.fromkeys(map(str, range(17)), "")),
        ".resources",
        "are 17, more than 16",
    ),
    (lambda: cluster(servers=[server(), "x"]), ".servers[1]", "of type Server, not str"),
    (lambda: cluster(servers=[]), ".servers", "has no servers"),
    (lambda: cluster(servers=[server(capacity=(24,))]), ".servers[0]", "1 amounts for 2"),
    (lambda: cluster(servers=[server(capacity=(24, 0))]), ".servers[0].memory", "above 0"),
    (lambda: profile(name=3), "", "at least one character"),
    (lambda: profile(unit=None), ".unit", "must be a string"),
    (lambda: profile(per="both"), ".per", "'gpu' or 'job'"),
    (lambda: profile(axes={}, throughput=[]), ".axes", "has no axis"),
    (lambda: profile(axes=[("cpu", [1]), ("cpu", [1])], throughput=[[1]]), ".axes", "2 times"),
    (lambda: profile(axes={"cpu": 3, "memory": [20]}), ".axes.cpu", "at least one number"),
    (lambda: profile(axes={"cpu": [[1]], "memory": [20]}), ".axes.cpu", "at least one number"),
    (lambda: profile(axes={"cpu": [1, "?"], "memory": [20]}), ".axes.cpu[1]", "a number"),
    (lambda: profile(throughput=7), ".throughput", "is a single number"),
    (lambda: profile(throughput=[[1], [-2]]), ".throughput", "but holds -2"),
    (lambda: Job(id="", gpus=1, profile="p"), ".id", "one character"),
    (lambda: Job(id="a", gpus=0, profile="p"), ".gpus", "at least 1"),
    (lambda: Job(id="a", gpus=1, profile=None), ".profile", "one character"),  # type: ignore[arg-type]
    (lambda: Job(id="a", gpus=1, profile="p", weight=Fraction(0)), ".weight", "above 0"),
    (lambda: instance(name=" "), "$.name", "one character"),
    (lambda: instance(objective="x"), "$.objective", "'relative' or 'absolute'"),
    (lambda: instance(profiles=[profile(), profile()]), "$.profiles", "occurs 2 times"),
    (
        lambda: instance(profiles=[profile(axes={"cpu": [1, 3], "net": [20]})]),
        "$.profiles.p.axes",
        "but the cluster's resources are cpu, memory",
    ),
    (lambda: instance(profiles=[]), "$.jobs[0].profile", "no profile 'p'"),
]


@pytest.mark.parametrize(("make", "path", "rule"), FAULTS)
def test_a_value_that_breaks_a_rule_cannot_be_made(
    make: Callable[[], object], path: str, rule: str
):
    """Tests that each constructor refuses, and says where and why."""
    with pytest.raises(InvalidInstance) as caught:
        make()
    assert caught.value.path == path
    assert rule in caught.value.rule
    assert str(caught.value) == (f"{path}: {caught.value.rule}" if path else caught.value.rule)


def test_equal_jobs_are_checked_once_and_an_instance_may_be_empty():
    """Tests that jobs of equal profile and GPUs pass, and that no job at all is an instance."""
    jobs = [Job(id=name, gpus=2, profile="p") for name in "abc"]
    assert len(instance(jobs=jobs).jobs) == 3
    assert instance(jobs=[], profiles=[]).jobs == ()


def test_a_cluster_of_several_groups_adds_up():
    """Tests GPUs, servers, capacity, smallest share and group of each server."""
    found = cluster(servers=[server(count=1), server(gpus=4, capacity=(24, 100), count=2)])
    assert (found.gpus, found.server_count) == (16, 3)
    assert found.capacity == (72, 700)
    assert found.share_of_a_gpu == (3, 25)
    assert found.group_of_server == (0, 1, 1)


def test_values_can_be_changed_by_replace_and_are_frozen():
    """Tests that a changed copy is checked again, and that nothing is changed in place."""
    found = shipped("worked-example")
    assert replace(found, name="other").jobs == found.jobs
    with pytest.raises(InvalidInstance):
        replace(found, jobs=[*found.jobs, found.jobs[0]])
    with pytest.raises(AttributeError):
        found.name = "x"  # type: ignore[misc]


def test_best_within_looks_at_whole_amounts_of_the_job():
    """Tests that a profile for one GPU is scaled, and that nothing within is None."""
    assert profile().best_within((Fraction(2), Fraction(40)), 2) == 1
    assert profile(per="job").best_within((Fraction(3), Fraction(40)), 2) == 2
    assert profile().best_within((Fraction(1), Fraction(40)), 2) is None


def test_other_jobs_are_checked_like_the_first_ones():
    """Tests that `with_jobs` refuses what the constructor refuses, also after a good answer."""
    small = shipped("worked-example")
    name = small.profiles[0].name
    assert [job.id for job in small.with_jobs([Job(id="z", gpus=4, profile=name)]).jobs] == ["z"]
    for bad in ([Job(id="z", gpus=17, profile=name)], [Job(id="z", gpus=1, profile="n")]):
        for _ in range(2):
            with pytest.raises(InvalidInstance):
                small.with_jobs(bad)
    with pytest.raises(InvalidInstance, match="id of an earlier job"):
        small.with_jobs([small.jobs[0], small.jobs[0]])


def test_an_instance_says_how_large_it_is():
    """Tests what stands where an instance is printed."""
    assert str(instance()) == "Instance 'i': 1 jobs on 2 servers, 16 GPUs, cpu, memory"
