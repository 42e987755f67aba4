"""Reads YAML strictly: takes text, gives a tree of entries that know where they stand.

Sizes, depth and the expansion of aliases are bounded, so that a hostile file is refused in
seconds; keys given twice are refused; scalars keep their text, so that 1.10 stays "1.10".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hived_cells.errors import InvalidSpec

__all__ = ["Entry", "parse_tree", "read_text"]

MAX_BYTES = 16 << 20
MAX_DEPTH = 100
MAX_ENTRIES = 1_000_000  # with aliases expanded

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Entry:
    """A place in a file: a mapping, a list or a scalar's text.

    Parameters
    ----------
    value
        Key → entry, a list of entries, or a scalar's text; None for an empty place.
    kind
        The YAML type: map, seq, str, int, float, bool, null or another tag.
    where
        File, path inside it and line, for messages.

    Examples
    --------
    >>> parse_tree("a: [1]", "f").mapping({"a"})["a"].sequence()[0].where
    'f: $.a[0] (line 1)'
    """

    value: Any
    kind: str
    where: str

    def refuse(self, rule: str) -> InvalidSpec:
        """Return the error that says what rule this place breaks.

        Examples
        --------
        >>> print(parse_tree("a: 1", "f").refuse("too short"))
        f: $ (line 1): too short
        """
        return InvalidSpec(f"{self.where}: {rule}")

    def mapping(
        self, allowed: Iterable[str] | None = None, *, required: Iterable[str] = ()
    ) -> "dict[str, Entry]":
        """Return the keys and their entries; an empty place has none.

        Raises
        ------
        InvalidSpec
            It is no mapping, a key is not allowed here or a required one is missing.

        Examples
        --------
        >>> list(parse_tree("a: 1", "f").mapping({"a", "b"}))
        ['a']
        """
        if self.value is not None and not isinstance(self.value, dict):
            raise self.refuse(f"a mapping is needed, not {self.value!r:.40}")
        found: dict[str, Entry] = self.value or {}
        if allowed is not None:
            known = sorted(allowed)
            for key, entry in found.items():
                if key not in known:
                    raise entry.refuse(f"key {key!r} is not known here; known are {known}")
        for key in required:
            if key not in found or found[key].value is None:
                raise self.refuse(f"key {key!r} is missing")
        return found

    def is_blank(self) -> bool:
        """Return whether nothing or an empty text stands here.

        Examples
        --------
        >>> parse_tree("a:", "f").mapping()["a"].is_blank()
        True
        """
        return self.value is None or self.value == ""

    def sequence(self) -> "list[Entry]":
        """Return the entries of a list; an empty place has none.

        Raises
        ------
        InvalidSpec
            It is no list.

        Examples
        --------
        >>> parse_tree("a:", "f").mapping()["a"].sequence()
        []
        """
        if self.value is not None and not isinstance(self.value, list):
            raise self.refuse("a list is needed")
        return self.value or []

    def text(self) -> str:
        """Return a name or address as it stands in the file.

        Raises
        ------
        InvalidSpec
            It is empty or no scalar.

        Examples
        --------
        >>> parse_tree("0.10", "f").text()
        '0.10'
        """
        if not isinstance(self.value, str) or not self.value:
            raise self.refuse("a name is needed")
        return self.value

    def integer(self, *, least: int) -> int:
        """Return a whole number of at least `least`.

        Raises
        ------
        InvalidSpec
            It is anything else, `.nan`, `1.0` and `"3"` in quotes included.

        Examples
        --------
        >>> parse_tree("8", "f").integer(least=1)
        8
        """
        whole = self.kind == "int" and re.fullmatch(r"[+-]?[0-9]{1,18}", self.value)
        if not whole or int(self.value) < least:
            raise self.refuse(f"{self.value!r} is not an integer of at least {least}")
        return int(self.value)

    def flag(self) -> bool:
        """Return true or false.

        Raises
        ------
        InvalidSpec
            It is anything else.

        Examples
        --------
        >>> parse_tree("true", "f").flag()
        True
        """
        if self.kind != "bool":
            raise self.refuse(f"{self.value!r} is neither true nor false")
        return bool(self.value.lower() == "true")


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

    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        raise InvalidSpec(f"{source}: {place}not YAML: {problem}") from None
    except RecursionError:
        raise InvalidSpec(f"{source}: nested deeper than {MAX_DEPTH}") from None
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise InvalidSpec(f"{source}: not YAML: {error}") from None  # the parser's own slips
    if node is None:
        raise InvalidSpec(f"{source}: the file is empty")
    return _Converter(source).entry(node, "$", 0)


class _Converter:
    """Turns nodes into entries and counts them on the way."""

    __slots__ = ("_left", "_source")

    def __init__(self, source: str) -> None:
        self._source = source
        self._left = MAX_ENTRIES

    def entry(self, node: Any, path: str, depth: int) -> Entry:
        where = f"{self._source}: {path} (line {node.start_mark.line + 1})"
        self._left -= 1
        if self._left < 0:
            raise InvalidSpec(f"{where}: more than {MAX_ENTRIES} entries")
        if depth > MAX_DEPTH:
            raise InvalidSpec(f"{self._source}: nested deeper than {MAX_DEPTH}")
        kind = str(node.tag).removeprefix(_TAG)
        if isinstance(node.value, str):
            value = None if kind == "null" else node.value
            return Entry(value, kind, where)
        if kind == "seq":
            items = [
                self.entry(item, f"{path}[{number}]", depth + 1)
                for number, item in enumerate(node.value)
            ]
            return Entry(items, kind, where)
        if kind != "map":
            raise InvalidSpec(f"{where}: tag {kind!r} has no place here")
        return Entry(self._pairs(node, path, depth), kind, where)

    def _pairs(self, node: Any, path: str, depth: int) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key.value, str):
                raise InvalidSpec(f"{self._source}: {path} (line {line}): a key is not a name")
            inner = f"{path}.{key.value}"
            if key.value in found:
                raise InvalidSpec(
                    f"{self._source}: {inner} (line {line}): the key stands here twice"
                )
            found[key.value] = self.entry(value, inner, depth + 1)
        return found
