"""Wrong types in every field and argument: one designed error each, never one of Python's own."""

import dataclasses
import os

import numpy as np
import pytest

import synergy_opt
from synergy_opt.errors import InvalidInstance, SynergyError
from synergy_opt.exact import ExactArray
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.solution import Limits


class Unwritable:
    """A value that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError


SERVER = Server(type="n", count=1, gpus=2, capacity=(6,))
CLUSTER = Cluster(resources={"cpu": "cores"}, servers=[SERVER])
PROFILE = Profile(name="p", axes={"cpu": [1, 3]}, throughput=[1, 2])
JOB = Job(id="a", gpus=1, profile="p")
INSTANCE = Instance(name="i", cluster=CLUSTER, profiles=[PROFILE], jobs=[JOB])
VALUES = [SERVER, CLUSTER, PROFILE, JOB, INSTANCE, Limits()]

# What is of a right type somewhere, and of a wrong one elsewhere.
THROWN = [
    None, True, False, 0, 7, -1, 10**400, 0.5, float("nan"), float("inf"), 1j, "", "x", "7",
    "\ud800", b"x", bytearray(b"x"), {}, {"cpu": 1}, {1: 2}, {"cpu": None}, {None: [1]}, set(),
    {"x"}, [], (), [None], [7], ["x"], [[1]], [[[1]]], [("cpu", "cores", "more")], [("cpu",)],
    [()], [(1, 2)], [("cpu", 7)], [(["cpu"], [1])], [SERVER], [PROFILE], [JOB], [JOB, None],
    range(3), iter([1]), object(), Exception(), int, len, np.int64(3), np.float64("nan"),
    np.array([1, 2]), np.array(["x"]), np.array(3), ExactArray.of([1, 3]), ExactArray.of([[1]]),
    SERVER, CLUSTER, PROFILE, JOB, INSTANCE, Unwritable(), [Unwritable()], {"cpu": Unwritable()},
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "field"),
    [(value, field.name) for value in VALUES for field in dataclasses.fields(value)],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_a_constructor_takes_what_its_field_is_or_refuses(value, field):
    """Tests that each field of each value is either right or named with `InvalidInstance`."""
    refused = 0
    for thrown in THROWN:
        try:
            made = dataclasses.replace(value, **{field: thrown})
        except InvalidInstance as error:
            refused += 1
            assert error.rule
            assert len(str(error)) < 500
            continue
        hash(made)  # what was taken is a value like any other
        assert made == dataclasses.replace(made)
    assert refused > len(THROWN) // 2


def functions():
    """Give each public function's name with arguments that it takes, by name, in order."""
    example = synergy_opt.shipped("worked-example")
    job, allocation = example.jobs[0], synergy_opt.ideal_allocation(example)
    placement = synergy_opt.place(example, allocation)
    one, with_job = {"instance": example}, {"instance": example, "job": job}
    amounts = example.cluster.share_of_a_gpu
    return {
        "best_case_demand": with_job,
        "bound_value": {**one, "jobs": example.jobs, "bound": allocation.bound},
        "compare": {**one, "mechanisms": {"tune": synergy_opt.tune}},
        "drf": one,
        "fair_share": {"cluster": example.cluster, "gpus": 1},
        "fair_throughput": with_job,
        "greedy": one,
        "ideal_allocation": one,
        "job_throughput": {**with_job, "amounts": amounts},
        "optimal": one,
        "packed": one,
        "packed_program": one,
        "place": {**one, "allocation": allocation},
        "proportional": one,
        "realize": {**one, "placement": placement},
        "runnable": one,
        "skipping_bound": {**one, "multipliers": allocation.bound.multipliers},
        "tetris": one,
        "tune": one,
        "verify": {**one, "placement": placement},
        "violations": {**one, "placement": placement},
        "write_allocation": {"allocation": allocation, **one, "path": os.devnull},
        "write_instance": {**one, "path": os.devnull},
        "write_placement": {"placement": placement, **one, "path": os.devnull},
    }


@pytest.mark.parametrize(
    ("name", "argument"),
    [(name, key) for name, values in functions().items() for key in values if key != "path"],
)
def test_a_function_names_the_argument_that_is_of_another_type(name, argument):
    """Tests that a wrong argument is one sentence about it, wherever it would have failed."""
    values = functions()[name]
    function = getattr(synergy_opt, name)
    function(*values.values())
    for thrown in (None, 7.5, "x", [None], object()):
        if (name, argument) == ("violations", "placement"):
            assert function(values["instance"], thrown)[0].rule == "types"
            continue
        with pytest.raises((TypeError, SynergyError)) as caught:
            function(*{**values, argument: thrown}.values())
        text = str(caught.value)
        assert " must " in text, text
        assert isinstance(caught.value, SynergyError) or text.startswith(argument)


def test_a_job_of_a_profile_that_is_not_there_is_named():
    """Tests that what is asked about a job of another instance is refused by its profile."""
    stray = Job(id="s", gpus=1, profile="stray")
    bound = synergy_opt.ideal_allocation(INSTANCE).bound
    for ask in (
        lambda: synergy_opt.bound_value(INSTANCE, [stray], bound),
        lambda: synergy_opt.skipping_bound(INSTANCE, bound.multipliers, jobs=[stray]),
        lambda: synergy_opt.best_case_demand(INSTANCE, stray),
        lambda: synergy_opt.fair_throughput(INSTANCE, stray),
        lambda: synergy_opt.job_throughput(INSTANCE, stray, (1,)),
    ):
        with pytest.raises(InvalidInstance, match="there is no profile 'stray'") as caught:
            ask()
        assert caught.value.path == ".profile"


@pytest.mark.parametrize(
    ("multipliers", "rule"),
    [
        ((), "must be one a resource"),
        ((1, 2), "must be one a resource"),
        ((-1,), "must not be negative"),
        (("x",), "must be a number"),
    ],
)
def test_multipliers_that_prove_nothing_are_refused(multipliers, rule):
    """Tests that prices below 0, or not one a resource, make no bound: it would not hold."""
    with pytest.raises(InvalidInstance, match=rule):
        synergy_opt.skipping_bound(INSTANCE, multipliers)


@pytest.mark.parametrize(
    ("family", "arguments", "path", "rule"),
    [
        ("mix", {"split": 7}, "split", "three weights"),
        ("mix", {"split": ("a", 1, 1)}, "split", "three weights"),
        ("mix", {"split": (True, 1, 1)}, "split", "three weights"),
        ("mix", {"gpu_demands": None}, "gpu_demands", "demands ≥ 1 with weights ≥ 0"),
        ("mix", {"gpu_demands": {1: "x"}}, "gpu_demands", "demands ≥ 1 with weights ≥ 0"),
        ("mix", {"gpu_demands": {1.5: 1}}, "gpu_demands", "demands ≥ 1 with weights ≥ 0"),
        ("mix", {"load": "x"}, "load", "must be a number"),
        ("mix", {"servers": 1.5}, ".count", "whole number"),
        ("mix", {"cpu": "x"}, "", "must be a number"),
        ("scattered", {"resources": "2"}, "resources", "must be 1 to 3, not '2'"),
        ("scattered", {"points": None}, "points", "whole number of at least 1, not None"),
    ],
)
def test_a_family_names_the_argument_that_it_cannot_use(family, arguments, path, rule):
    """Tests wrong types of what the generators take."""
    with pytest.raises(InvalidInstance) as caught:
        getattr(synergy_opt, family)(**{"servers": 1, "seed": 1, **arguments})
    assert caught.value.path == path
    assert rule in caught.value.rule
