"""Nodes leaving and returning, from a file: takes CSV, gives faults."""

from pathlib import Path

from hived_cells.errors import InvalidSpec, shown
from hived_cells.simulation.run import Fault
from hived_cells.simulation.trace_file import csv_rows, whole

__all__ = ["FAULT_COLUMNS", "read_faults"]

FAULT_COLUMNS = ("time", "node", "event")


def read_faults(path: str | Path, nodes: int) -> tuple[Fault, ...]:
    r"""Read faults: CSV with the columns of `FAULT_COLUMNS`; an event is `leaves` or `returns`.

    Parameters
    ----------
    path
        The file, plain or gzip.
    nodes
        Number of nodes of the cluster; they count from 0.

    Raises
    ------
    InvalidSpec
        A row breaks a rule; names the file, the line and the rule.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "faults.csv")
    >>> _ = path.write_text("time,node,event\n60,3,leaves\n")
    >>> read_faults(path, 4)
    (Fault(time=60, node=3, leaves=True),)
    """

    def fault_of(row: list[str]) -> Fault:
        time, node, event = row
        if event not in ("leaves", "returns"):
            raise InvalidSpec(f"event {shown(event)} is neither 'leaves' nor 'returns'")
        fault = Fault(whole("time", time), whole("node", node), event == "leaves")
        if fault.node >= nodes:
            raise InvalidSpec(f"there is no node {fault.node}; they are 0 to {nodes - 1}")
        return fault

    return tuple(csv_rows(path, FAULT_COLUMNS, fault_of))
