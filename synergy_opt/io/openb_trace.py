"""The pods of the openb trace as a workload over time.

Takes the pod list and gives an `Imported`; `import_openb` makes one instance of the same list.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from synergy_opt.io.csv_rows import Row, needs, stream_rows
from synergy_opt.io.openb import POD_COLUMNS, POD_UNUSED, WHOLE_GPU
from synergy_opt.io.trace import SPLIT, Imported, Line, imported

_TIMES = ("deletion_time", "scheduled_time")


def read_openb_pods(
    path: str | Path,
    *,
    split: Sequence[int] = SPLIT,
    seed: int = 0,
    most_gpus: int | None = None,
) -> Imported:
    r"""Read ``openb_pod_list_*.csv``: the pods that ask for whole GPUs and were scheduled.

    A job is submitted at its pod's ``creation_time`` and lasts from ``scheduled_time`` to
    ``deletion_time``. Left out and counted are pods without a GPU, with a part of one, never
    scheduled, or gone at once.

    Parameters
    ----------
    path
        The file, gzipped or not, in any order.
    split, seed, most_gpus
        As in `read_philly_csv`.

    Raises
    ------
    InvalidInstance
        Naming the file, the line, the column and the rule, such as a pod scheduled before it was
        created, deleted before it was scheduled, or a name that occurs twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pods.csv")
    ...     _ = path.write_text(
    ...         "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
    ...         "creation_time,deletion_time,scheduled_time\n"
    ...         "p1,12000,32768,2,1000,,LS,Succeeded,0,90,30\n")
    ...     print(read_openb_pods(path))
    openb: 1 jobs; left out: none
    """
    check = needs((*POD_COLUMNS, *_TIMES), set(POD_UNUSED) - set(_TIMES))
    seen: set[str] = set()
    lines = (_line(row, seen) for row in stream_rows(path, check))
    return imported("openb", lines, path=f"{path}", split=split, seed=seed, most_gpus=most_gpus)


def _line(row: Row, seen: set[str]) -> Line | str:
    name = row.text("name")
    if name in seen:
        row.fail(f"{name!r} occurs twice", "name")
    seen.add(name)
    gpus, part = row.whole("num_gpu"), row.whole("gpu_milli")
    created = row.whole("creation_time")
    if gpus == 0:
        return "without a GPU"
    if part != WHOLE_GPU:
        return "with a part of a GPU"
    if not all(row.cells[column].strip() for column in _TIMES):
        return "never scheduled or never deleted"
    start, end = row.whole("scheduled_time"), row.whole("deletion_time")
    if start < created:
        row.fail(f"is {start}, before creation_time {created}", "scheduled_time")
    if end < start:
        row.fail(f"is {end}, before scheduled_time {start}", "deletion_time")
    return (
        Line(name, Fraction(created), Fraction(end - start), gpus)
        if end > start
        else "gone at once"
    )
