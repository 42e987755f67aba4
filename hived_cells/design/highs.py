"""HiGHS for the design: takes a programme and a first design, gives cells, and proves nothing."""

import highspy
import numpy as np

from hived_cells.design.program import Program
from hived_cells.errors import HivedError

__all__ = ["solved"]


class _Quiet(highspy.Highs):  # type: ignore[misc]  # highspy has no types
    """HiGHS prints its banner while its constructor enables callbacks: silence it before."""

    def enableCallbacks(self) -> None:  # noqa: N802 (HiGHS' own method)
        self.silent()
        super().enableCallbacks()


def solved(program: Program, start: tuple[int, ...], time_limit: float) -> tuple[int, ...] | None:
    """Return the cells that HiGHS finds, None for none; its bound is not asked for.

    Parameters
    ----------
    program
        What to minimise.
    start
        Cells by level from 1 on (entry 0 unused) that are feasible: the search begins there.
    time_limit
        Seconds.

    Raises
    ------
    HivedError
        HiGHS ends with a status that is no answer.

    Examples
    --------
    >>> from hived_cells import Chain
    >>> from hived_cells.design.demand import History, Scenario
    >>> from hived_cells.design.program import program_of
    >>> history = History((Scenario(1, (0, 3, 0)),), largest=(0, 1, 0))
    >>> solved(program_of(Chain(2, (8,)), 8, history, unmet=8), (0, 0, 1), 10.0)
    (0, 8, 0)
    """
    model = _Quiet()
    highspy.Highs.resetGlobalScheduler(True)
    options: dict[str, object] = {
        "threads": 1,
        "random_seed": 0,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.5,  # the cost is a whole number
        "time_limit": time_limit,
    }
    for name, value in options.items():
        model.setOptionValue(name, value)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = len(program.row_lower), len(program.cost)
    lp.col_cost_, lp.offset_ = program.cost, float(program.constant)
    lp.col_lower_, lp.col_upper_ = np.zeros(len(program.cost)), program.upper
    lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = program.starts, program.index
    lp.a_matrix_.value_ = program.value
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[int(whole)] for whole in program.integral]
    if model.passModel(lp) == highspy.HighsStatus.kError:
        raise HivedError("HiGHS does not take the programme")
    places = np.arange(program.levels, dtype=np.int32)
    model.setSolution(program.levels, places, np.array(start[1:], dtype=float))
    model.run()
    status = model.getModelStatus().name
    if status not in ("kOptimal", "kTimeLimit"):
        raise HivedError(f"HiGHS stopped with status {status}")
    feasible = highspy.SolutionStatus.kSolutionStatusFeasible
    if model.getInfo().primal_solution_status != feasible:
        return None
    values = model.getSolution().col_value[: program.levels]
    return (0, *(round(value) for value in values))
