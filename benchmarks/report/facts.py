"""What is known of each run: its gap to the best certified bound, whether its claim holds.

Takes rows of results and the archive and gives `Fact` values. Bounds are certified ones only, of
the archive or of any row; all comparisons are of exact numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.archive.records import Entry
from benchmarks.instances.catalog import catalog
from benchmarks.problems import PROBLEMS
from benchmarks.rows import Row

Key = tuple[str, str]
"""Instance and problem."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A run beside what is known of its problem on its instance.

    Parameters
    ----------
    instance, family, servers, method, problem, exact, seed, limit
        What was run.
    outcome
        ``"certified"`` where the answer keeps every rule and solves the problem, ``"unfair"``
        where it keeps every rule but solves an easier problem only (jobs left out, below their
        fair share, or divided), ``"refuted"`` where the certificate names a broken rule, else what
        the runner saw.
    seconds
        Processor time of the method; None where it did not end by itself.
    throughput, lower, upper
        Of this run; best certified bounds of anybody.
    said
        Whether it said that its answer is optimal.
    claimed
        The upper bound that it claims.
    """

    instance: str
    family: str
    servers: int
    method: str
    problem: str
    exact: bool
    seed: int
    limit: float
    outcome: str
    seconds: float | None
    throughput: Fraction | None
    lower: Fraction | None
    upper: Fraction | None
    said: bool
    claimed: float | None

    @property
    def gap(self) -> Fraction | None:
        """(upper − throughput) / throughput for an answer to the problem."""
        if self.outcome != "certified" or not self.throughput or self.upper is None:
            return None
        return (self.upper - self.throughput) / self.throughput

    @property
    def claim(self) -> str:
        """What became of "optimal": certified, refuted, open, or "" where it was not said."""
        if not self.said:
            return ""
        if self.outcome != "certified" or self.throughput is None:
            return "refuted"
        if self.throughput == self.upper:
            return "certified"
        beaten = self.lower is not None and self.lower > self.throughput
        return "refuted" if beaten else "open"

    @property
    def short(self) -> Fraction | None:
        """How far a refuted optimum is below a better certified answer, relative."""
        if self.claim != "refuted" or not self.throughput or self.lower is None:
            return None
        return max((self.lower - self.throughput) / self.lower, Fraction(0))

    @property
    def below(self) -> Fraction | None:
        """How far a claimed upper bound is below a certified answer, relative; None if it is not.

        A float's own rounding shows here as about 1e-16.
        """
        if self.claimed is None or not self.lower:
            return None
        missing = (self.lower - Fraction(self.claimed)) / self.lower
        return missing if missing > 0 else None

    @property
    def time(self) -> float:
        """Processor seconds where it was solved, else the limit."""
        solved = self.claim in ("certified", "open") and self.seconds is not None
        return min(self.seconds or 0.0, self.limit) if solved else self.limit

    @property
    def solved(self) -> bool:
        """Whether it said "optimal" and nothing refutes that."""
        return self.claim in ("certified", "open")


def facts(rows: Sequence[Row], archive: Iterable[Entry]) -> list[Fact]:
    """Put each run beside the best that is known."""
    lower, upper = _best(rows, archive)
    return [_fact(row, lower, upper) for row in rows]


def _best(
    rows: Sequence[Row], archive: Iterable[Entry]
) -> tuple[dict[Key, Fraction], dict[Key, Fraction]]:
    lower: dict[Key, Fraction] = {}
    upper: dict[Key, Fraction] = {}
    for entry in archive:
        key = entry.instance, str(entry.problem)
        if entry.lower is not None:
            lower[key] = entry.lower.exactly
        if entry.upper is not None:
            upper[key] = entry.upper.exactly
    for row in rows:
        if not row.get("certified"):
            continue
        for problem in PROBLEMS:
            key = str(row["instance"]), str(problem)
            if problem in _list(row["solves"]):
                value = Fraction(str(row["throughput"]))
                lower[key] = max(lower.get(key, value), value)
            if row["bound"] is not None and problem in _list(row["bounds"]):
                value = Fraction(str(row["bound"]))
                upper[key] = min(upper.get(key, value), value)
    return lower, upper


def _fact(row: Row, lower: dict[Key, Fraction], upper: dict[Key, Fraction]) -> Fact:
    name, problem = str(row["instance"]), str(row["problem"])
    outcome = str(row["outcome"])
    if outcome == "done":
        good = problem in _list(row.get("solves", []))
        outcome = "refuted" if not row["certified"] else "certified" if good else "unfair"
    certified = outcome in ("certified", "unfair")
    seconds, claimed = row.get("cpu_seconds"), row.get("claimed_bound")
    entry = catalog().get(name)
    return Fact(
        instance=name,
        family=entry.family if entry else "own",
        servers=int(str(row["servers"])),
        method=str(row["method"]),
        problem=problem,
        exact=bool(row["exact"]),
        seed=int(str(row["seed"])),
        limit=float(str(row["time_limit"])),
        outcome=outcome,
        seconds=None if seconds is None else float(str(seconds)),
        throughput=Fraction(str(row["throughput"])) if certified else None,
        lower=lower.get((name, problem)),
        upper=upper.get((name, problem)),
        said=row.get("said") == "optimal",
        claimed=None if claimed is None else float(str(claimed)),
    )


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value
