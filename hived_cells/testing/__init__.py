"""For testing allocators, this one and yours: Hypothesis strategies and a state machine.

Needs the extra `testing`. `allocator_machine` takes your functions and gives a test case.
"""

from hived_cells.testing.machine import allocator_machine as allocator_machine
from hived_cells.testing.strategies import chains as chains
from hived_cells.testing.strategies import event_lists as event_lists
from hived_cells.testing.strategies import gangs as gangs
from hived_cells.testing.strategies import pools as pools
from hived_cells.testing.strategies import reservations as reservations
