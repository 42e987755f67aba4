"""Buddy cell allocation: reserved groups of GPUs with a guarantee (HiveD, OSDI 2020)."""

from hived_cells.allocate import allocate as allocate
from hived_cells.allocate import allocate_pin as allocate_pin
from hived_cells.errors import HivedError as HivedError
from hived_cells.hierarchy import Cell as Cell
from hived_cells.hierarchy import Chain as Chain
from hived_cells.release import release as release
from hived_cells.reservation import Pin as Pin
from hived_cells.reservation import Reservation as Reservation
from hived_cells.state import initial_state as initial_state
