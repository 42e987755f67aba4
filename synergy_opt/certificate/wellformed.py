"""Whether an answer is a placement of exact numbers in vectors of the right length.

Takes an answer as a mechanism returned it, gives what would make any further arithmetic
inexact or impossible; what passes here can be computed with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from synergy_opt.answer import Bound, PatternBound, Placement
from synergy_opt.certificate.form import misshapen, misshapen_bound
from synergy_opt.certificate.violation import Violation
from synergy_opt.exact import shown
from synergy_opt.model import Instance


def malformed(
    instance: Instance, placement: Placement, stated: Iterable[tuple[str, object]]
) -> Iterator[Violation]:
    """Report fields of another type ("types"), else inexact numbers or too few of them.

    The latter two are named "exact-numbers" and "amounts".
    """
    faults = tuple(misshapen(placement))
    yield from faults
    if not faults:
        yield from _inexact(instance.cluster.names, placement, stated)


def _inexact(
    names: tuple[str, ...], placement: Placement, stated: Iterable[tuple[str, object]]
) -> Iterator[Violation]:
    for where, number in stated:
        yield from _number(number, where)
    if placement.bound is not None:
        yield from _bound(names, placement.bound)
    for i, job in enumerate(placement.jobs):
        yield from _vector(job.demand, names, f"$.jobs[{i}].demand")
        yield from _number(job.throughput, f"$.jobs[{i}].throughput")
        for p, piece in enumerate(job.pieces):
            path = f"$.jobs[{i}].pieces[{p}]"
            yield from _vector(piece.amounts, names, path)
            yield from _number(piece.gpus, f"{path}.gpus")
            yield from _number(piece.server, f"{path}.server", whole=True)


def malformed_bound(names: tuple[str, ...], bound: Bound | PatternBound) -> Iterator[Violation]:
    """Report a bound's fields, as `malformed` does."""
    faults = tuple(misshapen_bound(bound))
    yield from faults
    if not faults:
        yield from _bound(names, bound)


def _bound(names: tuple[str, ...], bound: Bound | PatternBound) -> Iterator[Violation]:
    """Report a bound's value, multipliers or prices, as `malformed` does."""
    yield from _number(bound.value, "$.upper_bound")
    if isinstance(bound, PatternBound):
        for h, price in enumerate(bound.servers):
            yield from _number(price, f"$.certificate.servers[{h}]")
        for i, shape in enumerate(bound.shapes):
            path = f"$.certificate.shapes[{i}]"
            yield from _vector(shape.amounts, names, path)
            yield from _number(shape.price, f"{path}.price")
            yield from _number(shape.group, f"{path}.group", whole=True)
            yield from _number(shape.gpus, f"{path}.gpus", whole=True)
        return
    yield from _vector(bound.multipliers, names, "$.certificate.multipliers")


def _vector(vector: tuple[object, ...], names: tuple[str, ...], path: str) -> Iterator[Violation]:
    if len(vector) != len(names):
        message = f"has {len(vector)} amounts for {len(names)} resources"
        yield Violation(rule="amounts", where=path, message=message)
        return
    for name, number in zip(names, vector, strict=True):
        if not _exact(number):  # saves most jobs the text of their path
            yield from _number(number, f"{path}.{name}")


def _number(number: object, where: str, *, whole: bool = False) -> Iterator[Violation]:
    if type(number) is not int and (whole or not _exact(number)):
        what = "a whole number" if whole else "a whole number or a Fraction"
        message = f"must be {what}, not {shown(number)} of type {type(number).__name__}"
        yield Violation(rule="exact-numbers", where=where, message=message)


def _exact(number: object) -> bool:
    """Tell whether Python's own arithmetic will answer; a subclass could bring its own."""
    if type(number) is Fraction:
        above, below = number.numerator, number.denominator
        return type(above) is int and type(below) is int and below > 0
    return type(number) is int
