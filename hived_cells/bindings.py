"""What survives a crash: takes held cells, jobs and bad cells, gives them as frozen plain data.

`recover` replays it; what is not understood is refused here, so that it cannot pass for hardware
that is gone.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hived_cells.errors import InvalidSpec, shown
from hived_cells.hierarchy import Cell, Chain
from hived_cells.state import Job

T = TypeVar("T")

__all__ = ["Bindings"]


@dataclass(frozen=True, slots=True)
class Bindings:
    """What has to survive a crash, as plain data.

    Parameters
    ----------
    held
        (tenant, cell) of every held cell, most important first; pins in use included.
    jobs
        Low-priority jobs.
    bad
        Bad cells, as the nodes report them.

    Raises
    ------
    InvalidSpec
        Something is no pair of tenant and `Cell`, no `Job` or no `Cell`: what is not understood
        must not pass for hardware that is gone.

    Examples
    --------
    >>> Bindings([("A", Cell(1, (0, 1)))]).to_data()
    {'held': [{'tenant': 'A', 'cell': [0, 1]}], 'low_priority': [], 'bad': []}
    """

    held: tuple[tuple[str, Cell], ...]
    jobs: tuple[Job, ...]
    bad: tuple[Cell, ...]

    def __init__(
        self,
        held: Iterable[tuple[str, Cell]],
        *,
        jobs: Iterable[Job] = (),
        bad: Iterable[Cell] = (),
    ) -> None:
        object.__setattr__(self, "held", _all(held, "(tenant, Cell) pairs", _is_held))
        object.__setattr__(self, "jobs", _all(jobs, "Jobs with tuples of GPUs", _is_job))
        object.__setattr__(self, "bad", _all(bad, "Cells", _is_cell))

    def to_data(self) -> dict[str, list[Any]]:
        """Return the bindings as lists, strings and integers, ready for JSON.

        Examples
        --------
        >>> Bindings([], jobs=[Job("A", (3,))]).to_data()["low_priority"]
        [{'tenant': 'A', 'gpus': [3]}]
        """
        return {
            "held": [{"tenant": tenant, "cell": list(cell.path)} for tenant, cell in self.held],
            "low_priority": [{"tenant": job.tenant, "gpus": list(job.gpus)} for job in self.jobs],
            "bad": [list(cell.path) for cell in self.bad],
        }

    @classmethod
    def from_data(cls, chain: Chain, data: Mapping[str, Any]) -> "Bindings":
        """Return the bindings that `to_data` made; a cell's level follows from its path.

        Raises
        ------
        InvalidSpec
            The data has not that form.

        Examples
        --------
        >>> one = Bindings([("A", Cell(1, (0, 1)))], bad=[Cell(2, (1,))])
        >>> Bindings.from_data(Chain(2, (2,)), one.to_data()) == one
        True
        """
        try:
            return cls(
                [(entry["tenant"], _cell(chain, entry["cell"])) for entry in data["held"]],
                jobs=[
                    Job(entry["tenant"], tuple(entry["gpus"])) for entry in data["low_priority"]
                ],
                bad=[_cell(chain, path) for path in data["bad"]],
            )
        except (KeyError, TypeError) as error:
            raise InvalidSpec(
                f"bindings: not of the form that to_data gives ({error!r})"
            ) from None


def _all(items: Iterable[T], needed: str, is_one: Callable[[object], bool]) -> tuple[T, ...]:
    if not isinstance(items, Iterable):
        raise InvalidSpec(f"bindings: {shown(items)}: {needed} are needed")
    found = tuple(items)
    for item in found:
        if not is_one(item):
            raise InvalidSpec(f"bindings: {shown(item)}: {needed} are needed")
    return found


def _is_cell(item: object) -> bool:
    return isinstance(item, Cell) and isinstance(item.path, tuple)


def _is_held(item: object) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and _is_cell(item[1])


def _is_job(item: object) -> bool:
    return isinstance(item, Job) and isinstance(item.gpus, tuple)


def _cell(chain: Chain, path: Iterable[int]) -> Cell:
    numbers = tuple(path)
    if any(type(number) is not int or number < 0 for number in numbers):
        raise InvalidSpec(f"bindings: cell {shown(list(numbers))} is not made of child numbers")
    return Cell(chain.levels - len(numbers) + 1, numbers)
