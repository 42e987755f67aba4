"""What placement and allocation files share: amounts by resource, a bound and what proves it.

Takes exact values and gives plain JSON data, or the other way round, strictly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast, get_args

from synergy_opt.answer import Bound, PatternBound, Proof, ShapePrice, Split
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import decimal_text
from synergy_opt.io.fields import (
    as_boolean,
    as_integer,
    as_list,
    as_number,
    as_object,
    as_string,
)
from synergy_opt.model import Vector

_RULES = ("integral", "rows", "consolidated", "skipping")


def certificate_json(bound: Bound | PatternBound, names: Sequence[str]) -> dict[str, object]:
    """Give what proves a bound as plain JSON data: multipliers and rules, or prices of shapes."""
    if isinstance(bound, Bound):
        return {
            "multipliers": amounts_json(bound.multipliers, names),
            **{rule: getattr(bound, rule) for rule in _RULES},
        }
    return {
        "split": bound.split,
        "servers": [decimal_text(price) for price in bound.servers],
        "shapes": [
            {
                "group": shape.group,
                "gpus": shape.gpus,
                **amounts_json(shape.amounts, names),
                "price": decimal_text(shape.price),
            }
            for shape in bound.shapes
        ],
    }


def bound_of(
    value: object, bound: Fraction | None, names: tuple[str, ...]
) -> Bound | PatternBound | None:
    """Give a bound from its value and its certificate; None where one of them is missing."""
    if value is None or bound is None:
        return None
    if isinstance(value, Mapping) and "shapes" in value:
        return _pattern_bound(value, bound, names)
    path = "$.certificate"
    top = as_object(value, path, required=("multipliers",), optional=_RULES)
    multipliers = as_object(top["multipliers"], f"{path}.multipliers", required=names)
    rules = {key: as_boolean(top[key], f"{path}.{key}") for key in _RULES if key in top}
    return Bound(
        value=bound,
        multipliers=vector_of(multipliers, f"{path}.multipliers", names),
        **rules,
    )


def _pattern_bound(value: object, bound: Fraction, names: tuple[str, ...]) -> PatternBound:
    path = "$.certificate"
    top = as_object(value, path, required=("split", "servers", "shapes"))
    split = as_string(top["split"], f"{path}.split")
    if split not in get_args(Split):
        rule = f"must be {' or '.join(map(repr, get_args(Split)))}, not {split!r}"
        raise InvalidInstance(rule, f"{path}.split")
    prices = as_list(top["servers"], f"{path}.servers")
    shapes = as_list(top["shapes"], f"{path}.shapes")
    return PatternBound(
        value=bound,
        shapes=tuple(
            _shape(entry, f"{path}.shapes[{i}]", names) for i, entry in enumerate(shapes)
        ),
        servers=tuple(as_number(p, f"{path}.servers[{h}]") for h, p in enumerate(prices)),
        split=cast("Split", split),
    )


def _shape(value: object, path: str, names: tuple[str, ...]) -> ShapePrice:
    top = as_object(value, path, required=("group", "gpus", *names, "price"))
    return ShapePrice(
        group=as_integer(top["group"], f"{path}.group"),
        gpus=as_integer(top["gpus"], f"{path}.gpus"),
        amounts=vector_of(top, path, names),
        price=as_number(top["price"], f"{path}.price"),
    )


def proof_of(value: object) -> Proof:
    """Give what a file says shows its throughput to be the best."""
    if value not in get_args(Proof):
        known = ", ".join(map(repr, get_args(Proof)))
        raise InvalidInstance(f"must be one of {known}, not {value!r}", "$.proof")
    return cast("Proof", value)


def vector_of(table: Mapping[str, object], path: str, names: tuple[str, ...]) -> Vector:
    """Give the amounts of an object that has a key a resource."""
    return tuple(as_number(table[name], f"{path}.{name}") for name in names)


def amounts_json(vector: Vector, names: Sequence[str]) -> dict[str, str]:
    """Give amounts as an object that has a key a resource, exact numbers as strings."""
    pairs = zip(names, vector, strict=True)
    return {name: decimal_text(amount) for name, amount in pairs}
