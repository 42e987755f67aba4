"""The three schedulers of the evaluation, as pure policies: takes a view, gives decisions.

They are like the published ones in what decides who waits, and no more; each says what is left
out.
"""

from dataclasses import dataclass

from hived_cells.simulation.policy import Decision, Move, Scheduler
from hived_cells.simulation.view import Ask, View

__all__ = ["SCHEDULERS", "Capacity", "Gandiva", "Tiresias"]


_STRIDE = 1_000_003  # a prime: the nodes at which jobs' searches begin are spread evenly


def place(view: View, ask: Ask, *, tightest: bool) -> Decision | None:
    """Return a place for a job as it is; a soft one also takes any GPUs that are free.

    Examples
    --------
    >>> from hived_cells.simulation.trace import Shape
    >>> place(View([4, 4], {}), Ask(0, "A", Shape(1, 8, soft=True), 0), tightest=True)
    Decision(pieces=((0, 4), (1, 4)), stop=(), move=())
    """
    shape = ask.shape
    pieces = view.fit(shape) if tightest else view.fit_from(shape, ask.job * _STRIDE)
    if pieces is None and shape.soft:
        pieces = view.spread(shape.total)
    return None if pieces is None else Decision(pieces)


@dataclass(frozen=True, slots=True)
class Capacity:
    """A capacity scheduler with backfill, like YARN's.

    The tenant that holds the least of its quota is served first, its jobs in the order of
    submission; a job that does not fit is passed over. The GPUs of a job are packed into as few
    nodes as it asks for; which nodes is left to chance, as YARN gives a container out to
    whichever node reports next: the search begins at a node that the job's number draws. Left
    out: hierarchies of queues, reserved containers.

    Parameters
    ----------
    tightest
        Pack jobs with each other, too: take the nodes with the least room that is enough
        (best fit). This keeps more nodes whole than YARN does, and promises nobody anything.

    Examples
    --------
    >>> from hived_cells.simulation.trace import Shape
    >>> tight = Capacity(tightest=True)
    >>> tight.decide(View([8, 2], {"A": 10}), Ask(0, "A", Shape(1, 2), 0)).pieces
    ((1, 2),)
    """

    name: str = "capacity"
    tightest: bool = False
    thresholds: tuple[int, ...] = ()

    def rank(self, view: View, ask: Ask) -> tuple[int, ...]:
        """Least loaded tenant first, then by submission."""
        return view.load(ask.tenant), ask.job

    def decide(self, view: View, ask: Ask) -> Decision | None:
        """Start where there is room."""
        return place(view, ask, tightest=self.tightest)


@dataclass(frozen=True, slots=True)
class Gandiva:
    """A capacity scheduler that migrates running jobs for a better placement, like Gandiva.

    Where a job does not fit though enough GPUs are free, jobs of one bin move into other bins
    that are in use already, until it fits; the bin that needs the fewest GPUs moved is taken,
    and no more than `most_moved` GPUs are moved for one start. Left out: time slicing, packing
    several jobs on one GPU, growing and shrinking jobs.

    Parameters
    ----------
    most_moved
        GPUs that may be moved for one start.

    Examples
    --------
    >>> from hived_cells.simulation.trace import Shape
    >>> view = View([4, 4], {"A": 8})
    >>> for job, number in ((0, 0), (1, 1)):
    ...     view.enter(Ask(job, "A", Shape(1, 2), 0), ((number, 2),))
    >>> Gandiva().decide(view, Ask(2, "A", Shape(1, 4), 0))
    Decision(pieces=((0, 4),), stop=(), move=(Move(job=0, pieces=((1, 2),)),))
    """

    most_moved: int = 4
    name: str = "gandiva"
    thresholds: tuple[int, ...] = ()

    def rank(self, view: View, ask: Ask) -> tuple[int, ...]:
        """Least loaded tenant first, then by submission."""
        return view.load(ask.tenant), ask.job

    def decide(self, view: View, ask: Ask) -> Decision | None:
        """Start where there is room, else where moving the fewest GPUs makes room."""
        decision = place(view, ask, tightest=False)
        if decision is not None or ask.shape.total > view.free_gpus:
            return decision
        nodes, gpus, _ = ask.shape
        room = view.room[-1]
        least = gpus - self.most_moved
        # Bins by how little is missing in them; those that lack too much are not looked at.
        near = [
            number
            for number in range(len(room))
            if view.sizes[number] >= gpus and room[number] >= max(0, least) and view.is_up(number)
        ]
        near.sort(key=lambda number: (-room[number], number))
        taken = near[:nodes]
        if len(taken) < nodes or sum(max(0, gpus - room[n]) for n in taken) > self.most_moved:
            return None
        moves = _emptying(view, taken, gpus)
        if moves is None:
            return None
        return Decision(tuple((number, gpus) for number in taken), (), moves)


