"""Each step of a halving on numbers small enough to follow: sums, moves, guesses, recursion."""

from fractions import Fraction

import pytest

from synergy_opt.errors import Infeasible
from synergy_opt.placement.bisection import bisect, guess, moves, parts, recursion
from synergy_opt.placement.bisection.halve import _spread_evenly, halve
from synergy_opt.placement.bisection.parts import Cut, Part
from synergy_opt.placement.bisection.whole import all_whole

F = Fraction
ONE, HALF = F(1), F(1, 2)


def cut(job, demand, here=HALF, most=ONE):
    """Give a job that may go to both halves."""
    return Cut(job, demand, F(most), F(here))


# Sums ----------------------------------------------------------------------------------------


def test_sums_on_one_denominator():
    """Tests equal parts, others, none, and that nothing is reduced."""
    pairs = [(HALF, (1, 2)), (F(1, 3), (3, 4)), (HALF, (5, 6)), (F(3, 2), (0, 2))]
    assert parts.weighted(pairs, 2) == ([24, 50], 6)
    assert parts.weighted([], 2) == ([0, 0], 1)
    assert parts.weighted([(F(2), (4,))], 1) == ([8], 1)
    assert parts.total([(9, 9), (1, 2), (3, 4)], [Part(1, HALF), Part(2, F(1, 3))], 2) == [
        F(3, 2),
        F(7, 3),
    ]


def test_weights():
    """Tests that what a server has counts as 1, and that it may have nothing."""
    assert parts.weights((2, 0, 4)) == [0.5, 0.0, 0.25]


# Whole jobs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("demands", "servers", "room", "placed"),
    [
        ([(9, 9), (9, 9)], 1, (2, 2), [0, 0]),  # made to fit: nothing is asked
        ([(1, 1), (2, 2), (3, 3)], 2, (4, 4), [0, 1, 0]),
        ([(2, 2), (2, 2), (2, 2)], 2, (4, 4), [0, 0, 1]),
        ([(2, 2), (2, 2), (2, 2)], 2, (3, 3), None),
        ([(1, 6), (6, 1), (3, 3), (3, 3)], 2, (7, 7), [0, 0, 1, 1]),
        ([(3, 1), (1, 3)], 2, (4, 3), [1, 0]),  # 13/12 and 15/12 of a server
        ([(2, 0), (2, 0)], 2, (2, 0), [0, 1]),
        ([(6, 3), (5, 3), (5, 0), (0, 2)], 2, (10, 10), [0, 1, 1, 1]),  # the second is fuller
        ([], 2, (1, 1), []),
    ],
)
def test_all_whole(demands, servers, room, placed):
    """Tests the server of each part, the largest first and each where it leaves least."""
    given = [Part(j, ONE) for j in range(len(demands))]
    assert all_whole(demands, given, servers, room) == placed


def test_a_part_takes_its_part_of_the_demand():
    """Tests that half a job has half of its demand."""
    given = [Part(1, HALF), Part(0, HALF), Part(1, HALF)]
    assert all_whole([(2,), (8,)], given, 2, (5,)) == [0, 0, 1]


def test_what_doubles_cannot_tell_is_decided_exactly():
    """Tests a server that is full, and one given a unit of 10¹² too much."""
    big = 10**12
    demands = [(6 * big,), (6 * big,), (4 * big,), (4 * big,)]
    given = [Part(j, ONE) for j in range(4)]
    assert all_whole(demands, given, 2, (10 * big,)) == [0, 1, 0, 1]
    assert all_whole([*demands[:3], (4 * big + 1,)], given, 2, (10 * big,)) is None


