"""The steps of a job's term: which grid points matter, and how numbers are shown."""

import numpy as np
from certificate_cases import F

from synergy_opt.answer import Bound
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.terms import _scores, _undominated
from synergy_opt.certificate.violation import show
from synergy_opt.model import Cluster, Instance, Job, Profile, Server


def test_points_that_make_no_more_than_one_within_them_do_not_matter():
    """Tests two resources: equal throughputs, a step in one direction only, and in both."""
    worth = np.array([[3, 3, 5], [4, 3, 5], [2, 6, 6]])
    assert _undominated(worth).tolist() == [
        [True, False, True],
        [True, False, False],
        [False, True, False],
    ]
    assert _undominated(worth.T).tolist() == [
        [True, True, False],
        [False, False, True],
        [True, False, False],
    ]
    assert _undominated(np.array([0, 0, 1])).tolist() == [True, False, True]
    assert _undominated(np.array([[5, 1, 4], [1, 6, 6]])).tolist() == [
        [True, False, False],  # 4 is less than 5, two steps back
        [False, True, False],
    ]


def scores(worth, price):
    """Give the scores of one job with 1 and 2 cores."""
    server = Server(type="t", count=1, gpus=1, capacity=(2,))
    profile = Profile(name="p", axes={"cpu": [1, 2]}, throughput=[1, worth])
    instance = Instance(
        name="i",
        cluster=Cluster(resources={"cpu": "c"}, servers=[server]),
        profiles=[profile],
        jobs=[Job(id="A", gpus=1, profile="p")],
        objective="absolute",
    )
    bound = Bound(value=F(0), multipliers=(price,))
    return _scores(Facts(instance=instance), instance.jobs[0], bound)


def test_scores_are_of_64_bits_where_they_fit_and_of_any_size_else():
    """Tests values, denominator and kind of number below and above the headroom."""
    found, scale = scores(F(7, 2), F(1, 3))
    assert (found.tolist(), scale) == ([4, 17], 6)
    assert found.dtype == np.int64
    found, scale = scores(F(2**61), F(1, 3))
    assert (found.tolist(), scale) == ([2, 3 * 2**61 - 2], 3)
    assert found.dtype == object
    found, scale = scores(F(1), F(2**61))
    assert (found.tolist(), scale) == ([1 - 2**61, 1 - 2**62], 1)
    assert found.dtype == object


def test_numbers_are_shown_exactly_up_to_128_bits():
    """Tests the longest number that is written out, and 15 digits of the next."""
    assert show(2**128 - 1) == "340282366920938463463374607431768211455"
    assert show(2**128) == "about 3.40282366920938e+38"
    assert show(F(1, 2**128 - 1)) == "1/340282366920938463463374607431768211455"
    assert show(F(1, 3**81)) == "about 2.25516523372846e-39"
