"""Small workloads and clusters for the tests of the simulator."""

from __future__ import annotations

from fractions import Fraction

from builders import wants
from hypothesis import strategies as st
from strategies import clusters, profiles

from synergy_opt.simulation import TraceJob, Workload

MODEST = wants("modest", (1, 1))
HUNGRY = wants("hungry", (2, 3), (3, 5))


def workload(*lines, name="w"):
    """Give a workload of lines (submitted, duration, gpus, profile), named a, b, c and so on."""
    models = {profile.name: profile for *_, profile in lines}
    jobs = tuple(
        TraceJob(chr(ord("a") + i), submitted, duration, gpus, profile.name)
        for i, (submitted, duration, gpus, profile) in enumerate(lines)
    )
    return Workload(name, models, jobs)


@st.composite
def settings(draw, *, max_jobs=8):
    """Draw a cluster and a workload that can run on it."""
    place = draw(
        clusters(max_groups=2, max_count=2, max_gpus=4, round_amounts=draw(st.booleans()))
    )
    models = [
        draw(profiles(place, f"p{i}", hungry=i == 0)) for i in range(draw(st.integers(1, 3)))
    ]
    times = st.sampled_from([Fraction(n, d) for d in (1, 3) for n in (0, 1, 100, 300, 450, 1000)])
    submitted = sorted(draw(st.lists(times, min_size=1, max_size=max_jobs)))
    lengths = st.sampled_from([Fraction(1, 7), Fraction(60), Fraction(300), Fraction(1234)])
    jobs = tuple(
        TraceJob(
            f"j{i}",
            at,
            draw(lengths),
            draw(st.integers(1, min(6, place.gpus))),
            draw(st.sampled_from(models)).name,
        )
        for i, at in enumerate(submitted)
    )
    return place, Workload("drawn", {model.name: model for model in models}, jobs)