# Moves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("demands", "rows", "z"),
    [
        ([(1,), (2,)], [0], [-2, 1]),
        ([(2,), (4,), (9,)], [0], [-2, 1, 0]),
        ([(4,), (6,)], [0], [-3, 2]),
        ([(0,), (6,)], [0], [1, 0]),
        ([(7,)], [], [1]),
        ([(7,), (8,)], [], [1, 0]),
        ([(0, 1), (1, 0), (1, 1)], [0, 1], [-1, -1, 1]),
        ([(1, 2), (2, 4), (0, 1)], [0, 1], [-2, 1, 0]),
        ([(2, 1), (1, 2), (3, 4)], [0, 1], [-2, -5, 3]),
        ([(5, 1, 2), (5, 3, 4), (5, 7, 6)], [2], [-2, 1, 0]),
        ([(1, 0, 2), (0, 3, 1), (2, 1, 0), (1, 1, 1)], [0, 1, 2], [5, 3, 4, -13]),
    ],
)
def test_dependency(demands, rows, z):
    """Tests whole numbers without a common factor, up to their sign, that sum to nothing."""
    found = moves.dependency([cut(j, d) for j, d in enumerate(demands)], rows)
    assert all(sum(n * d[r] for n, d in zip(found, demands, strict=True)) == 0 for r in rows)
    assert found in (z, [-n for n in z])


def test_a_move_ends_at_the_first_bound():
    """Tests which cut leaves, to which half, and where the others are then."""
    cuts = [cut(5, (1,), F(1, 4)), cut(6, (1,), F(1, 3)), cut(7, (1,), F(1, 5), F(1, 2))]
    one, other = [], []
    moves.move(cuts, [1, -1, 0], one, other)  # 6 can go down by 1/3, 5 up by 3/4
    assert (one, other) == ([], [Part(6, ONE)])
    assert [(c.job, c.here) for c in cuts] == [(5, F(7, 12)), (7, F(1, 5))]
    moves.move(cuts, [-1, 3], one, other)  # 7 can go up by 3/10, in steps of three
    assert (one, other) == ([Part(7, HALF)], [Part(6, ONE)])
    assert [(c.job, c.here) for c in cuts] == [(5, F(7, 12) - F(1, 10))]


def test_a_move_of_a_given_step():
    """Tests that the step is taken as it is, and that a cut that was at a bound leaves."""
    cuts = [cut(0, (1,), 0), cut(1, (1,)), cut(2, (1,))]
    one, other = [], []
    moves.move(cuts, [0, 2, -1], one, other, F(1, 8))
    assert (one, other) == ([], [Part(0, ONE)])
    assert [c.here for c in cuts] == [F(3, 4), F(3, 8)]


@pytest.mark.parametrize(
    ("above", "below", "sides", "left"),
    [
        # One cut of 2 units, half of it here: it can go either way, and goes to the first half.
        ((1, 1), None, ([0], []), (F(0), F(2))),
        ((2, 1), None, ([0], []), (F(1), F(2))),
        ((F(1, 2), 1), None, ([], [0]), (F(3, 2), F(0))),  # the first half has no room for it
        ((1, F(1, 2)), None, ([0], []), (F(0), F(3, 2))),
        ((F(1, 4), F(1, 4)), F(5, 8), ([], []), (F(0), F(1, 2))),  # moves until a half is full
        ((F(1, 2), F(1, 4)), F(3, 8), ([], []), (F(3, 4), F(0))),  # the shorter way
        ((F(1, 4), F(1, 2)), F(5, 8), ([], []), (F(0), F(3, 4))),
        ((0, 1), HALF, ([], []), (F(0), F(1))),  # a half is full: one cut may stay
        ((1, 0), HALF, ([], []), (F(1), F(0))),
    ],
)
def test_slack_is_used_up(above, below, sides, left):
    """Tests where one cut goes, and what the halves can then take and give."""
    cuts, (more, less) = [cut(0, (2,))], ([F(above[0])], [F(above[1])])
    one, other = [], []
    moves.use_slack(cuts, more, less, one, other)
    assert ([p.job for p in one], [p.job for p in other]) == sides
    assert (more[0], less[0]) == left
    assert [c.here for c in cuts] == ([] if below is None else [below])


def test_slack_for_a_job_of_one_unit():
    """Tests that a change of 1 is a change up, and that the nearer limit is chosen."""
    cuts, more, less, one, other = [cut(0, (1,), F(1, 4))], [F(1, 8)], [F(1, 16)], [], []
    moves.use_slack(cuts, more, less, one, other)
    assert (more, less, one, other) == ([F(3, 16)], [F(0)], [], [])
    assert [c.here for c in cuts] == [F(3, 16)]


