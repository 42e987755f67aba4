"""The judge: sound states have no violation, every planted one is found by its rule."""

import dataclasses
import time
from collections import Counter

import pytest
from hived_builders import broken, start_with

from hived_cells import (
    Cell,
    Chain,
    Job,
    Pin,
    Reservation,
    State,
    allocate,
    allocate_pin,
    bitset,
    initial_state,
    mark_bad,
    slack,
    start,
    violations,
)


@pytest.fixture
def state():
    """Return eight GPUs with one of everything: held, pinned, low priority, bad."""
    pins = [Pin("p", "B", Cell(1, (1, 1, 1)))]
    first = initial_state(Chain(2, (2, 2)), Reservation({"A": {1: 3, 2: 1}}, pins=pins))
    first, _ = allocate(first, "A", 1)
    first, _ = allocate(first, "A", 1)
    first, _ = allocate(first, "A", 2)
    first, _ = allocate_pin(first, "B", "p")
    first, _ = start(first, "B", 2)
    return mark_bad(first, Cell(1, (1, 0, 0)))


def rules(state):
    return set(Counter(found.rule for found in violations(state)))


def flipped(bits, index):
    return bitset.flip(bits, index)


def by_level(items, level, item):
    return (*items[:level], item, *items[level + 1 :])


def test_a_sound_state_breaks_no_rule(state):
    """Tests that nothing is found where nothing is wrong."""
    assert violations(state) == ()


def test_more_than_the_quota_is_found(state):
    """Tests that a cell held beyond the reservation is named with both numbers."""
    row = by_level(state.bound[0], 3, flipped(state.bound[0][3], 1))
    found = violations(broken(state, bound=(row, *state.bound[1:])))
    assert ("A", 3, 1, 0) in [violation.witness for violation in found]
    assert {"quota", "overlap", "free list", "count", "use"} <= {v.rule for v in found}


def test_a_lost_free_cell_is_found(state):
    """Tests that a cell missing from its free list is the witness, and GPUs are missed."""
    level = 1
    lost = bitset.lowest(state.free[level])
    found = violations(
        broken(state, free=by_level(state.free, level, flipped(state.free[level], lost)))
    )
    assert {"free list", "conservation", "count", "group"} == {v.rule for v in found}
    assert (state.chain.cell(level, lost),) in [v.witness for v in found]
    assert "is not on the free list" in str(found[0])


def test_a_cell_free_twice_is_found(state):
    """Tests that a cell wrongly on a free list is named."""
    wrong = broken(state, free=by_level(state.free, 3, flipped(state.free[3], 0)))
    assert any("cell 0 of level 3 is on the free list" in v.message for v in violations(wrong))


@pytest.mark.parametrize("name", ["free_count", "allocated"])
def test_a_wrong_count_is_found(state, name):
    """Tests that a count that is off by one is found."""
    counts = getattr(state, name)
    assert rules(broken(state, **{name: by_level(counts, 1, counts[1] + 1)})) == {"count"}


def test_a_wrong_count_of_a_tenant_is_found(state):
    """Tests that what a tenant is said to hold is counted again."""
    row = by_level(state.held[0], 2, 0)
    assert rules(broken(state, held=(row, *state.held[1:]))) == {"count"}


def test_a_cell_in_the_wrong_group_is_found(state):
    """Tests that low-priority use and health are counted again for each free cell."""
    groups = {(7, 0, 1): next(iter(state.groups[1].values()))}
    assert rules(broken(state, groups=by_level(state.groups, 1, groups))) == {"group"}
    assert rules(broken(state, bad=flipped(state.bad, 5))) == {"group"}


def test_use_that_disagrees_with_held_cells_is_found(state):
    """Tests that a GPU marked as used that nobody holds is the witness."""
    found = violations(broken(state, used=flipped(state.used, 5)))
    assert [(v.rule, v.witness) for v in found if v.rule == "use"] == [("use", (5,))]


def test_low_priority_beside_guaranteed_use_is_found(state):
    """Tests that a GPU in both uses is found."""
    gpu = bitset.lowest(state.used)
    found = violations(broken(state, low=flipped(state.low, gpu)))
    assert any("in guaranteed use as well" in v.message for v in found)


@pytest.mark.parametrize(
    "job", [Job("A", ()), Job("A", (1, 0)), Job("A", (7,)), Job("A", (0, 99)), Job("A", (-1, 1))]
)
def test_a_job_table_that_disagrees_is_found(job):
    """Tests that a job that does not own the GPU it stands at is found."""
    state, _ = start(start_with(Chain(1, (2,))), "A", 1)
    wrong = broken(state, job_at=((job, None),))
    assert rules(wrong) == {"low priority"}
    assert rules(broken(state, job_at=((None, None),))) == {"low priority"}


