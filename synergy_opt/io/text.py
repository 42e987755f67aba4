"""Text files in and out: what can be wrong with a file before its content matters.

Takes a path and gives its text or its JSON with exact numbers; writes a whole file or none.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from io import TextIOWrapper
from pathlib import Path
from typing import IO, NoReturn

from synergy_opt.errors import InvalidInstance

_LFS = b"version https://git-lfs"
_GZIP = b"\x1f\x8b"
_OWN = re.compile(r"/dev/fd/(\d{1,9})|/proc/self/fd/(\d{1,9})")  # our own descriptors
_LONGEST = 10_000  # characters of a number; a longer one is no number that anyone wrote


def read_text(path: str | Path) -> str:
    """Read a UTF-8 file.

    Raises
    ------
    InvalidInstance
        When there is no such file, it cannot be read, is no text, or is a Git-LFS pointer to a
        file that was never fetched.
    """
    try:
        _check_regular(_named(path))
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidInstance(f"cannot be read: {error.strerror}", f"{path}") from None
    except ValueError as error:  # a name with a 0 in it
        raise InvalidInstance(f"cannot be read: {error}", f"{path!r}") from None
    _check_no_pointer(path, data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInstance(f"is not UTF-8 text (byte {error.start})", f"{path}") from None


@contextmanager
def open_text(path: str | Path) -> Iterator[IO[str]]:
    """Open a UTF-8 file to be read piece by piece, unpacking it where it is gzipped.

    Whether it is gzipped is told by its first bytes, not by its name. Line ends are left as they
    are.

    Raises
    ------
    InvalidInstance
        As in `read_text`, also while the file is read within the ``with`` block; and when the
        gzipped data are cut short or damaged.
    """
    try:
        _check_regular(_named(path))
        with Path(path).open("rb") as raw:
            head = raw.read(len(_LFS))
            _check_no_pointer(path, head)
            raw.seek(0)
            data = gzip.GzipFile(fileobj=raw) if head.startswith(_GZIP) else raw
            # The wrapper is let go of before the file under it is closed.
            with TextIOWrapper(data, encoding="utf-8", newline="") as text:
                yield text
    except UnicodeDecodeError as error:
        raise InvalidInstance(f"is not UTF-8 text (byte {error.start})", f"{path}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInstance(f"is gzipped but damaged: {error}", f"{path}") from None
    except OSError as error:
        raise InvalidInstance(f"cannot be read: {error.strerror}", f"{path}") from None
    except ValueError as error:  # a name with a 0 in it
        raise InvalidInstance(f"cannot be read: {error}", f"{path!r}") from None


def _check_no_pointer(path: str | Path, data: bytes) -> None:
    if data.startswith(_LFS):
        rule = "is a Git-LFS pointer, not the file itself; fetch it with `git lfs pull`"
        raise InvalidInstance(rule, f"{path}")


def read_json(path: str | Path) -> object:
    """Read a JSON file; a number with a point or an exponent becomes the `Decimal` that it writes.

    Raises
    ------
    InvalidInstance
        Also when a key occurs twice in an object, or a number is NaN or infinite.
    """
    text = read_text(path)
    try:
        value = json.loads(
            text,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        rule = f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise InvalidInstance(rule, f"{path}") from None
    except RecursionError:
        raise InvalidInstance("is nested too deeply", f"{path}") from None
    except InvalidInstance as error:
        raise InvalidInstance(error.rule, f"{path}") from None
    return value


def write_text(path: str | Path, text: str) -> None:
    """Write a whole UTF-8 file or none: beside it first, then rename.

    Raises
    ------
    InvalidInstance
        When the file cannot be written; what was there before is still there.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a whole file or none, as `write_text` does."""
    beside = None
    try:
        if _is_stream(_named(path)):
            # A device or a pipe, such as /dev/stdout, is written to; it cannot be replaced.
            with os.fdopen(_opened(Path(path)), "wb") as stream:
                stream.write(data)
            return
        target = Path(path).resolve()  # a link stays a link: what it points to is replaced
        handle, beside = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        Path(beside).chmod(mode)
        Path(beside).replace(target)
    except OSError as error:
        _cannot_write(path, error)
    except (RuntimeError, ValueError) as error:  # a loop of links, a name with a 0 in it
        raise InvalidInstance(f"cannot be written: {error}", f"{path}") from None
    finally:
        if beside is not None:
            with suppress(FileNotFoundError):
                Path(beside).unlink()


def _named(path: str | Path) -> Path:
    """Give a path; "" would mean the current folder, and be an empty name in every message."""
    if path == "":
        raise InvalidInstance("the name of a file is empty")
    return Path(path)


def _is_stream(path: Path) -> bool:
    """Tell whether a path is no regular file, or leads to an open one through /dev or /proc."""
    places = [path.absolute()]
    if path.is_symlink():
        places.append(Path(os.path.realpath(path.parent), path.readlink()))
    special = any(place.parts[:2] in (("/", "dev"), ("/", "proc")) for place in places)
    return special or (path.exists() and not path.is_file())


def _opened(path: Path) -> int:
    """Open a device or a pipe for writing; a pipe without a reader would be waited for in vain."""
    named = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}.get(f"{path}", f"{path}")
    own = _OWN.fullmatch(named)
    if own is not None:
        # Opened anew, a file behind standard output would be written from its start once more.
        sys.stdout.flush()
        return os.dup(int(own[1] or own[2]))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO and path.is_fifo():
            error.strerror = "it is a pipe that nobody reads"
        raise
    os.set_blocking(descriptor, True)
    return descriptor


def _check_regular(path: Path) -> None:
    """Refuse what may never end, such as a pipe or a device; a folder says so itself."""
    if path.is_fifo():
        raise InvalidInstance("is a pipe, not a file", f"{path}")
    if path.is_char_device() or path.is_block_device() or path.is_socket():
        raise InvalidInstance("is a device, not a file", f"{path}")


def _cannot_write(path: str | Path, error: OSError) -> NoReturn:
    raise InvalidInstance(f"cannot be written: {error.strerror}", f"{path}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _integer(text: str) -> int | Decimal:
    # Python refuses to parse very long integers; `exact` then names the rule and the path.
    return int(text) if len(text) < 1000 else _decimal(text)


def _decimal(text: str) -> Decimal:
    if len(text) > _LONGEST:
        raise InvalidInstance(f"holds a number of {len(text)} characters")
    try:
        return Decimal(text)
    except InvalidOperation:
        raise InvalidInstance(f"holds {text[:40]}, which is no number anyone needs") from None


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInstance(f"holds {name}; numbers must be finite")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidInstance(f"has the key {twice!r} twice in one object")
    return value
