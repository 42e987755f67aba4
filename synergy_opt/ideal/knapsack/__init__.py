"""The multiple-choice knapsack in several dimensions, solved to proven optimality at scale.

Takes a `Table` of groups of items, of which each group takes a fixed number, and gives counts, an
exact bound and whether the two were shown to be the best. Stage 1 is one such problem: a group is
a kind of jobs, an item a configuration. Nothing in here knows about clusters.
"""

from synergy_opt.ideal.knapsack.outcome import Outcome as Outcome
from synergy_opt.ideal.knapsack.solve import solve as solve
from synergy_opt.ideal.knapsack.table import Table as Table
