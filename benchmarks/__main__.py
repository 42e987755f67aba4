"""``python -m benchmarks COMMAND``: instances, runs, reports, the archive, speed.

Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from synergy_opt.errors import SynergyError

COMMANDS = {
    "instances": "list the catalogue, write an instance to a file, or check all checksums",
    "run": "run methods on instances, a child process a run; resumable",
    "report": "tables, profiles and growth of results: Markdown, HTML and CSV",
    "verify-archive": "check every best-known bound from its certificate, exactly",
    "update-archive": "improve best-known bounds by verified results",
    "speed": "time each stage apart; compare with a stored baseline",
}
_MODULES = {"verify-archive": "archive.verify", "update-archive": "archive.update"}
_MODULES |= {name: f"{name}.command" for name in ("instances", "report", "speed")}
_EXTRA = ("distributed", "joblib", "matplotlib")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    try:
        for name, text in COMMANDS.items():
            sub = commands.add_parser(name, help=text, description=text)
            if name in words[:1]:  # only what is run is imported
                import_module(f"benchmarks.{_MODULES.get(name, name)}").add(sub)
        options = parser.parse_args(words)
        code: int = options.run(options)
    except SynergyError as error:
        return _fail(str(error), 2)
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        return _fail(f"{where}{error.strerror or error}", 2)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        return _fail(f"needs {error.name}: python -m pip install '.[bench]'", 2)
    except KeyboardInterrupt:
        return _fail("interrupted; what is finished is kept", 130)
    return code


def _fail(text: str, code: int) -> int:
    print(f"python -m benchmarks: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
