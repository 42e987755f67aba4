"""Random operations on states: a Hypothesis machine with faults, jobs and recoveries."""

import copy

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from benchmarks.hived.soak import main as soak
from hived_cells import (
    HIVED,
    IllegalRequest,
    NoRoom,
    allocate,
    bindings_of,
    bound_cells,
    doomed_greedy_upper_bound,
    doomed_level_lower_bound,
    fewest_low_priority,
    flagged,
    free_counts,
    heal,
    healthy_first,
    initial_state,
    is_bad,
    jobs,
    lowest_address,
    mark_bad,
    rebalance,
    recover,
    release,
    slack,
    start,
    stop,
    victims,
    violations,
)
from hived_cells.testing import pools


class States(RuleBasedStateMachine):
    """Every operation in any order; after each one no rule is broken."""

    @initialize(pool=pools(max_gpus=24))
    def begin(self, pool):
        self.state = initial_state(pool.chain, pool.reservation)
        self.old = (self.state, copy.deepcopy(self.state))

    def cell(self, data):
        chain = self.state.chain
        level = data.draw(st.integers(1, chain.levels))
        return chain.cell(level, data.draw(st.integers(0, chain.counts[level] - 1)))

    def rights(self):
        rows = zip(
            self.state.reservation.tenants, self.state.pool.reserved, self.state.held, strict=True
        )
        return [
            (tenant, level)
            for tenant, reserved, held in rows
            for level in range(1, len(reserved))
            if held[level] < reserved[level]
        ]

    @precondition(lambda self: self.rights())
    @rule(
        data=st.data(),
        choose=st.sampled_from([HIVED, lowest_address, fewest_low_priority, healthy_first]),
    )
    def allocate(self, data, choose):
        tenant, level = data.draw(st.sampled_from(self.rights()))
        before = self.state
        self.state, cell = allocate(before, tenant, level, choose=choose)
        assert set(jobs(before)) - set(jobs(self.state)) == set(victims(before, cell))
        assert is_bad(self.state, cell) == ((tenant, cell) in flagged(self.state))

    @rule(data=st.data())
    def ask_for_too_much(self, data):
        level = data.draw(st.integers(1, self.state.chain.levels))
        if ("A", level) not in self.rights():
            with pytest.raises(IllegalRequest):
                allocate(self.state, "A", level)

    @precondition(lambda self: any(map(any, self.state.held)))
    @rule(data=st.data())
    def release(self, data):
        tenant, cell = data.draw(st.sampled_from(sorted(bound_cells(self.state))))
        before = slack(self.state)
        self.state = release(self.state, tenant, cell)
        assert all(now >= then for now, then in zip(slack(self.state), before, strict=True))

    @rule(tenant=st.sampled_from("ABC"), gpus=st.integers(1, 6))
    def start(self, tenant, gpus):
        try:
            self.state, job = start(self.state, tenant, gpus)
        except NoRoom:
            return
        assert len(job.gpus) == gpus

    @precondition(lambda self: jobs(self.state))
    @rule(data=st.data())
    def stop(self, data):
        self.state = stop(self.state, data.draw(st.sampled_from(jobs(self.state))))

    @rule(data=st.data())
    def fault(self, data):
        counts = free_counts(self.state)
        self.state = mark_bad(self.state, self.cell(data))
        assert free_counts(self.state) == counts

    @rule(data=st.data())
    def heal(self, data):
        self.state = heal(self.state, self.cell(data))

    @rule(demands=st.dictionaries(st.sampled_from("ABC"), st.integers(0, 20)))
    def share_out(self, demands):
        done = rebalance(self.state, demands)
        self.state = done.state
        for tenant, share in done.shares.items():
            assert sum(len(j.gpus) for j in jobs(self.state) if j.tenant == tenant) <= share

    @rule()
    def recover(self):
        done = recover(self.state.pool, bindings_of(self.state))
        assert (done.state, done.downgraded, done.ignored) == (self.state, (), ())

    @rule()
    def remember(self):
        self.old = (self.state, copy.deepcopy(self.state))

    @invariant()
    def nothing_is_broken(self):
        assert violations(self.state) == ()
        assert min(slack(self.state)) >= 0
        assert doomed_level_lower_bound(self.state) <= doomed_greedy_upper_bound(self.state)

    @invariant()
    def the_past_stays(self):
        assert self.old[0] == self.old[1]
        assert violations(self.old[0]) == ()


TestStates = States.TestCase


def test_a_small_soak_finds_nothing(capsys):
    """Tests the soak command on five thousand random operations."""
    assert soak(["--operations", "5000", "--seed", "1"]) == 0
    assert "5000 operations" in capsys.readouterr().out
