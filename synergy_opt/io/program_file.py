"""Programmes as files that any solver reads: MPS (free format) and LP.

Takes a `Program` and gives text with every number written so that reading gives the same double.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from synergy_opt.program import Program

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
_MARKS = {True: "'INTORG'", False: "'INTEND'"}
_LINE = 8  # terms on a line of an LP file; some readers cut lines at 255 characters


def mps_text(program: Program) -> str:
    """Give a programme in free MPS format, to be maximised (``OBJSENSE MAX``).

    Rows and columns keep their names where a file can hold them and are ``r7``, ``c7`` where not.
    """
    rows, columns = _names(program.row_names, "r"), _names(program.column_names, "c")
    lines = [f"NAME {_names((program.name,), 'p')[0]}", "OBJSENSE", "    MAX", "ROWS", " N gain"]
    kinds = [_kind(lower, upper) for lower, upper in _row_bounds(program)]
    lines += [f" {kind} {name}" for kind, name in zip(kinds, rows, strict=True)]
    lines += ["COLUMNS", *_mps_columns(program, rows, columns), "RHS"]
    for name, kind, (lower, upper) in zip(rows, kinds, _row_bounds(program), strict=True):
        side = lower if kind == "G" else upper
        if kind != "N" and side != 0:
            lines.append(f" rhs {name} {_number(side)}")
    ranges = [
        f" range {name} {_number(upper - lower)}"
        for name, kind, (lower, upper) in zip(rows, kinds, _row_bounds(program), strict=True)
        if kind == "L" and lower > -math.inf
    ]
    lines += ["RANGES", *ranges] if ranges else []
    lines += ["BOUNDS", *_mps_bounds(program, columns), "ENDATA", ""]
    return "\n".join(lines)


def lp_text(program: Program) -> str:
    """Give a programme in LP format, to be maximised."""
    rows, columns = _names(program.row_names, "r"), _names(program.column_names, "c")
    costs = [(float(c), columns[j]) for j, c in enumerate(program.cost) if c]
    lines = [f"\\ {_names((program.name,), 'p')[0]}", "Maximize", f" gain:{_terms(costs) or ' 0'}"]
    lines.append("Subject To")
    for i, (start, end) in enumerate(pairwise(program.starts)):
        terms = [
            (float(program.value[k]), columns[int(program.index[k])]) for k in range(start, end)
        ]
        lower, upper = float(program.row_lower[i]), float(program.row_upper[i])
        if terms:
            lines += _lp_row(rows[i], _terms(terms), lower, upper)
    lines.append("Bounds")
    for name, lower, upper in zip(columns, program.lower, program.upper, strict=True):
        lines.append(f" {_number(lower)} <= {name} <= {_number(upper)}")
    whole = [name for name, integral in zip(columns, program.integral, strict=True) if integral]
    if whole:
        lines += ["General", *(f" {name}" for name in whole)]
    return "\n".join([*lines, "End", ""])


def _lp_row(name: str, terms: str, lower: float, upper: float) -> Iterator[str]:
    if lower == upper:
        yield f" {name}:{terms} = {_number(lower)}"
        return
    if upper < math.inf:
        yield f" {name}:{terms} <= {_number(upper)}"
    if lower > -math.inf:
        ending = "" if upper == math.inf else "_low"  # a range is written as two rows
        yield f" {name}{ending}:{terms} >= {_number(lower)}"


def _terms(terms: list[tuple[float, str]]) -> str:
    """Write a sum over several lines."""
    texts = [f" {'-' if c < 0 else '+'} {_number(abs(c))} {name}" for c, name in terms]
    return "\n ".join("".join(texts[i : i + _LINE]) for i in range(0, len(texts), _LINE))


def _mps_columns(program: Program, rows: list[str], columns: list[str]) -> Iterator[str]:
    """Turn the rows of the matrix into columns, integer ones between markers."""
    entries: list[list[tuple[str, float]]] = [
        [("gain", float(cost))] if cost else [] for cost in program.cost
    ]
    for i, (start, end) in enumerate(pairwise(program.starts)):
        for k in range(start, end):
            entries[int(program.index[k])].append((rows[i], float(program.value[k])))
    inside = False
    for name, integral, column in zip(columns, program.integral, entries, strict=True):
        if bool(integral) != inside:
            inside = bool(integral)
            yield f" M 'MARKER' {_MARKS[inside]}"
        for row, value in column or [("gain", 0.0)]:
            yield f" {name} {row} {_number(value)}"
    if inside:
        yield " M 'MARKER' 'INTEND'"


def _mps_bounds(program: Program, columns: list[str]) -> Iterator[str]:
    for name, lower, upper in zip(columns, program.lower, program.upper, strict=True):
        if lower != 0:
            yield f" LO bound {name} {_number(lower)}"
        # Without a bound some readers take an integer column to be at most 1.
        yield f" UP bound {name} {_number(upper)}" if upper < math.inf else f" PL bound {name}"


def _row_bounds(program: Program) -> list[tuple[float, float]]:
    pairs = zip(program.row_lower, program.row_upper, strict=True)
    return [(float(lower), float(upper)) for lower, upper in pairs]


def _kind(lower: float, upper: float) -> str:
    if lower == upper:
        return "E"
    if upper < math.inf:
        return "L"
    return "G" if lower > -math.inf else "N"


def _names(names: tuple[str, ...], letter: str) -> list[str]:
    """Keep plain names that occur once; number the others."""
    seen: set[str] = {"gain"}
    kept = []
    for i, name in enumerate(names):
        plain = _PLAIN.fullmatch(name) is not None and name not in seen
        kept.append(name if plain else f"{letter}{i}")
        seen.add(kept[-1])
    return kept


def _number(value: float) -> str:
    """Write a double exactly: the shortest decimal that gives it back."""
    number = float(value)
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
