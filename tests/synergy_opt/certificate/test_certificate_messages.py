"""What is said of wrong answers, to the letter, and of arguments of another type."""

from dataclasses import replace

import pytest
from certificate_cases import F, jobs_of_pair, left_out, pair, placed, placement, with_job

from synergy_opt.answer import Bound, PatternBound, ShapePrice
from synergy_opt.certificate import bound_value, verify, violations
from synergy_opt.errors import InvalidInstance, NotCertified
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

B = jobs_of_pair()["B"]
FREE = Bound(value=F(19, 4), multipliers=(F(0), F(0)))


def refused(answer, **stated):
    """Give the lines of the error that `verify` raises."""
    with pytest.raises(NotCertified) as caught:
        verify(pair(), answer, **stated)
    return str(caught.value).splitlines()


def test_one_broken_rule_is_counted_as_one():
    """Tests that `verify` passes on what is stated beside the placement, each by itself."""
    assert refused(placement(), throughput=F(5)) == [
        "the placement breaks 1 rule",
        "$.throughput: total-throughput: states 5, but its jobs add up to 4.5",
    ]
    assert refused(placement(), upper_bound=F(5)) == [
        "the placement breaks 1 rule",
        "$.upper_bound: unproved-bound: 5 is stated without a certificate: nothing proves it",
    ]
    assert refused(placement(), throughput=F(5), upper_bound=F(6))[0] == (
        "the placement breaks 2 rules"
    )


def test_arguments_of_another_type_are_named():
    """Tests that the error says which argument it is."""
    with pytest.raises(TypeError, match=r"^instance must be an Instance, not str$"):
        violations("pair", placement())
    with pytest.raises(TypeError, match=r"^instance must be an Instance, not str$"):
        bound_value("pair", (), FREE)
    with pytest.raises(InvalidInstance, match=r"^jobs\[0\]: must be of type Job, not str$"):
        bound_value(pair(), ["A"], FREE)


def test_all_faults_of_multipliers_are_in_one_error():
    """Tests that `bound_value` names every negative multiplier."""
    with pytest.raises(NotCertified) as caught:
        bound_value(pair(), pair().jobs, replace(FREE, multipliers=(F(-1), F(-2))))
    assert str(caught.value) == (
        "$.certificate.multipliers.cpu: multipliers: must not be negative, not -1; "
        "$.certificate.multipliers.memory: multipliers: must not be negative, not -2"
    )


def test_proof_by_patterns_needs_a_bound_that_meets_the_throughput():
    """Tests that both proofs by a bound are held to it."""
    answer = placement(proof="patterns")
    (broken,) = violations(pair(), answer)
    assert (broken.rule, broken.where) == ("proof", "$.proof")
    assert broken.message == (
        "states that the bound meets the throughput 4.5, but there is no bound"
    )


def test_the_step_of_a_sum_is_that_of_all_its_values():
    """Tests rounding with halves of one kind and thirds of another: multiples of 1/6."""
    server = Server(type="t", count=1, gpus=2, capacity=(10,))
    profiles = [
        Profile(name="halves", axes={"cpu": [1]}, throughput=[F(3, 2)]),
        Profile(name="thirds", axes={"cpu": [1]}, throughput=[F(4, 3)]),
    ]
    jobs = [Job(id=p.name, gpus=1, profile=p.name) for p in profiles]
    for listed in (jobs, jobs[::-1]):
        instance = Instance(
            name="i",
            cluster=Cluster(resources={"cpu": "c"}, servers=[server]),
            profiles=profiles,
            jobs=listed,
            objective="absolute",
        )
        # 10/100 + 3/2 + 4/3 − 2/100: down to 17/6 by sixths, to 5/2 or 8/3 by coarser steps.
        bound = Bound(value=F(3), multipliers=(F(1, 100),))
        assert bound_value(instance, listed, bound) == F(17, 6)


def test_a_violation_of_every_group_of_rules_in_order():
    """Tests the order: list, pieces, capacity, figures, total, bound."""
    late = replace(B, throughput=F(2))
    assert refused(with_job(late, instance="other", bound=FREE), throughput=F(7)) == [
        "the placement breaks 4 rules",
        "$.instance: instance: the placement is for 'other', not for 'pair'",
        "$.jobs[1].throughput: throughput: job 'B' states 2, but its demand gives 1",
        "$.throughput: total-throughput: states 7, but its jobs add up to 5.5",
        "$.throughput: above-bound: the throughput 7 is 2.25 above the bound 4.75",
    ]


