"""Pictures of profiles, placements, comparisons and simulations. Needs the extra ``plot``.

Takes values and gives a matplotlib `Figure`, which `save` writes.
"""

from synergy_opt.plot.canvas import new_figure as new_figure
from synergy_opt.plot.canvas import save as save
from synergy_opt.plot.figures import gaps as gaps
from synergy_opt.plot.figures import utilisation as utilisation
from synergy_opt.plot.profile import sensitivity as sensitivity

__all__ = [
    "gaps",
    "new_figure",
    "save",
    "sensitivity",
    "utilisation",
]
