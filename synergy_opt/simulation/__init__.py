"""A cluster over time: a workload, a policy that orders it, a mechanism that divides the cluster.

Takes a `Workload` and gives when each job ran and ended, and what that amounts to.
"""
