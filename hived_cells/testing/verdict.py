"""What a state machine says: takes it, gives one sentence, or none where nothing is broken."""

import sys
from collections.abc import Callable, Iterable

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

__all__ = ["print_faults", "quiet", "said", "unshrunk"]

_RUNS = 1000  # with the usual 100 a fault that needs a tight reservation is missed in most of them


def said(machine: type[RuleBasedStateMachine], limits: settings) -> str | None:
    """Run a machine and return the sentence that names the broken rule, None for a sound one.

    Examples
    --------
    >>> from hypothesis.stateful import rule
    >>> class Fine(RuleBasedStateMachine):
    ...     @rule()
    ...     def step(self) -> None: ...
    >>> said(Fine, quiet(5))
    """
    try:
        run_state_machine_as_test(machine, settings=limits)
    except AssertionError as error:
        return str(error)
    except Flaky:
        return "determinism: the same steps once failed, and then did not"
    except Exception as error:  # of what is tested, where nothing was to be refused
        return f"raised {type(error).__name__}: {error}"
    return None


def quiet(examples: int | None) -> settings:
    """Return settings for a kit: it prints and saves what it found by itself.

    Without a number of examples there are 1,000, whatever the Hypothesis profile says. Hypothesis'
    explanation of which values matter is not shown, and took most of the time.

    Examples
    --------
    >>> quiet(7).max_examples, quiet(None).max_examples
    (7, 1000)
    >>> Phase.explain in quiet(7).phases
    False
    """
    return settings(
        phases=[phase for phase in settings().phases if phase is not Phase.explain],
        max_examples=examples or _RUNS,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )


def unshrunk(examples: int) -> settings:
    """Return settings for planted faults: whether one is found is asked, not how small.

    Examples
    --------
    >>> unshrunk(7).derandomize
    True
    """
    return settings(quiet(examples), phases=(Phase.generate,), derandomize=True)


def print_faults(faults: Iterable[str], finds: Callable[[str], str]) -> int:
    """Print a line for each fault; return 0 when all of them, and only they, are found.

    Examples
    --------
    >>> print_faults(["loses a GPU"], lambda fault: fault and "conservation: 1 GPU is lost")
    sound                    nothing found
    loses a GPU              conservation: 1 GPU is lost
    0
    """
    found = {fault: finds(fault) for fault in ("", *faults)}
    for fault, message in found.items():
        sys.stdout.write(f"{fault or 'sound':24} {message or 'nothing found'}\n")
    return int(bool(found[""]) or not all(found[fault] for fault in faults))
