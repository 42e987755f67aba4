"""What can go wrong, one class for each outcome that a caller may want to catch.

Takes nothing; gives the exceptions that every other module raises.
"""

__all__ = [
    "HivedError",
    "IllegalRequest",
    "Infeasible",
    "InvalidChoice",
    "InvalidSpec",
    "MustWait",
    "NeverFits",
    "NoRoom",
    "shown",
]


def shown(value: object) -> str:
    """Return a value as a message may show it: short, and for any value.

    Python refuses to write out integers of more than 4,300 digits; a message must not.

    Examples
    --------
    >>> shown("A"), shown(10**9), shown(10**9999)
    ("'A'", '1000000000', '<int that cannot be shown>')
    """
    try:
        text = repr(value)
    except Exception:  # whatever a value of the caller's does
        return f"<{type(value).__name__} that cannot be shown>"
    return text if len(text) <= 200 else f"{text[:200]}..."


class HivedError(Exception):
    """Base of every error that this package raises on purpose."""


class InvalidSpec(HivedError):
    """A chain, reservation, specification, event or binding breaks a rule of its format."""


class Infeasible(HivedError):
    """The reserved cells do not all fit in the physical cluster at the same time.

    Parameters
    ----------
    message
        What is short, for people.
    level
        First short level from the top.
    needed
        Reserved cells of that level (pinned ones included).
    available
        Cells of that level that the cluster can still give (pinned ones included).

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> try:
    ...     initial_state(Chain(top_cells=2, factors=(2,)), Reservation({"A": {2: 3}}))
    ... except Infeasible as error:
    ...     print(error, (error.level, error.needed, error.available))
    level 2 is short: 3 cells needed, 2 available (2, 3, 2)
    """

    def __init__(
        self, message: str, *, level: int = 0, needed: int = 0, available: int = 0
    ) -> None:
        super().__init__(message)
        self.level = level
        self.needed = needed
        self.available = available


class IllegalRequest(HivedError):
    """A request goes beyond what the tenant reserved, or names a cell it does not hold."""


class InvalidChoice(HivedError):
    """A choice function returned something that is not one of its candidates."""


class NoRoom(HivedError):
    """A low-priority request does not fit in what is idle now; it may fit later."""


class NeverFits(IllegalRequest):
    """A gang does not fit into what the tenant reserved, even when all of that is idle: proved."""


class MustWait(NoRoom):
    """A gang does not fit in what is free now; it fits when enough gangs have ended.

    Where a search hits its limit on whether it could ever fit, it waits rather than never fits.

    Parameters
    ----------
    message
        What was asked for, reserved and held, for people.
    exact
        Whether it is proved that it does not fit now; False where a search hit its limit.
    """

    def __init__(self, message: str, *, exact: bool = True) -> None:
        super().__init__(message)
        self.exact = exact
