"""Identical servers renamed so that as much as possible stays where it is.

Takes a new placement and the places before it; which of two identical servers is called 3 and
which 5 is nobody's choice but ours (a lease is extended where it can be: Synergy, OSDI '22, §4.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from synergy_opt.answer import Piece, PlacedJob
from synergy_opt.model import Cluster


def renamed(
    cluster: Cluster,
    entries: Mapping[str, PlacedJob],
    before: Mapping[str, tuple[Piece, ...]],
) -> dict[str, PlacedJob]:
    """Permute the servers of each group so that most GPUs of jobs keep their server.

    An assignment problem a group: the gain of giving server a's load to server b is the number of
    GPUs of jobs that are on a now and were on b. Pieces that end where they were keep their value.

    Whole servers are renamed and nothing else: two equal jobs that a mechanism has exchanged
    between servers which both keep other jobs are not exchanged back, so the number of moves is
    the least over the names of servers, not over all placements of the same value. Which of two
    equal jobs of the queue runs at all is the policy's choice and is never touched.
    """
    stay = np.zeros((cluster.server_count, cluster.server_count))
    for name, entry in entries.items():
        for was in before.get(name, ()):
            for piece in entry.pieces:
                stay[piece.server, was.server] += float(min(piece.gpus, was.gpus))
    target = np.arange(cluster.server_count)
    groups = np.array(cluster.group_of_server)
    for group in range(len(cluster.servers)):
        inside = np.flatnonzero(groups == group)
        rows, columns = linear_sum_assignment(stay[np.ix_(inside, inside)], maximize=True)
        target[inside[rows]] = inside[columns]
    return {name: _moved(entry, target, before.get(name, ())) for name, entry in entries.items()}


def _moved(
    entry: PlacedJob, target: np.ndarray[tuple[int], np.dtype[np.intp]], was: tuple[Piece, ...]
) -> PlacedJob:
    pieces = tuple(
        sorted(
            (replace(piece, server=int(target[piece.server])) for piece in entry.pieces),
            key=lambda piece: piece.server,
        )
    )
    return replace(entry, pieces=was if pieces == was else pieces)
