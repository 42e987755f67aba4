"""The least run that fails, as files: takes a pool and steps, saves what `hived-cells` reads."""

import json
from collections.abc import Iterable
from pathlib import Path

from hived_cells.hierarchy import Chain
from hived_cells.reservation import Pool
from hived_cells.spec.write import spec_text

__all__ = ["Run"]

FOLDER = "conformance"


class Run:
    """Where a kit saves the run that it found.

    Parameters
    ----------
    folder
        Where the test runner was called.
    name
        Of what is tested; the files' names begin with it.

    Examples
    --------
    >>> Run(Path("."), "allocator").cluster.name
    'allocator-cluster.yaml'
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.cluster = folder / FOLDER / f"{name}-cluster.yaml"
        self.events = folder / FOLDER / f"{name}-events.jsonl"
        for path in (self.cluster, self.events):
            path.unlink(missing_ok=True)  # of an earlier run

    def saved(self, pool: Pool, node: int | None, steps: Iterable[dict[str, object]]) -> str:
        r"""Save a run, and return what it is.

        A pool of single GPUs gets a node around each of them: the format has at least two levels.

        Examples
        --------
        >>> from hived_cells import Reservation
        >>> from tempfile import TemporaryDirectory
        >>> pool = Pool(Chain(2, (2,)), Reservation({"A": {1: 3}}))
        >>> with TemporaryDirectory() as folder:
        ...     text = Run(Path(folder), "mine").saved(pool, None, [{"op": "release", "id": "c1"}])
        >>> text.splitlines()[-1]
        '{"op": "release", "id": "c1"}'
        """
        chain = pool.chain if pool.chain.levels > 1 else Chain(pool.chain.gpus, (1,))
        cluster = spec_text(chain, pool.reservation, node_level=node)
        events = "".join(json.dumps(step) + "\n" for step in steps)
        lines = []
        self.cluster.parent.mkdir(exist_ok=True)
        for path, text in ((self.cluster, cluster), (self.events, events)):
            path.write_text(text, "utf-8")
            lines += [f"{path.stem.split('-')[-1]}: {path}", text.rstrip()]
        return "\n".join(lines)
