"""Methods that misbehave, one a way, for the runner's tests."""

import time
from dataclasses import replace
from fractions import Fraction

from benchmarks.methods import Answer
from synergy_opt import proportional


def good(instance):
    """Give a placement, like a user's own function."""
    return proportional(instance)


def seeded(instance, *, limits, shift=0):
    """Record what it was given in the name of the mechanism."""
    return replace(proportional(instance), mechanism=f"seed {limits.seed} shift {shift}")


def boasts(instance):
    """Say "optimal" of what is not, and a bound that is too low."""
    return Answer(placement=proportional(instance), said="optimal", bound=1.0)


def cheats(instance):
    """State twice the throughput of each job."""
    found = proportional(instance)
    jobs = tuple(replace(job, throughput=2 * job.throughput) for job in found.jobs)
    return replace(found, jobs=jobs)


def sleeps(instance):
    """Ignore the time limit without using the processor, with a child whose id it writes down."""
    import os
    import subprocess
    from pathlib import Path

    child = subprocess.Popen(["sleep", "300"])
    Path(os.environ["BENCH_SLEEPER"]).write_text(f"{child.pid}\n")
    time.sleep(300)


def eats(instance):
    """Take more memory than anybody has."""
    return bytearray(2**40)


def dies(instance):
    """End the process."""
    import os

    os._exit(7)


def raises(instance):
    """Raise."""
    raise RuntimeError("no idea")


def wrong_type(instance):
    """Return no placement."""
    return Fraction(1)
