"""The mechanism in another process: takes instances on standard input, gives answers.

`elsewhere` starts ``python -m synergy_opt.testing.worker NAME`` with another hash seed and gives
a function that asks it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, cast

from synergy_opt.answer import Placement
from synergy_opt.comparison import Mechanism
from synergy_opt.loading import load
from synergy_opt.model import Instance
from synergy_opt.testing.answers import Breach, answer
from synergy_opt.testing.behaviour import Elsewhere


@contextmanager
def elsewhere(name: str) -> Iterator[Elsewhere]:
    """Start a process with another PYTHONHASHSEED, and end it.

    Parameters
    ----------
    name
        The mechanism, ``module:function`` or ``file.py:function``.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> with elsewhere("synergy_opt:tune") as ask:
    ...     ask(instance) == synergy_opt.tune(instance)
    True
    """
    seed = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-m", __spec__.name, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    questions, replies = process.stdin, process.stdout

    def ask(instance: Instance) -> Placement | Breach:
        try:
            pickle.dump(instance, questions)
            questions.flush()
            given: Placement | Breach = pickle.load(replies)
        except (OSError, EOFError):
            return Breach(
                rule="answers", sentence=f"nothing: its process ended with {process.wait()}"
            )
        return given

    try:
        yield ask
    finally:
        with suppress(OSError):  # a last question that a dead process never read
            questions.close()  # on which a live one ends
        replies.close()
        process.wait()


def serve(name: str, questions: BinaryIO, replies: BinaryIO) -> None:
    """Answer until there are no more questions.

    Examples
    --------
    >>> import io, synergy_opt
    >>> replies = io.BytesIO()
    >>> question = pickle.dumps(synergy_opt.shipped("worked-example"))
    >>> serve("synergy_opt:tune", io.BytesIO(question), replies)
    >>> print(pickle.loads(replies.getvalue()))
    Placement of 'worked-example' by tune: 4 jobs, throughput 5.66667
    """
    mechanism = cast("Mechanism", load(name))
    while True:
        try:
            instance = pickle.load(questions)
        except EOFError:
            return
        replies.write(pickle.dumps(answer(mechanism, instance)))
        replies.flush()


def main() -> None:
    """Serve on standard input and output; what the mechanism prints goes to standard error."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with replies:
        serve(sys.argv[1], sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
