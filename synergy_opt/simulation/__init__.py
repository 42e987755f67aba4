"""A cluster over time: a workload, a policy that orders it, a mechanism that divides the cluster.

Takes a `Workload` and gives when each job ran and ended, and what that amounts to.
"""

from synergy_opt.simulation.policies import POLICIES, Policy, fifo, ftf, las, srtf
from synergy_opt.simulation.run import JobRun, Run, Usage
from synergy_opt.simulation.simulate import simulate
from synergy_opt.simulation.timing import Timing
from synergy_opt.simulation.workload import TraceJob, Workload

__all__ = [
    "POLICIES",
    "JobRun",
    "Policy",
    "Run",
    "Timing",
    "TraceJob",
    "Usage",
    "Workload",
    "fifo",
    "ftf",
    "las",
    "simulate",
    "srtf",
]
