"""The allocator that the proofs are about, the one in `hived_cells`, and a model agree.

Golden traces stand in for the extracted oracle where Coq is missing; with Coq, thousands more
are compared. The golden file itself is checked against the oracle by `proofs/check.sh`.
"""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from proof_traces import (
    FAULTS,
    PROOFS,
    model_answers,
    questions,
    random_trace,
    split_traces,
)

TRACES = 2000  # against the oracle, under CI as everywhere
EVENTS = 140  # in each of them
SAMPLE = 150  # of them, in which faults are planted
GOLDEN = PROOFS / "golden" / "traces.txt"


def golden_answers() -> list[list[str]]:
    lines = [x for x in GOLDEN.read_text().splitlines() if x and not x.startswith("#")]
    return split_traces(lines)


def missing(what: str) -> None:
    """Skip and say what was not checked; under CI nothing may go unchecked."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing under CI=true")
    pytest.skip(f"{what} is missing: not compared with the proved allocator's oracle")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the extracted allocator."""
    for tool in ("coqc", "ocamlfind"):
        if shutil.which(tool) is None:
            missing(tool)
    program = tmp_path_factory.mktemp("oracle") / "oracle"
    subprocess.run([PROOFS / "build_oracle.sh", program], check=True, timeout=300)
    return program


def ask(oracle: Path, traces: list[list[str]]) -> list[list[str]]:
    text = "\n".join(line for trace in traces for line in trace) + "\n"
    run = subprocess.run(
        [oracle], input=text, capture_output=True, text=True, check=True, timeout=300
    )
    return split_traces(run.stdout.splitlines())


def hived_answers(trace: list[str], *, default: bool = False) -> list[str]:
    if importlib.util.find_spec("hived_cells.allocate") is None:
        missing("hived_cells.allocate")
    import hived_answers as adapter

    return adapter.hived_answers(trace, default=default)


def test_golden_traces_are_the_generator_s() -> None:
    """The golden file holds what the generator gives for its seeds: it can be made anew."""
    for seed, answers in enumerate(golden_answers()):
        assert questions("\n".join(answers)) == random_trace(seed)


def test_model_agrees_with_golden_traces() -> None:
    for answers in golden_answers():
        assert model_answers(questions("\n".join(answers))) == answers


def test_hived_cells_agrees_with_golden_traces() -> None:
    for answers in golden_answers():
        assert hived_answers(questions("\n".join(answers))) == answers


def test_the_default_choice_agrees_with_golden_traces() -> None:
    """Tests that healthy cells without low-priority jobs are taken by address unasked, too."""
    for answers in golden_answers():
        assert hived_answers(questions("\n".join(answers)), default=True) == answers


@pytest.mark.parametrize("fault", FAULTS)
def test_golden_traces_catch_planted_faults(fault: str) -> None:
    """Each planted fault shows in at least half of the golden traces."""
    golden = golden_answers()
    caught = sum(model_answers(questions("\n".join(a)), fault) != a for a in golden)
    assert 2 * caught >= len(golden), f"{fault}: {caught} of {len(golden)}"


@pytest.fixture(scope="module")
def sample() -> list[list[str]]:
    """Answer the first of the thousands without a fault."""
    seeds = range(10_000, 10_000 + SAMPLE)
    return [model_answers(random_trace(seed, EVENTS)) for seed in seeds]


@pytest.mark.parametrize("fault", FAULTS)
def test_random_traces_catch_planted_faults(fault: str, sample: list[list[str]]) -> None:
    """So it does in at least half of the first of the thousands."""
    caught = sum(model_answers(questions("\n".join(a)), fault) != a for a in sample)
    assert 2 * caught >= SAMPLE, f"{fault}: {caught} of {SAMPLE}"


def nothing_free(line: str) -> bool:
    """Whether an answer shows every free list empty."""
    _, _, answer = line.partition(" => ")
    lists = answer.split(" | ")[1:-1]
    return bool(lists) and all(not cells.split(":")[1].strip() for cells in lists)


def test_golden_traces_fill_the_pools() -> None:
    """At least half of the traces come to a state in which no GPU is free."""
    golden = golden_answers()
    full = sum(any(map(nothing_free, answers)) for answers in golden)
    assert 2 * full >= len(golden)


def test_oracle_agrees_with_hived_cells_on_thousands_of_traces(oracle: Path) -> None:
    traces = [random_trace(seed, EVENTS) for seed in range(10_000, 10_000 + TRACES)]
    for trace, answers in zip(traces, ask(oracle, traces), strict=True):
        assert hived_answers(trace) == answers


def test_oracle_agrees_with_the_model(oracle: Path) -> None:
    traces = [random_trace(seed, events=200) for seed in range(50_000, 50_300)]
    for trace, answers in zip(traces, ask(oracle, traces), strict=True):
        assert model_answers(trace) == answers