def lines(answer, instance=None):
    """Give what is said of an answer."""
    return [str(each) for each in violations(instance or pair(), answer)]


def by(mechanism):
    """Give the valid placement with another mechanism's name."""
    return replace(placement(), mechanism=mechanism)


SHAPE = ShapePrice(group=0, gpus=1, amounts=(F(1), F(5)), price=F(1))
PATTERNS = PatternBound(value=F(9), shapes=(SHAPE,), servers=(F(9),), split="never")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "$: types: must be a Placement, not None of type NoneType"),
        (by(3), "$.mechanism: types: must be a str, not 3 of type int"),
        (
            by("\ud800"),
            "$.mechanism: types: must be text that UTF-8 can hold, not '\\ud800'",
        ),
        (
            by("x\udfff"),
            "$.mechanism: types: must be text that UTF-8 can hold, not 'x\\udfff'",
        ),
        (by("\ud7ff\ue000"), None),  # the neighbours can be held
        (
            placement(proof="certainly"),
            "$.proof: types: must be one of multipliers, patterns, core, loads, search, none or "
            "None, not 'certainly'",
        ),
        (placement(bound=3), "$.certificate: types: must be a Bound, not 3 of type int"),
        (
            placement(bound=replace(PATTERNS, split="often")),
            "$.certificate.split: types: must be one of never, allowed, not 'often'",
        ),
        (
            placement(bound=replace(PATTERNS, shapes=None)),
            "$.certificate.shapes: types: must be a tuple, not None of type NoneType",
        ),
    ],
)
def test_what_is_said_of_another_type(answer, said):
    """Tests the place, the rule, what is asked for and what is there."""
    assert lines(answer) == ([said] if said else [])


def test_jobs_after_one_that_is_left_out_are_judged():
    """Tests that a job without a place does not end the look at the figures."""
    jobs = jobs_of_pair()
    late = replace(jobs["D"], throughput=F(2))
    assert lines(placement(jobs["A"], left_out("B"), jobs["C"], late)) == [
        "$.jobs[3].throughput: throughput: job 'D' states 2, but its demand gives 1.5"
    ]


def two_limits(**changes):
    """Give one job of 2 GPUs, a server with much memory and two with many cores."""
    servers = [
        Server(type="memory", count=1, gpus=2, capacity=(4, 8)),
        Server(type="cores", count=2, gpus=2, capacity=(10, 2)),
    ]
    axes = {"cpu": [F(1, 2), 4, 10], "memory": [F(1, 2), 5]}
    fields = {
        "name": "i",
        "cluster": Cluster(resources={"cpu": "c", "memory": "m"}, servers=servers),
        "profiles": [
            Profile(name="p", axes=axes, throughput=[[3, 3], [3, 6], [3, 24]], per="job")
        ],
        "jobs": [Job(id=name, gpus=2, profile="p") for name in "AB"],
    }
    return Instance(**{**fields, **changes})


MEAN = Bound(value=F(100), multipliers=(F(0), F(0)), integral=False)


def on_two(demand, throughput, **bound):
    """Give a placement of job A alone, half on the server with memory, half on one with cores."""
    jobs = (placed("A", {0: 1, 1: 1}, demand, throughput), left_out("B"))
    skipping = replace(MEAN, skipping=True, **bound)
    return [
        line
        for line in lines(placement(*jobs, instance="i", bound=skipping), two_limits())
        if "capacity" not in line
    ]


def test_a_mixture_reckons_with_what_the_rule_allows():
    """Tests that points beyond the consolidation rule count only for bounds without it."""
    # In units of W^f = 3: half of (4, 5) and half of (10, 5) would make 5.
    assert on_two((7, 5), 5, consolidated=False) == []
    assert on_two((7, 5), 2) == []
    assert on_two((7, 5), 5) == [
        "$.jobs[0].throughput: throughput: job 'A' states 5, but the best mixture within its "
        "demand gives 2"
    ]


def test_the_floor_of_a_mixture_is_in_the_profiles_unit():
    """Tests a weight and a fair share of 3: what is made and the share are said in its unit."""
    assert on_two((4, 5), F(1, 3)) == [
        "$.jobs[0].throughput: fair-floor: job 'A' makes 1, but its fair share gives 3"
    ]


def test_no_mixture_makes_nothing():
    """Tests that where no point lies within the demand the value is 0."""
    assert on_two((F(1, 4), 5), 1) == [
        "$.jobs[0].throughput: throughput: job 'A' states 1, but the best mixture within its "
        "demand gives 0"
    ]


