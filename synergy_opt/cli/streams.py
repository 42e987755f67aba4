"""Standard output and error, whatever they are: closed, full, or of few letters.

Takes the process as it was started, gives streams that can be written to or fail in one known way.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import sys
from contextlib import suppress

_ESCAPE = "synergy_opt.escape"


def open_streams() -> None:
    """Give the process the streams that it was started without, and letters to all it has.

    Descriptors 0 to 2 are taken, lest the first file that we open be written to as if it were
    standard output. A closed standard output is a pipe without a reader.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError as error:
            if error.errno == errno.EBADF:
                _fill(descriptor)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
    codecs.register_error(_ESCAPE, _escaped)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPE)


def say(line: str) -> None:
    """Write a line to standard error; where that cannot be written to, nobody hears it."""
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        drop(2)


def drop(descriptor: int) -> None:
    """Forget output that cannot be written, so that Python's exit does not complain again."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _fill(descriptor: int) -> None:
    if descriptor != 1:
        opened = os.open(os.devnull, os.O_RDWR)  # the lowest free one: this very descriptor
        if opened != descriptor:
            os.dup2(opened, descriptor)
            os.close(opened)
        return
    reader, writer = os.pipe()
    if writer != 1:
        os.dup2(writer, 1)
        os.close(writer)
    if reader != 1:
        os.close(reader)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    r"""Write letters that the stream has not as \uXXXX, which in JSON is the same text."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
