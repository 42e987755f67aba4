"""Running the tests once for each mutant, each time in a child of a process that has them ready.

Tests are collected and libraries imported once. A child costs milliseconds, dies with its mutant,
and is held to a limit of CPU time, so that a busy machine cuts off nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from mutmut.state import state

from benchmarks.mutation import verdicts
from benchmarks.mutation.verdicts import Verdict

BUDGET = 2.0  # seconds of CPU time that the tests of one mutant may take without it
MEMORY = 6 << 30  # bytes of address space; more is refused, which fails the test


def forked(work: Callable[[], object], seconds: int) -> Any:
    """Return what `work` returns in a child; None if it ends early or uses its CPU time up.

    Examples
    --------
    >>> forked(lambda: 6 * 7, 5), forked(lambda: 1 // 0, 5)
    (42, None)
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):  # whatever happens, the child ends below
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            os.write(writing, json.dumps(work()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


class Runner:
    """A pytest plugin that tries mutants with the tests that pytest has collected.

    Parameters
    ----------
    mutants
        Names by module.
    path
        Where verdicts are kept; those that still stand are not tried again.
    """

    def __init__(self, mutants: Mapping[str, Sequence[str]], path: Path) -> None:
        self.mutants, self.path = mutants, path
        self.known = verdicts.read(path)
        self.found: list[Verdict] = []
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failed test, whichever part of it failed."""
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure the tests without a mutant, then try each mutant."""
        seen = forked(lambda: self._measure(session.items), 3600)
        if seen is None or seen["failed"]:
            pytest.exit(f"a test fails without a mutant: {seen and seen['failed']}", returncode=1)
        for name in seen["modules"]:  # once here, instead of in every child
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        items = {item.nodeid: item for item in session.items}
        for file, names in self.mutants.items():
            kills: Counter[str] = Counter()
            for name in names:
                calling = seen["tests"].get(name.partition("__mutmut_")[0], {})
                tests = _chosen(calling, kills, self.known.get(name, {}).get("test"))
                verdict = self.known.get(name)
                if verdict is None or not verdicts.stands(verdict, tests):
                    verdict = self._try(file, name, {test: items[test] for test in tests}, calling)
                    verdicts.write(self.path, verdict)
                kills[verdict.get("test", "")] += 1
                self.found.append(verdict)
        return True

    def _measure(self, items: Sequence[pytest.Item]) -> dict[str, Any]:
        """Return for each function the CPU time of the tests that call it, and modules loaded."""
        os.environ["MUTANT_UNDER_TEST"] = "stats"
        before = set(sys.modules)
        tests: dict[str, dict[str, float]] = defaultdict(dict)
        for item in items:
            start = time.process_time()
            if self._first_failing([item]):
                return {"failed": item.nodeid}
            for function in state()._stats:  # noqa: SLF001 - where mutmut notes calls
                tests[function][item.nodeid] = time.process_time() - start
            state()._stats.clear()  # noqa: SLF001
        return {"failed": None, "tests": tests, "modules": [*_added(before)]}

    def _first_failing(self, items: Sequence[pytest.Item]) -> str | None:
        """Return the first test that fails, each run as pytest itself runs it."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            plugins = item.config.pluginmanager
            if plugins.hasplugin("terminalreporter"):  # nobody reads what it would print
                plugins.unregister(name="terminalreporter")
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return item.nodeid
        return None

    def _try(
        self, file: str, name: str, tests: Mapping[str, pytest.Item], seconds: Mapping[str, float]
    ) -> Verdict:
        """Return the verdict on one mutant."""

        def work() -> list[str | None]:
            os.environ["MUTANT_UNDER_TEST"] = name
            return [self._first_failing([*tests.values()])]

        limit = 4 + round(4 * sum(seconds[test] for test in tests))
        found = forked(work, limit) if tests else [None]
        return verdicts.verdict_on(name, file, tests, by=found and found[0], end=found is not None)


def _chosen(
    calling: Mapping[str, float], kills: Mapping[str, int], first: str | None
) -> list[str]:
    """Return the tests for a mutant within the budget: those first that kill most a second."""
    order = sorted(calling, key=lambda test: (test != first, calling[test] / (1 + kills[test])))
    totals = accumulate(calling[test] for test in order)
    return [
        test
        for test, total in zip(order, totals, strict=True)
        if total <= BUDGET or test == order[0]
    ]


def _added(before: set[str]) -> Iterator[str]:
    yield from (name for name in sys.modules if name not in before)
