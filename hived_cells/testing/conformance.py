"""The allocator kit: ``pytest --pyargs hived_cells.testing.conformance --allocator module:Name``.

The state machine of `allocator_machine` runs the allocator. What goes wrong is one sentence; the
least run that shows it is printed and saved under ``conformance/``, as a specification and events
that ``hived-cells replay`` reads, to see what should have happened.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Verbosity, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from hived_cells.testing.files import events_text, spec_text
from hived_cells.testing.machine import allocator_machine
from hived_cells.testing.plugin import allocator

__all__: list[str] = []

FOLDER = "conformance"


def test_allocator(pytestconfig: pytest.Config) -> None:
    """Tests Theorem 1, quotas, slack, conservation, merging and purity on random pools."""
    its = allocator(pytestconfig.getoption("--allocator"))
    machine = allocator_machine(
        its.initial,
        its.allocate,
        its.release,
        free=getattr(its, "free", None),
        slack=getattr(its, "slack", None),
        refusals=tuple(getattr(its, "refusals", (Exception,))),
    )
    examples = pytestconfig.getoption("--examples")
    quiet = settings(
        max_examples=examples or settings().max_examples,
        deadline=None,
        database=None,  # what was found is saved as files
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    here = Path(pytestconfig.invocation_params.dir) / FOLDER
    paths = here / "allocator-cluster.yaml", here / "allocator-events.jsonl"
    for path in paths:
        path.unlink(missing_ok=True)  # of an earlier run
    sentence = _broken(machine, quiet)
    if sentence is not None:
        run: Any = machine
        pytest.fail(_report(sentence, run.last, paths), pytrace=False)


def _broken(machine: type[RuleBasedStateMachine], limits: settings) -> str | None:
    """Run the machine and return what it says."""
    try:
        run_state_machine_as_test(machine, settings=limits)
    except AssertionError as error:
        return str(error)
    except Flaky:
        return "determinism: the same steps once failed, and then did not"
    except Exception as error:  # of the allocator, where nothing was to be refused
        return f"raised {type(error).__name__}: {error}"
    return None


def _report(sentence: str, run: Any, paths: tuple[Path, Path]) -> str:
    """Save the run, and say what is wrong with it."""
    texts = spec_text(run.pool), events_text(run.steps)
    paths[0].parent.mkdir(exist_ok=True)
    lines = [sentence]
    for what, path, text in zip(("cluster", "events"), paths, texts, strict=True):
        path.write_text(text, "utf-8")
        lines += [f"{what}: {path}", text.rstrip()]
    return "\n".join(lines)
