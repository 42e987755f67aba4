"""Where the command writes: whole files or none, and streams as they are.

Takes a path and gives what to write to. A link stays a link, what it points to is replaced; a
device or a pipe cannot be replaced and is written to.
"""

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from hived_cells.errors import InvalidSpec

__all__ = ["beside", "output"]

_OWN = re.compile(r"/dev/fd/(\d{1,9})|/proc/self/fd/(\d{1,9})")


@contextmanager
def output(path: Path | None) -> Iterator[TextIO]:
    """Give standard output, or a new file that takes its name only once it is complete.

    Raises
    ------
    InvalidSpec
        When `path` cannot be written; what was there before is still there.
    """
    if path is None:
        yield sys.stdout
        return
    with beside(path) as part:
        try:
            own = _own_descriptor(part)
            target = part if own is None else os.dup(own)
            file = open(target, "w", encoding="utf-8")  # noqa: SIM115, PTH123 (closed below)
        except OSError as error:
            raise InvalidSpec(f"{path}: {error.strerror or error}") from None
        with file:
            yield file


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Give a path to write to; rename it to `path` when all went well, else remove it.

    Raises
    ------
    InvalidSpec
        When `path` is a pipe that nobody reads: opening it would wait for ever.
    """
    if _own_descriptor(path) is not None or (path.exists() and not path.is_file()):
        _check_reader(path)
        yield path  # a device or a pipe has nothing beside it
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{os.getpid()}.part{target.suffix}")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _own_descriptor(path: Path) -> int | None:
    """Give the descriptor of this process that a path such as /dev/stdout names."""
    named = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}.get(str(path), str(path))
    found = _OWN.fullmatch(named)
    return None if found is None else int(found[1] or found[2])


def _check_reader(path: Path) -> None:
    if not path.is_fifo():
        return
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise InvalidSpec(f"{path}: is a pipe that nobody reads") from None
        raise
