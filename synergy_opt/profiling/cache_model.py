"""Synthetic training jobs: throughput from cores, cache and storage by a three-term minimum.

Takes a handful of rates and gives a `Profile` on any grid; `MODELS` holds twelve parameter sets
whose behaviour follows the facts that the Synergy paper states (docs/model-profiles.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from synergy_opt.checks import not_negative
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import Number, exact
from synergy_opt.model import Profile

RESOURCES = {"cpu": "cores", "memory": "GB", "storage": "MB/s"}
"""The resources that the model knows, with their units, each for one GPU."""

CPU_GRID: tuple[Number, ...] = (1, 2, 3, 4, 5, 6, 9, 12, 24)
MEMORY_GRID: tuple[Number, ...] = ("20", "40", "62.5", "93.75", "125", "187.5", "250")
STORAGE_GRID: tuple[Number, ...] = (25, 50, 100, 200)
STORAGE = Fraction(100)
"""Storage bandwidth of a GPU where it is not divided, in MB/s: 800 MB/s a server of 8 GPUs."""
_PLACES = 100  # throughputs are cut to two decimals, so that files stay short


@dataclass(frozen=True, kw_only=True, slots=True)
class Cache:
    """What a job keeps in memory: a cache that never evicts, such as MinIO (Synergy, §3.1).

    It gives the same number of hits in every epoch, whatever the order of reading, so the rate at
    which storage feeds the job follows from sizes alone.

    Parameters
    ----------
    item
        Size of one item, in MB, above 0.
    dataset
        Part of the data set that one GPU reads, in GB, above 0.
    process
        Memory that the process itself needs, in GB; the rest is cache.

    Raises
    ------
    InvalidInstance
        When a size breaks its rule.
    """

    item: Fraction
    dataset: Fraction
    process: Fraction = Fraction(20)

    def __post_init__(self) -> None:
        for name in ("item", "dataset"):
            value = not_negative(getattr(self, name), f".{name}")
            if value == 0:
                raise InvalidInstance("must be above 0", f".{name}")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "process", not_negative(self.process, ".process"))

    def missing(self, memory: Fraction) -> Fraction:
        """Give the part of an epoch's items that is not in memory, 0 to 1.

        Examples
        --------
        >>> Cache(item=Fraction(1), dataset=Fraction(100)).missing(Fraction(45))
        Fraction(3, 4)
        """
        held = max(Fraction(0), memory - self.process) / self.dataset
        return 1 - min(Fraction(1), held)

    def fetch_rate(self, memory: Fraction, storage: Fraction) -> Fraction | None:
        """Give the items/s that `storage` MB/s sustain: s / (item · missing part).

        0 without memory for the process; None where all items are in memory, so that storage
        limits nothing.

        Examples
        --------
        >>> cache = Cache(item=Fraction(1), dataset=Fraction(100))
        >>> [cache.fetch_rate(Fraction(memory), Fraction(90)) for memory in (45, 120)]
        [Fraction(120, 1), None]
        """
        if memory < self.process:
            return Fraction(0)
        missing = self.missing(memory)
        return storage / (self.item * missing) if missing else None


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheModel:
    """W(c, m, s) = min(core_rate · c, fetch rate(m, s), gpu_rate), for one GPU.

    The fetch rate is that of a `Cache`: it holds the fraction h = min(1, (m − process) / dataset)
    of the data set, so storage delivers s / (item · (1 − h)) items/s.

    Parameters
    ----------
    name, task
        Model and its class: ``"image"``, ``"language"`` or ``"speech"``.
    core_rate
        Items/s that one core prepares.
    gpu_rate
        Items/s that the GPU trains on.
    item, dataset, process
        As in `Cache`.
    """

    name: str
    task: str
    core_rate: int
    gpu_rate: int
    item: Fraction
    dataset: Fraction
    process: Fraction = Fraction(20)

    def rate(self, cpu: Fraction, memory: Fraction, storage: Fraction = STORAGE) -> Fraction:
        """Give the items/s that these amounts for one GPU allow; 0 without process memory."""
        best = min(self.core_rate * cpu, Fraction(self.gpu_rate))
        fetched = self.cache.fetch_rate(memory, storage)
        if fetched is not None:
            best = min(best, fetched)
        return Fraction(int(best * _PLACES), _PLACES)

    @property
    def cache(self) -> Cache:
        """The sizes alone."""
        return Cache(item=self.item, dataset=self.dataset, process=self.process)

    def profile(self, axes: Mapping[str, Sequence[Number]] | None = None) -> Profile:
        """Give the profile for one GPU on a grid; default `CPU_GRID` × `MEMORY_GRID`.

        Raises
        ------
        InvalidInstance
            When an axis is none of `RESOURCES`.

        Examples
        --------
        >>> MODELS["transformer"].profile({"cpu": [1, 3], "memory": [20]}).throughput.tolist()
        [Fraction(60, 1), Fraction(60, 1)]
        """
        grid = axes if axes is not None else {"cpu": CPU_GRID, "memory": MEMORY_GRID}
        for key in grid:
            if key not in RESOURCES:
                known = ", ".join(RESOURCES)
                raise InvalidInstance(
                    f"the cache model knows {known}, not {key!r}", f".axes.{key}"
                )
        values = {key: [exact(value) for value in grid[key]] for key in grid}
        table = [
            self._at(dict(zip(values, point, strict=True))) for point in product(*values.values())
        ]
        return Profile(
            name=self.name,
            axes=values,
            throughput=_nested(table, [len(axis) for axis in values.values()]),
            unit="items/s",
        )

    def _at(self, point: Mapping[str, Fraction]) -> Fraction:
        # A resource that the grid leaves out is not divided: there is enough of it for everyone.
        plenty = self.process + self.dataset
        return self.rate(
            point.get("cpu", Fraction(1000)),
            point.get("memory", plenty),
            point.get("storage", STORAGE),
        )


def _nested(flat: Sequence[object], shape: Sequence[int]) -> object:
    if len(shape) <= 1:
        return list(flat)
    size = len(flat) // shape[0]
    return [_nested(flat[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def _model(name: str, task: str, rates: tuple[int, int], item: str, dataset: str) -> CacheModel:
    return CacheModel(
        name=name,
        task=task,
        core_rate=rates[0],
        gpu_rate=rates[1],
        item=Fraction(item),
        dataset=Fraction(dataset),
    )


# Cores that saturate a model are gpu / core. Stated by the paper (§2.1), the rest is assumed:
# ResNet18 and ShuffleNet want 9–24 cores a GPU, Transformer 1; most image and speech models are
# sensitive, language models are not; a GPU's share is 3 cores and 62.5 GB; speed-ups over the
# share reach about 3×; more memory (62 → 500 GB) makes ResNet18 almost 2× faster; GNMT runs at
# full speed with 20 GB. Items of language models are so small that fetching never binds.
MODELS: Mapping[str, CacheModel] = {
    model.name: model
    for model in (
        # 9 cores, the lower end: 3× over 3 cores. At 62.5 GB fetching caps it at 465 items/s,
        # with 500 GB it makes 900: 1.9×.
        _model("resnet18", "image", (100, 900), "0.230", "645"),
        _model("shufflenet", "image", (100, 1000), "0.080", "150"),  # 10 cores: 3.3×
        _model("alexnet", "image", (110, 1100), "0.090", "180"),  # 10 cores: 3.3×
        _model("mobilenet", "image", (100, 600), "0.150", "120"),  # 6 cores: 2×
        _model("resnet50", "image", (100, 400), "0.150", "150"),  # 4 cores: GPU-bound soonest
        _model("gnmt", "language", (400, 400), "0.001", "20"),
        _model("transformer", "language", (60, 60), "0.001", "20"),  # exactly 1 core
        _model("lstm", "language", (900, 900), "0.001", "5"),
        _model("bert", "language", (90, 90), "0.001", "20"),
        _model("m5", "speech", (60, 360), "1.000", "100"),  # 6 cores; wants its set in memory
        _model("deepspeech", "speech", (20, 60), "0.500", "80"),  # 3 cores: the share is enough
        _model("wavenet", "speech", (30, 240), "0.450", "140"),  # 8 cores
    )
}
"""Twelve synthetic models by name, in a fixed order."""
