"""A workload is what its lines say, in order, or one message says which line errs."""

import pickle
from fractions import Fraction

import pytest

from synergy_opt.errors import InvalidInstance
from synergy_opt.model import Profile
from synergy_opt.simulation.workload import TraceJob, Workload

PROFILES = {"m": Profile(name="m", axes={"cpu": [3]}, throughput=[1])}


def job(name="a", submitted=0, duration=60, gpus=1, profile="m"):
    return TraceJob(name, submitted, duration, gpus, profile)


def test_numbers_are_the_decimals_that_stand_there():
    line = job(submitted="0.1", duration="62.5")
    assert (line.submitted, line.duration) == (Fraction(1, 10), Fraction(125, 2))


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"submitted": -1}, ".submitted"),
        ({"submitted": float("nan")}, ".submitted"),
        ({"submitted": None}, ".submitted"),
        ({"duration": 0}, ".duration"),
        ({"duration": -5}, ".duration"),
        ({"gpus": 0}, ".gpus"),
        ({"gpus": 1.5}, ".gpus"),
        ({"name": ""}, ".id"),
        ({"profile": ""}, ".profile"),
    ],
)
def test_a_line_that_breaks_a_rule_is_refused(broken, path):
    with pytest.raises(InvalidInstance) as caught:
        job(**broken)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("jobs", "path"),
    [
        ((job("a"), job("a")), "$.jobs[1].id"),
        ((job("a", 5), job("b", 4)), "$.jobs[1].submitted"),
        ((job("a"), job("b", profile="n")), "$.jobs[1].profile"),
        (("a",), "$.jobs[0]"),
    ],
)
def test_a_trace_that_breaks_a_rule_is_refused(jobs, path):
    with pytest.raises(InvalidInstance) as caught:
        Workload("w", PROFILES, jobs)
    assert caught.value.path == path


def test_profiles_go_by_their_names():
    with pytest.raises(InvalidInstance, match="does not name its profile"):
        Workload("w", {"n": PROFILES["m"]}, ())
    with pytest.raises(InvalidInstance, match="must be a mapping"):
        Workload("w", [PROFILES["m"]], ())


def test_a_workload_is_frozen_and_travels_to_other_processes():
    workload = Workload("w", PROFILES, (job("a", 1), job("b", 1)))
    with pytest.raises(TypeError):
        workload.profiles["n"] = PROFILES["m"]
    with pytest.raises(AttributeError):
        workload.name = "v"
    again = pickle.loads(pickle.dumps(workload))
    assert (again.name, dict(again.profiles), again.jobs) == ("w", PROFILES, workload.jobs)
    assert [line.id for line in again.jobs] == ["a", "b"]
