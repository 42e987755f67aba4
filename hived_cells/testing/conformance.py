"""The allocator kit: ``pytest --pyargs hived_cells.testing.conformance --allocator module:Name``.

The state machine of `allocator_machine` runs the allocator. What goes wrong is one sentence; the
least run that shows it is printed and saved under ``conformance/``, as a specification and events
that ``hived-cells replay`` reads, to see what should have happened.
"""

from pathlib import Path
from typing import Any

import pytest

from hived_cells.testing.files import Run
from hived_cells.testing.machine import allocator_machine
from hived_cells.testing.plugin import ALLOCATOR, named
from hived_cells.testing.verdict import quiet, said

__all__: list[str] = []


def test_allocator(pytestconfig: pytest.Config) -> None:
    """Tests Theorem 1, quotas, slack, conservation, merging and purity on random pools."""
    its = named(pytestconfig.getoption("--allocator"), ALLOCATOR)
    machine = allocator_machine(
        its.initial,
        its.allocate,
        its.release,
        free=getattr(its, "free", None),
        slack=getattr(its, "slack", None),
        refusals=tuple(getattr(its, "refusals", (Exception,))),
    )
    files = Run(Path(pytestconfig.invocation_params.dir), "allocator")
    sentence = said(machine, quiet(pytestconfig.getoption("--examples")))
    if sentence is not None:
        run: Any = machine
        saved = files.saved(run.last.pool, None, run.last.steps)
        pytest.fail(f"{sentence}\n{saved}", pytrace=False)
