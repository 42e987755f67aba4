"""The certificate against naive definitions: random mutations, and bounds by enumeration."""

import itertools
from dataclasses import replace

import numpy as np
from certificate_cases import (
    F,
    fair_placement,
    floor,
    instances,
    keeps_all_rules,
    points,
    unit,
    within,
)
from hypothesis import assume, event, given
from hypothesis import strategies as st

from synergy_opt.answer import Bound, Placement
from synergy_opt.certificate import bound_value, violations
from synergy_opt.model import Instance, Job, Profile

changes = st.sampled_from(
    [
        lambda x: x + 1,
        lambda x: x - 1,
        lambda x: x + F(1, 3),
        lambda x: x - F(1, 10**12),
        lambda x: x + F(1, 10**12),
        lambda x: 2 * x,
        lambda x: x / 2,
        lambda x: -x,
        lambda x: x - x,
    ]
)
steps = st.sampled_from([-2, -1, 1, 2])


@given(instances())
def test_fair_shares_in_order_pass(instance):
    """Tests that filling the servers in order with fair shares breaks no rule."""
    answer = fair_placement(instance)
    assert keeps_all_rules(instance, answer)
    assert violations(instance, answer, throughput=answer.throughput) == ()


def mutated(draw, answer: Placement) -> Placement:
    """Change one number of one job."""
    i = draw(st.integers(0, len(answer.jobs) - 1))
    job = answer.jobs[i]
    p = draw(st.integers(0, len(job.pieces) - 1))
    r = draw(st.integers(0, len(job.demand) - 1))
    piece, change = job.pieces[p], draw(changes)

    def at_r(vector):
        return (*vector[:r], change(vector[r]), *vector[r + 1 :])

    kind = draw(st.sampled_from(["throughput", "demand", "gpus", "amount", "server", "scaled"]))
    if kind == "throughput":
        job = replace(job, throughput=change(job.throughput))
    elif kind == "demand":
        job = replace(job, demand=at_r(job.demand))
    elif kind == "scaled":  # the demand with its pieces: breaks capacity, floor, value or nothing
        demand, gpus = at_r(job.demand), sum(q.gpus for q in job.pieces) or F(1)
        pieces = tuple(
            replace(q, amounts=tuple(d * q.gpus / gpus for d in demand)) for q in job.pieces
        )
        job = replace(job, demand=demand, pieces=pieces)
    else:
        if kind == "gpus":
            piece = replace(piece, gpus=change(piece.gpus))
        elif kind == "amount":
            piece = replace(piece, amounts=at_r(piece.amounts))
        else:
            piece = replace(piece, server=piece.server + draw(steps))
        job = replace(job, pieces=(*job.pieces[:p], piece, *job.pieces[p + 1 :]))
    return replace(answer, jobs=(*answer.jobs[:i], job, *answer.jobs[i + 1 :]))


@given(instances(), st.data())
def test_a_mutation_is_reported_exactly_when_it_breaks_a_definition(instance, data):
    """Tests that the certificate and the naive definitions agree on every changed placement."""
    answer = mutated(data.draw, fair_placement(instance))
    right = keeps_all_rules(instance, answer)
    event("still valid" if right else "broken")
    assert (violations(instance, answer) == ()) == right


@given(instances(), st.data())
def test_two_mutations_are_reported_exactly_when_they_break_a_definition(instance, data):
    """Tests the same for two changes, which may make up for each other."""
    answer = mutated(data.draw, mutated(data.draw, fair_placement(instance)))
    right = keeps_all_rules(instance, answer)
    assert (violations(instance, answer) == ()) == right


@given(instances(most_jobs=3, most_points=2, most_resources=5), st.data())
def test_five_resources(instance, data):
    """Tests that the certificate and the naive definitions agree for up to 5 resources."""
    answer = fair_placement(instance)
    assert violations(instance, answer) == ()
    answer = mutated(data.draw, answer)
    assert (violations(instance, answer) == ()) == keeps_all_rules(instance, answer)


# Soundness of bounds -------------------------------------------------------------------------


def limits(instance: Instance, job: Job) -> list[tuple[F, ...]]:
    """Give the consolidation rule's limits, fair shares included, from the list of all servers."""
    every = [s for s in instance.cluster.servers for _ in range(s.count)]
    shares = [tuple(job.gpus * amount / s.gpus for amount in s.capacity) for s in every]
    single = [s.capacity for s in every if s.gpus >= job.gpus]
    if single:
        return single + shares
    sizes = sorted((s.gpus for s in every), reverse=True)
    fewest = next(n for n in range(1, len(every) + 1) if sum(sizes[:n]) >= job.gpus)
    columns = zip(*(s.capacity for s in every), strict=True)
    return [tuple(sum(sorted(c, reverse=True)[:fewest]) for c in columns), *shares]


