"""What must not matter does not: names, order of equal things, units, merging of equal jobs."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from strategies import instances

from synergy_opt.exact import ExactArray
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Cluster, Instance, Profile
from synergy_opt.proportional import proportional
from synergy_opt.tune import tune

METHODS = (ideal_allocation, tune, proportional)


@given(instances())
def test_names_of_jobs_and_resources(instance):
    """Tests that new names for jobs, profiles and resources change no throughput."""
    cluster = Cluster(
        resources=[(f"r-{name}", unit) for name, unit in instance.cluster.resources],
        servers=instance.cluster.servers,
    )
    renamed = Instance(
        name="renamed",
        cluster=cluster,
        profiles=[
            Profile(
                name=f"p-{p.name}",
                axes=[(f"r-{name}", axis) for name, axis in p.axes],
                throughput=p.throughput,
                per=p.per,
            )
            for p in instance.profiles
        ],
        jobs=[replace(j, id=f"j-{j.id}", profile=f"p-{j.profile}") for j in instance.jobs],
        objective=instance.objective,
    )
    for method in METHODS:
        assert method(renamed).throughput == method(instance).throughput


@given(instances(), st.fractions(Fraction(1, 7), 9, max_denominator=7))
def test_units_of_a_resource(instance, factor):
    """Tests that counting the first resource in another unit changes no throughput."""

    def scaled(axis):
        numerators = axis.numerators.astype(object) * factor.numerator
        return ExactArray(numerators, axis.denominator * factor.denominator)

    servers = [
        replace(s, capacity=(s.capacity[0] * factor, *s.capacity[1:]))
        for s in instance.cluster.servers
    ]
    profiles = [
        Profile(
            name=p.name,
            axes=[(p.axes[0][0], scaled(p.axes[0][1])), *p.axes[1:]],
            throughput=p.throughput,
            per=p.per,
        )
        for p in instance.profiles
    ]
    other = replace(
        instance,
        cluster=Cluster(resources=instance.cluster.resources, servers=servers),
        profiles=profiles,
    )
    for method in METHODS:
        assert method(other).throughput == method(instance).throughput


@given(instances(objectives=("relative",)), st.fractions(Fraction(1, 7), 9, max_denominator=7))
def test_units_of_throughput(instance, factor):
    """Tests that relative throughput does not depend on the unit of a profile's throughput."""
    profiles = [
        Profile(
            name=p.name,
            axes=p.axes,
            throughput=ExactArray(
                p.throughput.numerators.astype(object) * factor.numerator,
                p.throughput.denominator * factor.denominator,
            ),
            per=p.per,
        )
        for p in instance.profiles
    ]
    other = replace(instance, profiles=profiles)
    for method in METHODS:
        assert method(other).throughput == method(instance).throughput


@given(instances(max_jobs=6))
def test_merging_equal_jobs(instance):
    """Tests that stage 1 is the same when equal profiles have different names: nothing merges."""
    profiles = [
        Profile(
            name=f"{job.profile}-{i}",
            axes=instance.profile_of[job.profile].axes,
            throughput=instance.profile_of[job.profile].throughput,
            per=instance.profile_of[job.profile].per,
        )
        for i, job in enumerate(instance.jobs)
    ]
    jobs = [replace(job, profile=f"{job.profile}-{i}") for i, job in enumerate(instance.jobs)]
    apart = replace(instance, profiles=profiles, jobs=jobs)
    merged, single = ideal_allocation(instance), ideal_allocation(apart)
    assert single.throughput == merged.throughput
    assert (
        ideal_allocation(apart, integral=False).throughput
        == ideal_allocation(instance, integral=False).throughput
    )
