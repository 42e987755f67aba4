"""An answer to another question is refused by place and realize, whatever it is called."""

from dataclasses import replace
from fractions import Fraction

import pytest
from builders import cluster, instance, wants

from synergy_opt.errors import InvalidInstance
from synergy_opt.generate import mix, scattered
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Instance
from synergy_opt.placement import place
from synergy_opt.placement.whole_gpus import realize, unplaced

HUNGRY = wants("hungry", (1, 2), (3, 4))
TWO = instance(cluster((2, 4, 12)), (HUNGRY, 2), (HUNGRY, 1), (HUNGRY, 4))
ALLOCATION = ideal_allocation(TWO)
PLACED = place(TWO, ALLOCATION)


def with_gpus(gpus: int) -> Instance:
    """Give the instance, of the same name, with other GPUs of the first job."""
    jobs = [replace(TWO.jobs[0], gpus=gpus), *TWO.jobs[1:]]
    return replace(TWO, jobs=jobs)


@pytest.mark.parametrize("integral", [True, False])
@pytest.mark.parametrize(
    "question", [mix(servers=2, seed=4), scattered(servers=2, seed=3, resources=3), TWO]
)
def test_ones_own_answer_is_taken(question, integral):
    """Tests that what stage 1 and stage 2 give, mixtures too, passes unchanged."""
    allocation = ideal_allocation(question, integral=integral)
    assert place(question, allocation).throughput == allocation.throughput
    assert len(realize(question, unplaced(allocation)).jobs) == len(allocation.jobs)


def changed(**changes):
    """Give the allocation with the first job's choice changed."""
    first = replace(ALLOCATION.jobs[0], **changes)
    return replace(ALLOCATION, jobs=(first, *ALLOCATION.jobs[1:]))


HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("question", "allocation", "path", "rule"),
    [
        (with_gpus(1), ALLOCATION, "$.jobs[0]", "for another instance of this name"),
        (replace(TWO, objective="absolute"), ALLOCATION, "$.jobs[0]", "another instance"),
        (replace(TWO, name="x"), ALLOCATION, "", "the allocation is for 'small', not for 'x'"),
        (replace(TWO, jobs=TWO.jobs[1:]), ALLOCATION, "$.jobs[0].id", "has no job 'a'"),
        (TWO, replace(ALLOCATION, jobs=ALLOCATION.jobs * 2), "$.jobs[3].id", "'a' is there twice"),
        (replace(TWO, cluster=cluster((1, 4, 12))), ALLOCATION, "$.jobs", "ask for 7 of 4 GPUs"),
        (TWO, changed(demand=(Fraction(1),)), "$.jobs[0]", "job 'a' (2 GPUs) takes"),
        (TWO, changed(throughput=Fraction(9)), "$.jobs[0]", "job 'a' (2 GPUs) takes"),
        (TWO, changed(mixture=()), "$.jobs[0].mixture", "sum to 1"),
        (TWO, changed(mixture=((0, HALF),)), "$.jobs[0].mixture", "sum to 1"),
        (TWO, changed(mixture=((0, 3 * HALF), (1, -HALF))), "$.jobs[0].mixture", "above 0"),
        (TWO, changed(mixture=((2, Fraction(1)),)), "$.jobs[0].mixture", "grid points 0 to 1"),
        (TWO, changed(mixture=((0, 0 * HALF), (1, 2 * HALF))), "$.jobs[0].mixture", "above 0"),
        (TWO, replace(ALLOCATION, jobs=None), "$.jobs", "must be a list, not NoneType"),
        (TWO, replace(ALLOCATION, jobs=(1,)), "$.jobs[0]", "must be of type Choice, not int"),
    ],
)
def test_another_ones_allocation_is_refused(question, allocation, path, rule):
    """Tests that place says where an allocation does not fit the instance, and which rule."""
    with pytest.raises(InvalidInstance) as caught:
        place(question, allocation)
    assert caught.value.path == path
    assert rule in caught.value.rule


def with_pieces(*pieces, **changes):
    """Give the placement with the first job's pieces changed."""
    first = replace(PLACED.jobs[0], pieces=pieces, **changes)
    return replace(PLACED, jobs=(first, *PLACED.jobs[1:]))


(PIECE,) = PLACED.jobs[0].pieces


@pytest.mark.parametrize(
    ("question", "placement", "path", "rule"),
    [
        (with_gpus(1), PLACED, "$.jobs[0].pieces", "have 2 GPUs, but job 'a' has 1"),
        (replace(TWO, name="x"), PLACED, "", "the placement is for 'small', not for 'x'"),
        (replace(TWO, jobs=TWO.jobs[1:]), PLACED, "$.jobs[0].id", "has no job 'a'"),
        (TWO, replace(PLACED, jobs=PLACED.jobs * 2), "$.jobs[3].id", "'a' is there twice"),
        (TWO, with_pieces(replace(PIECE, server=2)), "$.jobs[0].pieces", "servers [2] of 2"),
        (TWO, with_pieces(replace(PIECE, server=-1)), "$.jobs[0].pieces", "servers [-1] of 2"),
        (TWO, with_pieces(PIECE, PIECE), "$.jobs[0].pieces", "have 4 GPUs"),
        (TWO, with_pieces(PIECE, demand=()), "$.jobs[0].demand", "has 0 amounts, not 1"),
        (
            TWO,
            with_pieces(replace(PIECE, server=PLACED.jobs[2].pieces[0].server)),
            "$.jobs[2].pieces[0]",
            "has not the GPUs for job 'c'",
        ),
        (TWO, replace(PLACED, jobs=(None,)), "$.jobs[0]", "must be of type PlacedJob"),
    ],
)
def test_another_ones_placement_is_refused(question, placement, path, rule):
    """Tests that realize says where a placement does not fit the instance, and which rule."""
    with pytest.raises(InvalidInstance) as caught:
        realize(question, placement)
    assert caught.value.path == path
    assert rule in caught.value.rule


def test_arguments_of_another_type_are_named():
    """Tests that the error says which argument it is."""
    for take, answer, name in ((place, ALLOCATION, "allocation"), (realize, PLACED, "placement")):
        with pytest.raises(TypeError, match=r"^instance must be an Instance, not str$"):
            take("small", answer)
        with pytest.raises(TypeError, match=rf"^{name} must be an? {name.capitalize()}, not str$"):
            take(TWO, "small")


def test_what_a_mixture_makes_here_is_said():
    """Tests the message to the letter, with amounts in the order of the resources."""
    both = wants("both", (1, 2, 3), (3, 4, 5))
    question = instance(cluster((1, 2, 4, 6)), (both, 1), (both, 1))
    allocation = ideal_allocation(question)
    wrong = replace(allocation.jobs[0], throughput=Fraction(1, 2))
    with pytest.raises(InvalidInstance) as caught:
        place(question, replace(allocation, jobs=(wrong, *allocation.jobs[1:])))
    assert caught.value.rule == (
        "job 'a' (1 GPUs) takes 2, 3 and makes 1 with this mixture: the allocation is for another "
        "instance of this name"
    )
