"""What both layers of a simulation write: how far each job is, and which events are to come."""

import heapq
from array import array

from hived_cells.simulation.run import SUMS
from hived_cells.simulation.trace import Trace

__all__ = ["DONE", "ENDS", "LOW_DONE", "NODE", "SINKS", "Books"]

NODE, DONE, ENDS, LOW_DONE, SINKS = range(5)  # kinds of events; those of one second in this order


class Books:
    """The jobs' progress and the events of one run.

    Parameters
    ----------
    trace
        The jobs.

    Examples
    --------
    >>> from hived_cells.simulation.trace import Shape, TraceJob
    >>> books = Books(Trace([TraceJob("j", "A", 0, 60, Shape(1, 1))]))
    >>> books.due(60, DONE, 0)
    >>> books.events == [(60, DONE, 0, 0)]
    True
    """

    __slots__ = ("done", "ended", "events", "jobs", "now", "running", "started", "sums", "version")

    def __init__(self, trace: Trace) -> None:
        count = len(trace.jobs)
        minus = array("q", [-1]) * count
        self.jobs = trace.jobs
        self.started, self.ended = minus[:], minus[:]
        self.done = array("q", [0]) * count  # seconds of work really done
        self.version = array("q", [0]) * count  # events of older versions are void
        self.events: list[tuple[int, int, int, int]] = []
        self.now = 0
        self.running = 0
        self.sums = dict.fromkeys(SUMS, 0)

    def due(self, time: int, kind: int, number: int) -> None:
        """Enter an event of a job; it is void once the job's version has changed."""
        heapq.heappush(self.events, (time, kind, number, self.version[number]))

    def void_events(self, number: int) -> None:
        """Make all events of a job void."""
        self.version[number] += 1
