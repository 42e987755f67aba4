"""Recursive bisection: the bounds of a vertex, exact sums, slack, and stage 2 by it."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import instances

from synergy_opt.certificate import violations
from synergy_opt.errors import Infeasible
from synergy_opt.generate import mix, scattered
from synergy_opt.ideal import ideal_allocation
from synergy_opt.placement import place
from synergy_opt.placement.bisection import bisect, halve
from synergy_opt.placement.bisection.guess import guessed
from synergy_opt.placement.bisection.parts import Cut


@st.composite
def problems(draw):
    """Demands, parts, servers and room, without slack, with little, or with much."""
    rows, servers = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    few = draw(st.booleans())
    vector = st.tuples(*[st.integers(0, 3 if few else 60)] * rows)
    demands = draw(st.lists(vector, max_size=45))
    part = st.sampled_from([Fraction(1)] * 3 + [Fraction(0), Fraction(2, 7), Fraction(1, 2)])
    parts = [draw(part) for _ in demands]
    totals = [
        sum((p * d[r] for p, d in zip(parts, demands, strict=True)), Fraction(0))
        for r in range(rows)
    ]
    unit = math.lcm(*(Fraction(t, servers).denominator for t in totals))
    slack = draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(21, 20), Fraction(2)]))
    room = tuple(math.ceil(t / servers * unit * slack) for t in totals)
    return [tuple(n * unit for n in d) for d in demands], parts, servers, room


def figures(demands, parts, servers, room, shares):
    """Check every sum exactly and give extra pieces, components and full rows."""
    used = [[Fraction(0)] * len(room) for _ in range(servers)]
    owner = list(range(servers))

    def root(i):
        while owner[i] != i:
            i = owner[i]
        return i

    for demand, part, row in zip(demands, parts, shares, strict=True):
        assert sum(row.values()) == part
        assert all(x > 0 for x in row.values())
        for i, x in row.items():
            owner[root(i)] = root(next(iter(row)))
            used[i] = [u + x * d for u, d in zip(used[i], demand, strict=True)]
    assert all(u <= most for row in used for u, most in zip(row, room, strict=True))
    extra = sum(len(row) for row in shares) - sum(part > 0 for part in parts)
    full = sum(u == most for row in used for u, most in zip(row, room, strict=True))
    return extra, len({root(i) for i in range(servers)}), full


@given(problems())
def test_cuts_are_within_the_bounds_of_a_vertex(problem):
    """Tests pieces − jobs ≤ q (s − κ) and ≤ full rows, and that no capacity is exceeded."""
    demands, parts, servers, room = problem
    shares = bisect(demands, parts, servers=servers, room=room)
    extra, components, full = figures(demands, parts, servers, room, shares)
    assert extra <= len(room) * (servers - components)
    assert extra <= full


@given(problems())
def test_the_moves_of_the_proof_alone_keep_the_bounds(problem):
    """Tests the same where doubles find nothing and every cut is moved in exact numbers."""
    demands, parts, servers, room = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(halve, "guessed", lambda cuts, room: None)
        shares = bisect(demands, parts, servers=servers, room=room)
    extra, components, full = figures(demands, parts, servers, room, shares)
    assert extra <= len(room) * (servers - components)
    assert extra <= full


@given(problems())
def test_a_guess_is_a_vertex_or_nothing(problem):
    """Tests that what doubles find has the same sum exactly and at most q between their bounds."""
    demands, parts, servers, room = problem
    share = Fraction(servers // 2, servers)
    cuts = [
        Cut(j, demand, part, share * part)
        for j, (demand, part) in enumerate(zip(demands, parts, strict=True))
        if part
    ]
    found = guessed(cuts, room) if len(cuts) > len(room) else None
    if found is None:
        return
    for r in range(len(room)):
        even = sum(cut.here * cut.demand[r] for cut in cuts)
        assert sum(x * c.demand[r] for c, x in zip(cuts, found, strict=True)) == even
    assert all(0 <= x <= cut.most for cut, x in zip(cuts, found, strict=True))
    assert sum(0 < x < cut.most for cut, x in zip(cuts, found, strict=True)) <= len(room)


def test_all_demands_different_without_slack():
    """Tests 2,000 jobs of which no two are alike on servers that they fill: q (s − 1) cuts."""
    demands = [
        (1 + j % 8, 10**6 + j * 7919 % 10_007, 10**5 + j * 6007 % 9973) for j in range(2000)
    ]
    servers = 400
    room = tuple(sum(d[r] for d in demands) for r in range(3))
    wide = [tuple(servers * n for n in d) for d in demands]
    shares = bisect(wide, [Fraction(1)] * 2000, servers=servers, room=room)
    extra, components, full = figures(wide, [Fraction(1)] * 2000, servers, room, shares)
    assert extra == 3 * (servers - components) == 3 * (servers - 1)
    assert full == 3 * servers


def test_slack_saves_cuts():
    """Tests that with room for all jobs whole there is no cut."""
    demands = [(1, 3), (2, 5), (4, 9), (8, 20)] * 40
    total = [sum(d[r] for d in demands) for r in range(2)]
    room = tuple(-(-t * 5 // (4 * 64)) + 8 for t in total)
    shares = bisect(demands, [Fraction(1)] * len(demands), servers=64, room=room)
    assert all(len(row) == 1 for row in shares)


def test_more_than_the_servers_have_is_refused():
    """Tests that a total above the capacity is refused and one at it is not."""
    one = [Fraction(1)] * 2
    assert bisect([(3,), (3,)], one, servers=3, room=(2,))
    with pytest.raises(Infeasible, match="together"):
        bisect([(3,), (4,)], one, servers=3, room=(2,))


@given(instances())
def test_stage_2_by_bisection_is_certified(instance):
    """Tests that both ways of stage 2 agree on what can be placed, and the certificate on both."""
    allocation = ideal_allocation(instance)
    try:
        place(instance, allocation, bisection=False)
    except Infeasible:
        with pytest.raises(Infeasible):
            place(instance, allocation, bisection=True)
        return
    placed = place(instance, allocation, bisection=True)
    found = violations(
        instance, placed, throughput=placed.throughput, upper_bound=placed.bound.value
    )
    assert list(found) == []


@pytest.mark.parametrize("family", [mix, scattered])
def test_large_clusters_are_halved_by_themselves(family):
    """Tests that stage 2 on 100 servers takes a second and not a large linear programme."""
    instance = family(servers=100, seed=3)
    placed = place(instance, ideal_allocation(instance))
    assert placed.split.extra_pieces <= min(placed.split.limit, placed.split.tight_rows)
    same = place(instance, ideal_allocation(instance), bisection=True)
    assert placed == same
