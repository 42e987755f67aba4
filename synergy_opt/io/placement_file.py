"""The placement file, schema ``synergy-opt/placement/1``.

Takes a path and gives a `Placement` with what the file states about it, or writes one; exact
numbers are strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import cast, get_args

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
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import decimal_text
from synergy_opt.io.fields import (
    as_boolean,
    as_integer,
    as_list,
    as_number,
    as_object,
    as_string,
    check_schema,
)
from synergy_opt.io.text import read_json, write_text
from synergy_opt.model import Instance, Vector

SCHEMA = "synergy-opt/placement/1"
_SPLIT = ("servers", "rows_per_server", "components", "extra_pieces", "split_jobs", "tight_rows")
_RULES = ("integral", "rows", "consolidated", "skipping")


@dataclass(frozen=True, kw_only=True)
class StatedPlacement:
    """A placement file as it stands: nothing in it is believed yet.

    Parameters
    ----------
    placement
        Its jobs and pieces, bound and split count.
    throughput
        The total that the file states, which need not be the sum of its jobs.
    upper_bound
        The bound that the file states; without a certificate nothing in the file shows it.
    """

    placement: Placement
    throughput: Fraction
    upper_bound: Fraction | None


def read_placement(path: str | Path, instance: Instance) -> StatedPlacement:
    """Read a placement file for `instance`.

    Raises
    ------
    InvalidInstance
        Naming the file, the path inside it and the rule; also when the placement names another
        instance, or a resource that the instance does not have.
    """
    try:
        return placement_from_json(read_json(path), instance)
    except InvalidInstance as error:
        raise error if error.path == f"{path}" else error.at(f"{path}: ") from None


def write_placement(placement: Placement, instance: Instance, path: str | Path) -> None:
    """Write a placement file, whole or not at all."""
    write_text(path, json.dumps(placement_to_json(placement, instance), indent=1) + "\n")


def placement_from_json(value: object, instance: Instance) -> StatedPlacement:
    """Give the placement that decoded JSON describes."""
    check_schema(value, SCHEMA)
    top = as_object(
        value,
        "$",
        required=("schema", "instance", "mechanism", "throughput", "jobs"),
        optional=("upper_bound", "certificate", "proof", "split"),
    )
    name = as_string(top["instance"], "$.instance")
    if name != instance.name:
        rule = f"the placement is for {name!r}, not for {instance.name!r}"
        raise InvalidInstance(rule, "$.instance")
    bound = as_number(top["upper_bound"], "$.upper_bound") if "upper_bound" in top else None
    if "certificate" in top and bound is None:
        raise InvalidInstance("there is a certificate but no upper_bound", "$")
    names = instance.cluster.names
    jobs = as_list(top["jobs"], "$.jobs")
    return StatedPlacement(
        placement=Placement(
            instance=name,
            mechanism=as_string(top["mechanism"], "$.mechanism"),
            jobs=tuple(_job(entry, f"$.jobs[{i}]", names) for i, entry in enumerate(jobs)),
            bound=_bound(top.get("certificate"), bound, names),
            split=_split(top["split"]) if "split" in top else None,
            proof=_proof(top["proof"]) if "proof" in top else None,
        ),
        throughput=as_number(top["throughput"], "$.throughput"),
        upper_bound=bound,
    )


def placement_to_json(placement: Placement, instance: Instance) -> dict[str, object]:
    """Give the placement as plain JSON data."""
    names = instance.cluster.names
    top: dict[str, object] = {
        "schema": SCHEMA,
        "instance": placement.instance,
        "mechanism": placement.mechanism,
        "throughput": decimal_text(placement.throughput),
    }
    if placement.bound is not None:
        top["upper_bound"] = decimal_text(placement.bound.value)
        top["certificate"] = _certificate(placement.bound, names)
    if placement.proof is not None:
        top["proof"] = placement.proof
    if placement.split is not None:
        split = {key: getattr(placement.split, key) for key in _SPLIT}
        if placement.split.fewest is not None:
            split["fewest"] = placement.split.fewest
        top["split"] = split
    top["jobs"] = [
        {
            "id": job.id,
            "demand": _amounts(job.demand, names),
            "throughput": decimal_text(job.throughput),
            "pieces": [
                {
                    "server": piece.server,
                    "gpus": decimal_text(piece.gpus),
                    **_amounts(piece.amounts, names),
                }
                for piece in job.pieces
            ],
        }
        for job in placement.jobs
    ]
    return top


def _certificate(bound: Bound | PatternBound, names: tuple[str, ...]) -> dict[str, object]:
    if isinstance(bound, Bound):
        rules = {rule: getattr(bound, rule) for rule in _RULES}
        return {"multipliers": _amounts(bound.multipliers, names), **rules}
    return {
        "split": bound.split,
        "servers": [decimal_text(price) for price in bound.servers],
        "shapes": [
            {
                "group": shape.group,
                "gpus": shape.gpus,
                **_amounts(shape.amounts, names),
                "price": decimal_text(shape.price),
            }
            for shape in bound.shapes
        ],
    }


def _job(value: object, path: str, names: tuple[str, ...]) -> PlacedJob:
    top = as_object(value, path, required=("id", "demand", "throughput", "pieces"))
    pieces = as_list(top["pieces"], f"{path}.pieces")
    return PlacedJob(
        id=as_string(top["id"], f"{path}.id"),
        demand=_vector(
            as_object(top["demand"], f"{path}.demand", required=names), f"{path}.demand", names
        ),
        throughput=as_number(top["throughput"], f"{path}.throughput"),
        pieces=tuple(
            _piece(entry, f"{path}.pieces[{i}]", names) for i, entry in enumerate(pieces)
        ),
    )


def _piece(value: object, path: str, names: tuple[str, ...]) -> Piece:
    top = as_object(value, path, required=("server", "gpus", *names))
    return Piece(
        server=as_integer(top["server"], f"{path}.server"),
        gpus=as_number(top["gpus"], f"{path}.gpus"),
        amounts=_vector(top, path, names),
    )


def _bound(
    value: object, bound: Fraction | None, names: tuple[str, ...]
) -> Bound | PatternBound | None:
    if value is None or bound is None:
        return None
    path = "$.certificate"
    if isinstance(value, Mapping) and "shapes" in value:
        return _pattern_bound(value, bound, names)
    top = as_object(value, path, required=("multipliers",), optional=_RULES)
    multipliers = as_object(top["multipliers"], f"{path}.multipliers", required=names)
    rules = {key: as_boolean(top[key], f"{path}.{key}") for key in _RULES if key in top}
    return Bound(
        value=bound,
        multipliers=_vector(multipliers, f"{path}.multipliers", names),
        **rules,
    )


def _proof(value: object) -> Proof:
    if value not in get_args(Proof):
        known = ", ".join(map(repr, get_args(Proof)))
        raise InvalidInstance(f"must be one of {known}, not {value!r}", "$.proof")
    return cast("Proof", value)


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
        amounts=_vector(top, path, names),
        price=as_number(top["price"], f"{path}.price"),
    )


def _split(value: object) -> SplitBound:
    top = as_object(value, "$.split", required=_SPLIT, optional=("fewest",))
    return SplitBound(**{key: as_integer(top[key], f"$.split.{key}") for key in top})


def _vector(table: Mapping[str, object], path: str, names: tuple[str, ...]) -> Vector:
    return tuple(as_number(table[name], f"{path}.{name}") for name in names)


def _amounts(vector: Vector, names: tuple[str, ...]) -> dict[str, str]:
    pairs = zip(names, vector, strict=True)
    return {name: decimal_text(amount) for name, amount in pairs}
