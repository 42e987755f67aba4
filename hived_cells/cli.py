"""The `hived-cells` command: takes arguments, gives output and an exit code.

0 done, 1 a check failed, 2 bad input or usage, 3 infeasible, 4 stopped at a limit; one message on
standard error, never a traceback.
"""

import argparse
import importlib
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hived_cells.choose import (
    HIVED,
    Candidates,
    Choose,
    fewest_low_priority,
    healthy_first,
    lowest_address,
)
from hived_cells.cli_simulate import add_commands
from hived_cells.errors import HivedError, Infeasible, InvalidSpec
from hived_cells.hierarchy import Cell
from hived_cells.output import beside, output

if TYPE_CHECKING:
    from hived_cells.replay import Session
    from hived_cells.spec import Spec

__all__ = ["main"]

DONE, FAILED, BAD_INPUT, INFEASIBLE = 0, 1, 2, 3
INTERRUPTED, CLOSED_PIPE = 130, 141  # 128 + the signal, as shells report it

_CHOICES: dict[str, Choose] = {
    "hived": HIVED,
    "lowest-address": lowest_address,
    "fewest-low-priority": fewest_low_priority,
    "healthy-first": healthy_first,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments
        The command line without the program's name; that of the process by default.

    Examples
    --------
    >>> main(["check", "/nowhere"])
    2
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name the terminal cannot show
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has said what is wrong, or has shown the help
        return int(stop.code or 0)
    if sys.stdout is None:  # closed by whoever started us
        if getattr(options, "output", None) is None:
            return _complain("output: standard output is closed", BAD_INPUT)
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 (until the process ends)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except (HivedError, OSError, KeyboardInterrupt, RecursionError) as error:
        return _explained(error)
    return code


def _explained(error: BaseException) -> int:
    """Say in one line what went wrong and return the exit code."""
    code = BAD_INPUT
    if isinstance(error, BrokenPipeError):
        _silence_stdout()
        return CLOSED_PIPE
    if isinstance(error, KeyboardInterrupt):
        print("hived-cells: interrupted", file=sys.stderr)
        return INTERRUPTED
    message = str(error)
    if isinstance(error, Infeasible):
        code = INFEASIBLE
    elif isinstance(error, OSError):
        _silence_stdout()
        message = f"{error.filename or 'output'}: {error.strerror or error}"
    elif isinstance(error, RecursionError):
        message = "input: nested too deeply"
    return _complain(message, code)


def _complain(message: str, code: int) -> int:
    # A message may quote the input: whatever stands there, it stays one line.
    message = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError):  # nowhere to say it: the exit code does
            print(f"hived-cells: {message}", file=sys.stderr)
    return code