def test_slack_in_one_of_two_rows():
    """Tests that a full row stays as it is while the other moves."""
    cuts = [cut(0, (1, 1)), cut(1, (1, 3))]
    more, less, one, other = [F(0), F(9)], [F(9), F(9)], [], []
    moves.use_slack(cuts, more, less, one, other)
    assert more[0] == 0
    assert less[0] == 9
    assert len(cuts) == 0
    assert sorted(p.job for p in [*one, *other]) == [0, 1]
    assert (more[1], less[1]) == ((8, 10) if one == [Part(1, ONE)] else (10, 8))


# Guesses -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "z"),
    [
        ([[1.0], [2.0]], [-1, 0.5]),
        ([[2.0], [1.0]], [-0.5, 1]),
        ([[0.0], [1.0]], [1, 0]),
        ([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1, -1, 1]),
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [-1, -1, 1]),
        ([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]], [-1, 0.5, 0]),
        ([[1.0, 4.0], [3.0, 4.0], [2.0, 2.0]], [0.25, -0.75, 1]),
        ([[2.0, 0.0, 4.0], [0.0, 4.0, 2.0], [4.0, 2.0, 0.0], [2.0, 2.0, 2.0]], None),
    ],
)
def test_null(columns, z):
    """Tests the dependency of columns, its largest entry 1."""
    found = guess._null(columns)
    for row in zip(*columns, strict=True):
        assert sum(n * x for n, x in zip(found, row, strict=True)) == pytest.approx(0, abs=1e-12)
    assert max(map(abs, found)) == 1
    if z is not None:
        assert found == pytest.approx(z)


@pytest.mark.parametrize(
    ("columns", "right", "solved"),
    [
        ([(1, 2), (3, 4)], [5, 6], ([2, -4], -2)),
        ([(0, 1), (1, 0)], [7, 8], ([8, 7], 1)),
        ([(3,)], [7], ([7], 3)),
        ([(2, 1, 1), (1, 3, 2), (1, 0, 4)], [8, 5, 17], ([35, 20, 62], 19)),
        ([(1, 2), (2, 4)], [1, 2], None),  # singular
        ([(1, 2)], [1, 2], None),  # not square
        ([], [], ([], 1)),
    ],
)
def test_solve(columns, right, solved):
    """Tests numerators and denominator, with rows exchanged, and systems without a solution."""
    assert guess._solve(columns, right) == solved
    if solved is not None:
        values, scale = solved
        for r, b in enumerate(right):
            assert sum(n * c[r] for n, c in zip(values, columns, strict=True)) == b * scale


def test_each_is_sent_to_the_half_that_is_behind():
    """Tests where jobs go, in order, and what the first half then lacks."""
    here, most = [0.5, 0.5, 0.5, 9.0], [1.0, 1.0, 1.0, 9.0]
    sizes = [[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [9.0, 9.0]]
    assert guess._send([0, 1, 2], sizes, here, most) == [0.25, 0.25]
    assert here == [0.0, 1.0, 0.0, 9.0]
    here, most = [0.25, 0.125, 0.125], [0.5, 0.5, 0.25]
    # −1/4 without the first; with 3/8 more of the second 1/8, else −3/8; then down by 1/8.
    assert guess._send([0, 1, 2], [[1.0]] * 3, here, most) == [0.0]
    assert here == [0.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("sizes", "most", "behind", "moved"),
    [
        ([[1.0], [1.0]], [1.0, 1.0], [0.5], [0.25, 0.25]),
        ([[1.0], [1.0]], [1.0, 0.5], [0.25], [0.2, 0.05]),
        ([[1.0], [3.0]], [1.0, 1.0], [-1.0], [-0.1, -0.3]),
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0] * 3, [0.3, 0.1], [1 / 6, -1 / 30, 2 / 15]),
        ([[1.0], [1.0]], [1.0, 1.0], [1.0], [0.5, 0.5]),  # to the bound
        ([[1.0], [1.0]], [1.0, 1.0], [-1.0], [-0.5, -0.5]),
        ([[1.0], [1.0]], [1.0, 1.0], [1.1], None),  # beyond it
        ([[1.0], [1.0]], [1.0, 1.0], [-1.1], None),
        ([[0.25], [0.25]], [1.0, 1.0], [0.2], [0.4, 0.4]),
        ([[0.0], [0.0]], [1.0, 1.0], [0.5], None),  # nothing to move
        ([[1.0, 0.0], [1.0, 0.0]], [1.0, 1.0], [0.5, 0.0], None),  # in one of two rows
    ],
)
def test_a_difference_is_spread_by_least_squares(sizes, most, behind, moved):
    """Tests how far each moves, and that none does where one would go out of its bounds."""
    here = [0.5, most[1] / 2, 0.5][: len(sizes)]
    before, few = [*here, 7.0], list(range(len(sizes)))
    now = [*here, 7.0]
    assert guess._absorb(few, [*sizes, sizes[0]], now, [*most, 7.0], behind) is (moved is not None)
    assert now == pytest.approx(
        before if moved is None else [*(h + m for h, m in zip(here, moved, strict=True)), 7.0]
    )