def test_each_mixture_has_its_own_value():
    """Tests two jobs of one kind with other demands: what holds for one is not said of both."""
    jobs = [placed("A", {0: 2}, (4, 5), 2), placed("B", {1: 2}, (7, F(1, 2)), F(3, 2))]
    bound = replace(MEAN, consolidated=False)
    assert lines(placement(*jobs, instance="i", bound=bound), two_limits()) == [
        "$.jobs[1].throughput: throughput: job 'B' states 1.5, but the best mixture within its "
        "demand gives 1"
    ]
    assert lines(placement(*jobs[::-1], instance="i", bound=bound), two_limits()) == [
        "$.jobs[0].throughput: throughput: job 'B' states 1.5, but the best mixture within its "
        "demand gives 1"
    ]


def test_whole_choices_keep_to_one_limit_and_mixtures_to_the_largest_of_each():
    """Tests 9 cores with 7 GB: within the largest of either, but within no server's worth."""
    assert on_two((9, 7), 2) == []
    assert on_two((9, 7), 2, integral=True) == [
        "$.jobs[0].demand: consolidation: the bound is for jobs within the consolidation rule (at "
        "most the worth of the fewest servers that hold a job, or its fair share), but job 'A' "
        "(2 GPUs) has 9 cpu above 4"
    ]
    assert on_two((11, 9), 2, integral=True, consolidated=False) == [
        "$.jobs[0].throughput: throughput: job 'A' states 2, but its demand gives 8"
    ]


def rules(*jobs, **rest):
    """Give the broken rules as (rule, where)."""
    return [(v.rule, v.where) for v in violations(pair(), placement(*jobs, **rest))]


def with_pieces(job, *pieces):
    """Give a job with pieces (server, GPUs, cores, GB)."""
    made = tuple(
        replace(job.pieces[0], server=server, gpus=F(gpus), amounts=(F(cpu), F(memory)))
        for server, gpus, cpu, memory in pieces
    )
    return replace(job, pieces=made)


def test_pieces_after_an_unknown_and_a_left_out_job_are_judged():
    """Tests that neither ends the look at the pieces."""
    jobs = jobs_of_pair()
    short = with_pieces(jobs["D"], (1, 2, 5, 15))
    broken = [
        ("gpu-total", "$.jobs[4].pieces"),
        ("proportional-pieces", "$.jobs[4].pieces[0].cpu"),
    ]
    found = rules(jobs["A"], replace(jobs["C"], id="Z"), jobs["C"], left_out("B"), short)
    assert [rule for rule in found if rule[0] in ("gpu-total", "proportional-pieces")] == [
        *broken,
        ("proportional-pieces", "$.jobs[4].pieces[0].memory"),
    ]


def test_all_amounts_on_one_of_two_pieces_are_not_in_proportion():
    """Tests a piece that has the whole demand with half of the GPUs, first or last."""
    jobs = jobs_of_pair()
    rest = (left_out("C"), left_out("D"))
    for pieces in ([(0, 1, 2, 10), (1, 1, 0, 0)], [(0, 1, 0, 0), (1, 1, 2, 10)]):
        found = rules(left_out("A"), with_pieces(jobs["B"], *pieces), *rest)
        assert found == [
            ("proportional-pieces", f"$.jobs[1].pieces[{p}].{name}")
            for p in (0, 1)
            for name in ("cpu", "memory")
        ]


def test_one_piece_with_other_amounts_is_not_in_proportion():
    """Tests that a piece of all GPUs is held to all of the demand, and a second piece too."""
    jobs = jobs_of_pair()
    rest = (left_out("C"), left_out("D"))
    assert rules(left_out("A"), with_pieces(jobs["B"], (0, 2, 2, 9)), *rest) == [
        ("demand-total", "$.jobs[1].demand.memory"),
        ("proportional-pieces", "$.jobs[1].pieces[0].memory"),
    ]
    two = with_pieces(jobs["B"], (0, 2, 2, 10), (1, 1, 0, 0))
    assert rules(left_out("A"), two, *rest) == [
        ("gpu-total", "$.jobs[1].pieces"),
        ("proportional-pieces", "$.jobs[1].pieces[1].cpu"),
        ("proportional-pieces", "$.jobs[1].pieces[1].memory"),
    ]


