"""Gangs: pods placed all or nothing in a tenant's own cells (HiveD, OSDI 2020).

Takes pools and gangs; gives frozen states and pure functions from one to the next.
"""

from hived_cells.gangs.check import gang_violations as gang_violations
from hived_cells.gangs.place import outlook as outlook
from hived_cells.gangs.place import place_gang as place_gang
from hived_cells.gangs.place import remove_gang as remove_gang
from hived_cells.gangs.recover import GangBinding as GangBinding
from hived_cells.gangs.recover import GangRecovery as GangRecovery
from hived_cells.gangs.recover import gang_bindings as gang_bindings
from hived_cells.gangs.recover import recover_gangs as recover_gangs
from hived_cells.gangs.state import GangPool as GangPool
from hived_cells.gangs.state import GangState as GangState
from hived_cells.gangs.state import common_cell as common_cell
from hived_cells.gangs.state import gang_pools as gang_pools
from hived_cells.gangs.state import initial_gangs as initial_gangs
from hived_cells.gangs.values import LOW_PRIORITY as LOW_PRIORITY
from hived_cells.gangs.values import MAX_PRIORITY as MAX_PRIORITY
from hived_cells.gangs.values import Gang as Gang
from hived_cells.gangs.values import GangPlacement as GangPlacement
from hived_cells.gangs.values import Outlook as Outlook
from hived_cells.gangs.values import RunningGang as RunningGang
