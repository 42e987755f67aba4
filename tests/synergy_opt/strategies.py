"""The suite draws what the conformance kit draws: one place for strategies."""

from synergy_opt.testing.strategies import NAMES, clusters, instances, jobs, profiles

__all__ = ["NAMES", "clusters", "instances", "jobs", "profiles"]
