"""What a mechanism answers, and what can be wrong with an answer.

Takes an instance and a mechanism, gives its `Placement` or the `Breach` of what it gave instead.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from synergy_opt.answer import Placement
from synergy_opt.certificate import plain, violations
from synergy_opt.comparison import Mechanism, own_copy
from synergy_opt.errors import Infeasible
from synergy_opt.io import placement_to_json
from synergy_opt.model import Instance

FORM = ("types", "exact-numbers", "amounts")
"""Rules of the certificate without which no other rule has a meaning."""


@dataclass(frozen=True, kw_only=True)
class Breach:
    """A broken rule.

    Parameters
    ----------
    rule
        Its name, as in `synergy_opt.testing.rules.RULES`.
    sentence
        What holds instead, with the numbers.
    placement
        The placement that breaks it; None where there is none, or none that a file could hold.

    Examples
    --------
    >>> print(Breach(rule="capacity", sentence="server 0 has 6 cpu, but 7 are taken: 1 too many"))
    capacity: server 0 has 6 cpu, but 7 are taken: 1 too many
    """

    rule: str
    sentence: str
    placement: Placement | None = None

    def __str__(self) -> str:
        return f"{self.rule}: {self.sentence}"


def answer(mechanism: Mechanism, instance: Instance) -> Placement | Breach:
    """Call a mechanism on a copy of its own.

    Returns
    -------
    Placement or Breach
        A placement that is well formed; else a breach of ``"answers"``, or of ``"placed"`` where
        the mechanism raised `Infeasible`, which is to leave every job out.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> answer(synergy_opt.tune, instance) == synergy_opt.tune(instance)
    True
    >>> print(answer(lambda instance: 1 // 0, instance))  # doctest: +ELLIPSIS
    answers: raised ZeroDivisionError: integer division or modulo by zero (...
    """
    try:
        given: object = mechanism(own_copy(instance))
    except Infeasible as error:
        return Breach(
            rule="placed",
            sentence=f"raised Infeasible ({error}), but proportional sharing places every "
            "runnable job",
        )
    except (Exception, SystemExit) as error:
        return Breach(rule="answers", sentence=f"raised {_told(error)}")
    if type(given) is not Placement:
        return Breach(
            rule="answers", sentence=f"gave {type(given).__name__} instead of a Placement"
        )
    found = violations(instance, given)
    if found and found[0].rule in FORM:
        sentence = f"{found[0].rule}: {found[0].message} ({found[0].where})"
        return Breach(rule="answers", sentence=sentence)
    return plain(given)


def placement_text(instance: Instance, placement: Placement) -> str:
    """Give the bytes that are compared: the placement's file."""
    return json.dumps(placement_to_json(placement, instance))


def _told(error: BaseException) -> str:
    """Say what was raised, and in which line of which file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (
        "" if trace is None else f" ({trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno})"
    )
    try:
        words = " ".join(str(error).split())
    except Exception:  # code of the exception's own type
        words = "its message cannot be shown"
    return f"{type(error).__name__}: {words[:200]}{where}"
