"""Choices: the built-in ones, their composition, and functions of one's own."""

import pytest
from hived_builders import at, broken, start_with

from hived_cells import (
    HIVED,
    Candidates,
    Cell,
    Chain,
    HivedError,
    InvalidChoice,
    Ranking,
    allocate,
    bitset,
    fewest_low_priority,
    healthy_first,
    in_order,
    lowest_address,
    mark_bad,
    slack,
    start,
    violations,
)
from hived_cells.choose import Group


def busy_state():
    """Return four free nodes of two GPUs: two jobs, one job, a bad GPU, nothing."""
    state = start_with(Chain(4, (2,)), A={1: 4, 2: 1})
    state, _ = start(state, "B", 2)
    state, _ = start(state, "B", 1)
    return mark_bad(state, at(state, "2/0"))


@pytest.mark.parametrize(
    ("choose", "expected"),
    [
        (lowest_address, "0"),
        (fewest_low_priority, "2"),
        (healthy_first, "0"),
        (in_order(healthy_first, fewest_low_priority), "3"),
        (in_order(fewest_low_priority, healthy_first), "3"),
        (HIVED, "3"),
    ],
)
def test_each_choice_takes_its_node(choose, expected):
    """Tests which of four nodes each choice takes: two jobs, one job, one bad GPU, nothing."""
    state, cell = allocate(busy_state(), "A", 2, choose=choose)
    assert str(cell) == expected
    assert violations(state) == ()


def test_a_choice_is_asked_again_at_every_split():
    """Tests that the GPU without a job is taken from the node that is split."""
    state = start_with(Chain(1, (2, 2)), A={1: 1})
    state, job = start(state, "B", 1)
    state, cell = allocate(state, "A", 1, choose=fewest_low_priority)
    assert job.gpus == (0,)
    assert str(cell) == "0/1/0"


def test_candidates_can_be_looked_at_one_by_one():
    """Tests that iteration gives every candidate in address order with its use and health."""
    seen = []

    def look(candidates: Candidates) -> Cell:
        seen.append([(str(c.cell), c.low_priority, c.bad, c.healthy) for c in candidates])
        assert len(candidates) == len(seen[-1])
        return candidates.lowest()

    allocate(busy_state(), "A", 1, choose=look)
    assert seen == [
        [("0", 2, 0, True), ("1", 1, 0, True), ("2", 0, 1, True), ("3", 0, 0, True)],
        [("0/0", 1, 0, True), ("0/1", 1, 0, True)],
    ]


def test_a_choice_of_ones_own_can_narrow_by_a_ranking_first():
    """Tests that a ranking's candidates can be chosen from."""

    def last_healthy(candidates: Candidates) -> Cell:
        return max(c.cell for c in healthy_first.narrow(candidates))

    assert str(allocate(busy_state(), "A", 2, choose=last_healthy)[1]) == "3"


@pytest.mark.parametrize(
    "wrong", [None, (0,), Cell(2, (9,)), Cell(1, (0, 0)), Cell(2, (0,)), "0", Cell(7, ())]
)
def test_a_choice_must_return_a_candidate(wrong):
    """Tests that anything but a candidate is refused, naming what was returned."""
    state, _ = allocate(busy_state(), "A", 2, choose=lowest_address)
    with pytest.raises(InvalidChoice, match="none of the candidates"):
        allocate(state, "A", 1, choose=lambda _: wrong)


def test_a_choice_must_return_a_part_when_a_cell_is_split():
    """Tests that a split is checked as the free list is."""

    def stay(candidates: Candidates) -> Cell:
        return candidates.lowest() if candidates.level == 2 else Cell(1, (3, 1))

    with pytest.raises(InvalidChoice):
        allocate(busy_state(), "A", 1, choose=stay)


def test_detours_are_offered_exactly_where_they_are_safe():
    """Tests that a higher level is offered if each S_j that it lowers is at least 1."""
    state = start_with(Chain(2, (2, 2)), A={1: 2}, B={2: 1})
    state, _ = allocate(state, "A", 1)
    offered = []

    def climb(candidates: Candidates) -> Cell:
        offered.append(candidates.level)
        higher = candidates.detour()
        return climb(higher) if higher is not None else candidates.lowest()

    later, cell = allocate(state, "A", 1, choose=climb)
    assert slack(state) == (4, 2, 1)
    assert offered == [1, 2, 3, 2, 1]  # three lists, then the parts of the cell taken
    assert str(cell) == "1/0/0"
    assert slack(later) == (4, 1, 0)
    assert violations(later) == ()


def test_no_detour_where_a_level_between_is_spent():
    """Tests that the top level is not offered while S of the level between is 0."""
    state = start_with(Chain(2, (2, 2)), A={1: 2}, B={2: 3})
    state, _ = allocate(state, "A", 1)
    assert slack(state)[1] == 0
    offered = []

    def climb(candidates: Candidates) -> Cell:
        offered.append(candidates.detour())
        return candidates.lowest()

    allocate(state, "A", 1, choose=climb)
    assert offered == [None]


def test_candidates_above_that_are_empty_are_skipped():
    """Tests that a detour passes a level without free cells and ends above the top."""
    state = start_with(Chain(2, (2, 2)), A={1: 4}, B={2: 1})
    for _ in range(2):
        state, _ = allocate(state, "A", 1)
    state, _ = allocate(state, "B", 2)
    state, _ = allocate(state, "A", 1)
    levels = []

    def climb(candidates: Candidates) -> Cell:
        levels.append(candidates.level)
        higher = candidates.detour()
        return climb(higher) if higher is not None else candidates.lowest()

    allocate(state, "A", 1, choose=climb)
    assert levels[0] == 1


@pytest.mark.parametrize(
    "step",
    [
        lambda _: None,
        lambda candidates: candidates.only(()),
        lambda candidates: Candidates(Chain(9, (9, 9)), 1, 3, candidates.groups),
        lambda candidates: candidates.only([Group(0, 0, 2, 5, bitset.full(4))]),
        lambda candidates: candidates.only([Group(0, 0, 2, 0, bitset.full(400))]),
    ],
)
def test_the_steps_of_a_ranking_are_not_trusted(step):
    """Tests that a step that gives none, others or no candidates is refused and breaks nothing.

    What a ranking gave used to be taken unseen: a `ValueError`, or a cell that was not free.
    """
    full = allocate(busy_state(), "A", 2, choose=lowest_address)[0]
    with pytest.raises(InvalidChoice, match="none of the candidates"):
        allocate(full, "A", 1, choose=Ranking((step,)))


@pytest.mark.parametrize("choose", [None, "hived", 3])
def test_a_choice_is_a_function(choose):
    """Tests that a choice that cannot be called is refused by name."""
    with pytest.raises(InvalidChoice, match="a function or a Ranking is needed"):
        allocate(busy_state(), "A", 1, choose=choose)


def test_what_a_choice_raises_comes_through_and_the_state_stays():
    """Tests that a choice's own error is the caller's to see and that nothing has happened."""
    state = busy_state()
    with pytest.raises(ZeroDivisionError):
        allocate(state, "A", 1, choose=lambda _: 1 / 0)
    assert state == busy_state()


def test_a_state_without_free_cells_that_owes_some_is_said_to_be_unsound():
    """Tests that a forged state is refused by name, not by an IndexError."""
    state = busy_state()
    none = (0,) * len(state.free_count)
    with pytest.raises(HivedError, match="not sound"):
        allocate(broken(state, free_count=none), "A", 1)
