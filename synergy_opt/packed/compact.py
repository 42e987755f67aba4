"""The packed optimum as one integer programme: who runs where, in which configuration.

Takes a shop and gives a `Program` without shapes or patterns, to be exported, or solved where
there are few servers; and reads its solutions back as `Runs`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from synergy_opt.answer import Split
from synergy_opt.errors import SolverFailed
from synergy_opt.kinds import kinds
from synergy_opt.model import Instance
from synergy_opt.packed.runs import Run, Runs
from synergy_opt.packed.shapes import Shop, shop
from synergy_opt.program import FloatArray, Program
from synergy_opt.runnable import runnable

_SAFE = 2**53


@dataclass(frozen=True, kw_only=True, slots=True)
class _Column:
    """z: whole jobs of a kind (job None), or GPUs of one job, in a configuration on a server.

    Server None: y, whether the job is in that configuration.
    """

    wish: int
    configuration: int
    server: int | None
    job: int | None = None


def packed_program(instance: Instance, *, split: Split = "never") -> Program:
    """Give the compact programme of the packed optimum.

    Column z_t_c_i counts the jobs of kind t in configuration c (a grid point) on server i. A job
    that may be divided has a column y_j_c, whether it is in configuration c, and columns z_j_c_i,
    its GPUs on server i. Rows: each kind or job placed; the pieces of a job sum to its GPUs; each
    server's GPUs and resources, in integers. With several server groups every *piece* has to be
    fair on its own group, which is a little more than is asked of a divided job.

    Parameters
    ----------
    instance
        Its runnable jobs take part.
    split
        As in `packed`.

    Raises
    ------
    SolverFailed
        When a row needs integers that a double does not hold.

    Examples
    --------
    >>> from synergy_opt import shipped
    >>> program = packed_program(shipped("worked-example"))
    >>> bool(program.integral.all()), program.row_names[:5]
    (True, ('kind_0', 'kind_1', 'kind_2', 'kind_3', 'gpus_0'))
    """
    jobs = runnable(instance)
    return compact_program(shop(instance, jobs, kinds(instance, jobs), split))


def compact_program(goods: Shop) -> Program:
    """Give the programme of a shop, as `packed_program` describes it."""
    columns = _columns(goods)
    rows: dict[str, dict[int, int]] = defaultdict(dict)
    bounds: dict[str, tuple[float, float]] = {}
    place = {column: j for j, column in enumerate(columns)}
    for j, column in enumerate(columns):
        wish = goods.wishes[column.wish]
        if column.job is None or column.server is None:
            count = len(wish.kind) if column.job is None else 1
            name = f"kind_{column.wish}" if column.job is None else f"job_{column.job}"
            rows[name][j] = 1
            bounds[name] = count, count
        if column.job is not None:
            name = f"pieces_{column.job}_{column.configuration}"
            rows[name][j] = 1 if column.server is not None else -wish.gpus
            bounds[name] = 0, 0
    _add_servers(goods, place, rows, bounds)
    return _program(goods, columns, rows, bounds)


def runs_from(goods: Shop, x: FloatArray, jobs: int) -> Runs:
    """Read a solution of `compact_program`, exactly checked."""
    runs: dict[int, Run] = {}
    pieces: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
    members = [iter(wish.kind.members) for wish in goods.wishes]
    for column, count in zip(_columns(goods), np.rint(x).astype(int).tolist(), strict=True):
        if column.server is None or not count:
            continue
        t, c = column.wish, column.configuration
        if column.job is not None:
            pieces[column.job, t, c].append((column.server, count))
            continue
        for _ in range(count):
            piece = (column.server, goods.wishes[t].gpus)
            runs[next(members[t])] = Run(wish=t, configuration=c, pieces=(piece,))
    for (job, t, c), where in pieces.items():
        runs[job] = Run(wish=t, configuration=c, pieces=tuple(sorted(where)))
    if len(runs) != jobs:
        raise SolverFailed("the solver's whole numbers leave a job out")
    found = Runs.of(goods, (runs[job] for job in sorted(runs)))
    found.check()
    return found


def _columns(goods: Shop) -> list[_Column]:
    cluster, columns = goods.instance.cluster, []
    for t, wish in enumerate(goods.wishes):
        # The best configuration first: equal jobs then get theirs in order of priority.
        order = np.argsort(-wish.values, kind="stable").tolist()
        members: list[int | None] = list(wish.kind.members) if wish.pieces else [None]
        for job in members:
            for c in order:
                servers = [
                    i
                    for i, h in enumerate(cluster.group_of_server)
                    if wish.fair(c, frozenset([h]))
                    and goods.fits(goods.piece(wish, c, h, 1 if wish.pieces else wish.gpus))
                ]
                if job is not None and servers:
                    columns.append(_Column(wish=t, configuration=c, server=None, job=job))
                columns += [_Column(wish=t, configuration=c, server=i, job=job) for i in servers]
    return columns


def _add_servers(
    goods: Shop,
    place: dict[_Column, int],
    rows: dict[str, dict[int, int]],
    bounds: dict[str, tuple[float, float]],
) -> None:
    cluster = goods.instance.cluster
    for column, j in place.items():
        if column.server is None:
            continue
        wish = goods.wishes[column.wish]
        gpus = wish.gpus if column.job is None else 1
        sizes = wish.sizes[column.configuration].tolist()
        amounts = [gpus, *(size * gpus // wish.gpus for size in sizes)]
        for name, amount in zip(("gpus", *cluster.names), amounts, strict=True):
            rows[f"{name}_{column.server}"][j] = amount
    for i, h in enumerate(cluster.group_of_server):
        has = (cluster.servers[h].gpus, *goods.capacity[h])
        for name, most in zip(("gpus", *cluster.names), has, strict=True):
            row = rows[f"{name}_{i}"]
            common = math.gcd(*row.values()) or 1
            for j in row:
                row[j] //= common
            bounds[f"{name}_{i}"] = -math.inf, most // common
            if max([most // common, *row.values()]) >= _SAFE:
                raise SolverFailed(f"{name} needs integers beyond those of a double")


def _program(
    goods: Shop,
    columns: list[_Column],
    rows: dict[str, dict[int, int]],
    bounds: dict[str, tuple[float, float]],
) -> Program:
    wishes = goods.wishes
    counts = [len(row) for row in rows.values()]
    scale = math.lcm(*(wish.configurations.value.denominator for wish in wishes))
    limits = np.array([bounds[name] for name in rows], dtype=np.float64).reshape(-1, 2)
    counted = [c.server is None or c.job is None for c in columns]
    value = [wishes[c.wish].values[c.configuration] for c in columns]
    most = [
        1
        if c.server is None
        else wishes[c.wish].gpus
        if c.job is not None
        else len(wishes[c.wish].kind)
        for c in columns
    ]
    return Program(
        name=f"{goods.instance.name}-packed",
        cost=np.where(counted, value, 0.0) if columns else np.empty(0),
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        index=np.array([j for row in rows.values() for j in row], dtype=np.int64),
        value=np.array([v for row in rows.values() for v in row.values()], dtype=np.float64),
        row_lower=limits[:, 0],
        row_upper=limits[:, 1],
        lower=np.zeros(len(columns)),
        upper=np.array(most, dtype=np.float64),
        integral=np.ones(len(columns), dtype=bool),
        row_names=tuple(rows),
        column_names=tuple(_name(goods, c) for c in columns),
        scale=scale if scale < _SAFE else 0,
    )


def _name(goods: Shop, column: _Column) -> str:
    point = int(goods.wishes[column.wish].configurations.points[column.configuration])
    if column.server is None:
        return f"y_{column.job}_{point}"
    first = f"z_{column.wish}" if column.job is None else f"p_{column.job}"
    return f"{first}_{point}_{column.server}"
