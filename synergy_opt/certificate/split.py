"""Whether stage 2's split count is what the pieces show, and within the bound of a vertex.

Takes a placement that states its split count, gives each figure that is not there and each
inequality that does not hold (theory: stage 2, points 1 and 2).
"""

from __future__ import annotations

from collections.abc import Iterator

from synergy_opt.answer import Placement, SplitBound
from synergy_opt.certificate.pieces import Held, load, rows
from synergy_opt.certificate.violation import Violation
from synergy_opt.exact import shown
from synergy_opt.model import Cluster

_FIGURES = (
    "servers",
    "rows_per_server",
    "components",
    "extra_pieces",
    "split_jobs",
    "tight_rows",
)


def split_violations(cluster: Cluster, placement: Placement, on: Held) -> Iterator[Violation]:
    """Report stated figures that are wrong ("split-figure") and broken bounds ("split-bound").

    ``fewest`` is the word of a search; all that can be said is that no placement, this one
    included, has fewer split jobs. Decided are the two inequalities pieces − jobs ≤ q(s − κ) and
    ≤ tight rows, which every vertex obeys; an answer that obeys both need not be a vertex.
    """
    if placement.split is None:
        return
    found = _counted(cluster, placement, on)
    for name in _FIGURES:
        stated, counted = getattr(placement.split, name), getattr(found, name)
        # A float or a bool may equal an integer and is none.
        if type(stated) is not int or stated != counted:
            message = f"states {shown(stated)}, but the pieces show {counted}"
            yield Violation(rule="split-figure", where=f"$.split.{name}", message=message)
    fewest = placement.split.fewest
    if fewest is not None and not (type(fewest) is int and 0 <= fewest <= found.split_jobs):
        message = f"states {shown(fewest)}, but {found.split_jobs} jobs are split here"
        yield Violation(rule="split-figure", where="$.split.fewest", message=message)
    if found.extra_pieces > found.limit:
        message = (
            f"{found.extra_pieces} extra pieces are more than q(s − κ) = "
            f"{found.rows_per_server}({found.servers} − {found.components}) = {found.limit}"
        )
        yield Violation(rule="split-bound", where="$.split.extra_pieces", message=message)
    if found.extra_pieces > found.tight_rows:
        message = f"{found.extra_pieces} extra pieces are more than {found.tight_rows} tight rows"
        yield Violation(rule="split-bound", where="$.split.tight_rows", message=message)


def _counted(cluster: Cluster, placement: Placement, on: Held) -> SplitBound:
    placed = [job for job in placement.jobs if job.pieces]
    tight = 0
    for server, pieces in on.items():
        pairs = zip(load(pieces), rows(cluster, server), strict=True)
        tight += sum(used == most for used, most in pairs)
    return SplitBound(
        servers=cluster.server_count,
        rows_per_server=1 + len(cluster.names),
        components=_components(cluster.server_count, placement),
        extra_pieces=sum(len(job.pieces) - 1 for job in placed),
        split_jobs=sum(len(job.pieces) > 1 for job in placed),
        tight_rows=tight,
    )


def _components(servers: int, placement: Placement) -> int:
    """Count connected components by union-find; a server without pieces is one by itself.

    A job is in the component of its servers, so only servers need to be joined. The bound holds
    with empty servers counted, and is the sharper for it.
    """
    parent = list(range(servers))
    count = servers
    for job in placement.jobs:
        known = [piece.server for piece in job.pieces if 0 <= piece.server < servers]
        for server in known[1:]:
            a, b = _root(parent, known[0]), _root(parent, server)
            count -= a != b
            parent[b] = a
    return count


def _root(parent: list[int], server: int) -> int:
    while parent[server] != server:
        parent[server] = parent[parent[server]]  # halve the path: later walks are short
        server = parent[server]
    return server
