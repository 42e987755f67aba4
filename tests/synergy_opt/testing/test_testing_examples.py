"""The kit's examples: the sound one keeps every rule, each wrong one is named and made small."""

from __future__ import annotations

from dataclasses import replace

import pytest

import synergy_opt
from synergy_opt.testing import examples
from synergy_opt.testing.families import families
from synergy_opt.testing.rules import RULES
from synergy_opt.testing.search import smallest
from synergy_opt.testing.strategies import clusters, instances

SEEN_HERE = {name: rule for name, rule in examples.WRONG.items() if rule in RULES}


@pytest.mark.parametrize("rule", RULES)
def test_the_sound_heuristic_keeps_every_rule(rule):
    """Tests that nothing is found where nothing is wrong."""

    def question(instance):
        return RULES[rule](instance, examples.raise_in_order)

    one_group = rule == "never-worse-than-proportional"
    drawn = instances(cluster=clusters(max_groups=1)) if one_group else instances()
    assert smallest(question, drawn, examples=20) is None


@pytest.mark.parametrize("name", SEEN_HERE)
def test_each_wrong_one_is_named_by_a_small_instance(name):
    """Tests that the broken rule is found, on an instance that needs each of its jobs."""
    mechanism, rule = getattr(examples, name), SEEN_HERE[name]
    found = smallest(lambda each: RULES[rule](each, mechanism), instances(), families())
    assert found is not None
    instance, breach = found
    assert breach.rule == rule
    assert str(breach).startswith(f"{rule}: ")
    assert "\n" not in str(breach)
    if name != "random_seed":  # which may break the rule again, or not
        jobs = instance.jobs
        for i in range(len(jobs) if len(jobs) > 1 else 0):
            fewer = replace(instance, jobs=jobs[:i] + jobs[i + 1 :])
            assert RULES[rule](fewer, mechanism) is None


@pytest.mark.parametrize(
    "mechanism",
    [
        synergy_opt.proportional,
        synergy_opt.tune,
        synergy_opt.greedy,
        synergy_opt.optimal,
        synergy_opt.packed,
    ],
    ids=lambda mechanism: mechanism.__name__,
)
@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "placed"])
def test_the_built_in_mechanisms_keep_the_rules(mechanism, rule):
    """Tests every built-in mechanism; GREEDY leaves jobs out, as it is published."""
    one_group = rule == "never-worse-than-proportional"
    drawn = instances(
        cluster=clusters(max_groups=1 if one_group else 2, max_count=2, max_gpus=4), max_jobs=4
    )
    assert smallest(lambda each: RULES[rule](each, mechanism), drawn, examples=4) is None


def test_greedy_leaves_jobs_out():
    """Tests that "placed" is what GREEDY breaks, and by which job."""
    found = smallest(lambda each: RULES["placed"](each, synergy_opt.greedy), instances())
    assert found is not None
    assert "is runnable, but left out" in found[1].sentence
