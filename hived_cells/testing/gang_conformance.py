"""The gang kit: ``pytest --pyargs hived_cells.testing.gang_conformance --gangs module:Name``.

The state machine of `gang_machine` runs the scheduler. What goes wrong is one sentence; the least
run that shows it is printed and saved under ``conformance/``, as a specification and events that
``hived-cells replay`` reads, to see what should have happened.
"""

from pathlib import Path
from typing import Any

import pytest

from hived_cells.testing.files import Run
from hived_cells.testing.gang_machine import gang_machine
from hived_cells.testing.plugin import GANGS, named
from hived_cells.testing.verdict import quiet, said

__all__: list[str] = []


def test_gangs(pytestconfig: pytest.Config) -> None:
    """Tests the guarantee and every rule of `gang_machine` on random pools."""
    its = named(pytestconfig.getoption("--gangs"), GANGS)
    machine = gang_machine(
        its.initial,
        its.place,
        its.remove,
        its.running,
        its.held,
        asks=tuple(getattr(its, "asks", ())),
        refusals=tuple(getattr(its, "refusals", (Exception,))),
    )
    files = Run(Path(pytestconfig.invocation_params.dir), "gangs")
    sentence = said(machine, quiet(pytestconfig.getoption("--examples")))
    if sentence is not None:
        run: Any = machine
        saved = files.saved(run.last.pool, run.last.node, run.last.steps)
        pytest.fail(f"{sentence}\n{saved}", pytrace=False)
