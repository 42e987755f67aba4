"""The public openb cluster trace: node list and pod list → one pool with its jobs.

Takes the two CSV files and the name of a GPU model and gives an `Instance`. A pod states what it
requests, not how fast it runs: how a request becomes a profile is an assumption, and an argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Literal

from synergy_opt.draw import TASKS, check_split
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import Number
from synergy_opt.io.csv_rows import Row, needs, read_rows
from synergy_opt.model import Cluster, Instance, Job, Profile, Server, Vector
from synergy_opt.profiling.cache_model import MODELS

Assumption = Literal["request", "models"]
_NODE = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
POD_COLUMNS = (
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "creation_time",
)
POD_UNUSED = ("qos", "pod_phase", "deletion_time", "scheduled_time")
WHOLE_GPU = 1000  # thousandths of a GPU


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pod:
    name: str
    gpus: int
    request: Vector  # cores, GiB
    created: int


def import_openb(
    nodes: str | Path,
    pods: str | Path,
    *,
    model: str,
    profile: Assumption = "request",
    steps: int = 4,
    limit: int | None = None,
    split: Sequence[int] = (20, 70, 10),
    seed: int = 0,
) -> Instance:
    r"""Make an instance of the nodes with one GPU model and of the pods that may run there.

    Taken are the pods that ask for whole GPUs (``num_gpu`` ≥ 1, ``gpu_milli`` 1000) and whose
    ``gpu_spec`` is empty or names the model, in the order of ``creation_time`` (then of the
    file), whatever their phase. Together they may ask for more GPUs than there are: the jobs are
    a queue, and the runnable ones are chosen by the methods.

    Parameters
    ----------
    nodes, pods
        ``openb_node_list_*.csv`` and ``openb_pod_list_*.csv``. Every row is checked, also those
        that are not taken.
    model
        GPU model, such as ``"G2"``. Nodes of different sizes become server groups.
    profile
        The assumption. ``"request"``: a job reaches its full speed 1 with the cores and memory
        that its pod requests, is slower in proportion below, W = min(1, c / requested cores,
        m / requested memory), and gains nothing beyond. ``"models"``: the request is ignored and
        the job is one of the twelve synthetic models, drawn by `seed` and `split`.
    steps
        For ``"request"``: grid values at 1/steps, 2/steps, … of the request; the fair share is
        always a grid value as well.
    limit
        Take only the first so many pods; default all.
    split, seed
        For ``"models"``: weights of image, language and speech models, and the draw.

    Raises
    ------
    InvalidInstance
        Naming the file, the line and the rule.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     nodes, pods = Path(folder, "nodes.csv"), Path(folder, "pods.csv")
    ...     _ = nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\nn1,96000,786432,8,G2\n")
    ...     _ = pods.write_text(
    ...         "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
    ...         "creation_time,deletion_time,scheduled_time\n"
    ...         "p1,12000,32768,2,1000,,LS,Running,0,9,1\n")
    ...     print(import_openb(nodes, pods, model="G2"))
    Instance 'openb-G2': 1 jobs on 1 servers, 8 GPUs, cpu, memory
    """
    if steps < 1:
        raise InvalidInstance(f"must be at least 1, not {steps}", "steps")
    cluster = _pool(nodes, model)
    taken = _taken(pods, model, cluster.gpus)[:limit]
    if profile == "request":
        used, names = _by_request(cluster, taken, steps)
    else:
        used, names = _by_models(len(taken), split, seed)
    return Instance(
        name=f"openb-{model}",
        cluster=cluster,
        profiles=used,
        jobs=[
            Job(id=pod.name, gpus=pod.gpus, profile=name)
            for pod, name in zip(taken, names, strict=True)
        ],
    )


def _pool(nodes: str | Path, model: str) -> Cluster:
    counts: dict[tuple[int, int, int], int] = {}
    models: set[str] = set()
    names: set[str] = set()
    for row in read_rows(nodes, needs(_NODE)):
        _check_new(row, "sn", names)
        shape = (row.whole("gpu"), row.whole("cpu_milli", 1), row.whole("memory_mib", 1))
        # Nodes without a GPU have no model.
        found = row.cells["model"].strip() if shape[0] == 0 else row.text("model")
        if shape[0]:
            models.add(found)
        if shape[0] and found == model:
            counts[shape] = counts.get(shape, 0) + 1
    if not counts:
        rule = f"no node has the GPU model {model!r}; there are {', '.join(sorted(models))}"
        raise InvalidInstance(rule, f"{nodes}")
    groups = [
        Server(
            type=model if len(counts) == 1 else f"{model}-{i + 1}",
            count=count,
            gpus=gpus,
            capacity=_amounts(cpu, memory),
        )
        for i, ((gpus, cpu, memory), count) in enumerate(counts.items())
    ]
    return Cluster(resources={"cpu": "cores", "memory": "GiB"}, servers=groups)


def _taken(pods: str | Path, model: str, most: int) -> list[_Pod]:
    taken: list[_Pod] = []
    names: set[str] = set()
    for row in read_rows(pods, needs(POD_COLUMNS, POD_UNUSED)):
        _check_new(row, "name", names)
        pod = _Pod(
            name=row.text("name"),
            gpus=row.whole("num_gpu"),
            request=_amounts(row.whole("cpu_milli"), row.whole("memory_mib")),
            created=row.whole("creation_time"),
        )
        part = row.whole("gpu_milli")
        if part > WHOLE_GPU:
            row.fail(f"must be at most {WHOLE_GPU}, not {part}", "gpu_milli")
        allowed = row.cells["gpu_spec"].strip()
        if pod.gpus == 0 or part < WHOLE_GPU or (allowed and model not in allowed.split("|")):
            continue
        if pod.gpus > most:
            row.fail(f"is {pod.gpus}, but the pool has {most} GPUs", "num_gpu")
        taken.append(pod)
    return sorted(taken, key=lambda pod: pod.created)  # stable: ties stay in file order


def _check_new(row: Row, column: str, seen: set[str]) -> None:
    name = row.text(column)
    if name in seen:
        row.fail(f"{name!r} occurs twice", column)
    seen.add(name)


def _amounts(cpu_milli: int, memory_mib: int) -> Vector:
    return Fraction(cpu_milli, 1000), Fraction(memory_mib, 1024)


def _by_request(
    cluster: Cluster, pods: Sequence[_Pod], steps: int
) -> tuple[list[Profile], list[str]]:
    """Give one profile for each different request, and each pod's."""
    profiles: dict[tuple[int, Vector], Profile] = {}
    for pod in pods:
        key = (pod.gpus, pod.request)
        if key not in profiles:
            profiles[key] = _request_profile(cluster, pod, steps)
    return list(profiles.values()), [profiles[pod.gpus, pod.request].name for pod in pods]


