"""The moving parts of a simulation: who is in the system, what they hold, how far they are.

Takes the jobs of a workload; `simulate` asks it to admit, to decide and to let time pass. Time and
work are whole ticks of one `Clock`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from synergy_opt.answer import PlacedJob, Placement
from synergy_opt.errors import Infeasible, InvalidInstance, NotCertified
from synergy_opt.fair_share import fair_throughput, job_throughput
from synergy_opt.model import Instance, Vector
from synergy_opt.simulation.books import Books
from synergy_opt.simulation.clock import Clock
from synergy_opt.simulation.policies import Policy
from synergy_opt.simulation.queue import QueuedJob
from synergy_opt.simulation.sticky import renamed
from synergy_opt.simulation.timing import Timing

Mechanism = Callable[[Instance], Placement]


class Engine:
    """The state of a simulation; mutable, made for use inside one pure function.

    Parameters
    ----------
    kinds
        One job a kind of the workload, on the cluster.
    clock
        Made for all times and speeds.
    arrivals
        All jobs, in order of arrival.
    policy, mechanism, timing
        See `simulate`.
    whole_queue
        Show the mechanism the whole queue, or the runnable jobs alone.
    """

    def __init__(
        self,
        kinds: Instance,
        clock: Clock,
        arrivals: Sequence[QueuedJob],
        *,
        policy: Policy,
        mechanism: Mechanism,
        timing: Timing,
        whole_queue: bool,
    ) -> None:
        self._kinds, self._clock, self._timing = kinds, clock, timing
        self._policy, self._mechanism, self._whole = policy, mechanism, whole_queue
        self._arrivals, self._next = arrivals, 0
        self._move_cost = clock.ticks(timing.move_cost)
        self._round = clock.ticks(timing.round_length)
        self._books = Books(kinds.cluster)
        self._speeds: dict[tuple[str, int, Vector], int] = {}
        self._floors: dict[tuple[str, int, int, int], int] = {}
        self._recent: dict[tuple[str, int, int], tuple[Vector, int]] = {}
        self._candidates: list[QueuedJob] = []
        self.queue: list[QueuedJob] = []
        self.running: list[QueuedJob] = []
        self.used: Vector = self._books.hold([])
        self.decisions = 0

    def next_arrival(self) -> int | None:
        """Give when the next job enters the queue; None after the last."""
        return self._arrivals[self._next].ready if self._next < len(self._arrivals) else None

    def admit(self, now: int) -> None:
        """Let in who has arrived."""
        while self._next < len(self._arrivals) and self._arrivals[self._next].ready <= now:
            self.queue.append(self._arrivals[self._next])
            self._next += 1

    def decide(self, now: int) -> bool:
        """Order the jobs and, where something has changed, place them; tell whether it has."""
        self.queue = self._ordered(now)
        candidates = self.queue if self._whole else self._runnable()
        if candidates == self._candidates:
            return False
        self._candidates = list(candidates)
        placement = self._mechanism(self._kinds.with_jobs(job.job for job in candidates))
        self.decisions += 1
        entries = self._entries(placement)
        if self._timing.sticky:
            entries = renamed(self._kinds.cluster, entries, {j.id: j.pieces for j in self.running})
        self._apply(entries, now)
        return True

    def _ordered(self, now: int) -> list[QueuedJob]:
        order = self._policy(tuple(self.queue), now)
        if not isinstance(order, Iterable):
            raise InvalidInstance(
                f"must give the jobs in order, not {type(order).__name__}", "policy"
            )
        order = list(order)
        if len(order) != len(self.queue) or set(order) != set(self.queue):
            raise InvalidInstance("must give each job in the system once", "policy")
        return order

    def _runnable(self) -> list[QueuedJob]:
        """Walk the order and take each job whose GPUs are still free (`synergy_opt.runnable`)."""
        free, chosen = self._kinds.cluster.gpus, []
        for job in self.queue:
            if job.gpus <= free:
                chosen.append(job)
                free -= job.gpus
                if not free:
                    break
        return chosen

    def _entries(self, placement: Placement) -> dict[str, PlacedJob]:
        """Give the entries with a place, by job."""
        if not isinstance(placement, Placement):
            raise InvalidInstance(
                f"must return a Placement, not {type(placement).__name__}", "mechanism"
            )
        entries = {entry.id: entry for entry in placement.jobs if entry.pieces}
        asked = {job.id for job in self._candidates}
        strangers = entries.keys() - asked
        if strangers:
            raise NotCertified(f"job {min(strangers)!r} is placed, but was not to be")
        if sum(bool(entry.pieces) for entry in placement.jobs) > len(entries):
            raise NotCertified("a job is placed twice")
        return entries

    def _apply(self, entries: dict[str, PlacedJob], now: int) -> None:
        """Let exactly these jobs run from now on."""
        before = self.running
        self.running = [job for job in self._candidates if job.id in entries]
        self.used = self._books.hold([(job.gpus, entries[job.id]) for job in self.running])
        stays = set(before)
        for job in before:
            if job.id not in entries:
                job.pieces, job.demand, job.speed = (), None, 0
        for job in self.running:
            entry = entries[job.id]
            if job.pieces is not entry.pieces:
                self._put(job, entry, stayed=job in stays, now=now)
            if job.demand is not entry.demand:
                self._pace(job, entry.demand)

    def _put(self, job: QueuedJob, entry: PlacedJob, *, stayed: bool, now: int) -> None:
        place = tuple((piece.server, piece.gpus) for piece in entry.pieces)
        if job.started is None:
            job.started = now
        elif not (stayed and place == job.place):
            job.moves += 1
            job.delay = self._move_cost
        job.place, job.pieces = place, entry.pieces

    def _pace(self, job: QueuedJob, amounts: Vector) -> None:
        """Set what a job makes of these amounts: one function scores all mechanisms."""
        job.demand = amounts
        recent = (job.profile, job.gpus, id(amounts))
        known = self._recent.get(recent)
        if known is None or known[0] is not amounts:
            known = (amounts, self._speed(job, amounts))
            if len(self._recent) < 10_000:  # a mechanism may make new values every time
                self._recent[recent] = known
        job.speed = known[1]
        if job.slowest is None or job.speed < job.slowest:
            job.slowest = job.speed
        if self._timing.floor_iterations:
            job.per_round = self._floor(job, self._round)

    def _speed(self, job: QueuedJob, amounts: Vector) -> int:
        key = (job.profile, job.gpus, amounts)
        if key not in self._speeds:
            speed = job_throughput(self._kinds, job.job, amounts) * self._clock.grain
            assert speed.denominator == 1, "the clock was made for all grid points"
            if speed == 0:
                raise NotCertified(f"job {job.id!r} cannot run with what it is given")
            self._speeds[key] = speed.numerator
        return self._speeds[key]

    def _floor(self, job: QueuedJob, ticks: int) -> int:
        """Give the work of the whole iterations that a job makes in so many ticks of a round."""
        key = (job.profile, job.gpus, job.speed, ticks)
        if key not in self._floors:
            self._floors[key] = self._whole_iterations(job, ticks)
        return self._floors[key]

    def _whole_iterations(self, job: QueuedJob, ticks: int) -> int:
        fair = fair_throughput(self._kinds, job.job)
        iterations = Fraction(job.speed * ticks, self._clock.grain * self._clock.second) * fair
        work = (iterations.numerator // iterations.denominator) / fair * self._clock.second
        assert work.denominator == 1, "the clock was made for whole iterations"
        if work == 0 and ticks == self._round:
            rule = f"job {job.id!r} does not make one iteration a round"
            raise Infeasible(f"{rule}: it never ends while iterations are counted whole")
        return work.numerator

    def shortest(self) -> Fraction | None:
        """Give the ticks until the first running job ends; None where nothing runs."""
        grain = self._clock.grain
        ends = (job.delay + Fraction(job.remaining * grain, job.speed) for job in self.running)
        return min(ends, default=None)

    def rounds_to_end(self) -> int | None:
        """Give the rounds until the first running job ends; None where nothing runs."""
        return min(map(self._rounds, self.running), default=None)

    def _rounds(self, job: QueuedJob) -> int:
        lost = -(-job.delay // self._round)
        if job.per_round is not None:
            first = self._floor(job, lost * self._round - job.delay) if lost else 0
            return lost + max(0, -(-(job.remaining - first) // job.per_round))
        # The delay counts as work that would have been done meanwhile.
        work = job.remaining * self._clock.grain + job.delay * job.speed
        return -(-work // (job.speed * self._round))

    def advance(self, now: int, ticks: int) -> list[QueuedJob]:
        """Let time pass; give the jobs that ended, which leave the queue."""
        ended = [job for job in self.running if self._work(job, now, ticks)]
        if ended:
            self.queue = [job for job in self.queue if job.finished is None]
            self.running = [job for job in self.running if job.finished is None]
        return ended

    def _work(self, job: QueuedJob, now: int, ticks: int) -> bool:
        """Let one job work; tell whether it ends."""
        grain, delay = self._clock.grain, job.delay
        ran = max(0, ticks - delay)
        job.delay = max(0, delay - ticks)
        if job.per_round is None:
            done = job.speed * (ran // grain)
        else:
            whole, rest = divmod(ran, self._round)
            done = job.per_round * whole + (self._floor(job, rest) if rest else 0)
        if done < job.remaining:
            job.remaining -= done
            job.attained += ran
            return False
        spent = Fraction(job.remaining * grain, job.speed) if job.per_round is None else ran
        job.finished, job.ran = now + delay + Fraction(spent), job.attained + Fraction(spent)
        job.remaining = 0
        return True
