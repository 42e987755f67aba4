"""Where a replay stands: the cluster, and which id of an event stands for what."""

from dataclasses import dataclass, field

from hived_cells.cluster import Cluster
from hived_cells.errors import IllegalRequest
from hived_cells.gangs import GangState
from hived_cells.hierarchy import Cell
from hived_cells.state import Job

__all__ = ["Session"]


@dataclass(slots=True)
class Session:
    """The cluster, the gangs on it, and what ids stand for.

    Examples
    --------
    >>> Session(Cluster({})).cells
    {}
    """

    cluster: Cluster
    cells: dict[str, tuple[str, str, Cell]] = field(
        default_factory=dict
    )  # id → pool, tenant, cell
    jobs: dict[str, tuple[str, Job]] = field(default_factory=dict)  # id → pool, job
    ids: dict[tuple[str, Job], str] = field(default_factory=dict)  # of gangs' jobs too
    gangs: GangState | None = None  # as of the last event about gangs

    def require_new(self, name: str) -> None:
        """Raise `IllegalRequest` where an id is in use.

        Examples
        --------
        >>> Session(Cluster({})).require_new("c1")
        """
        gangs = () if self.gangs is None else self.gangs.running
        if name in self.cells or name in self.jobs or name in gangs:
            raise IllegalRequest(f"id {name!r} is in use already")

    def gangs_by_gpu(self, pool: str) -> dict[int, str]:
        """Return which gang runs on which GPU of a pool.

        Examples
        --------
        >>> Session(Cluster({})).gangs_by_gpu("NODE")
        {}
        """
        running = {} if self.gangs is None else self.gangs.running
        return {gpu: name for name, one in running.items() if one.pool == pool for gpu in one.gpus}
