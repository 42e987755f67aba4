"""The seeded instances that every run of the kit looks at, beside those that Hypothesis draws.

Takes nothing and gives instances of `generate` and the shipped examples: few enough servers that
a bound on them takes a fraction of a second, and every trait that a mechanism may stumble on.
"""

from __future__ import annotations

from synergy_opt.generate import mix, scattered
from synergy_opt.io import shipped
from synergy_opt.model import Instance


def families() -> tuple[Instance, ...]:
    """Give the instances: like the paper's, unlike it, and the shipped ones.

    Examples
    --------
    >>> len({instance.name for instance in families()}) == len(families())
    True
    """
    return (
        mix(servers=1, seed=0),
        mix(servers=2, seed=1),
        mix(servers=4, seed=2),
        mix(servers=4, seed=3, split=(50, 0, 50)),
        mix(servers=2, seed=4, load="1.5"),  # not every job is runnable
        mix(servers=2, seed=7, load="3"),  # most jobs wait, equals of running ones among them
        mix(servers=2, seed=5, load="0.6"),  # GPUs stay free
        mix(servers=2, seed=6, gpu_demands={4: 1, 12: 1}),  # jobs larger than a server
        scattered(servers=1, seed=0),
        scattered(servers=1, seed=1, resources=1),
        scattered(servers=1, seed=2, resources=3),
        scattered(servers=2, seed=3, monotone=False),
        shipped("worked-example"),
        shipped("three-resources"),
        shipped("two-groups"),
    )
