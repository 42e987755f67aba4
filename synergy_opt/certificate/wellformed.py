"""Whether a placement is made of the right values: exact numbers in vectors of the right length.

Takes a placement as a mechanism returned it, gives what would make any further arithmetic
inexact or impossible; what passes here can be computed with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TypeGuard, TypeVar, get_args

from synergy_opt.answer import Bound, Piece, PlacedJob, Placement, Proof, SplitBound
from synergy_opt.certificate.violation import Violation
from synergy_opt.model import Instance

T = TypeVar("T")


def malformed(
    instance: Instance, placement: object, stated: Iterable[tuple[str, object]]
) -> Iterator[Violation]:
    """Report values of a wrong type ("types"), inexact numbers ("exact-numbers"), "amounts".

    A mechanism may return anything: nothing is supposed of `placement`.
    """
    if not _is(placement, Placement):
        yield _wrong("$", "a Placement", placement)
        return
    names = instance.cluster.names
    for where, number in stated:
        yield from _number(number, where)
    if _is(placement.bound, Bound):
        yield from malformed_bound(names, placement.bound)
    elif placement.bound is not None:
        yield _wrong("$.certificate", "a Bound", placement.bound)
    if not (placement.split is None or _is(placement.split, SplitBound)):
        yield _wrong("$.split", "a SplitBound", placement.split)
    if not (placement.proof is None or placement.proof in get_args(Proof)):
        yield _wrong("$.proof", "a Proof", placement.proof)
    if not _is(placement.mechanism, str):
        yield _wrong("$.mechanism", "a string", placement.mechanism)
    if not _is_sequence(placement.jobs):
        yield _wrong("$.jobs", "a tuple", placement.jobs)
        return
    for i, job in enumerate(placement.jobs):
        yield from _job(job, names, f"$.jobs[{i}]")


def malformed_bound(names: tuple[str, ...], bound: Bound) -> Iterator[Violation]:
    """Report a bound's value or multipliers, as `malformed` does."""
    yield from _number(bound.value, "$.upper_bound")
    yield from _vector(bound.multipliers, names, "$.certificate.multipliers")


def _job(job: object, names: tuple[str, ...], path: str) -> Iterator[Violation]:
    if not _is(job, PlacedJob):
        yield _wrong(path, "a PlacedJob", job)
        return
    if not _is(job.id, str):
        yield _wrong(f"{path}.id", "a string", job.id)
    yield from _vector(job.demand, names, f"{path}.demand")
    yield from _number(job.throughput, f"{path}.throughput")
    if not _is_sequence(job.pieces):
        yield _wrong(f"{path}.pieces", "a tuple", job.pieces)
        return
    for p, piece in enumerate(job.pieces):
        where = f"{path}.pieces[{p}]"
        if not _is(piece, Piece):
            yield _wrong(where, "a Piece", piece)
            continue
        yield from _vector(piece.amounts, names, where)
        yield from _number(piece.gpus, f"{where}.gpus")
        yield from _number(piece.server, f"{where}.server", whole=True)


def _vector(vector: object, names: tuple[str, ...], path: str) -> Iterator[Violation]:
    if not _is_sequence(vector):
        yield _wrong(path, "a tuple of numbers", vector)
        return
    if len(vector) != len(names):
        message = f"has {len(vector)} amounts for {len(names)} resources"
        yield Violation(rule="amounts", where=path, message=message)
        return
    for name, number in zip(names, vector, strict=True):
        if type(number) is not Fraction:  # saves most jobs the text of their path
            yield from _number(number, f"{path}.{name}")


def _number(number: object, where: str, *, whole: bool = False) -> Iterator[Violation]:
    kinds = (int,) if whole else (int, Fraction)
    if isinstance(number, bool) or not isinstance(number, kinds):
        what = "a whole number" if whole else "a whole number or a Fraction"
        message = f"must be {what}, not {_shown(number)} of type {type(number).__name__}"
        yield Violation(rule="exact-numbers", where=where, message=message)


def _is(value: object, kind: type[T]) -> TypeGuard[T]:
    """Ask for a type without the type checker's knowledge of what the annotations promise."""
    return isinstance(value, kind)


def _is_sequence(value: object) -> TypeGuard[tuple[object, ...] | list[object]]:
    return isinstance(value, tuple | list)


def _wrong(where: str, what: str, value: object) -> Violation:
    message = f"must be {what}, not {_shown(value)} of type {type(value).__name__}"
    return Violation(rule="types", where=where, message=message)


def _shown(value: object) -> str:
    """Quote a value, cut to what fits on a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
