"""Tenants' jobs over time: takes a trace and a cluster, gives waiting times in three ways.

Private clusters, sharing under quota, and sharing under cells, with the same schedulers.
"""

from hived_cells.simulation.anomalies import Anomaly as Anomaly
from hived_cells.simulation.anomalies import longer as longer
from hived_cells.simulation.comparison import Comparison as Comparison
from hived_cells.simulation.comparison import compare as compare
from hived_cells.simulation.comparison import report as report
from hived_cells.simulation.comparison import summary as summary
from hived_cells.simulation.philly import read_philly as read_philly
from hived_cells.simulation.policy import Decision as Decision
from hived_cells.simulation.policy import Move as Move
from hived_cells.simulation.policy import Scheduler as Scheduler
from hived_cells.simulation.production import ProductionOptions as ProductionOptions
from hived_cells.simulation.production import production_trace as production_trace
from hived_cells.simulation.run import Fault as Fault
from hived_cells.simulation.run import Run as Run
from hived_cells.simulation.schedulers import SCHEDULERS as SCHEDULERS
from hived_cells.simulation.shapes import soften as soften
from hived_cells.simulation.shapes import with_shapes as with_shapes
from hived_cells.simulation.shapes import without as without
from hived_cells.simulation.trace import Shape as Shape
from hived_cells.simulation.trace import Trace as Trace
from hived_cells.simulation.trace import TraceJob as TraceJob
from hived_cells.simulation.trace_file import read_trace as read_trace
from hived_cells.simulation.view import Ask as Ask
from hived_cells.simulation.view import View as View
from hived_cells.simulation.ways import WAYS as WAYS
from hived_cells.simulation.ways import simulate as simulate
