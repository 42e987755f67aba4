"""Stage 1: the ideal allocation, with an upper bound on what any placement can reach.

Takes an instance and gives an `Allocation` (Synergy, §4.1.1): `options` and `knapsack` make
the core solver, `relaxation` and `multipliers` the linear bound, `choices` turns counts of kinds
into choices of jobs.
"""

from synergy_opt.ideal.allocation import ideal_allocation as ideal_allocation
from synergy_opt.ideal.allocation import skipping_bound as skipping_bound
from synergy_opt.ideal.allocation import stage_1_program as stage_1_program

__all__ = [
    "ideal_allocation",
    "skipping_bound",
    "stage_1_program",
]
