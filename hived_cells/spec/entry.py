"""An entry of a YAML file that knows where it stands, and what it must be.

Takes text that was read and gives numbers, names, lists and mappings, or an error with the place.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hived_cells.errors import InvalidSpec

__all__ = ["Entry"]


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
    >>> from hived_cells.spec.tree import parse_tree
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
        >>> from hived_cells.spec.tree import parse_tree
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
        >>> from hived_cells.spec.tree import parse_tree
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
        >>> from hived_cells.spec.tree import parse_tree
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
        >>> from hived_cells.spec.tree import parse_tree
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
        >>> from hived_cells.spec.tree import parse_tree
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
        >>> from hived_cells.spec.tree import parse_tree
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
        >>> from hived_cells.spec.tree import parse_tree
        >>> parse_tree("true", "f").flag()
        True
        """
        if self.kind != "bool":
            raise self.refuse(f"{self.value!r} is neither true nor false")
        return bool(self.value.lower() == "true")
