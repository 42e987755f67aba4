"""How much processor time the exact check of an answer takes.

Takes nothing, gives a table: TUNE's placement of 26,000 jobs of 60 kinds on 8,192 servers, and the
bound of 2,048 different jobs with 240 configurations for each set of rules. Run it as

    python -m benchmarks.synergy.certificate_speed
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import accumulate

from benchmarks.synergy.tune_speed import mixed_instance
from synergy_opt.answer import Bound
from synergy_opt.certificate import bound_value, violations
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.runnable import runnable
from synergy_opt.tune import tune

PRICES = (Fraction(123_456_789, 10**10), Fraction(1_234_567, 10**10))
PLAIN = Bound(value=Fraction(0), multipliers=PRICES)
BOUNDS = {
    "default": PLAIN,
    "not consolidated": replace(PLAIN, consolidated=False),
    "skipping": replace(PLAIN, skipping=True),
    "mixtures": replace(PLAIN, integral=False),
    "mixtures fair on average": replace(PLAIN, integral=False, rows=True),
}


def different_jobs(jobs: int, seed: int) -> Instance:
    """Give jobs of which each has its own random monotone profile of 16 × 15 points."""
    rng = random.Random(seed)
    cpu = [Fraction(3 * (i + 1), 8) for i in range(16)]
    memory = [Fraction(125 * (i + 1), 14) for i in range(15)]

    def table() -> list[list[int]]:
        rows = [sorted(rng.randint(1, 10_000) for _ in memory) for _ in cpu]
        return list(accumulate(rows, lambda a, b: list(map(max, a, b))))

    node = Server(type="8xGPU", count=jobs // 4, gpus=8, capacity=(Fraction(24), Fraction(500)))
    return Instance(
        name="different",
        cluster=Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[node]),
        profiles=[
            Profile(name=f"p{i}", axes={"cpu": cpu, "memory": memory}, throughput=table())
            for i in range(jobs)
        ],
        jobs=[Job(id=f"j{i}", gpus=rng.choice((1, 2, 4)), profile=f"p{i}") for i in range(jobs)],
    )


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Give the median processor time of some runs: others on the machine do not count."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, prog="certificate_speed")
    parser.add_argument("--servers", type=int, nargs="+", default=(512, 8192))
    parser.add_argument("--jobs", type=int, default=2048, help="different jobs of the bound")
    parser.add_argument("--repeats", type=int, default=3, help="median of these")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for servers in options.servers:
        instance = mixed_instance(servers, seed=options.seed)
        value = bound_value(instance, runnable(instance), PLAIN)
        answer = replace(tune(instance), bound=replace(PLAIN, value=value))
        found = violations(instance, answer)
        took = seconds(partial(violations, instance, answer), options.repeats)
        print(
            f"{took:7.3f} s  {len(found)} violations in {len(answer.jobs)} jobs, {servers} servers"
        )
    instance = different_jobs(options.jobs, options.seed)
    for name, bound in BOUNDS.items():
        took = seconds(partial(bound_value, instance, instance.jobs, bound), options.repeats)
        print(f"{took:7.3f} s  bound of {options.jobs} different jobs × 240, {name}")


if __name__ == "__main__":
    main()
