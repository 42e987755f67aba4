"""Faults planted in the placement of gangs, each of which the theorem about it must catch."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_gangs_place import test_a_placement_is_found_iff_there_is_one as theorem

from hived_cells.gangs import admission as admission_module
from hived_cells.gangs import desk as desk_module
from hived_cells.gangs import place as place_module
from hived_cells.gangs import plan as plan_module
from hived_cells.gangs import preempt as preempt_module

RIGHTS = desk_module.Desk._rights
FITS = preempt_module._fits


def one_right_too_few(self):
    rights = RIGHTS(self)
    return {level: number - 1 for level, number in rights.items() if number > 1}


def room_for_one_more_is_asked_for(desk, gang):
    return FITS(desk, replace(gang, pods=(*gang.pods, (1, 1))))


def no_common_cell(room, level, pods, total):
    return plan_module.Plan(None, None, None, exact=True)


FAULTS = {
    "a reserved cell is forgotten": (desk_module.Desk, "_rights", one_right_too_few),
    "more gangs go than must": (preempt_module, "_fits", room_for_one_more_is_asked_for),
    "levels above the node are skipped": (plan_module, "_one_cell", no_common_cell),
    "nobody is preempted": (place_module, "preempt", lambda state, book, gang: (None, True)),
    "never is said for not now": (admission_module, "could_ever", lambda book, gang: False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_theorem_catches(fault, monkeypatch):
    """Tests that random small clusters find the fault within 400 examples."""
    monkeypatch.setattr(*FAULTS[fault])
    run = settings(
        max_examples=400,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(given(data=st.data())(theorem.hypothesis.inner_test))
    with pytest.raises((AssertionError, KeyError, StopIteration, ExceptionGroup)):
        run()
