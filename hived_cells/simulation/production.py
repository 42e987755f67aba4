"""A trace like the paper's production trace: takes options and a seed, gives trace and shares.

The trace itself is not public. What the paper publishes is kept exactly; everything else is an
assumption, an option below, and can be varied.
"""

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hived_cells.errors import InvalidSpec, shown
from hived_cells.simulation.trace import MAX_SECONDS, Trace, TraceJob, shape_of

__all__ = ["PRODUCTION_TENANTS", "ProductionOptions", "TenantMix", "production_trace"]

DAY = 86400


@dataclass(frozen=True, slots=True)
class TenantMix:
    """One tenant of the generator.

    Parameters
    ----------
    name
        The tenant.
    share
        Its share of the cluster's nodes (per mille).
    sizes
        GPUs of a job → share of the tenant's jobs (percent); adds up to 100.
    demand
        The tenant's mean demand, as a share of what it reserved (percent of the options' load).

    Raises
    ------
    InvalidSpec
        The sizes do not add up to 100.

    Examples
    --------
    >>> TenantMix("prod-e", 80, {1: 94, 2: 6}).demand
    100
    """

    name: str
    share: int
    sizes: dict[int, int]
    demand: int = 100

    def __post_init__(self) -> None:
        if sum(self.sizes.values()) != 100 or min(self.sizes.values(), default=0) < 0:
            raise InvalidSpec(f"tenant {shown(self.name)}: its sizes do not add up to 100 %")