def _silence_stdout() -> None:
    """Let the interpreter's last flush of a closed or full output go nowhere."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Version(argparse.Action):
    """Print the version, which takes a few milliseconds to find out and so is not found before."""

    def __call__(self, *_: object) -> NoReturn:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("synergy-hived")
        except PackageNotFoundError:  # a checkout that is not installed
            found = "not installed"
        print(f"hived-cells {found}")
        raise SystemExit(DONE)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hived-cells",
        description="Buddy cell allocation with the guarantee of HiveD (OSDI 2020).",
        epilog="exit codes: 0 done; 1 a check failed (a broken invariant in a replay, a job that "
        "waits longer under cells); 2 bad input or usage; 3 infeasible (reserved cells do not "
        "fit); 4 stopped at a limit, the result is good but not proved best; 130 interrupted. "
        "`hived-cells COMMAND --help` has an example of each command.",
    )
    parser.add_argument("--version", nargs=0, action=_Version, help="print the version and leave")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("spec", metavar="SPEC", type=Path, help="hivedscheduler YAML")
    common.add_argument(
        "--json", action="store_true", help="print JSON (replay: JSON lines, as always)"
    )

    check = commands.add_parser(
        "check",
        parents=[common],
        help="is it feasible, what is short, who owns what",
        epilog="example: hived-cells check cluster.yaml",
    )
    check.set_defaults(run=_check)

    policy = argparse.ArgumentParser(add_help=False)
    policy.add_argument(
        "--choose",
        default="hived",
        metavar="NAME",
        help=f"which free cell to take: {', '.join(_CHOICES)} or module:function (default hived)",
    )
    replay = commands.add_parser(
        "replay",
        parents=[common, policy],
        help="one JSON line for each event",
        epilog="example: hived-cells replay cluster.yaml events.jsonl --output outcomes.jsonl",
    )
    replay.add_argument("events", metavar="EVENTS", type=Path, help="JSON lines")
    replay.add_argument(
        "--output", "-o", metavar="FILE", type=Path, help="write here (default standard output)"
    )
    replay.set_defaults(run=_replay)

    show = commands.add_parser(
        "show",
        parents=[common, policy],
        help="the tree of cells",
        epilog="example: hived-cells show cluster.yaml events.jsonl --picture cells.svg",
    )
    show.add_argument(
        "events", metavar="EVENTS", type=Path, nargs="?", help="JSON lines (default no events)"
    )
    show.add_argument("--pool", metavar="NAME", help="this pool only (default all)")
    show.add_argument("--all", action="store_true", help="every cell, none summed up")
    show.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw one pool (.png, .svg, .pdf)"
    )
    show.set_defaults(run=_show)
    add_commands(commands)
    return parser


def _check(options: argparse.Namespace) -> int:
    from hived_cells.report import verdict
    from hived_cells.spec import read_spec

    found = verdict(read_spec(options.spec))
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        from hived_cells.terminal import print_verdict

        print_verdict(found)
    if found["feasible"]:
        return DONE
    sys.stdout.flush()
    short = [
        f"pool {entry['pool']!r}: level {entry['short']['level']} ({entry['short']['type']}) is "
        f"short by {entry['short']['by']}: {entry['short']['needed']} cells needed, "
        f"{entry['short']['available']} available"
        for entry in found["pools"]
        if entry["short"]
    ]
    return _complain(f"{options.spec}: infeasible: {'; '.join(short)}", INFEASIBLE)


def _replay(options: argparse.Namespace) -> int:
    from hived_cells.events import read_events
    from hived_cells.replay import replay
    from hived_cells.spec import read_spec

    spec = read_spec(options.spec)
    book = _first_session(spec, options.spec)
    choose = _choice(options.choose)
    events = read_events(options.events)
    source = str(options.events)
    with output(options.output) as file:
        for outcome in replay(spec, events, choose=choose, source=source, session=book):
            file.write(json.dumps(outcome) + "\n")
            if "broken" in outcome:
                return _complain(
                    f"{options.events}: line {outcome['line']}: {outcome['broken'][0]}", FAILED
                )
    return DONE


def _show(options: argparse.Namespace) -> int:
    from hived_cells.events import read_events
    from hived_cells.replay import replay
    from hived_cells.report import cell_tree
    from hived_cells.spec import read_spec

    spec = read_spec(options.spec)
    pools = [spec.pool(options.pool)] if options.pool is not None else list(spec)
    book = _first_session(spec, options.spec)
    if options.events is not None:
        steps = replay(
            spec,
            read_events(options.events),
            choose=_choice(options.choose),
            source=str(options.events),
            session=book,
        )
        for outcome in steps:
            if "broken" in outcome:
                return _complain(
                    f"{options.events}: line {outcome['line']}: {outcome['broken'][0]}", FAILED
                )
    if options.picture is not None:
        if len(pools) != 1:
            raise InvalidSpec(f"--pool: which is drawn? There are {[p.name for p in pools]}")
        name = pools[0].name
        _save_picture(options.picture, book.cluster[name], name, book.gangs_by_gpu(name))
    trees = {
        pool.name: cell_tree(
            book.cluster[pool.name],
            address=pool.address,
            all_gpus=options.all,
            gangs=book.gangs_by_gpu(pool.name),
        )
        for pool in pools
    }
    if options.json:
        data = {name: [branch.to_data() for branch in tree] for name, tree in trees.items()}
        print(json.dumps(data))
    else:
        from hived_cells.terminal import print_trees

        print_trees(trees)
    return DONE


def _first_session(spec: "Spec", path: Path) -> "Session":
    """Return the empty cluster's session; where it is infeasible, say of which file."""
    from hived_cells.cluster import initial_cluster
    from hived_cells.replay import Session

    try:
        return Session(initial_cluster({pool.name: pool.pool for pool in spec}))
    except Infeasible as error:
        raise Infeasible(
            f"{path}: {error}",
            level=error.level,
            needed=error.needed,
            available=error.available,
        ) from None


def _choice(name: str) -> Choose:
    """Return a built-in choice or the function that module:function names."""
    if name in _CHOICES:
        return _CHOICES[name]
    module, _, function = name.partition(":")
    if not module or not function:
        raise InvalidSpec(f"--choose: {name!r} is none of {sorted(_CHOICES)} nor module:function")
    sys.path.insert(0, str(Path.cwd()))  # a file of one's own, where the command is run
    try:
        found: Any = getattr(importlib.import_module(module), function)
    except (Exception, SystemExit) as error:  # whatever a module of the user's does
        raise InvalidSpec(f"--choose: {name}: {error!r}") from None
    if not callable(found):
        raise InvalidSpec(f"--choose: {name!r} is not a function")

    def choose(candidates: Candidates, /) -> Cell:
        try:
            cell: Cell = found(candidates)
        except (Exception, SystemExit) as error:
            raise InvalidSpec(f"--choose: {name} raised {error!r}") from None
        return cell

    return choose


def _save_picture(path: Path, state: Any, title: str, gangs: dict[int, str]) -> None:
    if not path.suffix:
        raise InvalidSpec(f"--picture: {path}: an ending such as .png, .svg or .pdf is needed")
    try:
        from hived_cells.plot import draw

        figure = draw(state, title=title, gangs=gangs)
    except ImportError:
        raise InvalidSpec("--picture: needs the extra 'plot' (matplotlib)") from None
    with beside(path) as part:
        save: Callable[..., None] = figure.savefig
        try:
            save(part, dpi=120)
        except OSError as error:
            raise InvalidSpec(f"--picture: {path}: {error.strerror or error}") from None
        except ValueError as error:  # an ending that is no picture format
            raise InvalidSpec(f"--picture: {path}: {error}") from None
