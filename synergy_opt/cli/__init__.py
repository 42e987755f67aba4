"""The program ``synergy-opt``: one module a command.

Takes command-line arguments and gives an exit code: 0 done, and proved where a proof was asked
for; 1 a check failed; 2 bad input or usage; 3 infeasible; 4 stopped at a limit, with what it had;
130 interrupted with nothing to show.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from synergy_opt.cli.interrupts import INTERRUPTED, interrupted
from synergy_opt.cli.streams import drop, say
from synergy_opt.errors import Infeasible, InvalidInstance, Stopped, SynergyError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

COMMANDS = {
    "generate": "make an instance of a seeded family",
    "import": "make an instance of a public trace or of CSV files",
    "solve": "run one mechanism, certify its placement and write it",
    "compare": "run mechanisms side by side against one proven bound",
    "simulate": "run a workload over time under policies and mechanisms",
    "verify": "check a placement file exactly",
    "export": "write a stage's programme as MPS or LP",
    "plot": "draw sensitivity, utilisation, gaps or simulations",
}
DONE, FAILED, BAD_INPUT, INFEASIBLE, LIMIT, BROKEN_PIPE = 0, 1, 2, 3, 4, 141
UNTOLD = "its message cannot be shown"
TRACEBACK = "SYNERGY_OPT_TRACEBACK"
"""Environment variable: when set, an unexpected exception shows where it came from."""


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        fail(f"{message} (see {self.prog} --help)")
        raise SystemExit(BAD_INPUT)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help, or raise `OSError`; argparse itself is silent about a full disk."""
        print(self.format_help(), end="", file=file)


class _Version(argparse.Action):
    """Print the version, which takes a few milliseconds to find out and so is not found before."""

    def __call__(self, *_: object) -> NoReturn:
        from synergy_opt.versions import __version__  # noqa: PLC0415

        print(f"synergy-opt {__version__}")
        raise SystemExit(DONE)


def fail(message: str) -> None:
    """Write one message to standard error, on one line, control characters spelt out."""
    line = " ".join(message.split())
    say(f"synergy-opt: {''.join(c if c.isprintable() else repr(c)[1:-1] for c in line)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program.

    Parameters
    ----------
    argv
        Arguments without the program's name; default those of the process.

    Returns
    -------
    int
        Exit code. Nothing is raised.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _run(arguments)
    except SystemExit as stop:  # argparse after --help or bad usage, or a library
        code = _stopped(stop)
    except BaseException as error:  # the last resort: no traceback reaches a user
        code = _explain(error)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        code = _explain(error)
    return code


def _stopped(stop: SystemExit) -> int:
    if isinstance(stop.__context__, BrokenPipeError):  # how rich tells of one
        return _explain(stop.__context__)
    return stop.code if isinstance(stop.code, int) else BAD_INPUT


def _run(arguments: Sequence[str]) -> int:
    parser = _parser(arguments)
    options = parser.parse_args(arguments)
    if getattr(options, "output", None) is not None:
        import_module("synergy_opt.cli.common").check_output(options)
    run = options.run
    code: int = run(options)
    return code


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Describe the command that is named; the others need only their one-line help."""
    parser = _Parser(prog="synergy-opt", description=__doc__, allow_abbrev=False)
    parser.description = "Divide a GPU cluster's CPU and memory among training jobs."
    parser.epilog = (
        "exit codes: 0 done, 1 a check failed, 2 bad input or usage, 3 infeasible, 4 stopped at a "
        "limit with what it had, 130 interrupted"
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    named = next((word for word in arguments if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text + ".", allow_abbrev=False)
        if name == named:
            import_module(f"synergy_opt.cli.{name}_").add(command)
    return parser


def exit_code(error: SynergyError) -> int:
    """Give the exit code that an error stands for."""
    if isinstance(error, Infeasible):
        return INFEASIBLE
    if isinstance(error, Stopped):
        return LIMIT
    return BAD_INPUT if isinstance(error, InvalidInstance) else FAILED


def _explain(error: BaseException) -> int:
    if interrupted(error):
        fail("interrupted")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has gone, as `head` does; the rest of it has no reader.
        _drop_output()
        return BROKEN_PIPE
    if isinstance(error, SynergyError):
        fail(words(error))
        return exit_code(error)
    if os.environ.get(TRACEBACK):
        import traceback  # noqa: PLC0415

        traceback.print_exception(error)
    if isinstance(error, OSError):
        where = error.filename or "standard output"
        fail(f"{where}: cannot be written: {error.strerror}")
        _drop_output()
        return BAD_INPUT
    what, hint = f"{type(error).__name__}: {words(error)}", f"set {TRACEBACK}=1 to see where"
    fail(f"unexpected {what} ({hint}); this is a fault of synergy-opt, please report it")
    return FAILED


def words(error: BaseException) -> str:
    """Give an exception's message, even where it cannot say it."""
    try:
        return str(error)
    except Exception:  # code of the exception's own type
        return UNTOLD


def _drop_output() -> None:
    """Forget output that cannot be written, so that Python's exit does not complain again."""
    with suppress(OSError, ValueError):  # standard output is no file, as under a test runner
        drop(sys.stdout.fileno())
