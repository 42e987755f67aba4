"""Whether an answer is built of the types of `synergy_opt.answer`, down to its numbers' places.

Takes whatever a mechanism returned, gives what is of another type; what passes here can be read
field by field, and nothing in it can answer differently when it is asked twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from synergy_opt.answer import (
    Bound,
    PatternBound,
    Piece,
    PlacedJob,
    Placement,
    Proof,
    ShapePrice,
    Split,
    SplitBound,
)
from synergy_opt.certificate.violation import Violation
from synergy_opt.exact import shown

_PROOFS = get_args(Proof)


def misshapen(answer: object) -> Iterator[Violation]:
    """Report values of another type than the fields of a `Placement` have ("types").

    Types are compared, not asked: a subclass may compute its fields, and lie.
    """
    yield from _typed(answer, Placement, "$")
    if type(answer) is not Placement:
        return
    yield from _name(answer.instance, "$.instance")
    yield from _name(answer.mechanism, "$.mechanism")
    yield from _typed(answer.stopped, bool, "$.stopped")
    proof: object = answer.proof
    if proof is not None and not (type(proof) is str and proof in _PROOFS):
        message = f"must be one of {', '.join(_PROOFS)} or None, not {shown(proof)}"
        yield Violation(rule="types", where="$.proof", message=message)
    if answer.bound is not None:
        yield from misshapen_bound(answer.bound)
    if answer.split is not None:
        # The types of its figures are judged with their values, by "split-figure".
        yield from _typed(answer.split, SplitBound, "$.split")
    yield from _typed(answer.jobs, tuple, "$.jobs")
    if type(answer.jobs) is tuple:
        for i, job in enumerate(answer.jobs):
            yield from _job(job, f"$.jobs[{i}]")


def misshapen_bound(bound: object) -> Iterator[Violation]:
    """Report a bound's fields of another type, as `misshapen` does."""
    if type(bound) is PatternBound:
        yield from _pattern_bound(bound)
        return
    yield from _typed(bound, Bound, "$.certificate")
    if type(bound) is Bound:
        yield from _typed(bound.multipliers, tuple, "$.certificate.multipliers")
        for name in ("integral", "rows", "consolidated", "skipping"):
            yield from _typed(getattr(bound, name), bool, f"$.certificate.{name}")


def _pattern_bound(bound: PatternBound) -> Iterator[Violation]:
    yield from _typed(bound.servers, tuple, "$.certificate.servers")
    yield from _typed(bound.shapes, tuple, "$.certificate.shapes")
    split: object = bound.split
    if not (type(split) is str and split in get_args(Split)):
        message = f"must be one of {', '.join(get_args(Split))}, not {shown(bound.split)}"
        yield Violation(rule="types", where="$.certificate.split", message=message)
    for i, shape in enumerate(bound.shapes if type(bound.shapes) is tuple else ()):
        yield from _typed(shape, ShapePrice, f"$.certificate.shapes[{i}]")
        if type(shape) is ShapePrice:
            yield from _typed(shape.amounts, tuple, f"$.certificate.shapes[{i}]")


def plain(placement: Placement) -> Placement:
    """Give a sound placement's fields alone, without what it remembers of its sums.

    `Placement.throughput` and its like are computed once and kept; a mechanism can have put
    another number in their place.
    """
    return replace(placement)


def _job(job: object, path: str) -> Iterator[Violation]:
    yield from _typed(job, PlacedJob, path)
    if type(job) is not PlacedJob:
        return
    yield from _name(job.id, f"{path}.id")
    yield from _typed(job.demand, tuple, f"{path}.demand")
    yield from _typed(job.pieces, tuple, f"{path}.pieces")
    for p, piece in enumerate(job.pieces if type(job.pieces) is tuple else ()):
        yield from _typed(piece, Piece, f"{path}.pieces[{p}]")
        if type(piece) is Piece:
            yield from _typed(piece.amounts, tuple, f"{path}.pieces[{p}]")


def _name(value: object, where: str) -> Iterator[Violation]:
    """Report what is no string, or holds half a character, which no file can."""
    yield from _typed(value, str, where)
    if type(value) is str and any("\ud800" <= letter <= "\udfff" for letter in value):
        message = f"must be text that UTF-8 can hold, not {shown(value)}"
        yield Violation(rule="types", where=where, message=message)


def _typed(value: object, kind: type, where: str) -> Iterator[Violation]:
    if type(value) is not kind:
        message = f"must be a {kind.__name__}, not {shown(value)} of type {type(value).__name__}"
        yield Violation(rule="types", where=where, message=message)
