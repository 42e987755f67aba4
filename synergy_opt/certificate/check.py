"""All rules together.

Takes an instance, a placement and what its file states besides; gives the broken rules, or raises
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from synergy_opt.answer import Placement
from synergy_opt.certificate.bounds import bound_violations
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.figures import figure_violations
from synergy_opt.certificate.form import plain
from synergy_opt.certificate.listing import listing_violations
from synergy_opt.certificate.pieces import capacity_violations, held, piece_violations
from synergy_opt.certificate.split import split_violations
from synergy_opt.certificate.violation import Violation, show
from synergy_opt.certificate.wellformed import malformed
from synergy_opt.checks import expect
from synergy_opt.errors import NotCertified
from synergy_opt.exact import exact_sum
from synergy_opt.model import Instance


def violations(
    instance: Instance,
    placement: Placement,
    *,
    throughput: Fraction | None = None,
    upper_bound: Fraction | None = None,
) -> tuple[Violation, ...]:
    """Give every rule that a placement breaks; none means that it is proved to keep all.

    Parameters
    ----------
    instance
        The question.
    placement
        The answer: its jobs, pieces and figures, its bound and split count where it has them.
    throughput
        The total that is stated beside the jobs; default nothing is stated.
    upper_bound
        The upper bound that is stated beside the certificate; default nothing is stated.

    Returns
    -------
    tuple of Violation
        By group of rules, then by place. Empty exactly when the jobs are listed as the runnable
        set demands, Σ pieces ≤ capacity on every server, pieces = demand · k/g, W ≥ W^f, every
        figure is what the definitions give and throughput ≤ bound with bound ≥ L(λ). The rules
        are named in `synergy_opt.certificate`.

    Notes
    -----
    O(n + pieces · K + kinds · grid points · K) operations on exact numbers for n jobs and K
    resources, kinds being the different (profile, GPUs, weight). A mixture (a job of a placement
    whose bound has ``integral`` false) costs a linear programme of K + 1 rows.

    Sources: Mohan et al., "Looking Beyond GPUs for DNN Scheduling on Multi-Tenant Clusters",
    OSDI 2022, §4.1 for the definitions; McConnell, Mehlhorn, Näher and Schweitzer, "Certifying
    algorithms", 2011, for the method.

    Examples
    --------
    One server with 2 GPUs and 6 cores; job A takes 4 cores and leaves B its 2:

    >>> from synergy_opt.answer import Piece, PlacedJob
    >>> from synergy_opt.model import Cluster, Job, Profile, Server
    >>> server = Server(type="2xGPU", count=1, gpus=2, capacity=(6,))
    >>> instance = Instance(
    ...     name="two", cluster=Cluster(resources={"cpu": "cores"}, servers=[server]),
    ...     profiles=[Profile(name="fast", axes={"cpu": [2, 3, 4]}, throughput=[2, 4, 6]),
    ...               Profile(name="flat", axes={"cpu": [2, 3]}, throughput=[5, 5])],
    ...     jobs=[Job(id="A", gpus=1, profile="fast"), Job(id="B", gpus=1, profile="flat")])
    >>> def on_server_0(job, cores, value):
    ...     piece = Piece(server=0, gpus=Fraction(1), amounts=(Fraction(cores),))
    ...     return PlacedJob(id=job, demand=piece.amounts, throughput=value, pieces=(piece,))
    >>> def placement(*jobs):
    ...     return Placement(instance="two", mechanism="mine", jobs=jobs)
    >>> a = on_server_0("A", 4, Fraction(3, 2))
    >>> violations(instance, placement(a, on_server_0("B", 2, Fraction(1))))
    ()
    >>> for broken in violations(instance, placement(a, on_server_0("B", 3, Fraction(1)))):
    ...     print(broken)
    $.jobs[1].pieces[0]: capacity: server 0 has 6 cpu, but 7 are taken: 1 too many
    """
    expect(Instance, instance, "instance")
    stated = [("$.throughput", throughput), ("$.upper_bound", upper_bound)]
    present = [(where, number) for where, number in stated if number is not None]
    found = tuple(malformed(instance, placement, present))
    return found or tuple(_checked(instance, plain(placement), throughput, upper_bound))


def _checked(
    instance: Instance,
    placement: Placement,
    throughput: Fraction | None,
    upper_bound: Fraction | None,
) -> Iterator[Violation]:
    facts, on = Facts(instance=instance), held(instance.cluster, placement)
    yield from listing_violations(instance, placement)
    yield from piece_violations(facts, placement)
    yield from capacity_violations(instance.cluster, on)
    yield from figure_violations(facts, placement)
    total = exact_sum(Fraction(job.throughput) for job in placement.jobs)
    if throughput is not None and throughput != total:
        message = f"states {show(throughput)}, but its jobs add up to {show(total)}"
        yield Violation(rule="total-throughput", where="$.throughput", message=message)
        total = max(total, throughput)
    yield from split_violations(instance.cluster, placement, on)
    yield from bound_violations(facts, placement, total, upper_bound)


def verify(
    instance: Instance,
    placement: Placement,
    *,
    throughput: Fraction | None = None,
    upper_bound: Fraction | None = None,
) -> None:
    """Raise `NotCertified` with every broken rule, a line each; return where there is none.

    Parameters
    ----------
    instance, placement, throughput, upper_bound
        As in `violations`, with the same guarantee and cost.

    Raises
    ------
    NotCertified
        When `violations` finds any.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Job, Profile, Server
    >>> server = Server(type="2xGPU", count=1, gpus=2, capacity=(6,))
    >>> instance = Instance(
    ...     name="one", cluster=Cluster(resources={"cpu": "cores"}, servers=[server]),
    ...     profiles=[Profile(name="flat", axes={"cpu": [3]}, throughput=[5])],
    ...     jobs=[Job(id="A", gpus=1, profile="flat")])
    >>> verify(instance, Placement(instance="one", mechanism="mine", jobs=()))
    Traceback (most recent call last):
        ...
    synergy_opt.errors.NotCertified: the placement breaks 1 rule
    $.jobs: runnable-listed: job 'A' (1 GPUs) is runnable, but not listed
    """
    found = violations(instance, placement, throughput=throughput, upper_bound=upper_bound)
    if found:
        count = f"{len(found)} rule" + ("s" if len(found) > 1 else "")
        raise NotCertified("\n".join([f"the placement breaks {count}", *map(str, found)]))
