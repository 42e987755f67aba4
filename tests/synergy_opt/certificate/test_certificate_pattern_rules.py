"""Pattern prices by their definition on random small clusters, and the rules they can break."""

import itertools
import math
from dataclasses import replace
from random import Random

import pytest
from certificate_cases import F, floor, jobs_of_pair, pair, placed, placement, points, unit, within

from synergy_opt.answer import PatternBound, ShapePrice
from synergy_opt.certificate import violations
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.pattern_bound import pattern_value, server_price
from synergy_opt.model import Cluster, Instance, Job, Profile, Server


def drawn(seed):
    """Give an instance with one or two groups, one or two resources, and shapes with prices."""
    random = Random(seed)
    names = ("cpu", "memory")[: 1 + seed % 2]
    servers = [
        Server(
            type=f"t{g}",
            count=random.randint(1, 2),
            gpus=random.randint(1, 3),
            capacity=tuple(F(random.randint(2, 12), random.choice([1, 2])) for _ in names),
        )
        for g in range(1 + seed // 2 % 2)
    ]
    cluster = Cluster(resources=dict.fromkeys(names, "u"), servers=servers)
    profiles = []
    for i in range(2):
        axes = {}
        for name, least in zip(names, cluster.share_of_a_gpu, strict=True):
            steps = [random.randint(1, 4) for _ in range(2)]
            axes[name] = [least * n / 2 for n in itertools.accumulate(steps, initial=1)]
        worth = [F(random.randint(1, 9), random.choice([1, 2, 3])) for _ in range(9)]
        table = worth[:3] if len(names) == 1 else [worth[:3], worth[3:6], worth[6:]]
        per = random.choice(["gpu", "job"])
        profiles.append(Profile(name=f"p{i}", axes=axes, throughput=table, per=per))
    jobs = [
        Job(
            id=f"J{j}",
            gpus=random.randint(1, min(4, cluster.gpus)),
            profile=f"p{random.randint(0, 1)}",
            weight=random.choice([F(1), F(2, 3)]),
        )
        for j in range(3)
    ]
    instance = Instance(
        name="drawn",
        cluster=cluster,
        profiles=profiles,
        jobs=jobs,
        objective=random.choice(["relative", "absolute"]),
    )
    tiny = F(1, 10**30) if seed % 3 == 0 else 0  # exact, or nothing
    shapes = []
    for _ in range(random.randint(0, 5)):
        g = random.randrange(len(servers))
        gpus = random.randint(1, servers[g].gpus)
        amounts = tuple(a * gpus * F(random.randint(0, 5), 4) for a in cluster.share_of_a_gpu)
        price = F(random.randint(0, 9), random.choice([1, 4, 5])) + tiny
        shapes.append(ShapePrice(group=g, gpus=gpus, amounts=amounts, price=price))
    split = random.choice(["never", "allowed"])
    return instance, PatternBound(value=F(0), shapes=tuple(shapes), servers=(), split=split)


def charge_of_a_server(instance, shapes, group):
    """Give the dearest multiset of shapes that fits one server."""
    server, best = instance.cluster.servers[group], F(0)
    own = [shape for shape in shapes if shape.group == group]
    for size in range(1, server.gpus + 1):
        for chosen in itertools.combinations_with_replacement(own, size):
            gpus = sum(shape.gpus for shape in chosen)
            used = tuple(sum(column) for column in zip(*(s.amounts for s in chosen), strict=True))
            if gpus <= server.gpus and within(used, server.capacity):
                best = max(best, sum(shape.price for shape in chosen))
    return best


def divisions(instance, job, split):
    """Give the ways to divide a job's GPUs into pieces (group, GPUs)."""
    groups = list(enumerate(instance.cluster.servers))
    whole = job.gpus <= max(g.gpus for _, g in groups) and (split == "never" or job.gpus == 1)
    if whole:
        return whole, [((h, job.gpus),) for h, g in groups if job.gpus <= g.gpus]
    every = [(h, k) for h, g in groups for k in range(1, g.gpus + 1)]
    ways = [
        chosen
        for n in range(1, job.gpus + 1)
        for chosen in itertools.combinations_with_replacement(every, n)
        if sum(k for _, k in chosen) == job.gpus
    ]
    return whole, ways


def charge_of_pieces(instance, job, demand, ways, shapes):
    """Give the least charge of pieces that hold a demand; None where none do."""
    least = None
    for way in ways:
        total = F(0)
        for h, k in way:
            part = tuple(d * k / job.gpus for d in demand)
            if not within(part, instance.cluster.servers[h].capacity):
                break
            total += max(
                (
                    s.price
                    for s in shapes
                    if (s.group, s.gpus) == (h, k) and within(s.amounts, part)
                ),
                default=0,
            )
        else:
            least = total if least is None else min(least, total)
    return least


def excess(instance, job, bound, fair):
    """Give the most that a value of a fair point exceeds the least charge for it."""
    whole, ways = divisions(instance, job, bound.split)
    found = []
    for demand, worth in fair:
        possible = ways
        if whole:
            possible = [way for way in ways if worth >= floor(instance, job, {way[0][0]})]
        charge = charge_of_pieces(instance, job, demand, possible, bound.shapes)
        if charge is not None:
            found.append(worth * unit(instance, job) - charge)
    return max(found)


def by_definition(instance, bound):
    """Give Σ s σ + Σ π, down to what a sum of undominated fair values can be."""
    known = Facts(instance=instance)
    total = sum(
        group.count * charge_of_a_server(instance, bound.shapes, h)
        for h, group in enumerate(instance.cluster.servers)
    )
    values = []
    for job in instance.jobs:
        grid = points(instance, job)
        limits = known.limits(job.gpus)
        fair = [
            (d, w)
            for d, w in grid
            if w >= floor(instance, job) and any(within(d, limit) for limit in limits)
        ]
        total += excess(instance, job, bound, fair)
        values += [
            w * unit(instance, job)
            for d, w in fair
            if not any(e != d and within(e, d) and x >= w for e, x in grid)
        ]
    below = math.lcm(*(v.denominator for v in values))
    step = F(math.gcd(*(int(v * below) for v in values)), below)
    return total // step * step


@pytest.mark.parametrize("seed", range(48))
def test_the_value_by_its_definition(seed):
    """Tests charges of servers and the whole bound against all multisets and all divisions."""
    instance, bound = drawn(seed)
    known = Facts(instance=instance)
    for h in range(len(instance.cluster.servers)):
        assert server_price(known, bound, h) == charge_of_a_server(instance, bound.shapes, h)
    assert pattern_value(known, instance.jobs, bound) == by_definition(instance, bound)


# The rules -----------------------------------------------------------------------------------

SHAPE = ShapePrice(group=0, gpus=1, amounts=(F(3), F(10)), price=F(1, 3))
# Four of the shape fit one server: σ = 4/3.
PRICED = PatternBound(value=F(9), shapes=(SHAPE,), servers=(F(4, 3),), split="allowed")


def broken(bound, **changes):
    """Give the lines about the valid placement of `pair` with this bound."""
    return [str(v) for v in violations(pair(), replace(placement(bound=bound), **changes))]


def test_prices_that_prove_enough_pass():
    """Tests that exact prices, and larger ones, break no rule."""
    assert broken(PRICED) == []
    assert broken(replace(PRICED, servers=(F(2),))) == []
    assert broken(replace(PRICED, shapes=(replace(SHAPE, price=F(0)),), servers=(F(0),))) == []
    assert broken(replace(PRICED, shapes=(replace(SHAPE, amounts=(F(0), F(0))),))) == []


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"group": 1}, "is of group 1 with 1 GPUs: no server has such room"),
        ({"group": -1}, "is of group -1 with 1 GPUs: no server has such room"),
        ({"gpus": 0}, "is of group 0 with 0 GPUs: no server has such room"),
        ({"price": F(-1, 9)}, "must have no negative price or amount"),
        ({"amounts": (F(0), F(-1))}, "must have no negative price or amount"),
    ],
)
def test_shapes_that_are_none(shape, message):
    """Tests that each is named with its place, and that nothing is then made of the prices."""
    bound = replace(PRICED, value=F(0), shapes=(SHAPE, replace(SHAPE, **shape)))
    assert [line for line in broken(bound) if "above-bound" not in line] == [
        f"$.certificate.shapes[1]: shapes: {message}"
    ]


