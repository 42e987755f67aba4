"""The instance file, schema ``synergy-opt/instance/1``.

Takes a path and gives an `Instance`, or writes one; reading what was written gives an equal value.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import cast

from synergy_opt.checks import check_resources, expect
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import ExactArray, decimal_text
from synergy_opt.io.fields import (
    as_integer,
    as_list,
    as_mapping,
    as_number,
    as_object,
    as_string,
    check_schema,
)
from synergy_opt.io.text import read_json, write_text
from synergy_opt.model import (
    Cluster,
    Instance,
    Job,
    Objective,
    Per,
    Profile,
    Server,
)

SCHEMA = "synergy-opt/instance/1"


def read_instance(path: str | Path) -> Instance:
    """Read an instance file.

    Raises
    ------
    InvalidInstance
        Naming the file, the path inside it and the rule.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from synergy_opt import shipped
    >>> instance = shipped("two-groups")
    >>> with TemporaryDirectory() as folder:
    ...     write_instance(instance, Path(folder, "mine.json"))
    ...     read_instance(Path(folder, "mine.json")) == instance
    True
    """
    try:
        return instance_from_json(read_json(path))
    except InvalidInstance as error:
        raise error if error.path == f"{path}" else error.at(f"{path}: ") from None


def write_instance(instance: Instance, path: str | Path) -> None:
    """Write an instance file, whole or not at all.

    Parameters
    ----------
    instance
        What is to be read again by `read_instance`.
    path
        Where to.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from synergy_opt import shipped
    >>> with TemporaryDirectory() as folder:
    ...     write_instance(shipped("worked-example"), Path(folder, "mine.json"))
    ...     read_instance(Path(folder, "mine.json")).name
    'worked-example'
    """
    write_text(path, instance_text(instance))


def instance_from_json(value: object) -> Instance:
    """Give the instance that decoded JSON describes."""
    check_schema(value, SCHEMA)
    top = as_object(
        value,
        "$",
        required=("schema", "name", "cluster", "profiles", "jobs"),
        optional=("objective",),
    )
    cluster = _cluster(top["cluster"])
    return Instance(
        name=as_string(top["name"], "$.name"),
        cluster=cluster,
        profiles=[
            _profile(name, entry, cluster.names)
            for name, entry in as_mapping(top["profiles"], "$.profiles").items()
        ],
        jobs=[
            _job(entry, f"$.jobs[{i}]") for i, entry in enumerate(as_list(top["jobs"], "$.jobs"))
        ],
        objective=cast("Objective", as_string(top.get("objective", "relative"), "$.objective")),
    )


def instance_text(instance: Instance) -> str:
    """Give the instance file's text: one line a server group, profile row and job."""
    expect(Instance, instance, "instance")
    cluster, lines = instance.cluster, []
    lines.append(f'{{"schema": {_dump(SCHEMA)}, "name": {_dump(instance.name)},')
    if instance.objective != "relative":
        lines.append(f' "objective": {_dump(instance.objective)},')
    lines.append(f' "cluster": {{"resources": {_dump(dict(cluster.resources))},')
    lines.append(
        '  "servers": [\n   '
        + ",\n   ".join(_server_text(s, cluster.names) for s in cluster.servers)
        + "]},"
    )
    profiles = ",\n  ".join(_profile_text(profile) for profile in instance.profiles)
    lines.append(f' "profiles": {{\n  {profiles}}},')
    jobs = ",\n  ".join(_job_text(job) for job in instance.jobs)
    lines.append(f' "jobs": [\n  {jobs}]}}\n')
    return "\n".join(lines)


def _cluster(value: object) -> Cluster:
    path = "$.cluster"
    top = as_object(value, path, required=("resources", "servers"))
    units = as_mapping(top["resources"], f"{path}.resources")
    resources = {name: as_string(unit, f"{path}.resources.{name}") for name, unit in units.items()}
    try:
        check_resources(tuple(resources))
        return Cluster(
            resources=resources,
            servers=[
                _server(entry, f".servers[{i}]", tuple(resources))
                for i, entry in enumerate(as_list(top["servers"], ".servers"))
            ],
        )
    except InvalidInstance as error:
        raise error.at(path) from None


def _server(value: object, path: str, names: tuple[str, ...]) -> Server:
    try:
        top = as_object(value, "", required=("type", "count", "gpus", *names))
        return Server(
            type=as_string(top["type"], ".type"),
            count=as_integer(top["count"], ".count"),
            gpus=as_integer(top["gpus"], ".gpus"),
            capacity=tuple(_capacity(top[name], f".{name}") for name in names),
        )
    except InvalidInstance as error:
        raise error.at(path) from None


def _capacity(value: object, path: str) -> Fraction:
    amount = as_number(value, path)
    if amount <= 0:
        # Only here the resource's name is at hand: a `Server` holds amounts alone.
        raise InvalidInstance(f"capacity must be above 0, not {amount}", path)
    return amount


def _profile(name: str, value: object, names: tuple[str, ...]) -> Profile:
    path = f"$.profiles.{name}"
    top = as_object(value, path, required=("axes", "throughput"), optional=("unit", "per"))
    axes = as_object(top["axes"], f"{path}.axes", required=names)
    try:
        return Profile(
            name=name,
            axes=[(key, as_list(axes[key], f".axes.{key}")) for key in names],
            throughput=as_list(top["throughput"], ".throughput"),
            per=cast("Per", as_string(top.get("per", "gpu"), ".per")),
            unit=as_string(top.get("unit", ""), ".unit"),
        )
    except InvalidInstance as error:
        raise error.at(path) from None


def _job(value: object, path: str) -> Job:
    top = as_object(value, path, required=("id", "gpus", "profile"), optional=("weight",))
    try:
        return Job(
            id=as_string(top["id"], ".id"),
            gpus=as_integer(top["gpus"], ".gpus"),
            profile=as_string(top["profile"], ".profile"),
            weight=as_number(top.get("weight", 1), ".weight"),
        )
    except InvalidInstance as error:
        raise error.at(path) from None


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number_text(number: Fraction) -> str:
    """Write a JSON number where the decimal ends, else a string such as "10/3"."""
    text = decimal_text(number)
    return _dump(text) if "/" in text else text


def _nested_text(array: ExactArray, index: tuple[int, ...] = ()) -> str:
    if len(index) == len(array.shape):
        return _number_text(array[index])
    parts = (_nested_text(array, (*index, i)) for i in range(array.shape[len(index)]))
    return "[" + ", ".join(parts) + "]"


def _server_text(server: Server, names: tuple[str, ...]) -> str:
    amounts = zip(names, server.capacity, strict=True)
    return (
        f'{{"type": {_dump(server.type)}, "count": {server.count}, "gpus": {server.gpus}'
        + "".join(f", {_dump(name)}: {_number_text(amount)}" for name, amount in amounts)
        + "}"
    )


def _profile_text(profile: Profile) -> str:
    axes = ", ".join(f"{_dump(key)}: {_nested_text(axis)}" for key, axis in profile.axes)
    return (
        f'{_dump(profile.name)}: {{"unit": {_dump(profile.unit)}, "per": {_dump(profile.per)},\n'
        f'   "axes": {{{axes}}},\n   "throughput": {_nested_text(profile.throughput)}}}'
    )


def _job_text(job: Job) -> str:
    text = f'{{"id": {_dump(job.id)}, "gpus": {job.gpus}, "profile": {_dump(job.profile)}'
    return text + (f', "weight": {_number_text(job.weight)}' if job.weight != 1 else "") + "}"
