"""Faults planted in TUNE: the checker and the drawn instances find every one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import pytest
from checker import faults
from hypothesis import HealthCheck, Phase, find, settings
from strategies import instances
from test_tune import crossing, either_way, three_jobs

from synergy_opt.demand import share_demand
from synergy_opt.packing import Packing
from synergy_opt.packing.ledger import Ledger
from synergy_opt.packing.offers import Offer, Offers
from synergy_opt.proportional import proportional
from synergy_opt.tune import tune

# By name: the package may give a function the name of its module.
offers_module = import_module("synergy_opt.packing.offers")
tune_module = import_module("synergy_opt.tune")


def found(instances_of, rule, mechanism=tune):
    """Find an instance on which a mechanism breaks a rule."""
    many = settings(
        max_examples=2_000,
        phases=[Phase.generate],  # any example will do, it need not be small
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    return find(
        instances_of,
        lambda instance: any(f.startswith(rule) for f in faults(instance, mechanism(instance))),
        settings=many,
    )


def test_nobody_demoted_overfills_a_server(monkeypatch):
    """Tests that a TUNE that releases nothing is caught."""
    monkeypatch.setattr(Packing, "settle", lambda *_: None)
    assert found(instances(), "capacity")


def test_a_server_filled_with_one_job_too_many_is_caught(monkeypatch):
    """Tests that equal jobs placed together are counted."""
    original = Ledger.holds
    monkeypatch.setattr(Ledger, "holds", lambda *a: original(*a) + 1)
    assert found(instances(), "capacity")


def test_the_smaller_of_demand_and_share_is_caught(monkeypatch):
    """Tests that mixing demand and share is found to be unfair."""

    def mixed(self, groups):
        share = original(self, groups)
        pairs = zip(self.demand.amounts, share.amounts, strict=True)
        amounts = tuple(min(pair) for pair in pairs)
        need = tuple(map(min, self.demand.need, share.need))
        return Offer(amounts=amounts, value=share.value, need=need)

    original = Offers.share
    monkeypatch.setattr(Offers, "share", mixed)
    rules = {f.split(":")[0] for f in faults(either_way(), tune(either_way()))}
    assert "floor" in rules


def test_the_share_of_one_group_alone_is_caught(monkeypatch):
    """Tests that a job across groups with the share of only one of them is found."""

    def of_last(instance, job, *, groups):
        return share_demand(instance, job, groups=frozenset({max(groups)}))

    monkeypatch.setattr(offers_module, "share_demand", of_last)
    assert found(instances(), "capacity", proportional)


def test_jobs_left_out_are_caught(monkeypatch):
    """Tests that a job without a place breaks a rule of TUNE."""
    original = tune_module.placed

    def without_split(job, offer, pieces):
        return original(job, offer, pieces if len(pieces) == 1 else ())

    monkeypatch.setattr(tune_module, "placed", without_split)
    assert found(instances(), "placed")


def test_rounded_pieces_are_caught(monkeypatch):
    """Tests that amounts rounded to two decimals are not proportional any more."""

    def rounded(amounts, gpus, of):
        return tuple(Fraction(round(a * gpus / of, 2)) for a in amounts)

    monkeypatch.setattr(offers_module, "_part", rounded)
    assert found(instances(), "proportional")


def test_a_demotion_that_is_not_followed_to_the_other_servers_is_caught(monkeypatch):
    """Tests that the servers of a switched job are all looked at again."""
    original = Packing._switch

    def forgetful(self, number):
        original(self, number)
        return []

    monkeypatch.setattr(Packing, "_switch", forgetful)
    assert [f.split(":")[0] for f in faults(crossing(), tune(crossing()))] == ["capacity"]


def test_demoting_a_job_that_frees_nothing_is_caught(monkeypatch):
    """Tests that the historic fault overfills the server of the three-job example."""

    def first_above(self, server, row):  # above its share in anything, once
        held = [n for n in self._on[server] if self.held[n].offer is not self.held[n].share]
        return held[0]

    def once(self, servers):
        self._switch(self._giver(servers[0], 0))

    monkeypatch.setattr(Packing, "_giver", first_above)
    monkeypatch.setattr(Packing, "settle", once)
    assert [f.split(":")[0] for f in faults(three_jobs(), tune(three_jobs()))] == ["capacity"]


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("throughput", lambda job: replace(job, throughput=job.throughput + 1)),
        ("gpus", lambda job: replace(job, pieces=job.pieces * 2)),
        ("pieces", lambda job: replace(job, pieces=job.pieces * 2)),
        ("placed", lambda job: replace(job, pieces=())),
        ("floor", lambda job: replace(job, demand=(Fraction(0),) * len(job.demand))),
        (
            "whole",
            lambda job: replace(
                job, pieces=tuple(replace(p, gpus=p.gpus / 2) for p in job.pieces)
            ),
        ),
        ("runnable", lambda job: replace(job, id="c")),
    ],
)
def test_each_rule_is_checked(rule, change):
    """Tests that the checker names the rule that a changed answer breaks."""
    small = three_jobs()
    answer = tune(small)
    changed = replace(answer, jobs=(change(answer.jobs[0]), *answer.jobs[1:]))
    assert any(f.startswith(rule) for f in faults(small, changed))
