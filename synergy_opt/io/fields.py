"""Reading JSON objects strictly: every key known, every type right, every fault with its path.

Takes decoded JSON and gives typed parts of it.
"""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import exact


def as_object(
    value: object, path: str, *, required: Collection[str] = (), optional: Collection[str] = ()
) -> dict[str, object]:
    """Give a JSON object that has all `required` keys and no others but the `optional` ones."""
    table = as_mapping(value, path)
    for key in required:
        if key not in table:
            raise InvalidInstance(f"the key {key!r} is missing", path)
    for key in table:
        if key not in required and key not in optional:
            known = ", ".join([*required, *optional])
            raise InvalidInstance(f"unknown key; known here are {known}", f"{path}.{key}")
    return table


def as_mapping(value: object, path: str) -> dict[str, object]:
    """Give a JSON object with any keys."""
    if not isinstance(value, dict):
        raise InvalidInstance(f"must be an object, not {kind(value)}", path)
    return value


def as_list(value: object, path: str) -> list[object]:
    """Give a JSON array."""
    if not isinstance(value, list):
        raise InvalidInstance(f"must be a list, not {kind(value)}", path)
    return value


def as_string(value: object, path: str) -> str:
    """Give a JSON string."""
    if not isinstance(value, str):
        raise InvalidInstance(f"must be a string, not {kind(value)}", path)
    return value


def as_integer(value: object, path: str) -> int:
    """Give a whole number, written without a point."""
    if isinstance(value, bool) or not isinstance(value, int):
        shown = value if isinstance(value, Decimal) else kind(value)
        raise InvalidInstance(f"must be a whole number, not {shown}", path)
    return value


def as_boolean(value: object, path: str) -> bool:
    """Give true or false."""
    if not isinstance(value, bool):
        raise InvalidInstance(f"must be true or false, not {kind(value)}", path)
    return value


def as_number(value: object, path: str) -> Fraction:
    """Give an exact number, written as a number, a decimal in a string, or ``"10/3"``."""
    try:
        return exact(value)
    except InvalidInstance as error:
        raise error.at(path) from None


def check_schema(value: object, schema: str) -> None:
    """Check that the document says that it follows `schema`."""
    found = as_mapping(value, "$").get("schema")
    if found != schema:
        raise InvalidInstance(f"must be {schema!r}, not {found!r}", "$.schema")


def kind(value: object) -> str:
    """Name the JSON type of a decoded value, for a message."""
    if value is None:
        return "null"
    names: dict[type, str] = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a boolean",
    }
    return names.get(type(value), "a number")
