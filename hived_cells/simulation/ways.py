"""One simulation in one of three ways: takes a trace, a cluster and a scheduler, gives a run.

Private: each tenant alone on what it reserved. Quota: one scheduler for all nodes, each tenant
bounded by its number of GPUs. Cells: each tenant's scheduler sees its cells, HiveD binds them.
"""

from collections.abc import Callable, Iterable
from typing import Literal

from hived_cells.errors import Infeasible, InvalidSpec, shown
from hived_cells.hierarchy import Cell, Chain
from hived_cells.reservation import Reservation, is_feasible
from hived_cells.simulation.desk import Desk, Refused
from hived_cells.simulation.engine import Simulation
from hived_cells.simulation.ground import CellGround, Ground, NodeGround, bins_of, home_cells
from hived_cells.simulation.lender import Lender
from hived_cells.simulation.policy import Scheduler
from hived_cells.simulation.run import Fault, Run
from hived_cells.simulation.trace import Shape, Trace
from hived_cells.simulation.view import Ask, View

__all__ = ["WAYS", "Way", "reserved_gpus", "simulate"]

Way = Literal["private", "quota", "cells"]
WAYS: tuple[Way, ...] = ("private", "quota", "cells")


def simulate(
    trace: Trace,
    chain: Chain,
    reservation: Reservation,
    *,
    way: Way,
    scheduler: Scheduler,
    lending: bool = True,
    static: bool = False,
    faults: Iterable[Fault] = (),
    checkpoint: int = 1800,
    pause: int = 60,
    refused: Refused | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Run a trace in one way; same arguments, same run.

    Guarantee (sharing safety, in every run without faults): under cells each job's guaranteed
    run is granted at the same second as in its tenant's private cluster with the same scheduler,
    and it is done no later; without lending it is done at the same second. Nothing in the
    schedulers is needed for it but that they are functions of their view.

    Parameters
    ----------
    trace
        The jobs.
    chain
        The hardware; its top level is the node.
    reservation
        Tenants' cells; its GPUs are the quotas and the sizes of the private clusters. No pins.
    way
        One of `WAYS`.
    scheduler
        The policy, the same for all.
    lending
        Whether jobs that wait run ahead on idle GPUs at low priority; private clusters lend
        nothing.
    static
        Cells only: bind each cell to one physical cell for good.
    faults
        Nodes leaving and returning. Private clusters stand where `home_cells` says.
    checkpoint
        Seconds of running between two checkpoints.
    pause
        Seconds that a migrated job stands still.
    refused
        Called with each job that waits though its quota would allow it.
    progress
        Called with the number of finished jobs, now and then.

    Returns
    -------
    Run
        What happened, by job and in sums.

    Raises
    ------
    InvalidSpec
        An argument is of another type, a job can never run (it is named), a tenant reserved
        nothing, a fault names no node, or the reservation has pins.
    Infeasible
        The reserved cells do not all fit.

    References
    ----------
    HiveD (OSDI 2020), Section 5.

    Examples
    --------
    >>> from hived_cells.simulation import SCHEDULERS, TraceJob
    >>> trace = Trace([TraceJob("j", "A", submit=0, duration=10, shape=Shape(1, 8))])
    >>> run = simulate(trace, Chain(2, (8,)), Reservation({"A": {2: 1}}),
    ...                way="cells", scheduler=SCHEDULERS["capacity"])
    >>> list(run.ended)
    [10]
    """
    if way not in WAYS:
        raise InvalidSpec(f"way {shown(way)} is none of {', '.join(WAYS)}")
    _check_types(trace, reservation, scheduler)
    seconds = (checkpoint, pause)
    if any(type(number) is not int for number in seconds) or checkpoint < 1 or pause < 0:
        raise InvalidSpec("checkpoint is at least 1 second, pause at least 0, both whole")
    if reservation.pins:
        raise InvalidSpec("simulation: pinned cells are not simulated")
    if not is_feasible(chain, reservation):
        raise Infeasible("simulation: the reserved cells do not all fit in the cluster")
    if not isinstance(faults, Iterable):
        raise InvalidSpec(f"faults: {shown(faults)} is no list of faults")
    events = list(faults)
    for fault in events:
        if not isinstance(fault, Fault) or [*map(type, fault)] != [int, int, bool]:
            raise InvalidSpec(f"fault: {shown(fault)} is no Fault of two whole numbers and a bool")
        if not 0 <= fault.node < chain.top_cells or fault.time < 0:
            raise InvalidSpec(f"fault: there is no node {fault.node}, or no time {fault.time}")
    desks, desk_of = _desks(trace, chain, reservation, way, scheduler=scheduler, refused=refused)
    ground: Ground
    if way == "cells":
        ground = CellGround(chain, reservation, static=static)
    elif way == "quota":
        nodes = tuple(Cell(chain.levels, (number,)) for number in range(chain.top_cells))
        ground = NodeGround((nodes,), chain, lending=True)
    else:
        ground = NodeGround(home_cells(chain, reservation), chain, lending=False)
    floor = ground.floor
    lends = lending and floor is not None
    lender = Lender(floor, reserved_gpus(chain, reservation)) if lends and floor else None
    return Simulation(
        trace,
        desks,
        desk_of,
        ground,
        lender=lender,
        faults=events,
        checkpoint=checkpoint,
        pause=pause,
    ).run(progress)


def _check_types(trace: object, reservation: object, scheduler: object) -> None:
    if not isinstance(trace, Trace):
        raise InvalidSpec(f"simulation: {shown(trace)} is no Trace")
    if not isinstance(reservation, Reservation):
        raise InvalidSpec(f"simulation: {shown(reservation)} is no Reservation")
    for member in ("name", "thresholds", "rank", "decide"):
        if isinstance(scheduler, type) or not hasattr(scheduler, member):
            raise InvalidSpec(
                f"scheduler: {shown(scheduler)} is none; it has name, thresholds, rank and decide"
            )


def reserved_gpus(chain: Chain, reservation: Reservation) -> dict[str, int]:
    """Return the GPUs that each tenant reserved.

    Examples
    --------
    >>> reserved_gpus(Chain(2, (8,)), Reservation({"A": {2: 1, 1: 3}}))
    {'A': 11}
    """
    return {
        tenant: sum(number * chain.sizes[level] for level, number in counts)
        for tenant, counts in reservation.cells
    }


def _desks(
    trace: Trace,
    chain: Chain,
    reservation: Reservation,
    way: Way,
    *,
    scheduler: Scheduler,
    refused: Refused | None,
) -> tuple[list[Desk], dict[str, int]]:
    """Return the schedulers with their views, and each tenant's; refuse what can never run."""
    queues = len(scheduler.thresholds) + 1
    gpus = reserved_gpus(chain, reservation)
    own = [
        View([chain.sizes[level] for level in levels], {tenant: gpus[tenant]}, queues)
        for tenant, levels in bins_of(reservation)
    ]
    number = {tenant: desk for desk, tenant in enumerate(reservation.tenants)}
    asked: dict[tuple[str, Shape], str] = {}
    for job in trace.jobs:
        asked.setdefault((job.tenant, job.shape), job.name)
    for (tenant, shape), name in asked.items():
        if tenant not in number:
            raise InvalidSpec(f"job {name!r}: tenant {tenant!r} reserved nothing")
        view = own[number[tenant]]
        fits = view.fit(shape) or (shape.soft and view.spread(shape.total))
        if not fits or not view.within_quota(Ask(0, tenant, shape, 0)):
            raise InvalidSpec(
                f"job {name!r}: {shape.nodes}×{shape.gpus} GPUs never fit in what "
                f"tenant {tenant!r} reserved"
            )
    if way != "quota":
        return [Desk(scheduler, view, refused=refused) for view in own], number
    view = View([chain.sizes[-1]] * chain.top_cells, gpus, queues)
    return [Desk(scheduler, view, refused=refused)], dict.fromkeys(number, 0)
