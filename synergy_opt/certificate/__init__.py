"""The exact, independent check of an answer.

Takes an instance and a placement with what it states, and gives every broken rule with its place
and its numbers. Everything is recomputed from the definitions in exact arithmetic, without any
tolerance and without the code of solvers or mechanisms.

Rules
-----
form
    ``exact-numbers``, ``amounts``: a value is no exact number, or a vector has not one amount a
    resource. Where one is broken nothing else is looked at.
jobs
    ``instance``, ``unknown-job``, ``duplicate-job``, ``runnable-listed``, ``priority``,
    ``left-out``.
pieces
    ``server-exists``, ``one-piece-a-server``, ``positive-gpus``, ``negative-amount``,
    ``whole-gpus``, ``one-gpu-whole``, ``gpu-total``, ``demand-total``, ``proportional-pieces``,
    ``capacity``.
figures
    ``fair-floor``, ``throughput``, ``total-throughput``.
split
    ``split-figure``, ``split-bound``; stated only by stage 2, whose pieces need no whole GPUs.
bound
    ``unproved-bound``, ``multipliers``, ``upper-bound``, ``above-bound``, ``consolidation``,
    ``skipping``, ``proof``; of a pattern bound ``shapes``, ``server-price``, ``split-model``.
"""

from synergy_opt.certificate.bounds import bound_value
from synergy_opt.certificate.check import verify, violations
from synergy_opt.certificate.violation import Violation

__all__ = ["Violation", "bound_value", "verify", "violations"]
