"""Packing jobs on servers one after the other: the books and searches of the heuristics.

Takes what jobs may be given (`offers`) and gives where they are: `ledger` keeps what is free,
`fewest_servers` and `rooms` find servers, `steps` are those of Synergy-TUNE, `first_fit` those of
the mechanisms that never reconsider.
"""

from synergy_opt.packing.steps import Held as Held
from synergy_opt.packing.steps import Packing as Packing
from synergy_opt.packing.steps import hungriest as hungriest

__all__ = [
    "Held",
    "Packing",
    "hungriest",
]
