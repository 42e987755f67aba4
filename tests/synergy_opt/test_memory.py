"""Memory stays flat over a thousand solves in one process, and over ten thousand cells."""

import subprocess
import sys

import pytest

SOLVES = """
import pickle
from synergy_opt import ideal_allocation, mix, packed, place, tune
instances = [pickle.dumps(mix(servers=1, seed=seed)) for seed in range(10)]

def work(times):
    for i in range(times):
        instance = pickle.loads(instances[i % len(instances)])  # nothing kept from before
        allocation = ideal_allocation(instance)
        ideal_allocation(instance, solver="highs")
        place(instance, allocation)
        tune(instance)
        packed(instance)

warm, more = 50, 200  # five solves each
"""
CELLS = """
from hived_cells import Chain, Reservation, allocate, initial_state, release
start = initial_state(Chain(64, (2, 2, 2)), Reservation({"A": {1: 64, 3: 64}}))

def work(times):
    state = start
    for i in range(times):
        state, cell = allocate(state, "A", 1 + 2 * (i % 2))
        state = release(state, "A", cell)

warm, more = 2000, 10000
"""
MEASURE = """
import resource

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # KB on Linux

work(warm)
before = peak()
work(more)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts in other units elsewhere")
@pytest.mark.parametrize("task", [SOLVES, CELLS], ids=["solves", "cells"])
def test_memory_is_flat(task: str):
    """Tests that the peak grows by less than 12 MB: a leak of 12 KB a solve would be more."""
    done = subprocess.run(
        [sys.executable, "-c", task + MEASURE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 12
