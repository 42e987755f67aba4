"""Mechanisms side by side: run, certified, measured and set against one bound.

Takes an instance and mechanisms and gives a `Comparison`, which is data; `report` draws it and
writes it down.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter

from synergy_opt.answer import Allocation, Bound, PatternBound, Placement, Proof
from synergy_opt.certificate import Violation, plain, violations
from synergy_opt.checks import expect
from synergy_opt.errors import Infeasible, SynergyError
from synergy_opt.ideal import ideal_allocation, skipping_bound
from synergy_opt.measures import above_a_server, below_floor, utilisation
from synergy_opt.model import Instance, Vector
from synergy_opt.solution import Limits

Mechanism = Callable[[Instance], Placement]

_FORM = ("types", "exact-numbers", "amounts")
_PLACE = ("instance", "unknown-job", "server-exists")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One mechanism on one instance.

    Parameters
    ----------
    mechanism
        Its name.
    placement
        What it returned; believed only where `broken` is empty.
    seconds
        How long it took.
    bound
        Upper bound that holds for this placement; None where none does, because a job is placed
        below its fair floor or a rule is broken.
    proof
        What shows that no fair placement within the consolidation rule has more throughput; None
        where nothing does.
    below
        Jobs that make less than their fair throughput, the left-out ones among them.
    utilisation
        Parts in use of all GPUs, then of each resource; empty where a broken rule leaves it
        without a meaning.
    broken
        Every rule that the placement breaks, in words; empty means certified.
    """

    mechanism: str
    placement: Placement
    seconds: float
    bound: Bound | PatternBound | None
    proof: Proof | None
    below: tuple[str, ...]
    utilisation: Vector
    broken: tuple[str, ...]

    @property
    def throughput(self) -> Fraction | None:
        """Sum over the jobs; None where a rule is broken, for what is stated then is no figure."""
        return None if self.broken else self.placement.throughput

    @property
    def gap(self) -> Fraction | None:
        """(bound − throughput) / throughput; None without a bound or without throughput."""
        if self.bound is None or not self.throughput:
            return None
        return (self.bound.value - self.throughput) / self.throughput

    @property
    def whole_gpus(self) -> bool:
        """False where a piece has fractional GPUs, as at stage 2's vertex."""
        return bool(self.broken) or self.placement.whole_gpus


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A mechanism that gave no placement, and why.

    Parameters
    ----------
    mechanism
        Its name.
    error
        What it raised.
    """

    mechanism: str
    error: SynergyError

    def __str__(self) -> str:
        """Say who failed, once, and how: a function that raises is not one that finds nothing."""
        if isinstance(self.error, Infeasible):
            return f"{self.mechanism} finds no placement: {self.error}"
        return f"{self.mechanism}: {str(self.error).removeprefix(f'{self.mechanism}: ')}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Mechanisms on one instance, all against stage 1's bound where it holds.

    Parameters
    ----------
    instance
        The instance.
    ideal
        Stage 1's answer: its bound holds for every fair placement of all listed jobs in which
        each job stays within the consolidation rule.
    rows
        One a mechanism that gave a placement.
    without
        One a mechanism that gave none.
    """

    instance: Instance
    ideal: Allocation
    rows: tuple[Row, ...]
    without: tuple[Failure, ...] = ()


