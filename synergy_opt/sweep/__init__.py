"""Many simulations: each a `Scenario`, kept in a file of its own, summed up in a report.

Takes scenarios and gives their documents; a killed sweep goes on where it was.
"""

from synergy_opt.sweep.resumable import sweep as sweep

__all__ = [
    "sweep",
]
