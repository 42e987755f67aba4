"""Whether the pieces of each job make up the job, and fit on the servers.

Takes an instance and a placement, gives the broken rules of pieces and of capacity, in exact
arithmetic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from synergy_opt.answer import Piece, PlacedJob, Placement
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.violation import Violation, show
from synergy_opt.exact import exact_sum
from synergy_opt.model import Cluster, Job, Vector


def piece_violations(facts: Facts, placement: Placement) -> Iterator[Violation]:
    """Report pieces that do not make up their jobs; whole GPUs unless a split count is stated."""
    whole = placement.split is None
    for i, placed in enumerate(placement.jobs):
        path = f"$.jobs[{i}]"
        for p, piece in enumerate(placed.pieces):
            yield from _sound(facts.instance.cluster, piece, f"{path}.pieces[{p}]", whole=whole)
        yield from _one_a_server(placed, path)
        job = facts.jobs.get(placed.id)
        if job is None:
            continue
        if not placed.pieces:
            yield from _left_out(placed, facts.instance.cluster.names, path)
            continue
        yield from _totals(job, placed, facts.instance.cluster.names, path)
        yield from _proportional(job, placed, facts.instance.cluster.names, path)
        if whole and job.gpus == 1 and len(placed.pieces) > 1:
            message = f"a job of 1 GPU has {len(placed.pieces)} pieces"
            yield Violation(rule="one-gpu-whole", where=f"{path}.pieces", message=message)


def _sound(cluster: Cluster, piece: Piece, path: str, *, whole: bool) -> Iterator[Violation]:
    """Look at a piece alone: its server, its GPUs, its amounts."""
    if not 0 <= piece.server < cluster.server_count:
        message = f"there is no server {show(piece.server)}: they count from 0 to "
        message += str(cluster.server_count - 1)
        yield Violation(rule="server-exists", where=f"{path}.server", message=message)
    if piece.gpus <= 0:
        message = f"a piece has more than 0 GPUs, not {show(piece.gpus)}"
        yield Violation(rule="positive-gpus", where=f"{path}.gpus", message=message)
    if whole and piece.gpus.denominator != 1:
        message = f"has {show(piece.gpus)} GPUs, which is not whole"
        yield Violation(rule="whole-gpus", where=f"{path}.gpus", message=message)
    for name, amount in zip(cluster.names, piece.amounts, strict=True):
        if amount < 0:
            message = f"must not be negative, not {show(amount)}"
            yield Violation(rule="negative-amount", where=f"{path}.{name}", message=message)


def _one_a_server(placed: PlacedJob, path: str) -> Iterator[Violation]:
    first: dict[int, int] = {}
    for p, piece in enumerate(placed.pieces):
        if first.setdefault(piece.server, p) != p:
            message = (
                f"job {placed.id!r} has a piece on server {piece.server} already, "
                f"{path}.pieces[{first[piece.server]}]"
            )
            where = f"{path}.pieces[{p}].server"
            yield Violation(rule="one-piece-a-server", where=where, message=message)


def _left_out(placed: PlacedJob, names: tuple[str, ...], path: str) -> Iterator[Violation]:
    for name, amount in zip(names, placed.demand, strict=True):
        if amount != 0:
            message = f"job {placed.id!r} has no pieces, but a demand of {show(amount)} {name}"
            yield Violation(rule="left-out", where=f"{path}.demand.{name}", message=message)
    if placed.throughput != 0:
        message = f"job {placed.id!r} has no pieces, but a throughput of {show(placed.throughput)}"
        yield Violation(rule="left-out", where=f"{path}.throughput", message=message)


def _totals(job: Job, placed: PlacedJob, names: tuple[str, ...], path: str) -> Iterator[Violation]:
    if len(placed.pieces) == 1:
        gpus, amounts = placed.pieces[0].gpus, placed.pieces[0].amounts
    else:
        gpus = exact_sum(piece.gpus for piece in placed.pieces)
        columns = zip(*(piece.amounts for piece in placed.pieces), strict=True)
        amounts = tuple(exact_sum(column) for column in columns)
    if gpus != job.gpus:
        message = f"the pieces of {job.id!r} have {show(gpus)} GPUs of its {job.gpus}"
        yield Violation(rule="gpu-total", where=f"{path}.pieces", message=message)
    for name, amount, demand in zip(names, amounts, placed.demand, strict=True):
        if amount != demand:
            message = (
                f"the pieces of {job.id!r} have {show(amount)} {name}, but its demand is "
                f"{show(demand)}"
            )
            yield Violation(rule="demand-total", where=f"{path}.demand.{name}", message=message)


def _proportional(
    job: Job, placed: PlacedJob, names: tuple[str, ...], path: str
) -> Iterator[Violation]:
    for p, piece in enumerate(placed.pieces):
        if piece.gpus == job.gpus and piece.amounts == placed.demand:
            continue
        part = Fraction(piece.gpus) / job.gpus
        for name, amount, demand in zip(names, piece.amounts, placed.demand, strict=True):
            if amount != demand * part:
                message = (
                    f"{show(piece.gpus)} of {job.gpus} GPUs come with {show(demand * part)} "
                    f"{name} of the job's {show(demand)}, not {show(amount)}"
                )
                where = f"{path}.pieces[{p}].{name}"
                yield Violation(rule="proportional-pieces", where=where, message=message)


Held = dict[int, list[tuple[str, Piece]]]


def held(cluster: Cluster, placement: Placement) -> Held:
    """Give for each server the pieces on it, with their paths; unknown servers are passed over."""
    found: Held = defaultdict(list)
    for i, job in enumerate(placement.jobs):
        for p, piece in enumerate(job.pieces):
            if 0 <= piece.server < cluster.server_count:
                found[piece.server].append((f"$.jobs[{i}].pieces[{p}]", piece))
    return found


def rows(cluster: Cluster, server: int) -> Vector:
    """Give the right-hand sides of a server's capacity rows: its GPUs, then each resource."""
    group = cluster.servers[cluster.group_of_server[server]]
    return (Fraction(group.gpus), *group.capacity)


def load(pieces: list[tuple[str, Piece]]) -> Vector:
    """Give the left-hand sides of a server's capacity rows."""
    columns = zip(*((piece.gpus, *piece.amounts) for _, piece in pieces), strict=True)
    return tuple(exact_sum(column) for column in columns)


def capacity_violations(cluster: Cluster, on: Held) -> Iterator[Violation]:
    """Report servers that are given more than they have, at the piece that goes over."""
    for server in sorted(on):
        limits = rows(cluster, server)
        for r, (used, most) in enumerate(zip(load(on[server]), limits, strict=True)):
            if used > most:
                name = ("GPUs", *cluster.names)[r]
                message = (
                    f"server {server} has {show(most)} {name}, but {show(used)} are taken: "
                    f"{show(used - most)} too many"
                )
                where = _goes_over(on[server], r, most)
                yield Violation(rule="capacity", where=where, message=message)


def _goes_over(pieces: list[tuple[str, Piece]], row: int, most: Fraction) -> str:
    """Give the path of the piece at which the sum of a row, in listed order, exceeds `most`."""
    total, over = Fraction(0), ""
    for path, piece in pieces:
        total += (piece.gpus, *piece.amounts)[row]
        if total > most and not over:
            over = path
    return over