def compare(
    instance: Instance,
    mechanisms: Mapping[str, Mechanism],
    *,
    limits: Limits | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Run mechanisms on an instance and judge what they return.

    Parameters
    ----------
    instance
        The instance.
    mechanisms
        Functions by name.
    limits
        Of stage 1, which gives the bound.
    progress
        Called with what is about to run.

    Returns
    -------
    Comparison
        A row whose placement breaks a rule is kept, with the rules in `broken`. A mechanism that
        raises a `SynergyError` is in `without`, and the others are run all the same.

    Raises
    ------
    TypeError
        When an argument is of another type, or a function returns no `Placement`.

    Examples
    --------
    >>> from synergy_opt import proportional, shipped, tune
    >>> found = compare(shipped("worked-example"), {"proportional": proportional, "tune": tune})
    >>> for row in found.rows:
    ...     print(row.mechanism, row.placement.throughput, row.gap, row.proof, row.broken)
    proportional 4 5/12 None ()
    tune 17/3 0 multipliers ()
    """
    _check_arguments(instance, mechanisms)
    if progress:
        progress("bound")
    ideal = ideal_allocation(instance, limits=limits)
    rows, without = [], []
    for name, mechanism in mechanisms.items():
        if progress:
            progress(name)
        copy = own_copy(instance)
        start = perf_counter()
        try:
            placement = mechanism(copy)
        except SynergyError as error:
            without.append(Failure(mechanism=name, error=error))
            continue
        seconds = perf_counter() - start
        _check_type(name, mechanism, placement)
        row = judge(instance, name, placement, seconds=seconds, bound=ideal.bound)
        rows.append(replace(row, proof=_proof(row, ideal)))
    return Comparison(instance=instance, ideal=ideal, rows=tuple(rows), without=tuple(without))


def own_copy(instance: Instance) -> Instance:
    """Give an equal instance that shares nothing with this one, for a mechanism to look at.

    Frozen values can be changed by force; what a mechanism does to its copy changes no figure.
    """
    copy: Instance = pickle.loads(pickle.dumps(instance))
    return copy


def _check_arguments(instance: object, mechanisms: object) -> None:
    expect(Instance, instance, "instance")
    if not isinstance(mechanisms, Mapping):
        got = type(mechanisms).__name__
        raise TypeError(f"mechanisms must map names to functions, as {{'mine': f}}, not {got}")


def _check_type(name: str, mechanism: Mechanism, answer: object) -> None:
    if not isinstance(answer, Placement):
        where = getattr(mechanism, "__qualname__", repr(mechanism))
        got = type(answer).__name__
        raise TypeError(f"mechanism {name!r} ({where}) must return a Placement, not {got}")


def _proof(row: Row, ideal: Allocation) -> Proof | None:
    """Say what shows that a row is the best: of a mechanism's own claim nothing is believed."""
    if row.proof is not None:
        return row.proof
    optimal = row.bound == ideal.bound and row.throughput == ideal.throughput
    return ideal.proof if optimal and ideal.proof != "none" else None


def judge(
    instance: Instance,
    name: str,
    placement: Placement,
    *,
    seconds: float = 0.0,
    bound: Bound | PatternBound | None = None,
) -> Row:
    """Certify a placement and measure it.

    Parameters
    ----------
    instance, name, placement, seconds
        What was asked, who answered what, and how long that took. The placement may be anything:
        what is no placement breaks the rule "types".
    bound
        Of stage 1: for fair placements of all listed jobs within the consolidation rule. Where
        this placement is none of these, the row has a weaker bound, or none.

    Returns
    -------
    Row
        What the placement makes, its gap, and the rules it breaks.

    Examples
    --------
    >>> from synergy_opt import shipped, tune
    >>> instance = shipped("worked-example")
    >>> row = judge(instance, "tune", tune(instance))
    >>> row.placement.throughput, row.below, row.broken
    (Fraction(17, 3), (), ())
    """
    found = violations(instance, placement)
    if not any(each.rule in _FORM for each in found):
        placement = plain(placement)
    broken = tuple(map(str, found))
    row = Row(
        mechanism=name,
        placement=placement,
        seconds=seconds,
        bound=None,
        proof=None,
        below=(),
        utilisation=utilisation(instance, placement) if _measurable(found) else (),
        broken=broken,
    )
    if broken:
        return row
    below = below_floor(instance, placement)
    valid = _valid_bound(instance, placement, below, bound)
    if valid is not None and valid != placement.bound:
        # The certificate computes the bound anew from its multipliers. What the placement claims
        # of its own bound, such as "patterns", was judged above and says nothing of this one.
        again = violations(instance, replace(placement, bound=valid, proof=None))
        if again:
            return replace(row, broken=tuple(map(str, again)))
    row = replace(row, bound=valid, below=below)
    by: Proof = "patterns" if isinstance(valid, PatternBound) else "multipliers"
    return replace(row, proof=by if row.gap == 0 else None)


def _measurable(found: Sequence[Violation]) -> bool:
    """Tell whether jobs, servers and numbers are such that sums over them mean something."""
    return not any(each.rule in (*_FORM, *_PLACE) for each in found)


def _valid_bound(
    instance: Instance,
    placement: Placement,
    below: Sequence[str],
    bound: Bound | PatternBound | None,
) -> Bound | PatternBound | None:
    """Give the bound that holds for this placement, from the same multipliers or from none.

    Stage 1's bound supposes that all listed jobs run, and that each stays within the consolidation
    rule: at most the worth of the fewest servers that hold it, or its fair share. A placement
    that leaves jobs out, or is not consolidated, may exceed it; there the weaker bound counts that
    allows for this.
    """
    if bound is None or set(below) - set(placement.left_out):
        return None
    if isinstance(bound, PatternBound):
        return None if placement.left_out else bound
    consolidated = not above_a_server(instance, placement)
    if consolidated and not placement.left_out:
        return bound
    by_id = {job.id: job for job in instance.jobs}
    listed = [by_id[entry.id] for entry in placement.jobs]
    return skipping_bound(instance, bound.multipliers, jobs=listed, consolidated=consolidated)
