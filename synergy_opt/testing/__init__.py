"""For testing mechanisms, these and yours: strategies, assertions and a conformance kit.

``pytest --pyargs synergy_opt.testing.conformance --mechanism package.module:function`` runs the
kit (extra `testing`). The assertions need no test runner; `synergy_opt.testing.strategies` needs
Hypothesis.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from synergy_opt.testing.assertions import assert_deterministic as assert_deterministic
    from synergy_opt.testing.assertions import (
        assert_never_worse_than_proportional as assert_never_worse_than_proportional,
    )
    from synergy_opt.testing.assertions import assert_pure as assert_pure
    from synergy_opt.testing.assertions import assert_respects_priority as assert_respects_priority
    from synergy_opt.testing.assertions import assert_valid as assert_valid

_HOME = "synergy_opt.testing.assertions"
__all__ = [
    "assert_deterministic",
    "assert_never_worse_than_proportional",
    "assert_pure",
    "assert_respects_priority",
    "assert_valid",
]


def __getattr__(name: str) -> object:
    """Load the assertions when one is first used: pytest imports this package on every run."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME), name)
