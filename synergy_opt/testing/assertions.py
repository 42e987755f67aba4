"""The kit's rules as assertions, for tests of one's own.

Take an instance with a placement or a mechanism, and raise `AssertionError` with one sentence a
broken rule; exact, without any tolerance.
"""

from __future__ import annotations

from collections.abc import Collection

from synergy_opt.answer import Placement
from synergy_opt.certificate import violations
from synergy_opt.comparison import Mechanism
from synergy_opt.model import Instance
from synergy_opt.testing.answers import Breach
from synergy_opt.testing.behaviour import pure, repeated
from synergy_opt.testing.rules import ALLOWED, all_placed, in_order, never_worse


def assert_valid(instance: Instance, placement: Placement, *, allow: Collection[str] = ()) -> None:
    """Assert that a placement keeps every rule of the certificate and places all runnable jobs.

    Parameters
    ----------
    instance, placement
        The question and the answer.
    allow
        ``"skipping"``: runnable jobs may be left out. ``"unfair"``: placed jobs may make less
        than their fair share gives.

    Raises
    ------
    AssertionError
        With a line a broken rule.
    ValueError
        When something else is to be allowed.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> assert_valid(instance, synergy_opt.tune(instance))
    >>> instance = synergy_opt.shipped("two-groups")
    >>> assert_valid(instance, synergy_opt.greedy(instance), allow={"skipping"})
    >>> assert_valid(instance, synergy_opt.greedy(instance))
    Traceback (most recent call last):
        ...
    AssertionError: placed: job 'J4' (2 GPUs) is runnable, but left out
    """
    unknown = set(allow) - set(ALLOWED)
    if unknown:
        raise ValueError(
            f"allow must be of {', '.join(ALLOWED)}, not {', '.join(sorted(unknown))}"
        )
    waived = {rule for each in allow for rule in ALLOWED[each]}
    broken = violations(instance, placement)
    found = [f"{each.rule}: {each.message} ({each.where})" for each in broken]
    found = [text for text, each in zip(found, broken, strict=True) if each.rule not in waived]
    if "placed" not in waived and not found:
        missing = all_placed(instance, placement)
        found += [] if missing is None else [f"placed: {missing}"]
    _assert("\n".join(found) or None)


def assert_never_worse_than_proportional(instance: Instance, placement: Placement) -> None:
    """Assert that the placed jobs make together at least what proportional sharing gives them.

    Every fair placement does on a cluster of one group; on several it need not (see
    `synergy_opt.testing.rules.never_worse`).

    Parameters
    ----------
    instance, placement
        What was asked, and the answer.

    Raises
    ------
    AssertionError
        With both sums.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> assert_never_worse_than_proportional(instance, synergy_opt.tune(instance))
    """
    _assert(never_worse(instance, placement))


def assert_respects_priority(instance: Instance, placement: Placement) -> None:
    """Assert that no job is passed over for one alike behind it.

    What that means is said at `synergy_opt.testing.rules.in_order`.

    Parameters
    ----------
    instance, placement
        What was asked, and the answer.

    Raises
    ------
    AssertionError
        With both jobs.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> assert_respects_priority(instance, synergy_opt.greedy(instance))
    """
    _assert(in_order(instance, placement))


def assert_deterministic(instance: Instance, mechanism: Mechanism) -> None:
    """Assert that two calls on equal instances give the same placement, byte for byte.

    Parameters
    ----------
    instance
        What it is asked.
    mechanism
        The function.

    Raises
    ------
    AssertionError
        With the first job that differs.

    Examples
    --------
    >>> import synergy_opt
    >>> assert_deterministic(synergy_opt.shipped("worked-example"), synergy_opt.tune)
    """
    _assert(_sentence(repeated(instance, mechanism)))


def assert_pure(instance: Instance, mechanism: Mechanism) -> None:
    """Assert that a call changes neither the instance nor what the whole process shares.

    Parameters
    ----------
    instance
        What it is asked.
    mechanism
        The function.

    Raises
    ------
    AssertionError
        With what has changed.

    Examples
    --------
    >>> import synergy_opt
    >>> assert_pure(synergy_opt.shipped("worked-example"), synergy_opt.tune)
    """
    _assert(_sentence(pure(instance, mechanism)))


def _sentence(breach: Breach | None) -> str | None:
    return None if breach is None else breach.sentence


def _assert(broken: str | None) -> None:
    if broken is not None:
        raise AssertionError(broken)
