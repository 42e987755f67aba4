"""Every exception that this package raises on purpose.

Takes nothing, gives one tree of exceptions: those of a solver or a reader never leak out.
"""


class SynergyError(Exception):
    """Root of the exceptions of :mod:`synergy_opt`."""


class InvalidInstance(SynergyError):
    """A value or a file that breaks a rule of the model.

    Parameters
    ----------
    rule
        The rule that is broken, with the offending value.
    path
        Where it is, as a JSON path below the value that raises (``.gpus``) or from the root
        (``$.jobs[3].gpus``).
    """

    def __init__(self, rule: str, path: str = "") -> None:
        super().__init__(rule, path)
        self.rule = rule
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.rule}" if self.path else self.rule

    def at(self, prefix: str) -> "InvalidInstance":
        """Give the same error seen from further out: `prefix` is put before its path."""
        return type(self)(self.rule, prefix + self.path)


class Infeasible(SynergyError):
    """No answer exists, or none was found; the message says which, and what stands in the way."""


class Stopped(SynergyError):
    """A limit came before any answer was found; there may be one."""


class SolverFailed(SynergyError):
    """A solver gave no usable answer, or one that exact arithmetic refutes."""


class NotCertified(SynergyError):
    """An answer was asked for with a proof, and the proof does not hold."""
