"""The allocation file, schema ``synergy-opt/allocation/1``: stage 1's answer.

Takes a path and gives an `Allocation`, or writes one; exact numbers are strings, and reading what
was written gives an equal value.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from synergy_opt.answer import Allocation, Bound, Choice
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
    as_boolean,
    as_integer,
    as_list,
    as_number,
    as_object,
    as_string,
    check_schema,
)
from synergy_opt.io.text import read_json, write_text
from synergy_opt.model import Instance

SCHEMA = "synergy-opt/allocation/1"
_TOP = ("schema", "instance", "throughput", "upper_bound", "certificate", "proof", "jobs")


def read_allocation(path: str | Path, instance: Instance) -> Allocation:
    """Read an allocation file for `instance`.

    Parameters
    ----------
    path
        A JSON file.
    instance
        What it must be an answer to.

    Raises
    ------
    InvalidInstance
        Naming the file, the path inside it and the rule; also when the allocation names another
        instance, a resource that the instance does not have, or a total that is not the sum of
        its jobs.

    Examples
    --------
    >>> import synergy_opt, tempfile
    >>> instance = synergy_opt.shipped("worked-example")
    >>> allocation = synergy_opt.ideal_allocation(instance)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "allocation.json"
    ...     write_allocation(allocation, instance, path)
    ...     read_allocation(path, instance) == allocation
    True
    """
    try:
        return allocation_from_json(read_json(path), instance)
    except InvalidInstance as error:
        raise error if error.path == f"{path}" else error.at(f"{path}: ") from None


def write_allocation(allocation: Allocation, instance: Instance, path: str | Path) -> None:
    """Write an allocation file, whole or not at all.

    Parameters
    ----------
    allocation, instance
        What a stage-1 method returned, and what it was asked about.
    path
        Where to.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from synergy_opt import ideal_allocation, read_allocation, shipped
    >>> instance = shipped("worked-example")
    >>> allocation = ideal_allocation(instance)
    >>> with TemporaryDirectory() as folder:
    ...     write_allocation(allocation, instance, Path(folder, "ideal.json"))
    ...     read_allocation(Path(folder, "ideal.json"), instance) == allocation
    True
    """
    write_text(path, json.dumps(allocation_to_json(allocation, instance), indent=1) + "\n")


def allocation_from_json(value: object, instance: Instance) -> Allocation:
    """Give the allocation that decoded JSON describes."""
    check_schema(value, SCHEMA)
    top = as_object(value, "$", required=_TOP, optional=("rivals", "stopped"))
    name = as_string(top["instance"], "$.instance")
    if name != instance.name:
        rule = f"the allocation is for {name!r}, not for {instance.name!r}"
        raise InvalidInstance(rule, "$.instance")
    names = instance.cluster.names
    bound = bound_of(top["certificate"], as_number(top["upper_bound"], "$.upper_bound"), names)
    if not isinstance(bound, Bound):
        raise InvalidInstance("must be an object with multipliers", "$.certificate")
    jobs = as_list(top["jobs"], "$.jobs")
    allocation = Allocation(
        instance=name,
        jobs=tuple(_choice(entry, f"$.jobs[{i}]", names) for i, entry in enumerate(jobs)),
        bound=bound,
        proof=proof_of(top["proof"]),
        rivals=as_integer(top.get("rivals", 0), "$.rivals"),
        stopped=as_boolean(top.get("stopped", False), "$.stopped"),
    )
    if as_number(top["throughput"], "$.throughput") != allocation.throughput:
        total = decimal_text(allocation.throughput)
        raise InvalidInstance(f"must be the sum of the jobs, {total}", "$.throughput")
    return allocation


def allocation_to_json(allocation: Allocation, instance: Instance) -> dict[str, object]:
    """Give the allocation as plain JSON data."""
    expect(Allocation, allocation, "allocation")
    expect(Instance, instance, "instance")
    names = instance.cluster.names
    return {
        "schema": SCHEMA,
        "instance": allocation.instance,
        "throughput": decimal_text(allocation.throughput),
        "upper_bound": decimal_text(allocation.bound.value),
        "certificate": certificate_json(allocation.bound, names),
        "proof": allocation.proof,
        "rivals": allocation.rivals,
        "stopped": allocation.stopped,
        "jobs": [
            {
                "id": job.id,
                "mixture": [
                    {"point": point, "part": decimal_text(part)} for point, part in job.mixture
                ],
                "demand": amounts_json(job.demand, names),
                "throughput": decimal_text(job.throughput),
            }
            for job in allocation.jobs
        ],
    }


def _choice(value: object, path: str, names: tuple[str, ...]) -> Choice:
    top = as_object(value, path, required=("id", "mixture", "demand", "throughput"))
    mixture = as_list(top["mixture"], f"{path}.mixture")
    demand = as_object(top["demand"], f"{path}.demand", required=names)
    return Choice(
        id=as_string(top["id"], f"{path}.id"),
        mixture=tuple(_part(part, f"{path}.mixture[{m}]") for m, part in enumerate(mixture)),
        demand=vector_of(demand, f"{path}.demand", names),
        throughput=as_number(top["throughput"], f"{path}.throughput"),
    )


def _part(value: object, path: str) -> tuple[int, Fraction]:
    top = as_object(value, path, required=("point", "part"))
    return as_integer(top["point"], f"{path}.point"), as_number(top["part"], f"{path}.part")
