"""Stage 2: an allocation on real servers, first in fractions, then in whole GPUs.

Takes an instance and an allocation and gives a `Placement` (Synergy, §4.1.2): `place` divides jobs
over servers by a vertex or by `bisection`, `realize` rounds what it gave to whole GPUs.
"""

from synergy_opt.placement.fractional import place as place
from synergy_opt.placement.fractional import stage_2_program as stage_2_program
from synergy_opt.placement.whole_gpus import realize as realize
from synergy_opt.placement.whole_gpus import unplaced as unplaced

__all__ = [
    "place",
    "realize",
    "stage_2_program",
    "unplaced",
]
