"""Files changed at random: each is read, or refused by one designed error."""

from __future__ import annotations

import copy
from decimal import Decimal
from random import Random

import pytest

from synergy_opt import SynergyError, ideal_allocation, packed, place, shipped
from synergy_opt.io.allocation_file import allocation_from_json, allocation_to_json
from synergy_opt.io.fields import as_mapping
from synergy_opt.io.instance_file import instance_from_json
from synergy_opt.io.placement_file import placement_from_json, placement_to_json
from synergy_opt.io.shipped import shipped_path
from synergy_opt.io.text import read_json

INSTANCE = shipped("worked-example")
ALLOCATION = ideal_allocation(INSTANCE)


def judged(document):
    """Read a placement file and judge it."""
    return placement_from_json(document, INSTANCE).violations(INSTANCE)


FILES = {
    "instance": (read_json(shipped_path("worked-example")), instance_from_json),
    "placement": (placement_to_json(packed(INSTANCE), INSTANCE), judged),
    "vertex": (placement_to_json(place(INSTANCE, ALLOCATION), INSTANCE), judged),
    "allocation": (
        allocation_to_json(ALLOCATION, INSTANCE),
        lambda document: place(INSTANCE, allocation_from_json(document, INSTANCE)),
    ),
}
JUNK = [
    None, True, 0, 1, -1, 2, 16, 10**30, Decimal("0.5"), Decimal("1e99"), "", "x", "1/3", "7",
    "0", "-1", "\ud800", [], {}, [1], [[1]], {"a": 1}, {"cpu": 1, "memory": 1}, "never",
    "multipliers",
]  # fmt: skip


def places(document):
    """Give each container of a document with each of its keys."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in list(pairs):
        yield document, key
        if isinstance(value, dict | list):
            yield from places(value)


def change(document, random):
    """Put junk in a random place, take it out, or write it twice."""
    container, key = random.choice(list(places(document)))
    kind = random.randrange(4)
    if kind == 0:
        del container[key]
    elif kind == 1 and isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    else:
        container[key] = copy.deepcopy(random.choice(JUNK))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_read_or_refused(name, seed):
    """Tests 400 changed files of each schema: no error of Python's own ever comes out."""
    original, read = FILES[name]
    random, refused = Random(f"{name} {seed}"), 0
    for _ in range(100):
        document = as_mapping(copy.deepcopy(original), "$")
        for _ in range(random.choice([1, 1, 2])):
            if document:
                change(document, random)
        try:
            refused += bool(read(document)) and name in ("placement", "vertex")
        except SynergyError:
            refused += 1
    assert refused > 50