@pytest.mark.parametrize(
    ("sizes", "here", "between", "there"),
    [
        ([[1.0], [1.0]], [0.5, 0.5], [1], [0.0, 1.0]),
        ([[1.0], [2.0]], [0.5, 0.5], [1], [0.0, 0.75]),
        ([[2.0], [1.0]], [0.5, 0.5], [0], [0.25, 1.0]),
        ([[1.0], [1.0], [1.0]], [0.75, 0.5, 0.5], [1], [0.0, 0.75, 1.0]),
        ([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], [0, 1], [0.5, 0.5]),  # no more than the rows
    ],
)
def test_a_walk_sends_all_but_a_few_to_a_bound(sizes, here, between, there):
    """Tests which stay between, where all are then, and that sums are kept."""
    now = list(here)
    found = guess._walk(range(len(sizes)), sizes, now, [1.0] * len(sizes))
    for r in range(len(sizes[0])):
        before = sum(x * s[r] for x, s in zip(here, sizes, strict=True))
        assert sum(x * s[r] for x, s in zip(now, sizes, strict=True)) == pytest.approx(before)
    assert len(found) <= len(sizes[0])
    assert all(now[j] in (0.0, 1.0) for j in range(len(sizes)) if j not in found)
    if len(sizes) < 3:
        assert (found, now) == (between, there)


def test_a_walk_keeps_to_what_a_job_has():
    """Tests bounds below 1, up and down."""
    now = [0.25, 0.25]
    assert guess._walk([0, 1], [[1.0], [1.0]], now, [0.5, 0.375]) == [0]
    assert now == [0.125, 0.375]
    now = [0.25, 0.25]
    assert guess._walk([1, 0], [[1.0], [1.0]], now, [0.375, 0.5]) == [1]
    assert now == [0.375, 0.125]


@pytest.mark.parametrize(
    ("here", "between", "found"),
    [
        ([1.0, 0.7, 0.0], [1], [1, 1, 0]),  # 3 = 1 + 2
        ([0.0, 0.0, 0.5], [2], [0, 0, 1]),
        ([1.0, 0.0, 0.5], [2], [1, 0, F(2, 3)]),
        ([1.0, 1.0, 0.5], [2], [1, 1, 0]),
        ([0.0, 0.5, 0.0], [1], None),  # 3/2 of the second
        ([1.0, 0.5, 1.0], [1], None),  # −1/2 of it
        ([1.0, 0.0, 0.0], [], None),  # one equation, no unknown
    ],
)
def test_those_between_are_computed_exactly(here, between, found):
    """Tests jobs of 1, 2 and 3 units, half of each here: 3 units in all."""
    cuts = [cut(j, (j + 1,)) for j in range(3)]
    assert guess._exactly(cuts, here, [1.0] * 3, between) == found


