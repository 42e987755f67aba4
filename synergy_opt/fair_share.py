"""The GPU-proportional share of a job: the floor of every method, and the baseline.

Takes a cluster and a GPU demand, gives the share and the throughput that it allows (theory: "Fair
share"; Synergy, OSDI '22, §2 and §4.1.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from synergy_opt.checks import expect, is_list, whole_count
from synergy_opt.errors import InvalidInstance
from synergy_opt.model import Cluster, Instance, Job, Vector


def fair_share(cluster: Cluster, gpus: int, *, groups: Iterable[int] | None = None) -> Vector:
    """Give F_r = g · R_r / G, the resources that come with `gpus` GPUs.

    Parameters
    ----------
    cluster
        The servers.
    gpus
        GPU demand g of the job.
    groups
        Indices of the server groups that the job is placed on; default all of them. With several
        the smallest R_r / G counts in each resource, since pieces are proportional.

    Returns
    -------
    Vector
        Amount of each resource, in the order of `cluster.resources`.

    Examples
    --------
    >>> from synergy_opt.model import Server
    >>> server = Server(type="n", count=2, gpus=8, capacity=(24, 500))
    >>> fair_share(Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[server]), 4)
    (Fraction(12, 1), Fraction(250, 1))
    """
    expect(Cluster, cluster, "cluster")
    gpus = whole_count(gpus, "gpus")
    if groups is None:
        per_gpu = cluster.share_of_a_gpu
    else:
        shares = (cluster.servers[group].per_gpu for group in groups)
        per_gpu = tuple(min(column) for column in zip(*shares, strict=True))
    return tuple(gpus * amount for amount in per_gpu)


def fair_throughput(
    instance: Instance, job: Job, *, groups: Iterable[int] | None = None
) -> Fraction:
    """Give W^f = max { W_k : d_k ≤ F }, what the job can make of its share.

    On a grid point and for a monotone profile this is the paper's W[C_g, M_g].

    Parameters
    ----------
    instance, job
        A job of the instance.
    groups
        As in `fair_share`.

    Returns
    -------
    Fraction
        In the unit of the profile, for one GPU where the profile is for one GPU.

    Raises
    ------
    InvalidInstance
        When there is no such profile, or no configuration of it lies inside the share.

    Examples
    --------
    >>> from synergy_opt import shipped
    >>> instance = shipped("worked-example")
    >>> float(fair_throughput(instance, instance.jobs[0]))  # items/s for one of its 4 GPUs
    300.0
    """
    expect(Instance, instance, "instance")
    profile = instance.profile_for(job)
    share = fair_share(instance.cluster, job.gpus, groups=groups)
    best = profile.best_within(share, job.gpus)
    if best is None:
        raise InvalidInstance(f"job {job.id!r} has no configuration inside its fair share")
    return best


def job_throughput(instance: Instance, job: Job, amounts: Sequence[Fraction | int]) -> Fraction:
    """Give a job's term of the objective with these amounts: what `PlacedJob.throughput` states.

    The best grid point within the amounts counts, max { W_k : d_k ≤ amounts }, nothing between
    grid points; it is turned into the objective's unit by `unit_value`.

    Parameters
    ----------
    instance, job
        A job of the instance.
    amounts
        The job's totals of each resource, in the order of `Cluster.resources`; exact numbers.

    Returns
    -------
    Fraction
        0 where no grid point lies within the amounts: the job does not run with so little.

    Raises
    ------
    TypeError
        When there is not one exact number a resource.

    Examples
    --------
    >>> import synergy_opt
    >>> instance = synergy_opt.shipped("worked-example")
    >>> job_throughput(instance, instance.jobs[0], (20, 420))
    Fraction(5, 3)
    """
    expect(Instance, instance, "instance")
    profile, names = instance.profile_for(job), instance.cluster.names
    given = tuple(amounts) if is_list(amounts) else ()
    if len(given) != len(names) or not all(isinstance(a, int | Fraction) for a in given):
        raise TypeError(f"amounts must be ints or Fractions, one for each of {', '.join(names)}")
    totals = tuple(Fraction(amount) for amount in given)
    best = profile.best_within(totals, job.gpus)
    return Fraction(0) if best is None else best * unit_value(instance, job)


def unit_value(instance: Instance, job: Job) -> Fraction:
    """Give what one unit of the profile's throughput counts in the objective for this job.

    Relative: weight / W^f, with W^f over all groups; absolute: weight, times the GPUs where the
    profile is for one GPU.
    """
    if instance.objective == "relative":
        return job.weight / fair_throughput(instance, job)
    return job.weight * (job.gpus if instance.profile_of[job.profile].per == "gpu" else 1)


def fair_value(instance: Instance, job: Job) -> Fraction:
    """Give what a job's fair throughput W^f over all groups counts in the objective.

    Relative: its weight, whatever W^f is.
    """
    if instance.objective == "relative":
        return job.weight
    return fair_throughput(instance, job) * unit_value(instance, job)