@pytest.mark.parametrize(
    ("bound", "where", "shown"),
    [
        ({"value": 9.0}, "$.upper_bound", "a whole number or a Fraction, not 9.0 of type float"),
        ({"servers": (9.0,)}, "$.certificate.servers[0]", "a whole number or a Fraction, not 9.0"),
        ({"price": 1.0}, "$.certificate.shapes[1].price", "a whole number or a Fraction, not 1.0"),
        (
            {"amounts": (F(1), 5.0)},
            "$.certificate.shapes[1].memory",
            "a whole number or a Fraction",
        ),
        ({"group": F(0)}, "$.certificate.shapes[1].group", "a whole number, not Fraction(0, 1)"),
        ({"group": 0.0}, "$.certificate.shapes[1].group", "a whole number, not 0.0 of type float"),
        ({"gpus": F(1)}, "$.certificate.shapes[1].gpus", "a whole number, not Fraction(1, 1)"),
        ({"gpus": True}, "$.certificate.shapes[1].gpus", "a whole number, not True of type bool"),
    ],
)
def test_each_number_of_a_pattern_bound_is_exact(bound, where, shown):
    """Tests the place of each, and which numbers have to be whole."""
    if bound.keys() <= {"value", "servers"}:
        wrong = replace(PATTERNS, **bound)
    else:
        wrong = replace(PATTERNS, shapes=(SHAPE, replace(SHAPE, **bound)))
    (line,) = lines(placement(bound=wrong))
    assert line.startswith(f"{where}: exact-numbers: must be {shown}")


def test_a_shape_has_an_amount_for_each_resource():
    """Tests that a shape of another width is named."""
    wrong = replace(PATTERNS, shapes=(SHAPE, replace(SHAPE, amounts=(F(1),))))
    assert lines(placement(bound=wrong)) == [
        "$.certificate.shapes[1]: amounts: has 1 amounts for 2 resources"
    ]


@pytest.mark.parametrize(("above", "below"), [(1, 0), (1, -2), (1.0, 2), (1, 2.0), (True, 2)])
def test_a_fraction_is_two_whole_numbers(above, below):
    """Tests that a Fraction with something else inside is no exact number, anywhere."""
    crooked = F(1, 3)
    object.__setattr__(crooked, "_numerator", above)
    object.__setattr__(crooked, "_denominator", below)
    for answer, where in (
        (with_job(replace(B, throughput=crooked)), "$.jobs[1].throughput"),
        (with_job(replace(B, demand=(F(2), crooked))), "$.jobs[1].demand.memory"),
    ):
        found = violations(pair(), answer)
        assert [(v.rule, v.where) for v in found] == [("exact-numbers", where)]


def test_whole_numbers_are_exact():
    """Tests that integers pass in every vector, and that no text is made for them."""
    whole = replace(B, demand=(2, 10), pieces=(replace(B.pieces[0], amounts=(2, 10), gpus=2),))
    shape = replace(SHAPE, amounts=(1, 5), price=1)
    bound = replace(PATTERNS, value=11, shapes=(shape,), servers=(9,), split="allowed")
    assert lines(with_job(whole, bound=bound)) == []
    assert lines(with_job(whole, bound=Bound(value=9, multipliers=(0, 0)))) == []


def test_the_first_piece_that_goes_over_is_named():
    """Tests three jobs on one server of which the second goes over, and the third as well."""
    jobs = jobs_of_pair()
    b, c, d = (
        with_pieces(jobs[n], (0, g, *a))
        for n, g, a in (("B", 2, (2, 10)), ("C", 1, (11, 5)), ("D", 1, (5, 15)))
    )
    found = rules(left_out("A"), b, c, d)
    assert [where for rule, where in found if rule == "capacity"] == ["$.jobs[2].pieces[0]"]


def test_two_mixtures_of_one_kind():
    """Tests two jobs of which either needs a mixture, of another value for another demand."""
    jobs = [placed("A", {1: 2}, (4, 1), F(3, 2)), placed("B", {0: 2}, (4, 5), 5)]
    profile = Profile(
        name="p",
        axes={"cpu": [F(1, 2), 4, 8], "memory": [F(1, 2), 5, 7]},
        throughput=[[3, 3, 3], [3, 6, 6], [3, 6, 24]],
        per="job",
    )
    bound = replace(MEAN, consolidated=False)
    # Beside (1/2, 1/2) with 3: a thirteenth of the time on (8, 7) for A, 7/15 of it for B.
    found = lines(placement(*jobs, instance="i", bound=bound), two_limits(profiles=[profile]))
    assert [line for line in found if ".throughput: throughput" in line] == [
        "$.jobs[1].throughput: throughput: job 'B' states 5, but the best mixture within its "
        "demand gives 64/15",
    ]