def test_the_exact_sum_is_that_of_unequal_parts():
    """Tests parts in thirds and two rows."""
    cuts = [
        cut(0, (1, 2), F(1, 3), F(2, 3)),
        cut(1, (3, 1), F(1, 7)),
        cut(2, (2, 2), F(1, 5), F(2, 5)),
    ]
    found = guess._exactly(cuts, [0.3, 0.5, 0.0], [2 / 3, 1.0, 0.4], [0, 1])
    # x + 3 y = 1/3 + 3/7 + 2/5 and 2 x + y = 2/3 + 1/7 + 2/5.
    assert found == [F(1, 3) + F(4, 25), F(1, 7) + F(2, 25), 0]
    assert guess._exactly(cuts, [0.3, 0.5, 0.4], [2 / 3, 1.0, 0.4], [0, 1]) == [
        F(1, 3) - F(4, 25),
        F(1, 7) - F(2, 25),
        F(2, 5),
    ]


def test_a_few_jobs_are_walked_over_all_together(monkeypatch):
    """Tests that up to 24 are, and of more every second or third, the largest first."""
    seen = []
    walk = guess._walk
    monkeypatch.setattr(
        guess,
        "_walk",
        lambda tail, sizes, here, most: seen.append(list(tail)) or walk(tail, sizes, here, most),
    )
    for many, tail in (
        (24, list(range(24))),
        (25, list(range(24, 8, -1))),  # every one of the largest 16
        (40, list(range(39, 7, -2))),
        (50, list(range(49, 2, -3))),
    ):
        cuts = [cut(j, (j + 100,)) for j in range(many)]
        found = guess.guessed(cuts, (10_000,))
        assert seen.pop() == tail
        total = sum(x * c.demand[0] for x, c in zip(found, cuts, strict=True))
        assert total == sum(F(c.demand[0], 2) for c in cuts)
        assert sum(0 < x < 1 for x in found) <= 1


def test_where_the_difference_cannot_be_spread_all_are_walked_over(monkeypatch):
    """Tests that the even point is the start again."""
    seen = []
    walk = guess._walk
    monkeypatch.setattr(guess, "_absorb", lambda *a: False)
    monkeypatch.setattr(
        guess,
        "_walk",
        lambda tail, sizes, here, most: (
            seen.append((list(tail), list(here), most, sizes[1])) or walk(tail, sizes, here, most)
        ),
    )
    cuts = [cut(j, (j, 2), F(1, 4), HALF) for j in range(30)]
    assert guess.guessed(cuts, (8, 16)) is not None
    assert seen == [(list(range(30)), [0.25] * 30, [0.5] * 30, [0.125, 0.125])]


# Halving -------------------------------------------------------------------------------------


def test_equal_jobs_are_spread_evenly():
    """Tests n λ of n equal whole jobs, a cut where that is not whole, and parts of jobs."""
    demands = [(1,), (1,), (1,), (2,), (3,), (3,), (1,)]
    given = [Part(j, ONE) for j in range(6)] + [Part(6, HALF)]
    one, other, cuts = _spread_evenly(demands, given, 1, 2)
    assert one == [Part(0, ONE), Part(4, ONE)]
    assert other == [Part(2, ONE), Part(5, ONE)]
    assert cuts == [
        Cut(6, (1,), HALF, F(1, 4)),
        Cut(1, (1,), ONE, HALF),
        Cut(3, (2,), ONE, HALF),
    ]
    one, other, cuts = _spread_evenly([(4,)] * 5, [Part(j, ONE) for j in range(5)], 2, 5)
    assert (one, other) == ([Part(0, ONE), Part(1, ONE)], [Part(j, ONE) for j in (2, 3, 4)])
    assert cuts == []
    one, other, cuts = _spread_evenly([(4,)] * 4, [Part(j, ONE) for j in range(4)], 2, 5)
    assert (one, other) == ([Part(0, ONE)], [Part(2, ONE), Part(3, ONE)])
    assert cuts == [Cut(1, (4,), ONE, F(3, 5))]
    assert _spread_evenly([(4,)], [Part(0, ONE)], 2, 5)[2] == [Cut(0, (4,), ONE, F(2, 5))]


