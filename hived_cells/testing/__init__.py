"""For testing allocators and gang schedulers, these and yours: strategies and state machines.

Needs the extra `testing`. `allocator_machine` and `gang_machine` take your functions and give a
test case.
"""

from hived_cells.testing.gang_machine import gang_machine as gang_machine
from hived_cells.testing.machine import allocator_machine as allocator_machine
from hived_cells.testing.strategies import chains as chains
from hived_cells.testing.strategies import event_lists as event_lists
from hived_cells.testing.strategies import gangs as gangs
from hived_cells.testing.strategies import pools as pools
from hived_cells.testing.strategies import reservations as reservations
