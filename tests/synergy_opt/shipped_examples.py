"""The three small instances that ship with the package, as the code that makes them.

Takes nothing and gives an `Instance` each; `instances/README.md` says where every number is from.
"""

from __future__ import annotations

from fractions import Fraction

from synergy_opt.exact import Number
from synergy_opt.model import Cluster, Instance, Job, Server
from synergy_opt.profiling.cache_model import RESOURCES, CacheModel

_CPU: tuple[Number, ...] = (1, 2, 3, 4, 5, 9, 24)
_MEMORY: tuple[Number, ...] = (20, "62.5", 105, 125, 250, 500)


def worked_example() -> Instance:
    """Give the Synergy paper's worked example: four jobs of 4 GPUs on two servers (§2.1, Table 1).

    Examples
    --------
    >>> [(job.id, job.profile) for job in worked_example().jobs]
    [('J1', 'resnet18'), ('J2', 'audio-m5'), ('J3', 'transformer'), ('J4', 'gnmt')]
    """
    models = (
        _model("resnet18", "image", (100, 900), item="0.230", dataset="645"),
        _model("audio-m5", "speech", (64, 320), item="1.25", dataset="85"),
        _model("transformer", "language", (60, 60), item="0.001", dataset="20"),
        _model("gnmt", "language", (400, 400), item="0.001", dataset="20"),
    )
    return Instance(
        name="worked-example",
        cluster=Cluster(
            resources={"cpu": "cores", "memory": "GB"},
            servers=[Server(type="8xGPU", count=2, gpus=8, capacity=_exact(24, 500))],
        ),
        profiles=[model.profile({"cpu": _CPU, "memory": _MEMORY}) for model in models],
        jobs=[Job(id=f"J{i + 1}", gpus=4, profile=model.name) for i, model in enumerate(models)],
    )


def three_resources() -> Instance:
    """Give six jobs that share cores, memory and storage bandwidth; all numbers are made up."""
    models = (
        _model("resnet18", "image", (100, 900), item="0.115", dataset="645"),
        _model("audio-m5", "speech", (60, 300), item="0.500", dataset="120"),
        _model("gnmt", "language", (400, 400), item="0.001", dataset="20"),
    )
    axes: dict[str, tuple[Number, ...]] = {
        "cpu": (1, 2, 3, 4, 6, 9),
        "memory": (20, "62.5", 105, 125),
        "storage": (10, 50, 100, 150, 200),
    }
    jobs = [("resnet18", 1), ("audio-m5", 2), ("gnmt", 4), ("resnet18", 2), ("gnmt", 5)]
    return Instance(
        name="three-resources",
        cluster=Cluster(
            resources=RESOURCES,
            servers=[Server(type="8xGPU", count=2, gpus=8, capacity=_exact(24, 500, 800))],
        ),
        profiles=[model.profile(axes) for model in models],
        jobs=[
            *(Job(id=f"J{i + 1}", gpus=g, profile=name) for i, (name, g) in enumerate(jobs)),
            Job(id="J6", gpus=2, profile="audio-m5", weight=Fraction(2)),
        ],
    )


def two_groups() -> Instance:
    """Give six jobs on two kinds of servers, one with more cores a GPU; all numbers made up."""
    models = (
        _model("resnet18", "image", (100, 900), item="0.230", dataset="645"),
        _model("transformer", "language", (60, 60), item="0.001", dataset="20"),
    )
    jobs = [("resnet18", 4), ("transformer", 4), ("resnet18", 2), ("transformer", 2)]
    jobs += [("resnet18", 1), ("transformer", 1), ("resnet18", 2)]
    return Instance(
        name="two-groups",
        cluster=Cluster(
            resources={"cpu": "cores", "memory": "GB"},
            servers=[
                Server(type="8xGPU", count=1, gpus=8, capacity=_exact(24, 500)),
                Server(type="4xGPU", count=2, gpus=4, capacity=_exact(24, 250)),
            ],
        ),
        profiles=[model.profile(_two_axes()) for model in models],
        jobs=[Job(id=f"J{i + 1}", gpus=g, profile=name) for i, (name, g) in enumerate(jobs)],
    )


def _two_axes() -> dict[str, tuple[Number, ...]]:
    return {"cpu": (1, 2, 3, 4, 5, 6, 9), "memory": (20, "62.5", 105, 125)}


def _exact(*amounts: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(amount) for amount in amounts)


def _model(name: str, task: str, rates: tuple[int, int], *, item: str, dataset: str) -> CacheModel:
    return CacheModel(
        name=name,
        task=task,
        core_rate=rates[0],
        gpu_rate=rates[1],
        item=Fraction(item),
        dataset=Fraction(dataset),
    )
