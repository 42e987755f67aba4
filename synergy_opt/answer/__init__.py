"""What methods return and state: allocations, placements, and the bounds that they claim.

Takes what a method chose and gives frozen values; `certificate` judges them.
"""

from synergy_opt.answer.claims import Bound as Bound
from synergy_opt.answer.claims import PatternBound as PatternBound
from synergy_opt.answer.claims import Proof as Proof
from synergy_opt.answer.claims import ShapePrice as ShapePrice
from synergy_opt.answer.claims import Split as Split
from synergy_opt.answer.claims import SplitBound as SplitBound
from synergy_opt.answer.values import Allocation as Allocation
from synergy_opt.answer.values import Choice as Choice
from synergy_opt.answer.values import Piece as Piece
from synergy_opt.answer.values import PlacedJob as PlacedJob
from synergy_opt.answer.values import Placement as Placement
from synergy_opt.answer.values import relative_gap as relative_gap
from synergy_opt.answer.values import vector_sum as vector_sum

__all__ = [
    "Allocation",
    "Bound",
    "Choice",
    "PatternBound",
    "Piece",
    "PlacedJob",
    "Placement",
    "Proof",
    "ShapePrice",
    "Split",
    "SplitBound",
    "relative_gap",
    "vector_sum",
]