def test_negative_slack_is_found_at_its_level():
    """Tests that a state that owes more than is left is found, with level and number."""
    state = start_with(Chain(2, (2,)), A={2: 2}, B={})
    row = by_level(state.bound[1], 1, flipped(state.bound[1][1], 0))
    found = violations(broken(state, bound=(state.bound[0], row)))
    assert (2, -1) in [v.witness for v in found if v.rule == "slack"]


def test_slack_is_from_level_one_up():
    """Tests the order and the numbers on the paper's rack: 7 + 7 + 18 GPUs in 32."""
    state = start_with(
        Chain(4, (2, 2, 2)), A={3: 1, 2: 1, 1: 1}, B={3: 1, 2: 1, 1: 1}, C={4: 2, 2: 1}
    )
    assert slack(state) == (0, 1, 2, 2)


@pytest.fixture
def small():
    """Return a held cell at GPU 4, a pin in use at 6 and one at rest at 7, a job at 0 and 1."""
    pins = [Pin("p", "B", Cell(1, (1, 1, 1))), Pin("q", "B", Cell(1, (1, 1, 0)))]
    state = initial_state(Chain(2, (2, 2)), Reservation({"A": {1: 3}}, pins=pins))
    state, _ = allocate(state, "A", 1)
    state, _ = allocate_pin(state, "B", "q")
    state, _ = start(state, "C", 2)
    return mark_bad(state, Cell(1, (1, 0, 0)))


