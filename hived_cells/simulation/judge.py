"""Whether a scheduler's decision can be carried out: takes view, job and decision, gives it back.

A scheduler may be anybody's, so nothing of what it says is believed before it has been checked.
"""

from hived_cells.errors import InvalidSpec, shown
from hived_cells.simulation.policy import Decision, Move
from hived_cells.simulation.view import Ask, View

__all__ = ["judged"]


def judged(view: View, ask: Ask, decision: object) -> Decision:
    """Return the decision if it can be carried out as it stands.

    Checked are the types, that jobs to stop or move run and are named once, that each job's
    pieces are its shape on different nodes that are up, and that all fit: those to stop first,
    then each move, then the job. O(jobs stopped and moved + pieces).

    Raises
    ------
    InvalidSpec
        It cannot; job and rule are named.

    Examples
    --------
    >>> from hived_cells.simulation.trace import Shape
    >>> judged(View([8], {"A": 8}), Ask(0, "A", Shape(1, 4), 0), Decision(((0, 2),)))
    Traceback (most recent call last):
    hived_cells.errors.InvalidSpec: scheduler: job number 0 gets ((0, 2),); 1×4 GPUs are needed
    """
    if not isinstance(decision, Decision):
        raise InvalidSpec(f"scheduler: {shown(decision)} is neither a Decision nor None")
    if not isinstance(decision.stop, tuple) or not isinstance(decision.move, tuple):
        raise InvalidSpec(f"scheduler: stop and move of {shown(decision)} are not both tuples")
    back: dict[int, int] = {}  # node → GPUs given back so far, less those taken
    leaving: set[object] = set()
    for job in decision.stop:
        _give_back(view, job, leaving, back)
    for move in decision.move:
        if not isinstance(move, Move):
            raise InvalidSpec(f"scheduler: {shown(move)} is no Move")
        _give_back(view, move.job, leaving, back)
        _take(view, view.running[move.job].ask, move.pieces, back)
    _take(view, ask, decision.pieces, back)
    return decision


def _give_back(view: View, job: object, leaving: set[object], back: dict[int, int]) -> None:
    if type(job) is not int or job not in view.running or job in leaving:
        raise InvalidSpec(f"scheduler: job number {shown(job)} is to leave, but does not run")
    leaving.add(job)
    for node, gpus in view.running[job].pieces:
        back[node] = back.get(node, 0) + gpus


def _take(view: View, ask: Ask, pieces: object, back: dict[int, int]) -> None:
    shape = ask.shape
    unit = 1 if shape.soft else shape.gpus
    total = 0
    seen = set()
    for piece in pieces if isinstance(pieces, tuple) else ():
        match piece:
            case (int(node), int(gpus)) if gpus > 0 and not gpus % unit and node not in seen:
                total += gpus
                seen.add(node)
            case _:
                total = -1
                break
    if total != shape.total:
        raise InvalidSpec(
            f"scheduler: job number {ask.job} gets {shown(pieces)}; {shape.nodes}×{shape.gpus} "
            "GPUs are needed"
        )
    for node, gpus in pieces:  # type: ignore[attr-defined]
        if not 0 <= node < len(view.sizes) or not view.is_up(node):
            raise InvalidSpec(
                f"scheduler: job number {ask.job}: there is no node {node} that is up"
            )
        back[node] = back.get(node, 0) - gpus
        if view.room[-1][node] + back[node] < 0:
            raise InvalidSpec(
                f"scheduler: job number {ask.job}: node {node} has no {gpus} GPUs that are free"
            )
