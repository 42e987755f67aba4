"""The packed optimum written down job by job and server by server for CP-SAT: a second opinion.

Takes a small instance, gives its optimum in whole numbers; shares nothing with the shapes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

from ortools.sat.python import cp_model

from synergy_opt.configurations import configurations
from synergy_opt.fair_share import fair_throughput, unit_value
from synergy_opt.model import Instance
from synergy_opt.runnable import runnable


def assignment_optimum(
    instance: Instance, *, split: str, seconds: float | None = None
) -> Fraction | None:
    """Give the highest throughput of a fair placement, None where there is none.

    z_jci is the number of GPUs that job j in configuration c has on server i.
    """
    model, cluster = cp_model.CpModel(), instance.cluster
    group_of = cluster.group_of_server
    largest = max(group.gpus for group in cluster.servers)
    used = [[[] for _ in range(len(cluster.names) + 1)] for _ in group_of]
    gains = []
    for job in runnable(instance):
        found = configurations(instance, job).fair()
        divided = job.gpus > largest or split == "allowed"
        chosen = [model.new_bool_var("") for _ in range(len(found))]
        model.add_exactly_one(chosen)
        for c, pick in enumerate(chosen):
            gains.append((found.value[c], pick))
            here = []
            for i in range(len(group_of)):
                on = model.new_bool_var("")
                if divided:
                    part = model.new_int_var(0, job.gpus, "")
                    model.add(part > 0).only_enforce_if(on)
                    model.add(part == 0).only_enforce_if(~on)
                else:
                    part = job.gpus * on
                here.append((on, part))
                for r, amount in enumerate((Fraction(job.gpus), *found.demand_at(c))):
                    used[i][r].append((amount / job.gpus, part))
            model.add(sum(part for _, part in here) == job.gpus * pick)
            _keep_fair(model, instance, job, found.value[c], [on for on, _ in here])
    for i, rows in enumerate(used):
        group = cluster.servers[group_of[i]]
        for terms, most in zip(rows, (Fraction(group.gpus), *group.capacity), strict=True):
            below = math.lcm(most.denominator, *(a.denominator for a, _ in terms))
            model.add(sum(int(a * below) * part for a, part in terms) <= int(most * below))
    below = math.lcm(*(value.denominator for value, _ in gains), 1)
    model.maximize(sum(int(value * below) * pick for value, pick in gains))
    solver = cp_model.CpSolver()
    # CP-SAT's own handler of Ctrl-C would stay behind and end this process at the next one.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.num_workers = 1
    if seconds is not None:
        solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status != cp_model.OPTIMAL:
        return None
    return sum((value for value, pick in gains if solver.value(pick)), Fraction(0))


def _keep_fair(model, instance, job, value, on) -> None:
    """Forbid a configuration on every set of groups whose share is worth more."""
    group_of = instance.cluster.group_of_server
    groups = range(len(instance.cluster.servers))
    touched = [model.new_bool_var("") for _ in groups]
    for h in groups:
        model.add_max_equality(
            touched[h], [o for o, g in zip(on, group_of, strict=True) if g == h]
        )
    for size in range(1, len(groups) + 1):
        for some in combinations(groups, size):
            floor = fair_throughput(instance, job, groups=some) * unit_value(instance, job)
            if value < floor:
                model.add_bool_or([~touched[h] if h in some else touched[h] for h in groups])
