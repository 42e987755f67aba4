"""Small traces and clusters that several simulation tests use."""

from hypothesis import strategies as st

from hived_cells import Chain, Reservation
from hived_cells.simulation import Shape, Trace, TraceJob

NODE = 8


def jobs_of(*rows: tuple[str, int, int, int, int]) -> Trace:
    """Return a trace of (tenant, submit, duration, nodes, GPUs a node), named by place."""
    return Trace(
        TraceJob(f"j{n}", tenant, submit, duration, Shape(nodes, gpus))
        for n, (tenant, submit, duration, nodes, gpus) in enumerate(rows)
    )


def nodes_each(**nodes: int) -> tuple[Chain, Reservation]:
    """Return a cluster of 8-GPU nodes, each tenant with so many of them."""
    chain = Chain(sum(nodes.values()), (2, 2, 2))
    return chain, Reservation({tenant: {4: number} for tenant, number in nodes.items()})


@st.composite
def clusters(draw) -> tuple[Chain, Reservation]:
    """Draw 1 to 4 nodes of 8 GPUs and cells of all levels for 1 to 3 tenants that fit."""
    nodes = draw(st.integers(1, 4))
    left = 8 * nodes
    cells: dict[str, dict[int, int]] = {}
    for tenant in "ABC"[: draw(st.integers(1, 3))]:
        for level, size in ((4, 8), (3, 4), (2, 2), (1, 1)):
            number = draw(st.integers(0, min(2, left // size)))
            left -= number * size
            if number:
                cells.setdefault(tenant, {})[level] = number
    if not cells:
        cells = {"A": {4: 1}}
    return Chain(nodes, (2, 2, 2)), Reservation(cells)


@st.composite
def traces(draw, chain: Chain, reservation: Reservation, *, most: int = 15) -> Trace:
    """Draw jobs that fit in what their tenants reserved; many at once, many of one shape."""
    rows = []
    for number in range(draw(st.integers(1, most))):
        tenant, counts = draw(st.sampled_from(reservation.cells))
        sizes = [chain.sizes[level] for level, count in counts for _ in range(count)]
        soft = draw(st.booleans())
        gpus = draw(st.integers(1, sum(sizes) if soft else max(sizes)))
        nodes = 1
        if not soft or gpus <= max(sizes):
            nodes = draw(st.integers(1, max(1, sum(size // gpus for size in sizes))))
        shape = Shape(nodes, gpus, soft)
        submit, duration = draw(st.integers(0, 60)), draw(st.integers(1, 60))
        rows.append(TraceJob(f"j{number}", tenant, submit, duration, shape))
    return Trace(rows)