def test_one_price_for_each_group_of_servers():
    """Tests that a price too many is named with both numbers."""
    assert broken(replace(PRICED, servers=(F(2), F(2)))) == [
        "$.certificate.servers: shapes: has 2 prices for 1 groups of servers"
    ]


def test_a_server_price_below_what_fits_is_named():
    """Tests the charge of one server, with both numbers."""
    assert broken(replace(PRICED, servers=(F(5, 4),))) == [
        "$.certificate.servers[0]: server-price: states 1.25, but pieces charged 4/3 fit one "
        "server"
    ]


def test_a_value_below_what_the_prices_prove_is_named():
    """Tests the bound of the listed jobs: those that are not listed do not count."""
    known = Facts(instance=pair())
    proven = pattern_value(known, pair().jobs[:4], PRICED)
    assert broken(replace(PRICED, value=proven)) == []
    assert broken(replace(PRICED, value=proven - F(1, 8))) == [
        f"$.upper_bound: upper-bound: states {float(proven) - 0.125:g}, but the prices prove only "
        f"{float(proven):g}, 0.125 more"
    ]


def test_divided_jobs_need_a_bound_that_allows_them():
    """Tests that a job that a server could hold is named where the bound is for whole ones."""
    whole = replace(PRICED, split="never")
    assert broken(whole) == [
        "$.jobs[0].pieces: split-model: the bound is for jobs kept on one server, but job 'A' is "
        "on 2"
    ]
    # Nothing is said of a job in one piece, an unknown one, or one larger than any server.
    jobs = jobs_of_pair()
    kept = [placed("A", {0: 4}, (12, 40), 1), *(jobs[name] for name in "BCD")]
    rules = [v.rule for v in violations(pair(), placement(*kept, bound=whole))]
    assert "split-model" not in rules
    unknown = replace(jobs["A"], id="Z")
    rules = [v.rule for v in violations(pair(), placement(unknown, jobs["B"], bound=whole))]
    assert "split-model" not in rules
    large = pair(jobs=[Job(id="A", gpus=5, profile="fast"), *pair().jobs[1:]])
    wide = placed("A", {0: 3, 1: 2}, (15, 50), 1)
    rules = [v.rule for v in violations(large, placement(wide, jobs["B"], bound=whole))]
    assert "split-model" not in rules
