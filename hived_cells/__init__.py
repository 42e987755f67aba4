"""Buddy cell allocation: reserved groups of GPUs with a guarantee (HiveD, OSDI 2020).

Takes a `Chain` (hardware) and a `Reservation` (who owns what); gives frozen states and pure
functions from one state to the next.
"""

from hived_cells.allocate import allocate as allocate
from hived_cells.allocate import allocate_pin as allocate_pin
from hived_cells.choose import HIVED as HIVED
from hived_cells.choose import Candidate as Candidate
from hived_cells.choose import Candidates as Candidates
from hived_cells.choose import Choose as Choose
from hived_cells.choose import Ranking as Ranking
from hived_cells.choose import fewest_low_priority as fewest_low_priority
from hived_cells.choose import healthy_first as healthy_first
from hived_cells.choose import in_order as in_order
from hived_cells.choose import lowest_address as lowest_address
from hived_cells.doomed import doomed as doomed
from hived_cells.doomed import doomed_greedy_upper_bound as doomed_greedy_upper_bound
from hived_cells.doomed import doomed_level_lower_bound as doomed_level_lower_bound
from hived_cells.doomed import doomed_of as doomed_of
from hived_cells.errors import HivedError as HivedError
from hived_cells.errors import IllegalRequest as IllegalRequest
from hived_cells.errors import Infeasible as Infeasible
from hived_cells.errors import InvalidChoice as InvalidChoice
from hived_cells.errors import InvalidSpec as InvalidSpec
from hived_cells.errors import NoRoom as NoRoom
from hived_cells.faults import bad_gpus as bad_gpus
from hived_cells.faults import flagged as flagged
from hived_cells.faults import heal as heal
from hived_cells.faults import is_bad as is_bad
from hived_cells.faults import mark_bad as mark_bad
from hived_cells.hierarchy import Cell as Cell
from hived_cells.hierarchy import Chain as Chain
from hived_cells.invariants import Violation as Violation
from hived_cells.invariants import slack as slack
from hived_cells.invariants import violations as violations
from hived_cells.low_priority import start as start
from hived_cells.low_priority import stop as stop
from hived_cells.low_priority import victims as victims
from hived_cells.recover import Bindings as Bindings
from hived_cells.recover import Recovery as Recovery
from hived_cells.recover import bindings_of as bindings_of
from hived_cells.recover import recover as recover
from hived_cells.release import release as release
from hived_cells.reservation import Pin as Pin
from hived_cells.reservation import Pool as Pool
from hived_cells.reservation import Reservation as Reservation
from hived_cells.reservation import Shortage as Shortage
from hived_cells.reservation import first_short_level as first_short_level
from hived_cells.reservation import is_feasible as is_feasible
from hived_cells.shares import Rebalance as Rebalance
from hived_cells.shares import fair_shares as fair_shares
from hived_cells.shares import rebalance as rebalance
from hived_cells.state import Job as Job
from hived_cells.state import State as State
from hived_cells.state import bound_cells as bound_cells
from hived_cells.state import free_cells as free_cells
from hived_cells.state import free_counts as free_counts
from hived_cells.state import holder as holder
from hived_cells.state import initial_state as initial_state
from hived_cells.state import jobs as jobs
from hived_cells.state import owed_counts as owed_counts
