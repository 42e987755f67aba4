"""The smallest instance that breaks a rule: drawn ones first, then the seeded ones.

Takes a check and gives an instance with its breach, or None where nothing was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from synergy_opt.model import Instance
from synergy_opt.testing.answers import Breach
from synergy_opt.testing.shrink import shrink

Question = Callable[[Instance], Breach | None]
Found = tuple[Instance, Breach]


class _Broken(Exception):  # it is not an error: the search ends with it
    """A drawn instance breaks the rule."""


def smallest(
    question: Question,
    drawn: SearchStrategy[Instance],
    seeded: Iterable[Instance] = (),
    *,
    examples: int | None = None,
) -> Found | None:
    """Look for an instance that breaks a rule, and make it small.

    Parameters
    ----------
    question
        Gives the breach of the rule on an instance, or None.
    drawn
        Strategy of the instances that Hypothesis draws.
    seeded
        Further instances.
    examples
        How many to draw; default as many as the Hypothesis profile says.

    Examples
    --------
    >>> from synergy_opt.testing.strategies import instances
    >>> many = lambda it: Breach(rule="few", sentence="two jobs") if len(it.jobs) > 1 else None
    >>> instance, breach = smallest(many, instances())
    >>> len(instance.jobs), len(instance.profiles), str(breach)
    (2, 1, 'few: two jobs')
    """
    found = _drawn(question, drawn, examples)
    if found is None:
        asked = ((instance, question(instance)) for instance in seeded)
        found = next(((each, breach) for each, breach in asked if breach), None)
    return None if found is None else _small(question, *found)


def _drawn(
    question: Question, drawn: SearchStrategy[Instance], examples: int | None
) -> Found | None:
    last: list[Found] = []

    @settings(
        max_examples=examples or settings().max_examples,
        deadline=None,
        phases=[Phase.generate],  # `shrink` makes it small, in a fraction of the time
        database=None,  # what was found is saved as a file
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),  # how slow a mechanism is does not matter here
    )
    @given(drawn)
    def run(instance: Instance) -> None:
        breach = question(instance)
        if breach is not None:
            last[:] = [(instance, breach)]
            raise _Broken

    try:
        run()
    except (_Broken, Flaky):  # flaky: it broke the rule once, but not again
        return last[0]
    return None


def _small(question: Question, instance: Instance, breach: Breach) -> Found:
    best = instance, breach

    def shows(smaller: Instance) -> bool:
        nonlocal best
        found = question(smaller)
        if found is not None:
            best = smaller, found
        return found is not None

    shrink(instance, shows)
    return best
