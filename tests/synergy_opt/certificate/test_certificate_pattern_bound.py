"""Pattern prices: each term of the bound, worked out by hand on two servers of 2 GPUs."""

from fractions import Fraction

import pytest
from builders import cluster, instance, wants

from synergy_opt.answer import PatternBound, ShapePrice
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.pattern_bound import pattern_value, server_price

F = Fraction
CURVE = wants("curve", (1, 1), (3, 2), (4, 4))  # throughput, CPUs, both for one GPU
ONE = ShapePrice(group=0, gpus=1, amounts=(F(2),), price=F(2))
WIDE = ShapePrice(group=0, gpus=1, amounts=(F(4),), price=F(5, 2))
PAIR = ShapePrice(group=0, gpus=2, amounts=(F(4),), price=F(3))


def facts(*gpus):
    """Give the facts of jobs with the curve on two servers of 2 GPUs and 4 CPUs."""
    return Facts(
        instance=instance(cluster((2, 2, 4)), *((CURVE, g) for g in gpus), objective="absolute")
    )


def bound(*shapes, split="never"):
    return PatternBound(value=F(0), shapes=shapes, servers=(F(0),), split=split)


def value(known, priced):
    return pattern_value(known, known.instance.jobs, priced)


@pytest.mark.parametrize(
    ("shapes", "price"),
    [
        ((), 0),
        ((ONE,), 4),  # two pieces with 2 CPUs each
        ((WIDE,), F(5, 2)),  # one piece with all 4 CPUs
        ((ONE, WIDE, PAIR), 4),
        ((PAIR, WIDE), 3),  # two GPUs with all 4 CPUs
    ],
)
def test_a_server_is_charged_for_the_dearest_pieces_that_fit(shapes, price):
    """Tests σ for one server: neither GPUs nor CPUs are used twice."""
    assert server_price(facts(1), bound(*shapes), 0) == price


@pytest.mark.parametrize(
    ("gpus", "priced", "expected"),
    [
        # No price: the job's best value, 4 with 4 CPUs on a server by itself.
        ([1], bound(), 4),
        # σ = 4 on two servers; 3 - 2 with 2 CPUs, and 4 - 2 with 4 CPUs.
        ([1], bound(ONE), 2 * 4 + 2),
        # With 4 CPUs the dearer shape counts: 4 - 5/2; in all 9 1/2, down to a whole number.
        ([1], bound(ONE, WIDE), 9),
        ([1, 1], bound(ONE, WIDE), 2 * 4 + 2 * F(3, 2)),
        # Two GPUs on one server: 4 CPUs are 2 for each, so 6, for which nothing is charged.
        ([2], bound(), 6),
        # Whole numbers with a job of one GPU beside it: π is 3 with 2 CPUs, 4 - 5/2 with 4.
        ([1, 2], bound(WIDE), 2 * F(5, 2) + 3 + 6),
        ([1, 2], bound(PAIR), 2 * 3 + 4 + (6 - 3)),
        # Alone, all that the job can be worth is 6: 9 is down to 6.
        ([2], bound(PAIR), 6),
        # A job that fits a server has at most a server's worth, divided or not.
        ([2], bound(split="allowed"), 6),
        ([1, 2], bound(ONE, split="allowed"), 2 * 4 + 2 + 6),  # in one piece without a price
        ([1, 2], bound(ONE, PAIR, split="allowed"), 2 * 4 + 2 + (6 - 3)),
        # More GPUs than a server has are divided in any model.
        ([3], bound(), 9),
    ],
)
def test_the_value_is_what_the_prices_prove(gpus, priced, expected):
    """Tests Σ π + Σ s σ, rounded down to what a sum of values can be."""
    assert value(facts(*gpus), priced) == expected
