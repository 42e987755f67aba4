"""The simulation: takes a trace, schedulers with their views and the hardware, gives a run.

Two layers. Guaranteed: each desk's scheduler decides from its view alone, as if nothing were ever
lent. Low priority: a job that waits may run ahead on idle GPUs; what it gets done there shortens
its guaranteed run, and a job that is done early keeps its place in the view (nothing runs there,
the GPUs are idle) until the moment at which it would have ended. So lending changes no decision.
"""

import heapq
from array import array
from collections.abc import Callable, Iterable, Sequence

from hived_cells.simulation.books import DONE, ENDS, NODE, SINKS, Books
from hived_cells.simulation.desk import Desk
from hived_cells.simulation.ground import Ground
from hived_cells.simulation.lender import Lender
from hived_cells.simulation.low_runs import LowRuns
from hived_cells.simulation.policy import Decision
from hived_cells.simulation.run import HOUR, Fault, Run, Sample
from hived_cells.simulation.trace import Trace
from hived_cells.simulation.view import Ask, Pieces

__all__ = ["Simulation"]


class Simulation:
    """One run under construction; `run` carries it out.

    Parameters
    ----------
    trace
        The jobs.
    desks
        The schedulers.
    desk_of
        Tenant → number of its desk.
    ground
        The hardware.
    lender
        Who lends idle GPUs; None where nobody does.
    faults
        Nodes leaving and returning.
    checkpoint
        Seconds of running between two checkpoints: a job that is preempted from low priority or
        loses its node falls back to the last one.
    pause
        Seconds that a migrated job stands still.
    """

    def __init__(
        self,
        trace: Trace,
        desks: Sequence[Desk],
        desk_of: dict[str, int],
        ground: Ground,
        *,
        lender: Lender | None,
        faults: Iterable[Fault] = (),
        checkpoint: int,
        pause: int,
    ) -> None:
        self.books = Books(trace)
        self.desks, self.desk_of = desks, desk_of
        self.ground, self.lender = ground, lender
        self.low = None if lender is None else LowRuns(self.books, ground, lender, checkpoint)
        self.checkpoint, self.pause = checkpoint, pause
        minus = array("q", [-1]) * len(trace.jobs)
        self.granted = minus[:]
        self.left = array("q", (job.duration for job in trace.jobs))  # guaranteed, as decided
        self.since = minus[:]  # begin of the present guaranteed run, -1: none
        # Within a second by node, and for one node in the order given: it may leave and be back.
        for order, fault in enumerate(sorted(faults, key=lambda fault: fault.node)):
            code = 2 * fault.node + int(fault.leaves)
            heapq.heappush(self.books.events, (fault.time, NODE, order, code))
        self.touched: set[int] = set()
        self.end = trace.end
        self.in_use = 0  # GPUs of guaranteed jobs that really run
        self.samples: list[Sample] = []
        self.arrived = self.finished = 0

    def run(self, progress: Callable[[int], None] | None = None) -> Run:
        """Carry all events out; `progress` is told of finished jobs now and then."""
        jobs, count = self.books.jobs, len(self.books.jobs)
        told = 0
        while self.books.events or self.arrived < count:
            time = self.books.events[0][0] if self.books.events else jobs[self.arrived].submit
            if self.arrived < count:
                time = min(time, jobs[self.arrived].submit)
            self._advance(time)
            while self.books.events and self.books.events[0][0] == time:
                self._event(*heapq.heappop(self.books.events)[1:])
            while self.arrived < count and jobs[self.arrived].submit == time:
                self._wait(self.arrived, 0)
                self.arrived += 1
            for number in sorted(self.touched):
                for ask, decision in self.desks[number].decisions(time):
                    self._carry_out(number, ask, decision)
            self.touched.clear()
            if self.low is not None:
                self.low.serve()
            if self.finished >= told + 1000:
                told = self.finished
                if progress:
                    progress(told)
        if progress:
            progress(self.finished)
        return Run(
            started=self.books.started,
            granted=self.granted,
            ended=self.books.ended,
            seconds=self.end,
            samples=tuple(self.samples),
            **self.books.sums,
        )

    def _advance(self, time: int) -> None:
        """Let time pass: add up what the sums are over, and take the hours' samples."""
        floor = self.ground.floor
        lent, whole = (floor.lent_gpus, floor.whole) if floor else (0, 0)
        passed = min(time, self.end) - min(self.books.now, self.end)
        self.books.sums["guaranteed"] += self.in_use * passed
        if floor is not None:
            self.books.sums["lent"] += lent * passed
            self.books.sums["held"] += floor.held_gpus * passed
            self.books.sums["whole"] += whole * passed
        while len(self.samples) * HOUR < min(time, self.end):
            waiting = self.arrived - self.finished - self.books.running
            self.samples.append(
                Sample(len(self.samples) * HOUR, self.in_use, lent, whole, waiting)
            )
        self.books.now = time

    def _event(self, kind: int, number: int, version: int) -> None:
        if kind == NODE:
            self._node(version >> 1, leaves=bool(version & 1))
        elif version == self.books.version[number]:
            if kind == DONE:
                self._end_guaranteed(number)
            elif kind == ENDS:
                self._leave_view(number)
            elif kind == SINKS:
                self._sink(number)
            elif self.low is not None:
                self.low.complete(number)
                self._finish(number)

    # The guaranteed layer.

    def _wait(self, number: int, queue: int) -> None:
        """Let a job wait for its guaranteed run, and for idle GPUs meanwhile."""
        job = self.books.jobs[number]
        desk = self.desk_of[job.tenant]
        self.desks[desk].submit(Ask(number, job.tenant, job.shape, queue))
        self.touched.add(desk)
        if self.low is not None and self.books.ended[number] < 0:
            self.low.wait(number)

    def _carry_out(self, number: int, ask: Ask, decision: Decision) -> None:
        desk = self.desks[number]
        for job in decision.stop:
            self.books.sums["stopped"] += 1
            self._stop(number, job)
        for move in decision.move:
            self._move(number, move.job, move.pieces, ask.tenant)
        job = ask.job
        if self.low is not None:
            self.low.take_off(job)
        if self.books.ended[job] < 0:
            bad = self._occupy(number, job, decision.pieces)
            if bad >= 0:
                desk.view.switch(bad, up=False)
                self._wait(job, ask.queue)
                return
        desk.view.enter(ask, decision.pieces)
        if self.granted[job] < 0:
            self.granted[job] = self.books.now
        self._begin(job, self.books.now, ask.queue)

    def _occupy(self, number: int, job: int, pieces: Pieces) -> int:
        """Let a job use GPUs and preempt who is in its way; return a bad bin, -1 for none."""
        bad, in_the_way = self.ground.occupy(number, job, pieces)
        self._preempt(in_the_way)
        if bad < 0:
            self.in_use += self.books.jobs[job].shape.total
            self.books.running += 1
        return bad

    def _preempt(self, victims: Iterable[int]) -> None:
        if self.low is not None:
            for victim in victims:
                self.low.preempt(victim)

    def _begin(self, number: int, time: int, queue: int) -> None:
        """Enter the events of a guaranteed run that works from `time` on."""
        job = self.books.jobs[number]
        self.since[number] = time
        self.books.void_events(number)
        left = self.left[number]
        self.books.due(time + left, ENDS, number)
        if self.books.ended[number] < 0:
            if self.books.started[number] < 0:
                self.books.started[number] = time
            rest = job.duration - self.books.done[number]
            self.books.due(time + rest, DONE, number)
        thresholds = self.desks[self.desk_of[job.tenant]].scheduler.thresholds
        if queue < len(thresholds):
            at = -(-thresholds[queue] // job.shape.total) - (job.duration - left)
            if at < left:
                self.books.due(time + max(0, at), SINKS, number)

    def _halt(self, number: int) -> None:
        """Enter what a guaranteed run has got done up to now; its events are void."""
        worked = max(0, self.books.now - self.since[number])
        self.left[number] -= worked
        if self.books.ended[number] < 0:
            self.books.done[number] += worked
        self.since[number] = -1
        self.books.void_events(number)

    def _stop(self, number: int, job: int) -> None:
        """Let a running job wait again."""
        desk = self.desks[number]
        self._halt(job)
        was = desk.view.leave(job)
        desk.given_back(was.ask.tenant)
        if self.books.ended[job] < 0:
            self._vacate(number, job, was.pieces)
        self._wait(job, was.ask.queue)

    def _move(self, number: int, job: int, pieces: Pieces, gains: str) -> None:
        desk = self.desks[number]
        self._halt(job)
        was = desk.view.leave(job)
        gpus = was.ask.shape.total
        self.books.sums["moved"] += gpus
        self.books.sums["moved_others"] += gpus * (was.ask.tenant != gains)
        if self.books.ended[job] < 0:
            self._vacate(number, job, was.pieces)
            if (bad := self._occupy(number, job, pieces)) >= 0:
                desk.view.switch(bad, up=False)
                self._wait(job, was.ask.queue)
                return
        desk.view.enter(was.ask, pieces)
        self._begin(job, self.books.now + self.pause, was.ask.queue)

    def _sink(self, number: int) -> None:
        desk = self.desk_of[self.books.jobs[number].tenant]
        view = self.desks[desk].view
        view.sink(number)
        self.desks[desk].given_back(view.running[number].ask.tenant)
        self.touched.add(desk)
        self._halt(number)
        self._begin(number, self.books.now, view.running[number].ask.queue)

    def _end_guaranteed(self, number: int) -> None:
        """Note that the work is done; the place in the view stays until the decided end."""
        desk = self.desk_of[self.books.jobs[number].tenant]
        self.books.done[number] = self.books.jobs[number].duration
        self._vacate(desk, number, self.desks[desk].view.running[number].pieces)
        self._finish(number)

    def _leave_view(self, number: int) -> None:
        desk = self.desk_of[self.books.jobs[number].tenant]
        self.left[number] = 0
        self.since[number] = -1
        was = self.desks[desk].view.leave(number)
        self.desks[desk].given_back(was.ask.tenant)
        self.touched.add(desk)

    def _vacate(self, number: int, job: int, pieces: Pieces) -> None:
        self.ground.vacate(number, job, pieces)
        self.in_use -= self.books.jobs[job].shape.total
        self.books.running -= 1
        if self.lender is not None:
            self.lender.more_idle()

    def _finish(self, number: int) -> None:
        self.books.ended[number] = self.books.now
        self.finished += 1

    # Faults.

    def _node(self, node: int, *, leaves: bool) -> None:
        floor = self.ground.floor
        if leaves:
            bins, down = self.ground.node_leaves(node)
            self._preempt(floor.switch(node, up=False) if floor else ())
            for number, place in bins:
                self._kill(number, place)
                if down:
                    self.desks[number].view.switch(place, up=False)
            return
        if floor:
            floor.switch(node, up=True)
        for number, place in self.ground.node_returns(node):
            self.desks[number].view.switch(place, up=True)
            self.desks[number].given_back()
            self.touched.add(number)
        if self.lender is not None:
            self.lender.more_idle()

    def _kill(self, number: int, place: int) -> None:
        """Let every job in a bin lose its work since its last checkpoint and wait again."""
        for job in tuple(self.desks[number].view.holders[place]):
            self.books.sums["killed"] += 1
            self._stop(number, job)
            whole = self.books.jobs[job].duration
            self.left[job] += (whole - self.left[job]) % self.checkpoint
            if self.books.ended[job] < 0:
                self.books.done[job] -= self.books.done[job] % self.checkpoint
