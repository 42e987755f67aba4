"""The public hivedscheduler YAML: takes a file, gives pools, reservations and addresses.

Read as its users have it (children and addresses inferred), but strictly: whatever would give a
cluster other than the one that is meant is refused with the place where it stands.
"""

from hived_cells.spec.read import parse_spec as parse_spec
from hived_cells.spec.read import read_spec as read_spec
from hived_cells.spec.values import Spec as Spec
from hived_cells.spec.values import SpecPool as SpecPool