def test_a_halving_without_slack():
    """Tests both sides with their exact totals: one job is cut."""
    demands = [(2,)] * 3
    side = ([Part(j, ONE) for j in range(3)], [F(6)])
    one, other = halve(demands, side, 2, (3,))
    assert one == ([Part(0, ONE), Part(1, HALF)], [F(3)])
    assert other == ([Part(2, ONE), Part(1, HALF)], [F(3)])


def test_a_halving_with_slack():
    """Tests that the job goes whole where there is room, and the totals go with it."""
    demands = [(2,)] * 3
    side = ([Part(j, ONE) for j in range(3)], [F(6)])
    one, other = halve(demands, side, 2, (4,))
    assert one == ([Part(0, ONE), Part(1, ONE)], [F(4)])
    assert other == ([Part(2, ONE)], [F(2)])


def test_a_halving_of_five_servers():
    """Tests that the first half has two of five servers and two fifths of what is full."""
    demands = [(5, 1), (4, 2), (1, 2), (3, 3), (2, 2)]
    side = ([Part(j, ONE) for j in range(5)], [F(15), F(10)])
    one, other = halve(demands, side, 5, (3, 2))
    assert one[1] == [6, 4]
    assert other[1] == [9, 6]
    for chosen, total in (one, other):
        assert parts.total(demands, chosen, 2) == total
    assert len(one[0]) + len(other[0]) <= 5 + 2


def test_a_job_that_doubles_send_to_a_half_is_there_whole(monkeypatch):
    """Tests that guesses are taken, and asked for only where jobs are more than rows."""
    from synergy_opt.placement.bisection import halve as module

    demands = [(1,), (2,), (3,)]
    side = ([Part(j, ONE) for j in range(3)], [F(6)])
    here, there = ([Part(0, ONE), Part(1, ONE)], [3]), ([Part(2, ONE)], [3])
    monkeypatch.setattr(module, "guessed", lambda cuts, room: [F(1), F(1), F(0)])
    assert halve(demands, side, 2, (3,)) == (here, there)
    monkeypatch.setattr(module, "guessed", lambda cuts, room: [F(0), F(0), F(1)])
    assert halve(demands, side, 2, (3,)) == (there, here)
    monkeypatch.setattr(module, "guessed", lambda cuts, room: None)
    one, other = halve(demands, side, 2, (3,))
    assert one[1] == other[1] == [3]
    assert len(one[0]) + len(other[0]) <= 4
    monkeypatch.setattr(module, "guessed", lambda cuts, room: pytest.fail("nothing to guess"))
    assert halve([(2, 1), (2, 3)], (side[0][:2], [F(4), F(4)]), 2, (2, 2))[0][1] == [2, 2]


# The recursion -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("servers", "tried"), [(16, [16]), (17, [8, 9]), (1, [1]), (40, [10, 10, 10, 10])]
)
def test_up_to_16_servers_all_jobs_are_tried_whole(monkeypatch, servers, tried):
    """Tests when, and that the servers of the first half come first."""
    seen = []
    monkeypatch.setattr(
        recursion,
        "all_whole",
        lambda demands, here, count, room: (
            seen.append(count) or all_whole(demands, here, count, room)
        ),
    )
    demands = [(1,)] * servers
    shares = bisect(demands, [ONE] * servers, servers=servers, room=(1,))
    assert seen == tried
    assert sorted(i for row in shares for i in row) == list(range(servers))
    assert all(part == 1 for row in shares for part in row.values())


def test_parts_of_jobs_are_divided():
    """Tests that a part stays a part, and that a job without one is nowhere."""
    found = bisect([(2,), (2,), (4,)], [HALF, F(0), ONE], servers=2, room=(4,))
    assert [sum(row.values()) for row in found] == [HALF, 0, 1]
    assert found[0].keys() != found[2].keys()
    with pytest.raises(Infeasible, match=r"^the demands exceed what the servers have together$"):
        bisect([(2, 1), (2, 9)], [ONE, ONE], servers=2, room=(4, 4))
