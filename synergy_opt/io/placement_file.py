"""The placement file, schema ``synergy-opt/placement/1``.

Takes a path and gives a `Placement` with what the file states about it, or writes one; exact
numbers are strings.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from synergy_opt.answer import Piece, PlacedJob, Placement, SplitBound
from synergy_opt.certificate import Violation, violations
from synergy_opt.checks import expect
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import decimal_text
from synergy_opt.io.bound_json import (
    amounts_json,
    bound_of,
    certificate_json,
    proof_of,
    vector_of,
)
from synergy_opt.io.fields import (
    as_integer,
    as_list,
    as_number,
    as_object,
    as_string,
    check_schema,
)
from synergy_opt.io.text import read_json, write_text
from synergy_opt.model import Instance

SCHEMA = "synergy-opt/placement/1"
_SPLIT = ("servers", "rows_per_server", "components", "extra_pieces", "split_jobs", "tight_rows")


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

    def violations(self, instance: Instance) -> tuple[Violation, ...]:
        """Give every rule that the file breaks, as `synergy-opt verify` does."""
        return violations(
            instance, self.placement, throughput=self.throughput, upper_bound=self.upper_bound
        )


def read_placement(path: str | Path, instance: Instance) -> StatedPlacement:
    """Read a placement file for `instance`.

    Parameters
    ----------
    path
        A JSON file.
    instance
        What it must be an answer to.

    Raises
    ------
    InvalidInstance
        Naming the file, the path inside it and the rule; also when the placement names another
        instance, or a resource that the instance does not have.

    Examples
    --------
    A file is believed when its placement, with the totals that stand beside it, breaks no rule:

    >>> import synergy_opt, tempfile
    >>> instance = synergy_opt.shipped("worked-example")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "placement.json"
    ...     write_placement(synergy_opt.optimal(instance), instance, path)
    ...     stated = read_placement(path, instance)
    >>> stated.violations(instance)
    ()
    """
    try:
        return placement_from_json(read_json(path), instance)
    except InvalidInstance as error:
        raise error if error.path == f"{path}" else error.at(f"{path}: ") from None


def write_placement(placement: Placement, instance: Instance, path: str | Path) -> None:
    """Write a placement file, whole or not at all.

    Parameters
    ----------
    placement, instance
        What a mechanism returned, and what it was asked about.
    path
        Where to.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from synergy_opt import read_placement, shipped, tune
    >>> instance = shipped("worked-example")
    >>> with TemporaryDirectory() as folder:
    ...     write_placement(tune(instance), instance, Path(folder, "tune.json"))
    ...     read_placement(Path(folder, "tune.json"), instance).placement == tune(instance)
    True
    """
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
            bound=bound_of(top.get("certificate"), bound, names),
            split=_split(top["split"]) if "split" in top else None,
            proof=proof_of(top["proof"]) if "proof" in top else None,
        ),
        throughput=as_number(top["throughput"], "$.throughput"),
        upper_bound=bound,
    )


def placement_to_json(placement: Placement, instance: Instance) -> dict[str, object]:
    """Give the placement as plain JSON data."""
    expect(Placement, placement, "placement")
    expect(Instance, instance, "instance")
    names = instance.cluster.names
    top: dict[str, object] = {
        "schema": SCHEMA,
        "instance": placement.instance,
        "mechanism": placement.mechanism,
        "throughput": decimal_text(placement.throughput),
    }
    if placement.bound is not None:
        bound = placement.bound
        top["upper_bound"] = decimal_text(bound.value)
        top["certificate"] = certificate_json(bound, names)
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
            "demand": amounts_json(job.demand, names),
            "throughput": decimal_text(job.throughput),
            "pieces": [
                {
                    "server": piece.server,
                    "gpus": decimal_text(piece.gpus),
                    **amounts_json(piece.amounts, names),
                }
                for piece in job.pieces
            ],
        }
        for job in placement.jobs
    ]
    return top


def _job(value: object, path: str, names: tuple[str, ...]) -> PlacedJob:
    top = as_object(value, path, required=("id", "demand", "throughput", "pieces"))
    pieces = as_list(top["pieces"], f"{path}.pieces")
    return PlacedJob(
        id=as_string(top["id"], f"{path}.id"),
        demand=vector_of(
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
        amounts=vector_of(top, path, names),
    )


def _split(value: object) -> SplitBound:
    top = as_object(value, "$.split", required=_SPLIT, optional=("fewest",))
    return SplitBound(**{key: as_integer(top[key], f"$.split.{key}") for key in top})
