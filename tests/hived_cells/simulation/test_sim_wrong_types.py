"""Wrong values at the door are refused by this package's own errors, with what is wrong."""

import pytest
from sim_builders import jobs_of, nodes_each

from hived_cells import Cell, Chain, Infeasible, InvalidSpec, Pin, Reservation
from hived_cells.design import design
from hived_cells.simulation import SCHEDULERS, Fault, Shape, Trace, TraceJob, simulate, soften
from hived_cells.simulation.production import TenantMix
from hived_cells.simulation.shapes import with_shapes
from hived_cells.simulation.trace import shape_of

TRACE = jobs_of(("A", 0, 1, 1, 1))
CAPACITY = SCHEDULERS["capacity"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "its name is ''"),
        ({"tenant": 3}, "its tenant is 3"),
        ({"submit": 1.5}, "submit is 1.5"),
        ({"duration": True}, "duration is True"),
        ({"duration": 10**9999}, "duration is <int that cannot be shown>"),
        ({"shape": (1, 8)}, r"\(1, 8\) is no Shape"),
        ({"shape": Shape(0, 8)}, "nodes is 0"),
        ({"shape": Shape(1, 8, 1)}, "is no Shape"),
    ],
)
def test_a_job_is_checked_where_it_is_made(fields, message):
    """Tests each field of a job."""
    good = {"name": "j", "tenant": "A", "submit": 0, "duration": 1, "shape": Shape(1, 1)}
    with pytest.raises(InvalidSpec, match=message):
        TraceJob(**{**good, **fields})


def test_a_trace_is_a_list_of_different_jobs():
    """Tests what is no list, no job, or twice the same name."""
    for wrong, message in ((7, "no list of jobs"), ([7], "7 is no TraceJob")):
        with pytest.raises(InvalidSpec, match=message):
            Trace(wrong)
    with pytest.raises(InvalidSpec, match="two jobs are named 'j0'"):
        Trace([*TRACE.jobs, *TRACE.jobs])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"way": "public"}, "way 'public' is none of private, quota, cells"),
        ({"checkpoint": 0}, "checkpoint is at least 1"),
        ({"pause": -1}, "pause at least 0"),
        ({"faults": [Fault(0, 9, leaves=True)]}, "there is no node 9"),
        ({"faults": [Fault(-1, 0, leaves=True)]}, "no time -1"),
        ({"faults": None}, "faults: None is no list of faults"),
        ({"faults": [1]}, "fault: 1 is no Fault"),
        ({"faults": [Fault(1.5, 0, leaves=True)]}, "is no Fault of two whole numbers"),
        ({"faults": [Fault(0, 0, leaves="no")]}, "is no Fault of two whole numbers"),
        ({"checkpoint": 1.5}, "checkpoint is at least 1 second"),
        ({"checkpoint": "x"}, "checkpoint is at least 1 second"),
        ({"scheduler": None}, "scheduler: None is none"),
        ({"scheduler": "capacity"}, "scheduler: 'capacity' is none"),
        ({"scheduler": type(CAPACITY)}, "scheduler: <class"),
    ],
)
def test_options_are_checked(options, message):
    """Tests each option of a run."""
    with pytest.raises(InvalidSpec, match=message):
        simulate(TRACE, *nodes_each(A=1), **{"way": "cells", "scheduler": CAPACITY, **options})


def test_traces_and_reservations_are_told_from_other_values():
    """Tests what is no trace and no reservation."""
    chain, reservation = nodes_each(A=1)
    with pytest.raises(InvalidSpec, match="None is no Trace"):
        simulate(None, chain, reservation, way="cells", scheduler=CAPACITY)
    with pytest.raises(InvalidSpec, match="'A' is no Reservation"):
        simulate(TRACE, chain, "A", way="cells", scheduler=CAPACITY)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unmet_weight": 2.5}, "unmet weight 2.5: a whole number"),
        ({"unmet_weight": "x"}, "unmet weight 'x': a whole number"),
        ({"time_limit": None}, "time limit None: a positive number"),
        ({"time_limit": "x"}, "time limit 'x': a positive number"),
    ],
)
def test_options_of_a_design_are_checked(options, message):
    """Tests the weight and the limit."""
    with pytest.raises(InvalidSpec, match=message):
        design(Chain(1, (8,)), {}, {}, **options)


def test_reservations_are_checked():
    """Tests pins, what does not fit, a stranger's job, and one that never fits."""
    run = {"way": "cells", "scheduler": CAPACITY}
    chain = Chain(1, (8,))
    pinned = Reservation({"A": {1: 1}}, pins=[Pin("p", "A", Cell(1, (0, 1)))])
    with pytest.raises(InvalidSpec, match="pinned cells are not simulated"):
        simulate(TRACE, chain, pinned, **run)
    with pytest.raises(Infeasible, match="do not all fit"):
        simulate(TRACE, chain, Reservation({"A": {2: 2}}), **run)
    with pytest.raises(InvalidSpec, match="job 'j0': tenant 'A' reserved nothing"):
        simulate(TRACE, chain, Reservation({"B": {2: 1}}), **run)
    for way in ("private", "quota", "cells"):
        with pytest.raises(InvalidSpec, match="job 'j0': 1×8 GPUs never fit"):
            simulate(
                jobs_of(("A", 0, 1, 1, 8)), chain, Reservation({"A": {1: 7}}), way=way,
                scheduler=CAPACITY,
            )  # fmt: skip


def test_parts_of_the_generator_are_checked():
    """Tests a mix, a shape, a share of soft jobs and a stranger among the rewritten tenants."""
    with pytest.raises(InvalidSpec, match="do not add up to 100"):
        TenantMix("A", 1, {1: 99})
    with pytest.raises(InvalidSpec, match="no multiple of it"):
        shape_of(12, 8)
    with pytest.raises(InvalidSpec, match="a job of 0 GPUs"):
        shape_of(0, 8)
    with pytest.raises(InvalidSpec, match="101 % of the jobs"):
        soften(TRACE, 101, seed=0)
    with pytest.raises(InvalidSpec, match="'Z' is not in the trace"):
        with_shapes(TRACE, {"Z": 1})