def _request_profile(cluster: Cluster, pod: _Pod, steps: int) -> Profile:
    axes: list[list[Fraction]] = []
    for request, share in zip(pod.request, cluster.share_of_a_gpu, strict=True):
        parts = (request * Fraction(i, steps) for i in range(1, steps + 1))
        axes.append(sorted({*parts, share * pod.gpus}))
    speed: list[Number] = [
        min(_part(cpu, pod.request[0]), _part(memory, pod.request[1]))
        for cpu, memory in product(*axes)
    ]
    width = len(axes[1])
    cores, memory = (float(amount) for amount in pod.request)
    return Profile(
        name=f"{pod.gpus}xGPU {cores:g} cores {memory:g} GiB",
        axes={"cpu": axes[0], "memory": axes[1]},
        throughput=[speed[i : i + width] for i in range(0, len(speed), width)],
        per="job",
        unit="of full speed",
    )


def _part(amount: Fraction, request: Fraction) -> Fraction:
    return min(Fraction(1), amount / request) if request else Fraction(1)


def _by_models(count: int, split: Sequence[int], seed: int) -> tuple[list[Profile], list[str]]:
    """Draw a synthetic model for each job, on a grid that holds shares of 12 cores and 48 GiB."""
    check_split(split)
    rng = Random(f"openb {seed}")
    pool = [
        [model.name for model in MODELS.values() if model.task == task]
        for task, weight in zip(TASKS, split, strict=True)
        for _ in range(weight)
    ]
    drawn = [pool[rng.randrange(len(pool))] for _ in range(count)]
    names = [group[rng.randrange(len(group))] for group in drawn]
    axes: dict[str, Sequence[Number]] = {
        "cpu": (1, 2, 3, 4, 6, 8, 9, 10, 12, 16, 24),
        "memory": (20, 32, 48, 64, 96, 192, 384),
    }
    used = set(names)
    return [model.profile(axes) for name, model in MODELS.items() if name in used], names
