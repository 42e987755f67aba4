"""A scheduler of one's own is not believed: what cannot be carried out is refused by name."""

from dataclasses import dataclass
from typing import Any

import pytest
from sim_builders import jobs_of, nodes_each

from hived_cells import InvalidSpec
from hived_cells.simulation import Shape, Trace, TraceJob, simulate
from hived_cells.simulation.policy import Decision, Move

TRACE = jobs_of(*[("AB"[n % 2], n, 20, 1, 4) for n in range(6)])


@dataclass(frozen=True)
class Own:
    """Decides always the same, or as a function says."""

    answer: Any
    name: str = "own"
    thresholds: tuple[int, ...] = ()

    def rank(self, _view, ask):
        """Take jobs in order."""
        return (ask.job,)

    def decide(self, view, ask):
        """Say what it was told to say."""
        return self.answer(view, ask) if callable(self.answer) else self.answer


WRONG = {
    "no decision": (3, "3 is neither a Decision nor None"),
    "true": (True, "True is neither a Decision nor None"),
    "no pieces": (Decision(()), r"gets \(\); 1×4 GPUs are needed"),
    "too few": (Decision(((0, 1),)), r"gets \(\(0, 1\),\); 1×4"),
    "too many": (Decision(((0, 8),)), "1×4 GPUs are needed"),
    "split": (Decision(((0, 2), (1, 2))), "1×4 GPUs are needed"),
    "one node twice": (Decision(((0, 2), (0, 2))), "1×4 GPUs are needed"),
    "negative": (Decision(((0, -4),)), "1×4 GPUs are needed"),
    "a fraction": (Decision(((0, 4.0),)), "1×4 GPUs are needed"),
    "text": (Decision("ab"), "gets 'ab'"),
    "no such node": (Decision(((7, 4),)), "there is no node 7 that is up"),
    "node below 0": (Decision(((-1, 4),)), "there is no node -1 that is up"),
    "stop of a stranger": (Decision(((0, 4),), stop=(99,)), "99 is to leave, but does not run"),
    "move of a stranger": (
        Decision(((0, 4),), move=(Move(99, ((0, 4),)),)),
        "99 is to leave, but does not run",
    ),
    "stop is a number": (Decision(((0, 4),), stop=3), "are not both tuples"),
    "no move": (Decision(((0, 4),), move=(1,)), "1 is no Move"),
    "stop of itself": (
        lambda _, ask: Decision(((0, 4),), stop=(ask.job,)),
        "is to leave, but does not run",
    ),
    "stop twice": (
        lambda view, _: Decision(((0, 4),), stop=tuple(view.running) * 2),
        "is to leave, but does not run",
    ),
    "a full node": (
        lambda view, _: None if view.room[-1][0] >= 8 and view.running else Decision(((0, 4),)),
        "node 0 has no 4 GPUs that are free",
    ),
}


@pytest.mark.parametrize("way", ["private", "quota", "cells"])
@pytest.mark.parametrize(("answer", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_carried_out_is_refused(answer, message, way):
    """Tests each rule in each way of sharing."""
    chain, reservation = nodes_each(A=1, B=1)
    trace = Trace(TraceJob(f"j{n}", "A", n, 20, Shape(1, 4)) for n in range(6))
    if "full" in message or "free" in message:
        chain, reservation = nodes_each(A=2)
    with pytest.raises(InvalidSpec, match=message):
        simulate(trace, chain, reservation, way=way, scheduler=Own(answer))


@pytest.mark.parametrize("way", ["private", "quota", "cells"])
def test_a_sound_decision_is_carried_out(way):
    """Tests first fit by hand, among it a job that is moved to where it is."""

    def first_fit(view, ask):
        moves = tuple(Move(job, was.pieces) for job, was in view.running.items())
        found = view.fit_from(ask.shape, 0)
        return None if found is None else Decision(found, move=moves[:1])

    run = simulate(TRACE, *nodes_each(A=1, B=1), way=way, scheduler=Own(first_fit))
    assert all(end > start >= 0 for start, end in zip(run.granted, run.ended, strict=True))
