"""The states of a run so far: takes each, tells whether one was changed after it was left.

Both state machines keep one: operations must be functions of values.
"""

import pickle
from typing import Any

__all__ = ["Past"]

WINDOW = 4  # states looked at after each step: a later change of an older one is rare


class Past:
    """States with their bytes.

    Examples
    --------
    >>> state = [1]
    >>> past = Past(state)
    >>> past.check()
    >>> state.append(2)
    >>> past.check()
    Traceback (most recent call last):
    AssertionError: purity: a state changed after step 0 from here
    """

    def __init__(self, state: Any) -> None:
        self._states = [(state, _dump(state))]

    def add(self, state: Any) -> None:
        """Add the next state.

        Examples
        --------
        >>> Past(1).add(2)
        """
        self._states = [*self._states[1 - WINDOW :], (state, _dump(state))]

    def check(self) -> None:
        """Raise `AssertionError` where a state is not what it was.

        Examples
        --------
        >>> Past(1).check()
        """
        for number, (state, dump) in enumerate(self._states):
            if _dump(state) != dump:
                raise AssertionError(f"purity: a state changed after step {number} from here")


def _dump(state: Any) -> bytes:
    """Give a state's bytes, by which a later change of it is seen."""
    try:
        return pickle.dumps(state)
    except Exception as error:
        raise AssertionError(
            "purity: a state must be a value that can be pickled, so that a change of it is seen: "
            f"{error}"
        ) from error
