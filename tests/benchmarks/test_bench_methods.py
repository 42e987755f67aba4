"""Rivals and ours agree where both are exact, through one interface; heuristics keep the rules."""

from importlib import metadata

import pytest

from benchmarks.instances.catalog import load
from benchmarks.methods import BUILT_IN, GROUP, call, method
from benchmarks.methods.pop import pop
from benchmarks.problems import bounded, solved
from synergy_opt import Limits, optimal, packed, proportional, violations
from synergy_opt.errors import InvalidInstance, SolverFailed

SMALL = ("mix-33-4-0", "groups-4-0", "triplets-3-0", "widest-gap-10")


def answer(text, instance):
    """Run a method in this process, as the child does."""
    used = method(text)
    return call(used.target, instance, Limits(time=30), {**used.fixed, **used.settings})


@pytest.mark.parametrize("problem", ["whole", "ideal"])
@pytest.mark.parametrize("name", SMALL)
def test_exact_methods_agree(problem, name):
    """Tests every exact method of a problem on one instance: one exact optimum, certified."""
    instance = load(name)
    found = {}
    for text, (_, solves, exact) in BUILT_IN.items():
        if exact and solves == problem:
            if text.endswith("scip"):
                pytest.importorskip("pyscipopt")
            given = answer(text, instance)
            assert given.said == "optimal", text
            assert violations(instance, given.placement) == ()
            assert problem in solved(instance, given.placement)
            found[text] = given.placement.throughput
    assert len(found) == (5 if problem == "whole" else 7)
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(
    ("name", "parts"),
    [("mix-33-4-1", 3), ("mix-33-4-1", 99), ("groups-16-0", 3), ("ties-4-0", 2)],
)
def test_pop_is_feasible_and_below_the_whole(name, parts):
    """Tests that united parts keep every rule and are no better than a certified bound."""
    instance = load(name)
    placed = pop(instance, parts=parts, limits=Limits(time=2, seed=3))
    assert violations(instance, placed) == ()
    assert solved(instance, placed) == ("whole", "split", "ideal")
    assert placed.throughput <= packed(instance, limits=Limits(time=0.5)).bound.value


def test_pop_with_one_part_is_the_whole():
    """Tests that nothing is lost where nothing is split."""
    instance = load("mix-33-4-0")
    whole = packed(instance, limits=Limits(time=10)).throughput
    assert pop(instance, parts=1, limits=Limits(time=10)).throughput == whole


def test_problems_are_told_apart():
    """Tests what a placement and a bound are for."""
    instance = load("mix-33-4-0")
    assert solved(instance, proportional(instance)) == ("whole", "split", "ideal")
    ideal = optimal(instance)
    assert "ideal" in solved(instance, ideal)
    assert bounded(ideal.bound) == ("whole", "split", "ideal")
    assert bounded(packed(instance, limits=Limits(time=0)).bound) == ("whole",)
    split = packed(instance, split="allowed", limits=Limits(time=0))
    assert bounded(split.bound) == ("whole", "split")
    assert bounded(None) == ()


def test_a_limit_is_said():
    """Tests that a rival without time claims nothing."""
    instance = load("mix-33-16-0")
    used = method("whole-highs")
    given = call(used.target, instance, Limits(time=0), dict(used.fixed))
    assert given.said == "limit"


def test_another_distributions_methods_are_found(monkeypatch):
    """Tests the entry-point group."""
    point = metadata.EntryPoint("mine", "bench_methods:good", GROUP)
    monkeypatch.setattr("benchmarks.methods.entry_points", lambda group: [point])
    assert method("mine,k=3").target == "bench_methods:good"
    assert method("mine,k=3").label == "mine,k=3"
    with pytest.raises(InvalidInstance, match="no such method"):
        method("yours")


def test_scip_that_is_not_installed_says_so(monkeypatch):
    """Tests the extra's message."""
    monkeypatch.setitem(__import__("sys").modules, "pyscipopt", None)
    used = method("ideal-scip")
    with pytest.raises(SolverFailed, match="bench"):
        call(used.target, load("widest-gap-10"), Limits(), dict(used.fixed))
