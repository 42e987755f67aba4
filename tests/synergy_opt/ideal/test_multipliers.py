"""The price bound, exact in every width of integers."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from strategies import instances

from synergy_opt.ideal.multipliers import price_bound, rationalised, reduced
from synergy_opt.kinds import kinds
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.runnable import runnable

PRICES = st.fractions(0, 5, max_denominator=1000)


@given(instances(), st.data())
def test_bound_by_definition(instance, data):
    """Tests that L(λ) is what its formula says, term by term in fractions."""
    prices = tuple(data.draw(PRICES) for _ in instance.cluster.names)
    jobs = runnable(instance)
    merged = kinds(instance, jobs)
    total = sum(p * a for p, a in zip(prices, instance.cluster.capacity, strict=True))
    skipping = total
    for kind in merged:
        found = kind.configurations
        terms = [
            found.value[k] - sum(p * a for p, a in zip(prices, found.demand_at(k), strict=True))
            for k in range(len(found))
            if found.value[k] >= found.floor
        ]
        total += len(kind) * max(terms)
        skipping += len(kind) * max(*terms, Fraction(0))
    capacity = instance.cluster.capacity
    assert price_bound(merged, capacity, prices, integral=False) == total
    assert price_bound(merged, capacity, prices, integral=False, skipping=True) == skipping
    rounded = price_bound(merged, capacity, prices)
    assert rounded <= total
    lattice = rounded.denominator
    for kind in merged:
        assert all(v.denominator <= 10**30 for v in kind.configurations.value.tolist())
    assert total - rounded < Fraction(1, 1) / max(lattice, 1) or lattice > 10**30


def test_rounding_down_to_the_lattice():
    """Tests that a bound for whole choices is a multiple of the values' common denominator."""
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=2, capacity=(3,))]
    )
    profile = Profile(name="p", axes={"cpu": [1, 2]}, throughput=[4, 5])
    jobs = [Job(id=i, gpus=1, profile="p") for i in "ab"]
    merged = kinds(Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs), jobs)
    price = (Fraction(1, 7),)
    assert price_bound(merged, cluster.capacity, price, integral=False) == Fraction(33, 14)
    assert price_bound(merged, cluster.capacity, price) == Fraction(9, 4)


def test_denominators_beyond_64_bits():
    """Tests that numbers which no 64-bit integer holds give the exact bound all the same."""
    fine = Fraction(1, 3**50)
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=1, capacity=(2,))]
    )
    profile = Profile(name="p", axes={"cpu": [1, 2 - fine]}, throughput=[1, 1 + fine])
    jobs = [Job(id="a", gpus=1, profile="p")]
    merged = kinds(Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs), jobs)
    price = (Fraction(1, 2**80),)
    bound = price_bound(merged, cluster.capacity, price, integral=False)
    assert bound == price[0] * 2 + 1 - price[0] * (2 - fine)
    # The lattice is finer than 10⁻³⁰ here: there is nothing worth rounding to.
    assert price_bound(merged, cluster.capacity, price) <= bound


def test_mixtures_pay_for_a_point_below_the_floor():
    """Tests row (5) on average: at a high price, part of the time on no cores beats the floor."""
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=1, capacity=(3,))]
    )
    profile = Profile(name="p", axes={"cpu": [0, 3, 4]}, throughput=[0, 2, 4])
    jobs = [Job(id="a", gpus=1, profile="p")]
    merged = kinds(
        Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs),
        jobs,
        consolidated=False,
    )

    def bound(price, *, rows):
        return price_bound(merged, cluster.capacity, (price,), integral=False, rows=rows)

    # In units of the floor W = 0, 1, 2. Half on 0 cores, half on 4: W = 1, as on 3, for 2 cores.
    price = Fraction(1)
    assert bound(price, rows=False) == 3 + max(1 - 3, 2 - 4)
    assert bound(price, rows=True) == 3 + (Fraction(0) + (2 - 4)) / 2
    # At a low price the best fair point is best of all.
    assert bound(Fraction(1, 4), rows=True) == bound(Fraction(1, 4), rows=False)


def test_many_resources_do_not_overflow():
    """Tests that differences which leave 64 bits only after several resources stay exact."""
    names = ("a", "b", "c", "d", "e")
    cluster = Cluster(
        resources=dict.fromkeys(names, "units"),
        servers=[Server(type="n", count=1, gpus=1, capacity=(2**59,) * 5)],
    )
    profile = Profile(
        name="p", axes={name: [2**59] for name in names}, throughput=[[[[[1]]]]], per="job"
    )
    jobs = [Job(id="a", gpus=1, profile="p")]
    merged = kinds(Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs), jobs)
    value, below = reduced(merged[0].configurations, (Fraction(1),) * 5)
    assert (value.tolist(), below) == ([1 - 5 * 2**59], 1)
    assert price_bound(merged, cluster.capacity, (Fraction(1),) * 5, integral=False) == 1


def test_rationalised_prices_are_the_best_of_their_candidates():
    """Tests that a float near a simple fraction becomes that fraction when it proves more."""
    prices, value = rationalised([0.3333333333], lambda v: abs(v[0] - Fraction(1, 3)))
    assert (prices, value) == ((Fraction(1, 3),), 0)
    assert rationalised([-1e-12], lambda v: v[0]) == ((Fraction(0),), 0)
