"""The conformance kit: ``pytest --pyargs synergy_opt.testing.conformance --mechanism NAME``.

Each rule of `synergy_opt.testing.rules` is a test. Where it is broken, the smallest instance that
was found is printed and saved under ``conformance/``, with the placement, and one sentence says
what is wrong. Which rules are musts: all, but ``placed`` with ``--allow skipping`` and
``fair-floor`` with ``--allow unfair``. The distance from the proven optimum is only reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from synergy_opt.comparison import Mechanism
from synergy_opt.io import instance_text, write_instance, write_placement
from synergy_opt.loading import load
from synergy_opt.model import Instance
from synergy_opt.testing.answers import Breach, answer
from synergy_opt.testing.behaviour import Elsewhere, same_elsewhere
from synergy_opt.testing.distance import distance
from synergy_opt.testing.families import families
from synergy_opt.testing.plugin import DISTANCE
from synergy_opt.testing.rules import ALLOWED, RULES, UNFAIR
from synergy_opt.testing.search import Question, smallest
from synergy_opt.testing.strategies import clusters, instances
from synergy_opt.testing.worker import elsewhere

FOLDER = "conformance"
"""Where instances that break a rule are saved, in the current directory."""

_BASELINE = "never-worse-than-proportional"
_ONE_GROUP = clusters(max_groups=1)


@pytest.fixture(scope="session", name="name")
def _name(pytestconfig: pytest.Config) -> str:
    return str(pytestconfig.getoption("--mechanism"))


@pytest.fixture(scope="session", name="mechanism")
def _mechanism(name: str) -> Mechanism:
    return cast("Mechanism", load(name))


@pytest.fixture(scope="session", name="ask")
def _ask(name: str) -> Iterator[Elsewhere]:
    with elsewhere(name) as ask:
        yield ask


@pytest.mark.parametrize("rule", RULES)
def test_keeps(rule: str, mechanism: Mechanism, pytestconfig: pytest.Config) -> None:
    """Tests one rule on drawn instances, then on the seeded ones."""
    allowed: list[str] = pytestconfig.getoption("--allow")
    if rule in (waived for each in allowed for waived in ALLOWED[each]):
        pytest.skip("allowed")
    if rule == _BASELINE and UNFAIR in allowed:
        pytest.skip("follows from fairness only")
    _search(rule, lambda instance: RULES[rule](instance, mechanism), pytestconfig)


def test_keeps_in_another_process(
    mechanism: Mechanism, ask: Elsewhere, pytestconfig: pytest.Config
) -> None:
    """Tests determinism across processes, hash seeds and orders of calls."""
    _search("another-process", lambda each: same_elsewhere(each, mechanism, ask), pytestconfig)


@pytest.mark.parametrize("instance", families(), ids=lambda instance: instance.name)
def test_distance(
    instance: Instance, mechanism: Mechanism, record_property: Callable[[str, object], None]
) -> None:
    """Reports how far the mechanism is from the proven optimum of a seeded instance."""
    given = answer(mechanism, instance)
    if isinstance(given, Breach):
        pytest.skip(str(given))
    record_property(DISTANCE, distance(instance, given).cells())


def _search(what: str, question: Question, config: pytest.Config) -> None:
    """Fail with the smallest instance that breaks a rule, if there is one."""
    one_group = what == _BASELINE
    found = smallest(
        question,
        instances(cluster=_ONE_GROUP) if one_group else instances(),
        [each for each in families() if not one_group or len(each.cluster.servers) == 1],
        examples=config.getoption("--examples"),
    )
    paths = _paths(what, Path(config.invocation_params.dir))
    for path in paths:
        path.unlink(missing_ok=True)  # of an earlier run
    if found is not None:
        pytest.fail(_report(*found, *paths), pytrace=False)


def _paths(what: str, here: Path) -> tuple[Path, Path]:
    return here / FOLDER / f"{what}-instance.json", here / FOLDER / f"{what}-placement.json"


def _report(instance: Instance, breach: Breach, its: Path, answered: Path) -> str:
    """Save what was found, and say it."""
    its.parent.mkdir(exist_ok=True)
    write_instance(instance, its)
    lines = [str(breach), f"instance: {its}"]
    if breach.placement is not None:
        write_placement(breach.placement, instance, answered)
        lines.append(f"placement: {answered}")
    return "\n".join([*lines, instance_text(instance)])
