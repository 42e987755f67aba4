"""Division of a GPU cluster's CPU and memory among training jobs (Synergy, OSDI 2022).

Takes an `Instance` (servers, profiles, jobs) and gives placements with their distance from a
proven bound. Every name in ``__all__`` can be imported from here; a module is loaded when the
first of its names is used, so that ``import synergy_opt`` takes a few milliseconds.

Examples
--------
>>> import synergy_opt
>>> instance = synergy_opt.shipped("worked-example")
>>> instance.cluster.gpus, [job.id for job in instance.jobs]
(16, ['J1', 'J2', 'J3', 'J4'])
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # not typing's: loading that takes time in which Ctrl-C has no handler yet

if TYPE_CHECKING:
    from synergy_opt.answer import Allocation as Allocation
    from synergy_opt.answer import Bound as Bound
    from synergy_opt.answer import Choice as Choice
    from synergy_opt.answer import PatternBound as PatternBound
    from synergy_opt.answer import Piece as Piece
    from synergy_opt.answer import PlacedJob as PlacedJob
    from synergy_opt.answer import Placement as Placement
    from synergy_opt.answer import ShapePrice as ShapePrice
    from synergy_opt.answer import SplitBound as SplitBound
    from synergy_opt.certificate import Violation as Violation
    from synergy_opt.certificate import bound_value as bound_value
    from synergy_opt.certificate import verify as verify
    from synergy_opt.certificate import violations as violations
    from synergy_opt.comparison import Comparison as Comparison
    from synergy_opt.comparison import Failure as Failure
    from synergy_opt.comparison import Row as Row
    from synergy_opt.comparison import compare as compare
    from synergy_opt.comparison import judge as judge
    from synergy_opt.demand import Demand as Demand
    from synergy_opt.demand import best_case_demand as best_case_demand
    from synergy_opt.drf import drf as drf
    from synergy_opt.errors import Infeasible as Infeasible
    from synergy_opt.errors import InvalidInstance as InvalidInstance
    from synergy_opt.errors import NotCertified as NotCertified
    from synergy_opt.errors import SolverFailed as SolverFailed
    from synergy_opt.errors import Stopped as Stopped
    from synergy_opt.errors import SynergyError as SynergyError
    from synergy_opt.fair_share import fair_share as fair_share
    from synergy_opt.fair_share import fair_throughput as fair_throughput
    from synergy_opt.fair_share import job_throughput as job_throughput
    from synergy_opt.generate import mix as mix
    from synergy_opt.generate import scattered as scattered
    from synergy_opt.greedy import greedy as greedy
    from synergy_opt.ideal import ideal_allocation as ideal_allocation
    from synergy_opt.ideal import skipping_bound as skipping_bound
    from synergy_opt.io import Imported as Imported
    from synergy_opt.io import StatedPlacement as StatedPlacement
    from synergy_opt.io import import_csv as import_csv
    from synergy_opt.io import import_openb as import_openb
    from synergy_opt.io import read_allocation as read_allocation
    from synergy_opt.io import read_instance as read_instance
    from synergy_opt.io import read_openb_pods as read_openb_pods
    from synergy_opt.io import read_philly_csv as read_philly_csv
    from synergy_opt.io import read_philly_log as read_philly_log
    from synergy_opt.io import read_placement as read_placement
    from synergy_opt.io import read_profiles as read_profiles
    from synergy_opt.io import read_workload as read_workload
    from synergy_opt.io import shipped as shipped
    from synergy_opt.io import shipped_names as shipped_names
    from synergy_opt.io import write_allocation as write_allocation
    from synergy_opt.io import write_instance as write_instance
    from synergy_opt.io import write_placement as write_placement
    from synergy_opt.io import write_profiles as write_profiles
    from synergy_opt.io import write_workload as write_workload
    from synergy_opt.model import Cluster as Cluster
    from synergy_opt.model import Instance as Instance
    from synergy_opt.model import Job as Job
    from synergy_opt.model import Profile as Profile
    from synergy_opt.model import Server as Server
    from synergy_opt.optimal import optimal as optimal
    from synergy_opt.packed import packed as packed
    from synergy_opt.packed import packed_program as packed_program
    from synergy_opt.placement import place as place
    from synergy_opt.placement import realize as realize
    from synergy_opt.profiling import fit_cache_model as fit_cache_model
    from synergy_opt.profiling import measure_curve as measure_curve
    from synergy_opt.profiling import optimistic_profile as optimistic_profile
    from synergy_opt.profiling.cache_model import Cache as Cache
    from synergy_opt.profiling.cache_model import CacheModel as CacheModel
    from synergy_opt.progress import Progress as Progress
    from synergy_opt.proportional import proportional as proportional
    from synergy_opt.runnable import runnable as runnable
    from synergy_opt.simulation.derived import derived_workload as derived_workload
    from synergy_opt.simulation.workload import TraceJob as TraceJob
    from synergy_opt.simulation.workload import Workload as Workload
    from synergy_opt.solution import Limits as Limits
    from synergy_opt.tetris import tetris as tetris
    from synergy_opt.tune import tune as tune
    from synergy_opt.tune import tune_as_simulated as tune_as_simulated
    from synergy_opt.versions import show_versions as show_versions

    __version__: str

_EXPORTS = {
    "certificate": ("Violation", "bound_value", "verify", "violations"),
    "greedy": ("greedy",),
    "ideal": ("ideal_allocation", "skipping_bound"),
    "placement": ("place", "realize"),
    "progress": ("Progress",),
    "proportional": ("proportional",),
    "solution": ("Limits",),
    "tetris": ("tetris",),
    "tune": ("tune", "tune_as_simulated"),
    "comparison": ("Comparison", "Failure", "Row", "compare", "judge"),
    "answer": (
        "Allocation",
        "Bound",
        "Choice",
        "PatternBound",
        "Piece",
        "PlacedJob",
        "Placement",
        "ShapePrice",
        "SplitBound",
    ),
    "demand": ("Demand", "best_case_demand"),
    "drf": ("drf",),
    "errors": (
        "Infeasible",
        "InvalidInstance",
        "NotCertified",
        "SolverFailed",
        "Stopped",
        "SynergyError",
    ),
    "fair_share": ("fair_share", "fair_throughput", "job_throughput"),
    "generate": ("mix", "scattered"),
    "profiling.cache_model": ("Cache", "CacheModel"),
    "io": (
        "Imported",
        "StatedPlacement",
        "import_csv",
        "import_openb",
        "read_allocation",
        "read_instance",
        "read_openb_pods",
        "read_philly_csv",
        "read_philly_log",
        "read_placement",
        "read_profiles",
        "read_workload",
        "shipped",
        "shipped_names",
        "write_allocation",
        "write_instance",
        "write_placement",
        "write_profiles",
        "write_workload",
    ),
    "model": ("Cluster", "Instance", "Job", "Profile", "Server"),
    "runnable": ("runnable",),
    "simulation.derived": ("derived_workload",),
    "simulation.workload": ("TraceJob", "Workload"),
    "optimal": ("optimal",),
    "packed": ("packed", "packed_program"),
    "profiling": ("fit_cache_model", "measure_curve", "optimistic_profile"),
    "versions": ("__version__", "show_versions"),
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = [  # noqa: PLE0604  # strings, gathered from the table above
    *_HOME
]


def __getattr__(name: str) -> object:
    """Load the module of a public name when the name is first used (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not, and nothing else."""
    return sorted(_HOME)


class _Package(ModuleType):
    """A package whose functions win over submodules of the same name.

    Importing ``synergy_opt.runnable`` makes Python set the attribute ``runnable`` of the package
    to the *module*; here that is ignored, so that ``from synergy_opt import runnable`` gives the
    function in whatever order things were imported. The module itself is reached as
    ``from synergy_opt.runnable import …`` or through ``importlib.import_module``.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
