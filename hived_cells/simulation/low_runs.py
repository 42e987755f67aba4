"""The low layer of a simulation: takes idle GPUs that are lent, runs jobs ahead on them."""

from array import array

from hived_cells.simulation.books import LOW_DONE, Books
from hived_cells.simulation.floor import Spots
from hived_cells.simulation.ground import Ground
from hived_cells.simulation.lender import Lender

__all__ = ["LowRuns"]


class LowRuns:
    """Jobs that run at low priority until they are done, start guaranteed, or are preempted.

    Parameters
    ----------
    books
        What both layers write.
    ground
        The hardware.
    lender
        Who lends idle GPUs.
    checkpoint
        Seconds of running between two checkpoints; a preempted job falls back to the last one.
    """

    __slots__ = ("_books", "_checkpoint", "_ground", "_lender", "_since")

    def __init__(self, books: Books, ground: Ground, lender: Lender, checkpoint: int) -> None:
        self._books, self._ground, self._lender = books, ground, lender
        self._checkpoint = checkpoint
        self._since = array("q", [-1]) * len(books.jobs)  # begin of the present run, -1: none

    def serve(self) -> None:
        """Lend what is idle."""
        self._lender.serve(self._lend)

    def wait(self, number: int) -> None:
        """Let a job wait for idle GPUs, unless it runs on some."""
        if self._since[number] < 0:
            job = self._books.jobs[number]
            self._lender.wait(number, job.tenant, job.shape)

    def complete(self, number: int) -> None:
        """Let a job be done."""
        self._end(number)
        self._books.done[number] = self._books.jobs[number].duration

    def take_off(self, number: int) -> None:
        """Let a job wait no more: what it has done at low priority is kept."""
        books = self._books
        if self._since[number] >= 0:
            books.done[number] += books.now - self._since[number]
            self._end(number)
        elif books.ended[number] < 0:
            self._lender.forget(number)

    def preempt(self, number: int) -> None:
        """Let a job give way; it falls back to its last checkpoint."""
        books = self._books
        gpus = books.jobs[number].shape.total
        worked = books.now - self._since[number]
        lost = worked % self._checkpoint
        books.done[number] += worked - lost
        books.sums["preempted"] += gpus
        books.sums["preemptions"] += 1
        books.sums["lost"] += lost * gpus
        self._end(number)
        self.wait(number)

    def _lend(self, number: int, tenant: str, spots: Spots) -> None:
        books = self._books
        self._ground.lend(number, tenant, spots)
        self._since[number] = books.now
        if books.started[number] < 0:
            books.started[number] = books.now
        books.void_events(number)
        rest = books.jobs[number].duration - books.done[number]
        books.due(books.now + rest, LOW_DONE, number)
        books.running += 1

    def _end(self, number: int) -> None:
        job = self._books.jobs[number]
        self._ground.take_back(number)
        self._since[number] = -1
        self._books.void_events(number)
        self._books.running -= 1
        self._lender.returned(job.tenant, job.shape.total)
        self._lender.more_idle()
