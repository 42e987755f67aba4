"""The problem as values: the cluster, the profiles, the jobs, and the instance that they make.

Takes numbers as people write them and gives frozen, checked values with exact numbers.
"""

from synergy_opt.model.cluster import Cluster as Cluster
from synergy_opt.model.cluster import Server as Server
from synergy_opt.model.cluster import Vector as Vector
from synergy_opt.model.instance import Instance as Instance
from synergy_opt.model.instance import Job as Job
from synergy_opt.model.instance import Objective as Objective
from synergy_opt.model.profile import Per as Per
from synergy_opt.model.profile import Profile as Profile

__all__ = [
    "Cluster",
    "Instance",
    "Job",
    "Objective",
    "Per",
    "Profile",
    "Server",
    "Vector",
]