# Published: eleven tenants; 72 % of prod-a's jobs ask for 8 GPUs, 94 % of prod-e's for one; prod-a
# and res-f own 37 % of the GPUs, res-f being the largest once prod-a is gone. Assumed: the rest,
# among it that large owners use what they own less fully than small ones.
PRODUCTION_TENANTS = (
    TenantMix("prod-a", 200, {1: 14, 2: 3, 4: 3, 8: 72, 16: 6, 32: 2}, 75),
    TenantMix("prod-b", 80, {1: 70, 2: 10, 4: 10, 8: 10}, 112),
    TenantMix("prod-c", 70, {1: 60, 2: 15, 4: 15, 8: 10}, 112),
    TenantMix("prod-d", 50, {1: 80, 2: 8, 4: 8, 8: 4}, 112),
    TenantMix("prod-e", 90, {1: 94, 2: 3, 4: 2, 8: 1}, 112),
    TenantMix("res-a", 110, {1: 65, 2: 10, 4: 15, 8: 8, 16: 2}, 112),
    TenantMix("res-b", 90, {1: 75, 2: 10, 4: 10, 8: 5}, 112),
    TenantMix("res-c", 60, {1: 55, 2: 20, 4: 20, 8: 5}, 112),
    TenantMix("res-d", 50, {1: 85, 2: 5, 4: 5, 8: 5}, 112),
    TenantMix("res-e", 30, {1: 70, 2: 15, 4: 10, 8: 5}, 112),
    TenantMix("res-f", 170, {1: 45, 2: 5, 4: 10, 8: 34, 16: 5, 32: 1}, 85),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductionOptions:
    """What the generator may vary. The first four defaults are published, the rest assumed.

    Parameters
    ----------
    nodes
        Nodes of the cluster (published: 279).
    node_gpus
        GPUs of a node (published: 8).
    jobs
        Number of jobs (published: 141,950).
    days
        Length of the submissions (published: two months; 60 days here).
    tenants
        Shares and job sizes (published in part, see `PRODUCTION_TENANTS`).
    load
        Mean demand as a share of the cluster's GPUs (percent). Derived: with 200 nodes about
        90 % of the GPUs are published to be in guaranteed use, which is 64.5 % of 279 nodes.
    spread
        Standard deviation of the logarithm of a job's duration (percent): 200 means that one
        job in six is over e² = 7.4 times the median. Assumed.
    growth
        Exponent with which durations grow with a job's GPUs (percent): 20 makes jobs of eight
        GPUs 1.5 times as long. Assumed.
    longest
        Longest duration (days). Assumed.
    batch
        Mean number of jobs of one size that are submitted together. Assumed.
    day_swing
        How far the rate of submissions moves up and down within a day (percent). Assumed.
    weekend
        Rate on days 6 and 7 of a week against the others (percent). Assumed.
    moods
        Standard deviation of the logarithm of a tenant's daily rate (percent), which has a
        memory of `memory`. This is what makes one tenant busy while others are not. Assumed.
    memory
        Correlation of that logarithm from one day to the next (percent). Assumed.

    Raises
    ------
    InvalidSpec
        A number is not a whole one or out of range.

    Examples
    --------
    >>> ProductionOptions().jobs
    141950
    """

    nodes: int = 279
    node_gpus: int = 8
    jobs: int = 141_950
    days: int = 60
    tenants: tuple[TenantMix, ...] = PRODUCTION_TENANTS
    load: int = 65
    spread: int = 200
    growth: int = 20
    longest: int = 7
    batch: int = 4
    day_swing: int = 50
    weekend: int = 60
    moods: int = 30
    memory: int = 70
    quotas: dict[str, int] = field(init=False, repr=False, compare=False)  # tenant → nodes

    def __post_init__(self) -> None:
        least = {"nodes": 1, "node_gpus": 1, "jobs": 1, "days": 1, "longest": 1, "batch": 1}
        for name in ProductionOptions.__slots__:
            if name in ("tenants", "quotas"):
                continue
            number = getattr(self, name)
            low = least.get(name, 0)
            if type(number) is not int or not low <= number <= 10**7:
                raise InvalidSpec(
                    f"{name} is {shown(number)}; a whole number from {low} to {10**7} is needed"
                )
        for name in ("spread", "growth", "moods"):  # exponents: more has no finite durations
            if getattr(self, name) > 1000:
                raise InvalidSpec(f"{name} is {getattr(self, name)}; it is at most 1000 (percent)")
        for name, most in (("memory", 99), ("day_swing", 100)):
            if getattr(self, name) > most:
                raise InvalidSpec(
                    f"{name} is {getattr(self, name)}; it is at most {most} (percent)"
                )
        for name in ("days", "longest"):
            if getattr(self, name) > MAX_SECONDS // DAY:
                raise InvalidSpec(
                    f"{name} is {getattr(self, name)}; it is at most {MAX_SECONDS // DAY}"
                )
        if not self.tenants:
            raise InvalidSpec("tenants are (); at least one is needed")
        shares = _split(self.nodes, [tenant.share for tenant in self.tenants])
        quotas = {tenant.name: n for tenant, n in zip(self.tenants, shares, strict=True)}
        object.__setattr__(self, "quotas", quotas)


def _split(total: int, weights: Sequence[float]) -> list[int]:
    """Return whole parts of a total in proportion to weights (largest remainders)."""
    whole = math.fsum(weights)
    exact = [total * weight / whole for weight in weights]
    parts = [math.floor(part) for part in exact]
    order = sorted(range(len(parts)), key=lambda i: parts[i] - exact[i])
    for i in order[: total - sum(parts)]:
        parts[i] += 1
    return parts


def production_trace(options: ProductionOptions | None = None, *, seed: int = 0) -> Trace:
    """Return a trace with the published numbers; same options and seed, same trace.

    Each tenant's share of the jobs is such that the mean duration of a job is alike for all;
    its durations are scaled to its demand. A job larger than half of what its tenant reserved
    is made that much smaller (whole nodes), so that it can run in the private cluster.

    Parameters
    ----------
    options
        Tenants, days, load; default the published ones.
    seed
        Of the draws.

    Raises
    ------
    InvalidSpec
        A tenant would reserve no node.

    References
    ----------
    HiveD (OSDI 2020), Section 5, Table 1.

    Examples
    --------
    >>> trace = production_trace(ProductionOptions(jobs=2000, nodes=40, days=7))
    >>> len(trace.jobs), len(trace.tenants)
    (2000, 11)
    >>> sizes = [job.shape.total for job in trace.jobs if job.tenant == "prod-e"]
    >>> round(100 * sizes.count(1) / len(sizes))
    94
    """
    options = options or ProductionOptions()
    if empty := [name for name, nodes in options.quotas.items() if nodes < 1]:
        raise InvalidSpec(f"{options.nodes} nodes are too few: {empty[0]!r} would reserve none")
    mean = [
        sum(size * percent for size, percent in tenant.sizes.items()) / 100
        for tenant in options.tenants
    ]
    weights = [
        options.quotas[tenant.name] * tenant.demand / size
        for tenant, size in zip(options.tenants, mean, strict=True)
    ]
    jobs: list[TraceJob] = []
    for tenant, count in zip(options.tenants, _split(options.jobs, weights), strict=True):
        # A stream of its own, so that one tenant's options leave the others' jobs alone:
        draw = random.Random(f"{seed} {tenant.name}")
        jobs += _tenant_jobs(options, tenant, count, draw)
    return Trace(jobs)


def _tenant_jobs(
    options: ProductionOptions, tenant: TenantMix, count: int, draw: random.Random
) -> list[TraceJob]:
    limit = max(1, options.quotas[tenant.name] // 2) * options.node_gpus
    batches = []
    for size, number in zip(tenant.sizes, _split(count, list(tenant.sizes.values())), strict=True):
        gpus = min(size, limit)
        while number:
            length = min(number, 1 + int(draw.expovariate(1 / max(options.batch - 1, 1e-9))))
            batches.append((gpus, length))
            number -= length  # noqa: PLW2901 (what is left of the size's jobs)
    draw.shuffle(batches)
    rates = list(itertools.accumulate(_hourly_rates(options, draw)))
    rows = []  # (submit, GPUs, raw duration)
    last = options.days * DAY - 1
    for gpus, length in batches:
        hour = draw.choices(range(len(rates)), cum_weights=rates)[0]
        begin = hour * 3600 + draw.randrange(3600)
        for _ in range(length):
            raw = draw.lognormvariate(0, options.spread / 100) * gpus ** (options.growth / 100)
            rows.append((min(last, begin + draw.randrange(600)), gpus, raw))
    demand = options.quotas[tenant.name] * options.node_gpus * options.days * DAY
    wanted = demand * options.load * tenant.demand / 10_000
    durations = _scaled(rows, wanted, options.longest * DAY)
    rows.sort(key=lambda row: row[0])
    return [
        TraceJob(
            f"{tenant.name}-{number}",
            tenant.name,
            row[0],
            seconds,
            shape_of(row[1], options.node_gpus),
        )
        for number, (row, seconds) in enumerate(zip(rows, durations, strict=True), 1)
    ]


def _hourly_rates(options: ProductionOptions, draw: random.Random) -> list[float]:
    """Return the tenant's rate of submissions in each hour: day, week and its own moods."""
    rates = []
    keep = options.memory / 100
    mood = draw.gauss(0, 1)
    for day in range(options.days):
        week = options.weekend / 100 if day % 7 >= 5 else 1.0
        level = week * math.exp(mood * options.moods / 100)
        rates += [
            level * (1 - options.day_swing / 100 * math.cos(2 * math.pi * hour / 24))
            for hour in range(24)
        ]
        mood = keep * mood + math.sqrt(1 - keep**2) * draw.gauss(0, 1)
    return rates


def _scaled(rows: list[tuple[int, int, float]], wanted: float, longest: int) -> list[int]:
    """Return the durations (seconds, in the rows' final order) scaled to the wanted demand."""
    rows.sort(key=lambda row: row[0])
    gpus = np.array([row[1] for row in rows], dtype=float)
    raw = np.array([row[2] for row in rows], dtype=float)
    low, high = 0.0, float(longest)
    for _ in range(60):
        middle = (low + high) / 2 if high - low < 1e3 else math.sqrt(max(low, 1e-3) * high)
        demand = float(gpus @ np.clip(np.ceil(raw * middle), 1, longest))
        low, high = (middle, high) if demand < wanted else (low, middle)
    return [int(seconds) for seconds in np.clip(np.ceil(raw * high), 1, longest)]
