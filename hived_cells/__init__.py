"""Buddy cell allocation: reserved groups of GPUs with a guarantee (HiveD, OSDI 2020).

Takes a `Chain` (hardware) and a `Reservation` (who owns what); gives frozen states and pure
functions from one state to the next. Every name in ``__all__`` can be imported from here; a module
is loaded when the first of its names is used, so that ``import hived_cells`` takes milliseconds.

Examples
--------
>>> import hived_cells
>>> hived_cells.Chain(2, (2, 2)).gpus
8
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # not typing's: loading that takes time in which Ctrl-C has no handler yet

if TYPE_CHECKING:
    from hived_cells.allocate import allocate as allocate
    from hived_cells.allocate import allocate_pin as allocate_pin
    from hived_cells.bindings import Bindings as Bindings
    from hived_cells.choose import HIVED as HIVED
    from hived_cells.choose import Candidate as Candidate
    from hived_cells.choose import Candidates as Candidates
    from hived_cells.choose import Choose as Choose
    from hived_cells.choose import Ranking as Ranking
    from hived_cells.choose import fewest_low_priority as fewest_low_priority
    from hived_cells.choose import healthy_first as healthy_first
    from hived_cells.choose import in_order as in_order
    from hived_cells.choose import lowest_address as lowest_address
    from hived_cells.cluster import Cluster as Cluster
    from hived_cells.cluster import initial_cluster as initial_cluster
    from hived_cells.doomed import doomed as doomed
    from hived_cells.doomed import doomed_greedy_upper_bound as doomed_greedy_upper_bound
    from hived_cells.doomed import doomed_level_lower_bound as doomed_level_lower_bound
    from hived_cells.doomed import doomed_of as doomed_of
    from hived_cells.errors import HivedError as HivedError
    from hived_cells.errors import IllegalRequest as IllegalRequest
    from hived_cells.errors import Infeasible as Infeasible
    from hived_cells.errors import InvalidChoice as InvalidChoice
    from hived_cells.errors import InvalidSpec as InvalidSpec
    from hived_cells.errors import MustWait as MustWait
    from hived_cells.errors import NeverFits as NeverFits
    from hived_cells.errors import NoRoom as NoRoom
    from hived_cells.faults import bad_gpus as bad_gpus
    from hived_cells.faults import flagged as flagged
    from hived_cells.faults import heal as heal
    from hived_cells.faults import is_bad as is_bad
    from hived_cells.faults import mark_bad as mark_bad
    from hived_cells.gangs import Gang as Gang
    from hived_cells.gangs import GangPlacement as GangPlacement
    from hived_cells.gangs import GangPool as GangPool
    from hived_cells.gangs import GangState as GangState
    from hived_cells.gangs import Outlook as Outlook
    from hived_cells.gangs import RunningGang as RunningGang
    from hived_cells.gangs import common_cell as common_cell
    from hived_cells.gangs import gang_pools as gang_pools
    from hived_cells.gangs import gang_violations as gang_violations
    from hived_cells.gangs import initial_gangs as initial_gangs
    from hived_cells.gangs import outlook as outlook
    from hived_cells.gangs import place_gang as place_gang
    from hived_cells.gangs import remove_gang as remove_gang
    from hived_cells.gangs.recover import GangBinding as GangBinding
    from hived_cells.gangs.recover import GangRecovery as GangRecovery
    from hived_cells.gangs.recover import gang_bindings as gang_bindings
    from hived_cells.gangs.recover import recover_gangs as recover_gangs
    from hived_cells.graph import to_networkx as to_networkx
    from hived_cells.hierarchy import Cell as Cell
    from hived_cells.hierarchy import Chain as Chain
    from hived_cells.invariants import Violation as Violation
    from hived_cells.invariants import slack as slack
    from hived_cells.invariants import violations as violations
    from hived_cells.low_priority import start as start
    from hived_cells.low_priority import stop as stop
    from hived_cells.low_priority import victims as victims
    from hived_cells.reconfigure import named_bindings as named_bindings
    from hived_cells.reconfigure import recover_cluster as recover_cluster
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
    from hived_cells.spec import Spec as Spec
    from hived_cells.spec import SpecPool as SpecPool
    from hived_cells.spec import parse_spec as parse_spec
    from hived_cells.spec import read_spec as read_spec
    from hived_cells.state import Job as Job
    from hived_cells.state import State as State
    from hived_cells.state import bound_cells as bound_cells
    from hived_cells.state import free_cells as free_cells
    from hived_cells.state import free_counts as free_counts
    from hived_cells.state import holder as holder
    from hived_cells.state import initial_state as initial_state
    from hived_cells.state import jobs as jobs
    from hived_cells.state import owed_counts as owed_counts

_EXPORTS = {
    "allocate": (
        "allocate",
        "allocate_pin",
    ),
    "bindings": ("Bindings",),
    "choose": (
        "HIVED",
        "Candidate",
        "Candidates",
        "Choose",
        "Ranking",
        "fewest_low_priority",
        "healthy_first",
        "in_order",
        "lowest_address",
    ),
    "cluster": (
        "Cluster",
        "initial_cluster",
    ),
    "doomed": (
        "doomed",
        "doomed_greedy_upper_bound",
        "doomed_level_lower_bound",
        "doomed_of",
    ),
    "errors": (
        "HivedError",
        "IllegalRequest",
        "Infeasible",
        "InvalidChoice",
        "InvalidSpec",
        "MustWait",
        "NeverFits",
        "NoRoom",
    ),
    "faults": (
        "bad_gpus",
        "flagged",
        "heal",
        "is_bad",
        "mark_bad",
    ),
    "gangs": (
        "Gang",
        "GangPlacement",
        "GangPool",
        "GangState",
        "Outlook",
        "RunningGang",
        "common_cell",
        "gang_pools",
        "gang_violations",
        "initial_gangs",
        "outlook",
        "place_gang",
        "remove_gang",
    ),
    "gangs.recover": (
        "GangBinding",
        "GangRecovery",
        "gang_bindings",
        "recover_gangs",
    ),
    "graph": ("to_networkx",),
    "hierarchy": (
        "Cell",
        "Chain",
    ),
    "invariants": (
        "Violation",
        "slack",
        "violations",
    ),
    "low_priority": (
        "start",
        "stop",
        "victims",
    ),
    "reconfigure": (
        "named_bindings",
        "recover_cluster",
    ),
    "recover": (
        "Recovery",
        "bindings_of",
        "recover",
    ),
    "release": ("release",),
    "reservation": (
        "Pin",
        "Pool",
        "Reservation",
        "Shortage",
        "first_short_level",
        "is_feasible",
    ),
    "shares": (
        "Rebalance",
        "fair_shares",
        "rebalance",
    ),
    "spec": (
        "Spec",
        "SpecPool",
        "parse_spec",
        "read_spec",
    ),
    "state": (
        "Job",
        "State",
        "bound_cells",
        "free_cells",
        "free_counts",
        "holder",
        "initial_state",
        "jobs",
        "owed_counts",
    ),
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

    Importing ``hived_cells.release`` makes Python set the attribute ``release`` of the package to
    the *module*; here that is ignored, so that ``from hived_cells import release`` gives the
    function in whatever order things were imported. The module itself is reached as
    ``from hived_cells.release import …`` or through ``importlib.import_module``.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
