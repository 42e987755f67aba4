"""What a mechanism must keep: the rules of the conformance kit, each a function.

Takes an instance and a mechanism and gives the `Breach` of one rule, or None. What can be seen in
a placement is judged by the certificate, exactly; the rest is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from synergy_opt.answer import Placement
from synergy_opt.certificate import Violation, violations
from synergy_opt.comparison import Mechanism
from synergy_opt.exact import decimal_text, exact_sum
from synergy_opt.model import Instance
from synergy_opt.proportional import proportional
from synergy_opt.runnable import runnable
from synergy_opt.testing.answers import FORM, Breach, answer
from synergy_opt.testing.behaviour import pure, repeated

Check = Callable[[Instance, Mechanism], Breach | None]

SKIPPING, UNFAIR = "skipping", "unfair"
ALLOWED: Mapping[str, tuple[str, ...]] = {SKIPPING: ("placed",), UNFAIR: ("fair-floor",)}
"""What can be allowed, and which rules then count no more."""

_VERIFIED: Mapping[str, tuple[str, ...]] = {
    "jobs": ("instance", "unknown-job", "duplicate-job", "runnable-listed", "left-out"),
    "pieces": (
        "server-exists",
        "one-piece-a-server",
        "positive-gpus",
        "negative-amount",
        "whole-gpus",
        "one-gpu-whole",
        "gpu-total",
        "demand-total",
    ),
    "proportional-pieces": ("proportional-pieces",),
    "capacity": ("capacity",),
    "throughput": ("throughput", "total-throughput"),
    "fair-floor": ("fair-floor",),
}
"""The kit's rules that the certificate judges, by the certificate's own."""


def all_placed(instance: Instance, placement: Placement) -> str | None:
    """Say which runnable job has no place.

    Every runnable job can be placed fairly: proportional sharing does it.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("two-groups")
    >>> all_placed(instance, synergy_opt.greedy(instance))
    "job 'J4' (2 GPUs) is runnable, but left out"
    """
    placed = {job.id for job in placement.jobs if job.pieces}
    for job in runnable(instance):
        if job.id not in placed:
            return f"job {job.id!r} ({job.gpus} GPUs) is runnable, but left out"
    return None


def in_order(instance: Instance, placement: Placement) -> str | None:
    """Say which job was passed over for one behind it.

    Jobs come in the order of the policy's priority. What that asks of a mechanism which places
    every runnable job is that it places no other; the certificate's rule ``priority`` says so. A
    mechanism that leaves jobs out may do so because their demands do not fit beside what is
    placed, and a job behind may then fit. But of two jobs *alike*, with the same profile and the
    same GPU demand, either could have the other's pieces: **a job without a place has no job
    alike behind it that is placed.** Weights do not matter for this; they are the objective's,
    and the order is the policy's. How much each job gets is not a matter of order at all.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("two-groups")
    >>> in_order(instance, synergy_opt.greedy(instance)) is None
    True
    """
    for found in violations(instance, placement):
        if found.rule == "priority":
            return _words(found)
    placed = {job.id for job in placement.jobs if job.pieces}
    waiting: dict[tuple[str, int], str] = {}
    for job in instance.jobs:
        alike = (job.profile, job.gpus)
        if job.id not in placed:
            waiting.setdefault(alike, job.id)
        elif alike in waiting:
            return (
                f"job {waiting[alike]!r} has no place, but {job.id!r} behind it, with the same "
                f"profile {job.profile!r} and the same {job.gpus} GPUs, has one"
            )
    return None


def never_worse(instance: Instance, placement: Placement) -> str | None:
    """Say by how much the placed jobs make less together than proportional sharing gives them.

    On a cluster of one group every fair placement passes. On several it need not: a job is fair
    on the poorer group, where proportional sharing may have it on the richer one; the kit
    therefore asks for this on one group.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> never_worse(instance, synergy_opt.tune(instance)) is None
    True
    """
    placed = {job.id for job in placement.jobs if job.pieces}
    base = exact_sum(job.throughput for job in proportional(instance).jobs if job.id in placed)
    made = exact_sum(job.throughput for job in placement.jobs)
    if made >= base:
        return None
    return (
        f"the {len(placed)} jobs placed make {decimal_text(made)} together, but proportional "
        f"sharing gives these jobs {decimal_text(base)}"
    )


def claims(instance: Instance, placement: Placement) -> str | None:
    """Say what is wrong with the bound, proof or split count that a placement states.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> claims(instance, synergy_opt.optimal(instance)) is None
    True
    """
    known = {rule for rules in _VERIFIED.values() for rule in rules} | {"priority", *FORM}
    for found in violations(instance, placement):
        if found.rule not in known:
            return _words(found)
    return None


def answers(instance: Instance, mechanism: Mechanism) -> Breach | None:
    """Give the breach of a mechanism that raises, or gives something other than a `Placement`.

    Examples
    --------
    >>> import synergy_opt
    >>> print(answers(synergy_opt.shipped("worked-example"), lambda instance: None))
    answers: gave NoneType instead of a Placement
    """
    given = answer(mechanism, instance)
    return given if isinstance(given, Breach) and given.rule == "answers" else None


def _verified(rules: tuple[str, ...]) -> Callable[[Instance, Placement], str | None]:
    def judge(instance: Instance, placement: Placement) -> str | None:
        for found in violations(instance, placement):
            if found.rule in rules:
                return _words(found)
        return None

    return judge


def _words(found: Violation) -> str:
    return f"{found.message} ({found.where})"


def _seen(rule: str, judge: Callable[[Instance, Placement], str | None]) -> Check:
    """Make a check of what can be seen in the placement; no placement is another rule's matter."""

    def check(instance: Instance, mechanism: Mechanism) -> Breach | None:
        given = answer(mechanism, instance)
        if isinstance(given, Breach):
            return given if given.rule == rule else None
        sentence = judge(instance, given)
        return None if sentence is None else Breach(rule=rule, sentence=sentence, placement=given)

    return check


RULES: Mapping[str, Check] = {
    "answers": answers,
    **{rule: _seen(rule, _verified(its)) for rule, its in _VERIFIED.items()},
    "placed": _seen("placed", all_placed),
    "priority": _seen("priority", in_order),
    "never-worse-than-proportional": _seen("never-worse-than-proportional", never_worse),
    "claims": _seen("claims", claims),
    "deterministic": repeated,
    "pure": pure,
}
"""Every rule of the kit, by its name."""
