"""Answers that are built wrongly, or that answer for themselves: each is named, none believed."""

from dataclasses import replace

import pytest
from certificate_cases import F, jobs_of_pair, pair, placement, with_job

from synergy_opt.answer import Bound, PatternBound, Placement, ShapePrice
from synergy_opt.certificate import bound_value, violations
from synergy_opt.errors import NotCertified

B = jobs_of_pair()["B"]


class Unwritable:
    """A value that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError


class Liar(F):
    """A number that calls itself equal to every other, and no less."""

    def __eq__(self, _):
        return True

    def __ne__(self, _):
        return False

    def __lt__(self, _):
        return False

    def __gt__(self, _):
        return False

    __hash__ = F.__hash__


class Praised(Placement):
    """A placement that computes its own total."""

    throughput = property(lambda _: F(10**6))


def changed(**changes):
    """Give a valid placement with fields changed."""
    return replace(placement(), **changes)


def with_piece(**changes):
    """Give a valid placement with a piece of job B changed."""
    return with_job(replace(B, pieces=(replace(B.pieces[0], **changes),)))


def rules(answer, **stated):
    """Give the broken rules as (rule, where)."""
    return [(each.rule, each.where) for each in violations(pair(), answer, **stated)]


def bound(**changes):
    """Give a bound with fields changed."""
    return replace(Bound(value=F(9), multipliers=(F(0), F(0))), **changes)


SHAPE = ShapePrice(group=0, gpus=1, amounts=(F(1), F(5)), price=F(1))


def patterns(**changes):
    """Give a valid placement with a bound by pattern prices, some of its fields changed."""
    found = PatternBound(value=F(9), shapes=(SHAPE,), servers=(F(9),), split="never")
    return changed(bound=replace(found, **changes))


@pytest.mark.parametrize(
    ("answer", "where"),
    [
        (None, "$"),
        (Praised(instance="pair", mechanism="mine", jobs=placement().jobs), "$"),
        (changed(instance=None), "$.instance"),
        (changed(mechanism=None), "$.mechanism"),
        (changed(mechanism="\ud800"), "$.mechanism"),
        (changed(mechanism=Unwritable()), "$.mechanism"),
        (changed(stopped=1), "$.stopped"),
        (changed(proof="certainly"), "$.proof"),
        (changed(proof=["core"]), "$.proof"),
        (changed(bound=3), "$.certificate"),
        (changed(bound=bound(multipliers=[0, 0])), "$.certificate.multipliers"),
        (changed(bound=bound(skipping=1)), "$.certificate.skipping"),
        (patterns(servers=[F(9)]), "$.certificate.servers"),
        (patterns(split="often"), "$.certificate.split"),
        (patterns(split=["never"]), "$.certificate.split"),
        (patterns(shapes=[SHAPE]), "$.certificate.shapes"),
        (patterns(shapes=(SHAPE, "x")), "$.certificate.shapes[1]"),
        (patterns(shapes=(replace(SHAPE, amounts=None),)), "$.certificate.shapes[0]"),
        (changed(split="x"), "$.split"),
        (replace(changed(), jobs=None), "$.jobs"),
        (replace(changed(), jobs=list(changed().jobs)), "$.jobs"),
        (replace(changed(), jobs=(1,)), "$.jobs[0]"),
        (with_job(replace(B, pieces=None)), "$.jobs[1].pieces"),
        (with_job(replace(B, pieces=("x",))), "$.jobs[1].pieces[0]"),
        (with_job(replace(B, demand=None)), "$.jobs[1].demand"),
        (with_job(replace(B, demand={"cpu": 1})), "$.jobs[1].demand"),
        (with_piece(amounts=None), "$.jobs[1].pieces[0]"),
    ],
)
def test_a_field_of_another_type_is_named(answer, where):
    """Tests that whatever stands in a field of a placement is reported, never tripped over."""
    assert rules(answer) == [("types", where)]


def test_an_id_is_a_string():
    """Tests that an identifier that cannot be looked up is reported."""
    jobs = (replace(B, id=[1]), *placement().jobs)
    assert rules(replace(changed(), jobs=jobs)) == [("types", "$.jobs[0].id")]


def test_a_remembered_total_is_not_believed():
    """Tests that the certificate adds up the jobs itself.

    `Placement.throughput` and `left_out` are computed once and kept: a mechanism can plant them.
    """
    answer = placement()
    answer.__dict__["throughput"] = F(10**6)
    answer.__dict__["left_out"] = ("A",)
    assert rules(answer, throughput=F(9, 2)) == []
    assert rules(answer, throughput=F(10**6)) == [("total-throughput", "$.throughput")]


def crooked():
    """Give a Fraction whose numerator is a number of another type."""
    number = F(1, 3)
    object.__setattr__(number, "_numerator", 1.0)
    return number


@pytest.mark.parametrize("number", [Liar(10**6), crooked(), True, 1.0, "1", None, Unwritable()])
def test_only_pythons_own_numbers_count(number):
    """Tests that a subclass of Fraction, which may compare as it likes, is no exact number."""
    assert rules(with_job(replace(B, throughput=number))) == [
        ("exact-numbers", "$.jobs[1].throughput")
    ]
    assert rules(with_piece(gpus=number)) == [("exact-numbers", "$.jobs[1].pieces[0].gpus")]


@pytest.mark.parametrize("bound", [3, bound(multipliers=None), bound(value=Liar(1))])
def test_no_value_of_a_malformed_bound(bound):
    """Tests that a bound of another form proves nothing, and that the reason is given."""
    with pytest.raises(NotCertified, match=r"certificate|upper_bound"):
        bound_value(pair(), pair().jobs, bound)


@pytest.mark.parametrize(
    "size", [10**500, 10**5000, F(1, 3 * 10**5000)], ids=["large", "huge", "tiny"]
)
def test_numbers_of_any_size_are_shown_shortly(size):
    """Tests that what no float holds, and Python refuses to write, is shown all the same."""
    answers = [
        with_job(replace(B, throughput=size)),
        with_piece(gpus=size),
        with_piece(amounts=(size, size)),
        changed(bound=bound(value=size, multipliers=(size, size)), proof="multipliers"),
    ]
    if isinstance(size, int):
        answers.append(with_piece(server=size))
    for answer in answers:
        messages = [str(each) for each in violations(pair(), answer)]
        assert messages
        assert max(map(len, messages)) < 300
        assert len(str(answer)) < 200