def choices(instance: Instance, job: Job, bound: Bound) -> list[tuple[tuple[F, ...], F]]:
    """Give what a job can be given: (totals, value), mixtures of two points in thirds included."""
    least, one = floor(instance, job), unit(instance, job)
    single = [
        (d, w)
        for d, w in points(instance, job)
        if not bound.consolidated or any(within(d, limit) for limit in limits(instance, job))
    ]
    fair = [(d, w) for d, w in single if w >= least]
    found = list(fair)
    if not bound.integral:
        for (d, w), (e, v) in itertools.combinations(single if bound.rows else fair, 2):
            parts = {F(0), F(1, 3), F(2, 3)}
            if w != v:
                parts.add((least - v) / (w - v))  # exactly the floor
            for part in parts:
                made = part * w + (1 - part) * v
                if 0 <= part <= 1 and made >= least:
                    mean = tuple(part * a + (1 - part) * b for a, b in zip(d, e, strict=True))
                    found.append((mean, made))
    if bound.skipping:
        found.append(((F(0),) * len(instance.cluster.names), F(0)))
    return [(d, one * w) for d, w in set(found)]


rules = st.booleans()
prices = st.sampled_from([F(0), F(1, 7), F(1, 2), F(1), F(9, 4), F(10)])


@given(instances(most_jobs=3), st.data())
def test_no_choice_of_configurations_is_above_the_bound(instance, data):
    """Tests L(λ) ≥ the best of all choices that fit the whole cluster, for each set of rules."""
    bound = Bound(
        value=F(0),
        multipliers=tuple(data.draw(prices) for _ in instance.cluster.names),
        integral=data.draw(rules),
        rows=data.draw(rules),
        consolidated=data.draw(rules),
        skipping=data.draw(rules),
    )
    jobs = instance.jobs[: 2 if bound.integral else 1 + (len(instance.cluster.names) == 1)]
    given_to = [choices(instance, job, bound) for job in jobs]
    best = None
    for chosen in itertools.product(*given_to):
        total = tuple(map(sum, zip(*(d for d, _ in chosen), strict=True)))
        if within(total, instance.cluster.capacity):
            value = sum(w for _, w in chosen)
            best = value if best is None else max(best, value)
    assume(best is not None)
    proven = bound_value(instance, jobs, bound)
    assert best <= proven
    # The terms are attained, so before rounding L(λ) is just the best reduced value.
    terms = [
        max(w - sum(p * x for p, x in zip(bound.multipliers, d, strict=True)) for d, w in given)
        for given in given_to
    ]
    exact = sum(terms) + sum(
        p * c for p, c in zip(bound.multipliers, instance.cluster.capacity, strict=True)
    )
    assert proven == exact if not bound.integral else proven <= exact


@given(instances(), st.data(), st.sampled_from([2**35, 2**50, 2**58, 2**61, 10**30, F(1, 10**30)]))
def test_units_scale(instance, data, factor):
    """Tests that W and λ times a factor make L(λ) times the factor, also beyond 64 bits."""
    scaled = Instance(
        name="scaled",
        cluster=instance.cluster,
        profiles=[
            Profile(
                name=profile.name,
                axes=profile.axes,
                throughput=(np.array(profile.throughput.tolist(), dtype=object) * factor)
                .reshape(profile.throughput.shape)
                .tolist(),
                per=profile.per,
            )
            for profile in instance.profiles
        ],
        jobs=instance.jobs,
        objective="absolute",
    )
    plain = replace(instance, objective="absolute")
    bound = Bound(
        value=F(0),
        multipliers=tuple(data.draw(prices) for _ in instance.cluster.names),
        integral=data.draw(rules),
        rows=data.draw(rules),
    )
    times = replace(bound, multipliers=tuple(factor * price for price in bound.multipliers))
    expected = factor * bound_value(plain, plain.jobs, bound)
    assert bound_value(scaled, scaled.jobs, times) == expected


@given(instances(most_jobs=1), st.data())
def test_a_mixture_is_judged_by_all_mixtures_of_its_points(instance, data):
    """Tests that the mean of random mixtures passes as throughput, and a price refutes more."""
    job = instance.jobs[0]
    bound = Bound(
        value=F(10**6),
        multipliers=(F(0),) * len(instance.cluster.names),
        integral=False,
        rows=True,
        consolidated=False,
    )
    chosen = data.draw(st.lists(st.sampled_from(points(instance, job)), min_size=1, max_size=4))
    parts = data.draw(st.lists(st.integers(1, 5), min_size=len(chosen), max_size=len(chosen)))
    one, whole = unit(instance, job), sum(parts)
    mean = tuple(
        sum(part * d[r] for part, (d, _) in zip(parts, chosen, strict=True)) / F(whole)
        for r in range(len(bound.multipliers))
    )
    made = sum(part * w for part, (_, w) in zip(parts, chosen, strict=True)) / whole
    base = fair_placement(instance).jobs[0]

    def judged(throughput):
        pieces = tuple(
            replace(p, amounts=tuple(d * p.gpus / job.gpus for d in mean)) for p in base.pieces
        )
        stated = replace(base, demand=mean, throughput=throughput, pieces=pieces)
        answer = Placement(instance="random", mechanism="m", jobs=(stated,), bound=bound)
        return {v.rule for v in violations(instance, answer)}

    assert "throughput" not in judged(one * made)
    # Weak duality: at any price the best mixture within the demand makes at most this.
    price = tuple(data.draw(prices) for _ in mean)
    most = max(
        w + sum(p * (m - x) for p, m, x in zip(price, mean, d, strict=True))
        for d, w in points(instance, job)
    )
    assert "throughput" in judged(one * most + F(1, 10**9))
