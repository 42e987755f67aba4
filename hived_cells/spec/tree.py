"""Reads YAML strictly: takes text, gives a tree of entries that know where they stand.

Sizes, depth and the expansion of aliases are bounded, so that a hostile file is refused in
seconds; keys given twice are refused; scalars keep their text, so that 1.10 stays "1.10".
"""

import gc
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hived_cells.errors import InvalidSpec
from hived_cells.spec.entry import Entry

__all__ = ["parse_tree", "read_text"]

MAX_BYTES = 8 << 20
MAX_DEPTH = 100
MAX_ENTRIES = 500_000  # with aliases expanded

_TAG = "tag:yaml.org,2002:"


def read_text(path: Path) -> str:
    """Return a file's text.

    Raises
    ------
    InvalidSpec
        It cannot be read, is longer than `MAX_BYTES` or is not UTF-8.

    Examples
    --------
    >>> read_text(Path("/nowhere"))
    Traceback (most recent call last):
    hived_cells.errors.InvalidSpec: /nowhere: No such file or directory
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidSpec(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise InvalidSpec(f"{path!r}: {error}") from None
    if len(data) > MAX_BYTES:
        raise InvalidSpec(f"{path}: longer than {MAX_BYTES >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidSpec(f"{path}: byte {error.start} is not UTF-8") from None


def parse_tree(text: str, source: str) -> Entry:
    r"""Return the tree of one YAML document.

    Raises
    ------
    InvalidSpec
        It is no single YAML document, nested deeper than `MAX_DEPTH`, has a key twice or more
        than `MAX_ENTRIES` entries once aliases are expanded.

    Examples
    --------
    >>> parse_tree("a: 1\na: 2", "f")
    Traceback (most recent call last):
    hived_cells.errors.InvalidSpec: f: $.a (line 2): the key stands here twice
    """
    from ruamel.yaml import YAML  # noqa: PLC0415 (0.1 s: only where a file is read)
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    builder = _Builder(source)
    collecting = gc.isenabled()
    gc.disable()  # nothing here is garbage: looking for it cost 20 % of a large file's time
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            builder.take(event)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        raise InvalidSpec(f"{source}: {place}not YAML: {problem}") from None
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        raise InvalidSpec(f"{source}: not YAML: {error!r}") from None  # the parser's own slips
    finally:
        if collecting:
            gc.enable()
    if builder.root is None:
        raise InvalidSpec(f"{source}: the file is empty")
    return builder.root


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is still open."""

    entry: Entry
    path: str
    anchor: str | None
    size: int = 1  # entries inside, aliases expanded
    key: str | None = None  # of a mapping: the key that waits for its value


class _Builder:
    """Turns parser events into entries; bounded in depth and in size."""

    __slots__ = ("_anchors", "_frames", "_source", "root")

    def __init__(self, source: str) -> None:
        self._source = source
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Entry, int]] = {}
        self.root: Entry | None = None

    def take(self, event: Any) -> None:
        """Take the next event."""
        name = type(event).__name__
        if name == "ScalarEvent":
            value, kind = _scalar(event)
            where = self._where(event)
            if kind not in _KINDS or (kind in _PLAIN and not _PLAIN[kind].fullmatch(event.value)):
                raise InvalidSpec(f"{where}: tag {kind!r} does not fit {event.value!r:.40}")
            if _CONTROL.search(event.value):
                raise InvalidSpec(f"{where}: {event.value!r:.40} has a control character")
            entry = Entry(value, kind, where)
            self._remember(event.anchor, entry, 1)
            self._put(entry, 1, event)
        elif name in {"MappingStartEvent", "SequenceStartEvent"}:
            self._open(event, name == "MappingStartEvent")
        elif name in {"MappingEndEvent", "SequenceEndEvent"}:
            frame = self._frames.pop()
            self._remember(frame.anchor, frame.entry, frame.size)
            self._put(frame.entry, frame.size, event)
        elif name == "AliasEvent":
            if event.anchor not in self._anchors:
                raise InvalidSpec(f"{self._where(event)}: alias {event.anchor!r} has no value yet")
            self._put(*self._anchors[event.anchor], event)
        elif name == "DocumentStartEvent" and self.root is not None:
            raise InvalidSpec(f"{self._where(event)}: not YAML of one document")

    def _open(self, event: Any, is_mapping: bool) -> None:
        where = self._where(event)
        if len(self._frames) >= MAX_DEPTH:
            raise InvalidSpec(f"{self._source}: nested deeper than {MAX_DEPTH}")
        kind = (event.tag and str(event.tag).removeprefix(_TAG)) or (
            "map" if is_mapping else "seq"
        )
        if kind not in {"map", "seq"}:
            raise InvalidSpec(f"{where}: tag {kind!r} has no place here")
        entry = Entry({} if is_mapping else [], kind, where)
        self._frames.append(_Frame(entry, self._path(), event.anchor))

    def _put(self, entry: Entry, size: int, event: Any) -> None:
        """Put a complete entry where it belongs."""
        if not self._frames:
            self.root = entry
            return
        frame = self._frames[-1]
        frame.size += size
        if frame.size > MAX_ENTRIES:
            raise InvalidSpec(f"{frame.entry.where}: more than {MAX_ENTRIES} entries")
        if isinstance(frame.entry.value, list):
            frame.entry.value.append(entry)
        elif frame.key is None:
            if isinstance(entry.value, dict | list):
                raise InvalidSpec(f"{self._where(event)}: a key is not a name")
            frame.key = entry.value or ""
            if frame.key in frame.entry.value:
                raise InvalidSpec(f"{self._where(event)}: the key stands here twice")
        else:
            frame.entry.value[frame.key] = entry
            frame.key = None

    def _remember(self, anchor: str | None, entry: Entry, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (entry, size)

    def _path(self) -> str:
        if not self._frames:
            return "$"
        frame = self._frames[-1]
        if isinstance(frame.entry.value, list):
            return f"{frame.path}[{len(frame.entry.value)}]"
        return frame.path if frame.key is None else f"{frame.path}.{frame.key}"

    def _where(self, event: Any) -> str:
        return f"{self._source}: {self._path()} (line {event.start_mark.line + 1})"


def _scalar(event: Any) -> tuple[str | None, str]:
    """Return a scalar's text and kind; what stands in quotes is text whatever it looks like."""
    text = str(event.value)
    if event.tag:
        kind = str(event.tag).removeprefix(_TAG)
        return (None if kind == "null" else text), kind
    if not event.implicit[0]:
        return text, "str"
    for kind, pattern in _PLAIN.items():
        if pattern.fullmatch(text):
            return (None if kind == "null" else text), kind
    return text, "str"


_KINDS = {"str", "null", "bool", "int", "float"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # would steer the terminal that shows a name

# What a plain scalar means, as far as it matters here (YAML 1.2 core schema).
_PLAIN = {
    "null": re.compile(r"|~|null|Null|NULL"),
    "bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
    "int": re.compile(r"[-+]?[0-9]+"),
}