def _emptying(view: View, taken: list[int], gpus: int) -> tuple[Move, ...] | None:
    """Return moves after which each taken bin has that much room, None where there are none.

    Jobs of one piece move, the smallest that are enough first, into the tightest other bins.
    """
    room = list(view.room[-1])
    moves = []
    for number in taken:
        missing = gpus - room[number]
        movable = sorted(
            (held, job)
            for job, held in view.holders[number].items()
            if len(view.running[job].pieces) == 1
        )
        enough = [item for item in movable if item[0] >= missing]
        for held, job in [*enough[:1], *reversed(movable)] if missing > 0 else ():
            goals = [
                (free, goal)
                for goal, free in enumerate(room)
                if held <= free < view.sizes[goal] and goal not in taken and view.is_up(goal)
            ]
            if not goals:
                continue
            _, goal = min(goals)
            room[goal] -= held
            moves.append(Move(job, ((goal, held),)))
            missing -= held
            if missing <= 0:
                break
        if missing > 0:
            return None
    return tuple(moves)


@dataclass(frozen=True, slots=True)
class Tiresias:
    """Discretised queues by attained service, with preemption, like Tiresias.

    A job starts in queue 0 and falls into the next one when its service (GPUs × seconds) passes
    a threshold: short and small jobs are favoured. Where a job does not fit, jobs of later
    queues are stopped for it, whoever's they are; they wait again and keep what they have done.
    Left out: the Gittins index, promotion of jobs that starve, profiled placement.

    Parameters
    ----------
    thresholds
        GPU-seconds at which a job falls; the defaults are one and ten GPU-hours.

    Examples
    --------
    >>> from hived_cells.simulation.trace import Shape
    >>> view = View([8], {"A": 8}, queues=3)
    >>> view.enter(Ask(0, "A", Shape(1, 8), 2), ((0, 8),))
    >>> Tiresias().decide(view, Ask(1, "A", Shape(1, 1), 0))
    Decision(pieces=((0, 1),), stop=(0,), move=())
    """

    thresholds: tuple[int, ...] = (3600, 36_000)
    name: str = "tiresias"

    def rank(self, view: View, ask: Ask) -> tuple[int, ...]:  # noqa: ARG002 (a Scheduler's)
        """Earlier queue first, then by submission."""
        return ask.queue, ask.job

    def decide(self, view: View, ask: Ask) -> Decision | None:
        """Start where there is room, else where stopping jobs of later queues makes room."""
        decision = place(view, ask, tightest=False)
        if decision is None:
            pieces = view.fit(ask.shape, ask.queue)
            if pieces is None:
                return None
            decision = Decision(pieces, _stopped(view, ask, pieces))
        return Decision(decision.pieces, (*decision.stop, *_over_quota(view, ask, decision.stop)))


def _stopped(view: View, ask: Ask, pieces: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Return the jobs to stop so that the pieces are free: last queue and youngest first."""
    stop: dict[int, None] = {}
    for number, gpus in pieces:
        missing = gpus - view.room[-1][number]
        missing -= sum(held for job, held in view.holders[number].items() if job in stop)
        for job in sorted(view.holders[number], key=lambda job: _youth(view, job)):
            if missing <= 0:
                break
            if job not in stop and view.running[job].ask.queue > ask.queue:
                stop[job] = None
                missing -= view.holders[number][job]
    return tuple(stop)


def _over_quota(view: View, ask: Ask, stopped: tuple[int, ...]) -> tuple[int, ...]:
    """Return the tenant's own jobs of later queues to stop so that its quota is kept."""
    held = sum(view.used[ask.tenant]) + ask.shape.total
    held -= sum(
        view.running[job].ask.shape.total
        for job in stopped
        if view.running[job].ask.tenant == ask.tenant
    )
    more = []
    if held > view.quota[ask.tenant]:
        own = [job for job, run in view.running.items() if run.ask.tenant == ask.tenant]
        for job in sorted(own, key=lambda job: _youth(view, job)):
            if held <= view.quota[ask.tenant]:
                break
            if job not in stopped and view.running[job].ask.queue > ask.queue:
                more.append(job)
                held -= view.running[job].ask.shape.total
    return tuple(more)


def _youth(view: View, job: int) -> tuple[int, int]:
    return -view.running[job].ask.queue, -job


SCHEDULERS: dict[str, Scheduler] = {
    "capacity": Capacity(),
    "capacity-tightest": Capacity(name="capacity-tightest", tightest=True),
    "gandiva": Gandiva(),
    "tiresias": Tiresias(),
}
"""The three schedulers by name, and the first once more with best fit."""
