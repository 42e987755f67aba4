"""Events of a replay: takes JSON lines, gives frozen events; nothing is guessed.

A line that is no event is refused with its number, the place inside it and the rule.
"""

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from hived_cells.errors import InvalidSpec

__all__ = [
    "Allocate",
    "Bad",
    "Event",
    "Heal",
    "LowPriority",
    "Place",
    "Release",
    "Remove",
    "Stop",
    "parse_event",
    "read_events",
]

MAX_LINE = 1 << 20  # bytes


class _Base(msgspec.Struct, frozen=True, tag_field="op", kw_only=True, forbid_unknown_fields=True):
    """What all events have in common: frozen, strict, told apart by `op`."""


class Allocate(_Base, frozen=True, tag="allocate"):
    """A tenant asks for one of its reserved cells, by level or by pin.

    Examples
    --------
    >>> Allocate(id="c1", tenant="A", level=2).pool is None
    True
    """

    id: str
    tenant: str
    level: int | str | None = None  # number from 1, or a cell type's name
    pin: str | None = None
    pool: str | None = None


class Release(_Base, frozen=True, tag="release"):
    """A cell is given back.

    Examples
    --------
    >>> Release(id="c1").id
    'c1'
    """

    id: str


class Bad(_Base, frozen=True, tag="bad"):
    """A cell went bad.

    Examples
    --------
    >>> Bad(cell="node7/0").cell
    'node7/0'
    """

    cell: str
    pool: str | None = None


class Heal(_Base, frozen=True, tag="heal"):
    """A cell is healthy again.

    Examples
    --------
    >>> Heal(cell="node7").cell
    'node7'
    """

    cell: str
    pool: str | None = None


class LowPriority(_Base, frozen=True, tag="low_priority"):
    """A low-priority job wants GPUs.

    Examples
    --------
    >>> LowPriority(id="p1", tenant="A", gpus=4).gpus
    4
    """

    id: str
    tenant: str
    gpus: int
    pool: str | None = None


class Stop(_Base, frozen=True, tag="stop"):
    """A low-priority job ends.

    Examples
    --------
    >>> Stop(id="p1").id
    'p1'
    """

    id: str


class Place(_Base, frozen=True, tag="place"):
    """A gang wants to run.

    Examples
    --------
    >>> Place(id="g1", tenant="A", pods=((8, 2),)).priority
    0
    """

    id: str
    tenant: str
    pods: tuple[tuple[int, int], ...]  # (GPUs a pod, pods)
    priority: int = 0
    kind: str | None = None
    pool: str | None = None
    pin: str | None = None
    within: int | str | None = None  # number from 1, or a cell type's name
    gather: bool = True
    lazy: bool = False
    nodes: tuple[str, ...] | None = None  # addresses


class Remove(_Base, frozen=True, tag="remove"):
    """A gang ends.

    Examples
    --------
    >>> Remove(id="g1").id
    'g1'
    """

    id: str


Event = Allocate | Release | Bad | Heal | LowPriority | Stop | Place | Remove


_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def parse_event(line: bytes, *, where: str = "event") -> Event:
    """Return the event in one JSON line.

    Raises
    ------
    InvalidSpec
        It is no such event; the message names `where`, the place inside the line and the rule.

    Examples
    --------
    >>> parse_event(b'{"op": "release", "id": "c1"}')
    Release(id='c1')
    >>> parse_event(b'{"op": "release", "id": 1}', where="f: line 3")
    Traceback (most recent call last):
    hived_cells.errors.InvalidSpec: f: line 3: Expected `str`, got `int` - at `$.id`
    """
    try:
        event = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidSpec(f"{where}: {error}") from None
    # The decoder takes the last of two equal keys. Every key has a colon, so a line with no more
    # colons than set fields and the tag has none twice; only others are read again, and gangs,
    # whose defaults are set fields too.
    fields = 1 + sum(value is not None for value in msgspec.structs.astuple(event))
    if isinstance(event, Place) or line.count(b":") > fields:
        _refuse_repeated_keys(line, where)
    if isinstance(event, Allocate) and (event.level is None) == (event.pin is None):
        raise InvalidSpec(f"{where}: $: either 'level' or 'pin' is needed, not both")
    return event


def _refuse_repeated_keys(line: bytes, where: str) -> None:
    keys = [key for key, _ in json.loads(line, object_pairs_hook=list)]
    for key in keys:
        if keys.count(key) > 1:
            raise InvalidSpec(f"{where}: $.{key}: the key stands here twice")


def read_events(path: Path) -> Iterator[tuple[int, Event]]:
    """Yield (line number, event) from a file, one line at a time; empty lines are skipped.

    As in a specification, a byte order mark at the start is none of the text.

    Raises
    ------
    InvalidSpec
        The file cannot be read, or a line is no event or longer than `MAX_LINE` bytes.

    Examples
    --------
    >>> list(read_events(Path("/nowhere")))
    Traceback (most recent call last):
    hived_cells.errors.InvalidSpec: /nowhere: No such file or directory
    """
    try:
        with path.open("rb") as file:
            yield from _lines(file, str(path))
    except OSError as error:
        raise InvalidSpec(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise InvalidSpec(f"{path}: {error}") from None


def _lines(file: BinaryIO, source: str) -> Iterator[tuple[int, Event]]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if len(line) > MAX_LINE:
            raise InvalidSpec(f"{source}: line {number}: longer than {MAX_LINE >> 20} MiB")
        if line.strip():
            yield number, parse_event(line, where=f"{source}: line {number}")
