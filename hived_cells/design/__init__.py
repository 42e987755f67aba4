"""How many cells of which level each tenant should reserve: takes a history, gives a design.

The paper leaves this to a business process. Here it is a mixed-integer programme; a branch and
bound in whole numbers proves its optimum, and an exact check judges what it gives.
"""

from hived_cells.design.check import Cost as Cost
from hived_cells.design.check import Design as Design
from hived_cells.design.check import cost_of as cost_of
from hived_cells.design.check import faults_of as faults_of
from hived_cells.design.demand import History as History
from hived_cells.design.demand import Scenario as Scenario
from hived_cells.design.demand import history_of as history_of
from hived_cells.design.solve import design as design
