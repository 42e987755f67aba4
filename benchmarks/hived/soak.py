"""Endurance: random operations over random hierarchies, every promise checked on the way.

`python -m benchmarks.hived.soak --operations 1000000 --seed 0`
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from benchmarks.hived.walk import check, new_walk, step

STEPS_A_POOL = 200  # operations on one pool before the next is drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the walk; a promise that is broken ends it with the seed of its pool."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check-every", type=int, default=4, help="all rules, every so often")
    options = parser.parse_args(arguments)
    done: Counter[str] = Counter()
    pools, begun = 0, time.process_time()
    while done.total() < options.operations:
        walk = new_walk(options.seed * 1_000_003 + pools)
        try:
            for number in range(STEPS_A_POOL):
                step(walk)
                if number % options.check_every == 0:
                    check(walk)
                if done.total() + walk.done.total() >= options.operations:
                    break
            check(walk)
        except Exception:
            print(f"seed of the pool: {options.seed * 1_000_003 + pools}", file=sys.stderr)
            raise
        done += walk.done
        pools += 1
    print(f"{done.total()} operations on {pools} pools, no exception, no violation, no refusal")
    for name, count in done.most_common():
        print(f"  {name:10} {count:9}")
    print(f"  {time.process_time() - begun:.0f} s CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