TWO = Job("C", (0, 1))
BACKWARDS, ELSEWHERE = Job("C", (1, 0)), Job("C", (0, 5))
PLANTED = {  # what is overwritten, and everything that must be said about it
    "a field of another type": (
        lambda s: {"low": None},
        [("form", ("low",), "low is not a set of GPUs")],
    ),
    "three cells too many": (
        lambda s: {
            "bound": (by_level(s.bound[0], 1, bitset.from_indices(8, range(1, 5))), s.bound[1])
        },
        [
            ("quota", ("A", 1, 4, 3), "tenant 'A' holds 4 cells of level 1, reserved 3"),
            (
                "free list",
                (Cell(1, (0, 0, 0)),),
                "cell 0/0/0 of level 1 is not on the free list, wrongly",
            ),
            ("free list", (Cell(3, (0,)),), "cell 0 of level 3 is on the free list, wrongly"),
            ("conservation", (5, 4, 2, 8), "5 GPUs free + 4 held + 2 pinned, 8 in all"),
            (
                "count",
                ("allocated", 1, 1, 4),
                "level 1: 1 cells allocated on the books, 4 counted",
            ),
            (
                "count",
                ("held by 'A'", 1, 1, 4),
                "level 1: 1 cells held by 'A' on the books, 4 counted",
            ),
            ("use", (1,), "GPU 1: guaranteed use and the held cells disagree"),
        ],
    ),
    "a pinned cell held as well": (
        lambda s: {"bound": (s.bound[0], by_level(s.bound[1], 1, flipped(s.bound[1][1], 6)))},
        [
            ("quota", ("B", 1, 1, 0), "tenant 'B' holds 1 cells of level 1, reserved 0"),
            ("overlap", ("B", Cell(1, (1, 1, 0))), "cell 1/1/0 of 'B' overlaps another held cell"),
            ("conservation", (5, 2, 2, 8), "5 GPUs free + 2 held + 2 pinned, 8 in all"),
            (
                "count",
                ("allocated", 1, 1, 2),
                "level 1: 1 cells allocated on the books, 2 counted",
            ),
            (
                "count",
                ("held by 'B'", 1, 0, 1),
                "level 1: 0 cells held by 'B' on the books, 1 counted",
            ),
        ],
    ),
    "a count of free cells": (
        lambda s: {"free_count": by_level(s.free_count, 1, 9)},
        [("count", ("free", 1, 9, 1), "level 1: 9 cells free on the books, 1 counted")],
    ),
    "the other pin in use": (
        lambda s: {"pins_in_use": 1},
        [("use", (6,), "GPU 6: guaranteed use and the held cells disagree")],
    ),
    "both pins in use": (
        lambda s: {"pins_in_use": 3},
        [("use", (7,), "GPU 7: guaranteed use and the held cells disagree")],
    ),
    "low priority on a held cell": (
        lambda s: {"low": flipped(s.low, 4)},
        [
            ("low priority", (4,), "GPU 4 is in guaranteed use as well"),
            ("low priority", (4,), "GPU 4: its mark and its job disagree"),
        ],
    ),
    "a mark wiped out": (
        lambda s: {"low": flipped(s.low, 0)},
        [
            (
                "group",
                (Cell(3, (0,)), (2, 0, 3), (1, 0, 3)),
                "cell 0 is under (2, 0, 3), not (1, 0, 3)",
            ),
            ("low priority", (0,), "GPU 0: its mark and its job disagree"),
        ],
    ),
    "another job at one of two GPUs": (
        lambda s: {"job_at": ((Job("C", (0,)), *s.job_at[0][1:]),)},
        [("low priority", (0, TWO), f"GPU 0: {TWO} stands at others than its own GPUs")],
    ),
    "a job whose GPUs are in no order": (
        lambda s: {"job_at": ((BACKWARDS, BACKWARDS, *s.job_at[0][2:]),)},
        [
            (
                "low priority",
                (0, BACKWARDS),
                f"GPU 0: {BACKWARDS} stands at others than its own GPUs",
            )
        ],
    ),
    "a job that stands beside its place": (
        lambda s: {"job_at": ((ELSEWHERE, ELSEWHERE, *s.job_at[0][2:]),)},
        [
            (
                "low priority",
                (1, ELSEWHERE),
                f"GPU 1: {ELSEWHERE} stands at others than its own GPUs",
            )
        ],
    ),
    "a fault at a free cell": (
        lambda s: {"bad": flipped(s.bad, 5)},
        [
            (
                "group",
                (Cell(1, (1, 0, 1)), (0, 0, 1), (0, 1, 0)),
                "cell 1/0/1 is under (0, 0, 1), not (0, 1, 0)",
            )
        ],
    ),
    "a group lost": (
        lambda s: {"groups": by_level(s.groups, 1, {})},
        [("group", (1,), "level 1: the groups are not the free list")],
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_reported_in_full(small, name):
    """Tests that rule, witness and words are those of the fault, and nothing else is said."""
    assert violations(small) == ()
    overwritten, expected = PLANTED[name]
    assert list(map(tuple, violations(broken(small, **overwritten(small))))) == expected


def test_slack_counts_a_held_cell_once():
    """Tests that a held cell pays for one owed cell only: two left to give, one free."""
    state, _ = allocate(start_with(Chain(3, (2,)), A={2: 3}, B={}), "A", 2)
    row = by_level(state.bound[1], 1, flipped(state.bound[1][1], 2))
    found = violations(broken(state, bound=(state.bound[0], row)))
    assert [tuple(v) for v in found if v.rule == "slack"] == [
        ("slack", (2, -1), "level 2: S = -1")
    ]


FORGERIES = [
    None, 0, -1, 1 << 40, "x", (), ((),), (None,), (-1,), {}, (0, (1 << 1024,)), (1, (0,)),
    (0, (-1,)), (0, (1.5,)), (1, (1 << 8,)), (0, (0, 0)), (("x",),), ((None,) * 8,), ((7,) * 8,),
    ((Job(1, (0,)), *(None,) * 7),), ((Job("A", [0]), *(None,) * 7),), ((None,) * 7,),
    ((Job("A", ("x",)), *(None,) * 7),), ({}, {}, {}, {(): ()}), Chain(2, ()),
]  # fmt: skip


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(State)])
@pytest.mark.parametrize("forgery", FORGERIES, ids=repr)
def test_a_forged_field_is_a_violation_and_no_crash(state, name, forgery):
    """Tests that a field of any type or size is named by a rule; nothing else is raised."""
    found = violations(broken(state, **{name: forgery}))
    assert found
    assert all(violation.rule != "form" or violation.witness == (name,) for violation in found)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(State)][1:])
def test_fields_of_other_pools_are_found(state, name):
    """Tests that the fields of a larger pool's state are not accepted in a smaller one's."""
    for chain in (Chain(3, (2, 2)), Chain(400, (2, 2)), Chain(2, (2, 2, 2))):
        other = mark_bad(start_with(chain, A={1: 1}), chain.cell(1, chain.gpus - 1))
        other, _ = start(other, "B", 1)
        other, _ = allocate(other, "A", 1)
        forged = broken(state, **{name: getattr(other, name)})
        assert violations(forged) or forged == state


def test_a_large_state_is_judged_in_seconds():
    """Tests that no rule is quadratic in GPUs: 65,536 of them, half held one by one, long jobs.

    Each job's GPUs used to be gone through once for each of them, minutes for these.
    """
    state = start_with(Chain(8192, (2, 2, 2)), A={1: 8192}, B={4: 2048})
    for _ in range(8192):
        state, _ = allocate(state, "A", 1)
    state, _ = start(state, "B", 40_000)
    begin = time.process_time()
    assert violations(state) == ()
    assert time.process_time() - begin < 5
