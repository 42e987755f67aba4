"""What several commands share: reading an instance, numbers on the command line, output.

Takes arguments and gives values, or writes one JSON document or rich text.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from synergy_opt.cli import fail
from synergy_opt.cli.streams import say
from synergy_opt.errors import InvalidInstance

if TYPE_CHECKING:
    from rich.console import Console

    from synergy_opt.model import Instance
    from synergy_opt.progress import Progress
    from synergy_opt.solution import Limits

_PATIENCE = 1.0  # s before which nobody wonders how far a solve is
_WIDE = 200  # columns for tables that go into a file or a pipe, where nothing wraps them


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document and nothing else"
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add ``--time-limit`` and ``--gap``."""
    parser.add_argument(
        "--time-limit",
        type=seconds,
        metavar="S",
        help="stop the solver after S seconds and use what it has (exit code 4)",
    )
    parser.add_argument(
        "--gap",
        type=gap,
        default=Fraction(0),
        metavar="G",
        help="be content with a relative gap of G to the bound, such as 0.01 (default 0)",
    )


def add_instance(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the positional INSTANCE."""
    parser.add_argument(
        "instances" if several else "instance",
        metavar="INSTANCE",
        **({"nargs": "+"} if several else {}),  # type: ignore[arg-type]
        help=f"instance file, or the name of a shipped one: {', '.join(_shipped())}",
    )


def _shipped() -> list[str]:
    """Give the names of the shipped instances without the readers, which load NumPy."""
    folder = Path(__file__).parents[1] / "instances"
    return sorted(path.stem for path in folder.glob("*.json"))


def load(name: str) -> Instance:
    """Read an instance file, or a shipped instance where there is no such file."""
    from synergy_opt.io import read_instance, shipped, shipped_names  # noqa: PLC0415

    there = os.path.lexists(name)
    if not there and name in shipped_names():
        return shipped(name)
    if not there and not Path(name).suffix and Path(name).name == name:
        names = ", ".join(shipped_names())
        raise InvalidInstance(f"no such file, nor a shipped instance: {names}", name)
    return read_instance(name)


def limits(options: argparse.Namespace) -> Limits:
    """Give the limits that the options state."""
    from synergy_opt.solution import Limits  # noqa: PLC0415

    return Limits(time=options.time_limit, gap=options.gap)


def seconds(text: str) -> float:
    """Read a number of seconds above 0."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be above 0 seconds, not {text}")
    return float(value)


def gap(text: str) -> Fraction:
    """Read a relative gap: 0 or more, below 1."""
    value = number(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 0 and below 1, not {text}")
    return value


def positive(text: str) -> Fraction:
    """Read an amount above 0."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be above 0, not {text}")
    return value


def number(text: str) -> Fraction:
    """Read an exact number."""
    from synergy_opt.exact import exact  # noqa: PLC0415

    try:
        return exact(text)
    except InvalidInstance as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    return _at_least(1, text)


def whole(text: str) -> int:
    """Read a whole number of at least 0."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12 or int(text) < least:
        rule = f"must be a whole number of at least {least}, not {text}"
        raise argparse.ArgumentTypeError(rule)
    return int(text)


def weights(text: str) -> tuple[int, ...]:
    """Read weights such as ``20,70,10``."""
    if ":" in text:  # as in the tables
        raise argparse.ArgumentTypeError(f"must be numbers with commas between, not {text}")
    return tuple(whole(part.strip()) for part in text.split(","))


def demands(text: str) -> dict[int, int]:
    """Read weights of GPU demands such as ``1:70,2:10``; ``4`` alone means ``4:1``."""
    pairs = [part.partition(":") for part in text.split(",")]
    read = [(count(key.strip()), whole(weight.strip() or "1")) for key, _, weight in pairs]
    if len(dict(read)) < len(read):
        raise argparse.ArgumentTypeError(f"must name each number of GPUs once, not {text}")
    return dict(read)


def console() -> Console:
    """Give a console: plain and wide when piped, in colour on a terminal, NO_COLOR honoured."""
    from rich.console import Console  # noqa: PLC0415

    if sys.stdout.isatty():
        return Console(highlight=False, emoji=False, markup=False)
    file = cast("TextIO", _Trimmed(sys.stdout))
    return Console(file=file, width=_WIDE, highlight=False, emoji=False, markup=False)


class _Trimmed:
    """A file that gets lines without the blanks that tables are filled up with."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def write(self, text: str) -> int:
        """Write whole lines, as rich gives them."""
        self._file.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
        return len(text)


def check_output(options: argparse.Namespace) -> None:
    """Refuse an output file that is where ``--json`` prints its document: two are none.

    Raises
    ------
    InvalidInstance
        Before anything is computed.
    """
    output = getattr(options, "output", None)
    if output is None or not getattr(options, "json", False):
        return
    try:
        same = os.path.samestat(Path(output).stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError, AttributeError):  # not there yet, or standard output is no file
        return
    if same:
        raise InvalidInstance("is standard output, which --json prints its document to", output)


def print_json(document: object) -> None:
    """Print one JSON document."""
    print(json.dumps(document, indent=1, ensure_ascii=False))


@contextmanager
def progress(*, quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[Progress], None]]]:
    """Show on a terminal's standard error what is running, and how far; silent when piped.

    Gives two functions: one names what runs, in a line that goes away; one writes a row that
    stays, from the first second on.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _: None, lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True, highlight=False, emoji=False, markup=False)

    def row(known: Progress) -> None:
        if known.seconds >= _PATIENCE:
            console.print(str(known))

    with console.status("") as status:
        yield status.update, row


def write(instance: Instance, options: argparse.Namespace) -> int:
    """Write an instance to ``--output`` and say so, or to standard output."""
    from dataclasses import replace  # noqa: PLC0415

    from synergy_opt.io import instance_text, write_instance  # noqa: PLC0415

    if options.name is not None:
        instance = replace(instance, name=options.name)
    if options.output is None:
        # The instance file is a JSON document already, with or without --json.
        print(instance_text(instance), end="")
        return 0
    write_instance(instance, options.output)
    summary = {
        "instance": instance.name,
        "output": options.output,
        "servers": instance.cluster.server_count,
        "gpus": instance.cluster.gpus,
        "jobs": len(instance.jobs),
        "gpus_asked_for": sum(job.gpus for job in instance.jobs),
        "profiles": len(instance.profiles),
    }
    if options.json:
        print_json(summary)
    else:
        facts = ", ".join(
            f"{value} {key.replace('_', ' ')}" for key, value in list(summary.items())[2:]
        )
        print(f"{options.output}: {instance.name} ({facts})")
    return 0


def fail_rules(who: str, broken: Sequence[str]) -> None:
    """Count broken rules on standard error and name each on a line of its own."""
    fail(f"{who} breaks {count_rules(len(broken))}")
    for rule in broken:
        say(" ".join(rule.split()))


def count_rules(number: int) -> str:
    """Give "1 rule", "2 rules"."""
    return f"{number} rule{'s' if number > 1 else ''}"


def gap_text(gap: Fraction | None) -> str:
    """Give a gap in percent, ∞ where there is no throughput to measure it by."""
    from synergy_opt.exact import percent  # noqa: PLC0415

    return "∞" if gap is None else percent(gap, places=2)
