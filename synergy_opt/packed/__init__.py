"""The packed optimum: whole GPUs on real servers, proven, up to data-centre scale.

Takes an instance and gives the best `Placement` with an exact bound; `packed_program` writes the
same problem down as one integer programme.
"""

from synergy_opt.packed.compact import packed_program
from synergy_opt.packed.optimum import packed
from synergy_opt.packed.problem import Progress

__all__ = ["Progress", "packed", "packed_program"]
