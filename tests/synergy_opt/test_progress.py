"""Progress of stage 1: exact bounds that close in, rows on a terminal only, and Ctrl-C."""

import os
import pty
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from strategies import instances

from benchmarks.synergy.different_jobs import different_jobs
from synergy_opt import Progress, ideal_allocation, optimal
from synergy_opt.certificate import bound_value
from synergy_opt.generate import scattered
from synergy_opt.io import write_instance
from synergy_opt.runnable import runnable


@given(instances())
def test_what_is_told_gets_better_and_ends_at_the_answer(instance):
    """Tests that throughput only rises, the bound only falls, and both end at the answer's."""
    told = []
    found = ideal_allocation(instance, watch=told.append)
    for before, after in pairwise(told):
        assert after.throughput >= before.throughput
        assert after.bound <= before.bound
        assert after.seconds >= before.seconds
    assert all(step.throughput <= found.throughput <= step.bound for step in told)
    assert (told[-1].throughput, told[-1].bound) == (found.throughput, found.bound.value)


def test_optimal_hands_it_on():
    """Tests that both stages in one call tell the same."""
    told = []
    placed = optimal(scattered(servers=2, seed=1), watch=told.append)
    assert told[-1].throughput == placed.throughput


def test_a_gap_without_throughput_is_one():
    """Tests the row at the start of an instance in which nothing is made yet."""
    assert Progress(seconds=0.0, throughput=Fraction(0), bound=Fraction(3)).gap == 1


def test_ctrl_c_keeps_the_best_answer_with_the_bound_of_that_time():
    """Tests an interrupt at every step: a valid answer, the bound told last, and no proof."""
    instance = different_jobs(256, seed=5)
    steps = []
    best = ideal_allocation(instance, watch=steps.append)
    for stop_at in range(len(steps) - 1):
        told = []

        def press(known, told=told, stop_at=stop_at):
            told.append(known)
            if len(told) > stop_at:
                raise KeyboardInterrupt

        found = ideal_allocation(instance, watch=press)
        assert found.stopped
        assert found.throughput == told[-1].throughput <= best.throughput
        assert found.bound.value == told[-1].bound >= best.throughput
        assert bound_value(instance, runnable(instance), found.bound) <= found.bound.value


def test_an_error_of_the_watcher_is_its_own():
    """Tests that what the callback raises comes through."""

    def fail(_):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        ideal_allocation(scattered(servers=1, seed=0), watch=fail)


COMMAND = """
import sys
from synergy_opt.cli import common
common._PATIENCE = 0.0
from synergy_opt.cli import main
sys.exit(main(["solve", sys.argv[1], "--mechanism", "optimal"]))
"""


def run(path, stderr):
    return subprocess.run(
        [sys.executable, "-c", COMMAND, str(path)],
        stdout=subprocess.PIPE,
        stderr=stderr,
        check=True,
        timeout=120,
    )


def test_rows_on_a_terminal_and_silence_in_a_pipe(tmp_path):
    """Tests that a terminal shows bound, incumbent and gap over time, and a pipe nothing."""
    path = tmp_path / "i.json"
    write_instance(scattered(servers=2, seed=1), path)
    assert run(path, subprocess.PIPE).stderr == b""
    ours, theirs = pty.openpty()
    run(path, theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    os.close(theirs)
    rows = [line for line in shown.splitlines() if " s  throughput " in line]
    assert len(rows) >= 2
    assert all("bound" in row and "gap" in row for row in rows)
