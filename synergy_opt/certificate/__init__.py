"""The exact, independent check of an answer.

Takes an instance and a placement with what it states, and gives every broken rule with its place
and its numbers. Everything is recomputed from the definitions in exact arithmetic, without any
tolerance and without the code of solvers or mechanisms. What it shares with them are the values
themselves and their arithmetic: the modules `model` (with `checks`), `answer`, `exact` and
`errors`; nothing else, and a test of the imports says so.

Rules
-----
form
    ``types``: a field is not of its declared type itself, subclasses being no better than others;
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
from synergy_opt.certificate.form import misshapen, plain
from synergy_opt.certificate.violation import Violation

__all__ = ["Violation", "bound_value", "misshapen", "plain", "verify", "violations"]
