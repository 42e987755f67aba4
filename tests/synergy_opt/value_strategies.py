"""Hypothesis strategies of whole instances and placements, valid as values, for files.

Numbers are integers, decimals and fractions such as 10/3; names are any text that is not blank.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from synergy_opt.answer import Bound, Piece, PlacedJob, Placement, SplitBound
from synergy_opt.model import Cluster, Instance, Job, Profile, Server

# Surrogates cannot be written as UTF-8; everything else that is not blank is a name.
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda text: text.strip() != ""
)
above_0 = st.one_of(
    st.integers(1, 1000).map(Fraction),
    st.decimals("0.01", "999.99", places=2).map(Fraction),
    st.fractions("1/50", 100, max_denominator=60),
)
at_least_0 = st.one_of(st.just(Fraction(0)), above_0)
resources = st.lists(
    names.filter(lambda name: name not in ("type", "count", "gpus", "server")),
    min_size=1,
    max_size=3,
    unique=True,
)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Give one to three groups with one to three resources."""
    keys = draw(resources)
    groups = draw(st.integers(1, 3))
    return Cluster(
        resources=[(key, draw(st.text("abc/ é", max_size=4))) for key in keys],
        servers=[
            Server(
                type=draw(names),
                count=draw(st.integers(1, 4)),
                gpus=draw(st.integers(1, 9)),
                capacity=tuple(draw(above_0) for _ in keys),
            )
            for _ in range(groups)
        ],
    )


@st.composite
def profiles(draw: st.DrawFn, cluster: Cluster, name: str) -> Profile:
    """Give a profile whose first grid point lies inside the share of one GPU and is above 0."""
    axes, shape = [], []
    for key, share in zip(cluster.names, cluster.share_of_a_gpu, strict=True):
        first = share * draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]))
        steps = draw(st.lists(above_0, max_size=2))
        axis = [first]
        for step in steps:
            axis.append(axis[-1] + step)
        axes.append((key, axis))
        shape.append(len(axis))

    def table(depth: int) -> object:
        if depth == len(shape):
            return draw(above_0)
        return [table(depth + 1) for _ in range(shape[depth])]

    return Profile(
        name=name,
        axes=axes,
        throughput=table(0),
        per=draw(st.sampled_from(["gpu", "job"])),
        unit=draw(st.text("abc/s ,\"'", max_size=6)),
    )


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Give a valid instance."""
    cluster = draw(clusters())
    keys = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    table = [draw(profiles(cluster, key)) for key in keys]
    ids = draw(st.lists(names, max_size=5, unique=True))
    return Instance(
        name=draw(names),
        cluster=cluster,
        profiles=table,
        jobs=[
            Job(
                id=key,
                gpus=draw(st.integers(1, cluster.gpus)),
                profile=draw(st.sampled_from(keys)),
                weight=draw(st.one_of(st.just(Fraction(1)), above_0)),
            )
            for key in ids
        ],
        objective=draw(st.sampled_from(["relative", "absolute"])),
    )


@st.composite
def placements(draw: st.DrawFn, instance: Instance) -> Placement:
    """Give any placement that can be written down; it need not keep a single rule."""
    width = len(instance.cluster.names)

    def vector() -> tuple[Fraction, ...]:
        return tuple(draw(at_least_0) for _ in range(width))

    def piece() -> Piece:
        return Piece(server=draw(st.integers(0, 99)), gpus=draw(at_least_0), amounts=vector())

    def bound() -> Bound:
        flags = [draw(st.booleans()) for _ in range(4)]
        return Bound(
            value=draw(at_least_0),
            multipliers=vector(),
            integral=flags[0],
            rows=flags[1],
            consolidated=flags[2],
            skipping=flags[3],
        )

    def split() -> SplitBound:
        counts = [draw(st.integers(0, 99)) for _ in range(6)]
        return SplitBound(
            servers=counts[0],
            rows_per_server=counts[1],
            components=counts[2],
            extra_pieces=counts[3],
            split_jobs=counts[4],
            tight_rows=counts[5],
            fewest=draw(st.one_of(st.none(), st.integers(0, 99))),
        )

    return Placement(
        instance=instance.name,
        mechanism=draw(names),
        jobs=tuple(
            PlacedJob(
                id=job.id,
                demand=vector(),
                throughput=draw(at_least_0),
                pieces=tuple(piece() for _ in range(draw(st.integers(0, 2)))),
            )
            for job in instance.jobs
        ),
        bound=bound() if draw(st.booleans()) else None,
        split=split() if draw(st.booleans()) else None,
        proof=draw(st.sampled_from([None, "multipliers", "search", "none"])),
    )
